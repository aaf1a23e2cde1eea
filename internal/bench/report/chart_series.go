package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/veildb/veildb/internal/bench/result"
)

// seriesLimit is how many points an arm's line has at most; longer runs are
// averaged over neighbouring blocks, and the picture says so.
const seriesLimit = 160

// A sample is one point of a throughput line.
type sample struct {
	at   float64 // seconds since the cell began
	tps  float64
	void bool
}

// A series is the throughput of one cell over time, both arms.
type series struct {
	cell     result.Cell
	arms     [2][]sample // baseline, variant
	averaged int         // blocks a point stands for
}

type cellID struct {
	place
	variant, baseline string
}

func idOf(c result.Cell) cellID {
	return cellID{place{c.Engine, c.Workload, c.Threads}, c.Variant, c.Baseline}
}

// seriesOf sorts the blocks into one series a cell, in order of first block.
func seriesOf(rec Records) []series {
	void := map[cellID]map[int]bool{}
	for _, v := range rec.Voids {
		if void[idOf(v.Cell)] == nil {
			void[idOf(v.Cell)] = map[int]bool{}
		}
		void[idOf(v.Cell)][v.Quad] = true
	}
	blocks := slices.Clone(rec.Blocks)
	slices.SortStableFunc(blocks, func(a, b result.Block) int { return a.Start.Compare(b.Start) })
	var out []series
	at := map[cellID]int{}
	began := map[cellID]time.Time{}
	for _, b := range blocks {
		id := idOf(b.Cell)
		i, ok := at[id]
		if !ok {
			i = len(out)
			at[id], began[id] = i, b.Start
			out = append(out, series{cell: b.Cell, averaged: 1})
		}
		if !(b.DurationS > 0) {
			continue
		}
		arm := 0
		if b.Arm == "variant" {
			arm = 1
		}
		out[i].arms[arm] = append(out[i].arms[arm], sample{
			at: b.Start.Sub(began[id]).Seconds(), tps: float64(b.Commits) / b.DurationS, void: void[id][b.Quad],
		})
	}
	for i := range out {
		out[i].thin()
	}
	return out
}

// thin averages neighbouring points until both arms are within seriesLimit.
func (s *series) thin() {
	n := max(len(s.arms[0]), len(s.arms[1]))
	s.averaged = max((n+seriesLimit-1)/seriesLimit, 1)
	if s.averaged == 1 {
		return
	}
	for arm, points := range s.arms {
		var out []sample
		for chunk := range slices.Chunk(points, s.averaged) {
			var mean sample
			for _, p := range chunk {
				mean.at += p.at / float64(len(chunk))
				mean.tps += p.tps / float64(len(chunk))
				mean.void = mean.void || p.void
			}
			out = append(out, mean)
		}
		s.arms[arm] = out
	}
}

// seriesPanel draws throughput over time of one cell.
func seriesPanel(n naming, s series, id string) panel {
	c := &canvas{width: panelWidth, height: 168}
	name := n.cell(s.cell) + ", " + clean(s.cell.Variant)
	if s.cell.AA() {
		name = n.cell(s.cell) + ", A/A control"
	}
	all := slices.Concat(s.arms[0], s.arms[1])
	if len(all) == 0 {
		c.text("axis", start, 0, 60, "no blocks")
		return panel{name, c.svg(id, "chart panel", "Throughput over time, "+name, "No blocks were recorded.")}
	}
	lo, hi, last := extent(all)
	pad := max((hi-lo)*0.08, hi*0.01, 1e-9)
	y := scale{lo: max(lo-pad, 0), hi: hi + pad, from: 130, to: 8}
	x := scale{lo: 0, hi: max(last, 1), from: 50, to: panelWidth - 8}
	seriesAxes(c, x, y)
	for arm, class := range []string{"base", "est"} {
		seriesLine(c, x, y, class, s.arms[arm])
	}
	desc := fmt.Sprintf("Commits a second in each block over the run, %s of each arm.", plural(len(s.arms[0]), "point"))
	if s.averaged > 1 {
		desc += fmt.Sprintf(" Each point is the mean of %d blocks.", s.averaged)
		name += fmt.Sprintf(" (points are means of %d blocks)", s.averaged)
	}
	return panel{name, c.svg(id, "chart panel", "Throughput over time, "+name, desc)}
}

// extent is the range of the axes. Voided blocks count only if there are no
// others: they would flatten the rest.
func extent(all []sample) (lo, hi, last float64) {
	valid := slices.DeleteFunc(slices.Clone(all), func(p sample) bool { return p.void })
	if len(valid) == 0 {
		valid = all
	}
	lo = math.Inf(1)
	for _, p := range valid {
		lo, hi = min(lo, p.tps), max(hi, p.tps)
	}
	if lo < hi/2 {
		lo = 0
	}
	for _, p := range all {
		last = max(last, p.at)
	}
	return lo, hi, last
}

func seriesAxes(c *canvas, x, y scale) {
	step := niceStep(y.hi-y.lo, 6)
	for _, t := range y.ticks(6) {
		c.line("grid", x.from, y.at(t), x.to, y.at(t))
		c.text("tick", end, x.from-6, y.at(t)+4, tickLabel(t, step))
	}
	div, unit := 1.0, "s"
	if x.hi > 300 {
		div, unit = 60, "min"
	}
	m := scale{lo: 0, hi: x.hi / div, from: x.from, to: x.to}
	step = niceStep(m.hi, 5)
	for _, t := range m.ticks(5) {
		c.line("grid", m.at(t), y.from, m.at(t), y.from+4)
		c.text("tick", middle, m.at(t), y.from+16, tickLabel(t, step))
	}
	c.line("axisline", x.from, y.from, x.to, y.from)
	c.text("axis", middle, (x.from+x.to)/2, y.from+33, "time since the first block, "+unit)
}

// seriesLine draws one arm: a line, rings (baseline) or dots (variant) while
// there is room for them, and a cross on blocks of voided quads.
func seriesLine(c *canvas, x, y scale, class string, points []sample) {
	if len(points) == 0 {
		return
	}
	var d strings.Builder
	for i, p := range points {
		op := "L"
		if i == 0 {
			op = "M"
		}
		top, _ := y.clamp(p.tps)
		fmt.Fprintf(&d, "%s%s %s", op, px(x.at(p.at)), px(top))
	}
	c.path(class+" trace", d.String())
	radius := math.Min(3, 120/float64(len(points)))
	for _, p := range points {
		px0 := x.at(p.at)
		py0, _ := y.clamp(p.tps)
		switch {
		case p.void:
			c.path("void", fmt.Sprintf("M%s %sl8 8m0 -8l-8 8", px(px0-4), px(py0-4)))
		case class == "base" && radius >= 1.2:
			c.circle("base mark hollow", px0, py0, radius)
		case radius >= 1.2:
			c.circle("est mark", px0, py0, radius)
		}
	}
}
