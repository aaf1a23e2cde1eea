package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/veildb/veildb/internal/bench/result"
)

// threadPanels draws overhead over the number of threads, for each engine,
// workload and variant that ran with three or more.
func threadPanels(s *result.Summary, n naming) []panel {
	type line struct{ engine, workload, variant, baseline string }
	var out []panel
	for _, rows := range groupBy(s.Rows, func(r result.Row) line { return line{r.Engine, r.Workload, r.Variant, r.Baseline} }) {
		if len(rows) < 3 {
			continue
		}
		rows = slices.Clone(rows)
		slices.SortFunc(rows, func(a, b result.Row) int { return a.Threads - b.Threads })
		out = append(out, threadPanel(rows, n.bare(rows[0])+", "+armNames(rows[0]), fmt.Sprintf("threads-%d", len(out))))
	}
	return out
}

// threadPanel draws one line; thread counts are spaced evenly, being powers
// of two as a rule.
func threadPanel(rows []result.Row, name, id string) panel {
	c := &canvas{width: panelWidth, height: 190}
	lo, hi := overheadDomain(rows)
	x := scale{lo: 0, hi: float64(len(rows) - 1), from: 48, to: panelWidth - 20}
	y := scale{lo: lo, hi: hi, from: 150, to: 10}
	step := niceStep(hi-lo, 6)
	for _, t := range y.ticks(6) {
		class := "grid"
		if math.Abs(t) < step/1e6 {
			class = "zero"
		}
		c.line(class, x.from-10, y.at(t), x.to+10, y.at(t))
		c.text("tick", end, x.from-16, y.at(t)+4, tickLabel(t, step))
	}
	threadBand(c, x, y, rows)
	for i, r := range rows {
		at := x.at(float64(i))
		c.group("row", strconv.Itoa(r.Threads)+" threads: "+changeOf(r.OverheadPct))
		if iv := r.OverheadPct; iv != nil {
			a, _ := y.clamp(iv.Lo)
			b, _ := y.clamp(iv.Hi)
			c.line("est whisker", at, a, at, b)
		}
		if p := r.Published; p != nil {
			d, _ := y.clamp(p.OverheadPct)
			c.diamond("pub", at, d, 5.5)
		}
		if iv := r.OverheadPct; iv != nil {
			e, _ := y.clamp(iv.Est)
			c.circle("est mark", at, e, 4)
		}
		c.text("tick", middle, at, y.from+16, strconv.Itoa(r.Threads))
		c.ungroup()
	}
	c.text("axis", middle, (x.from+x.to)/2, y.from+34, "threads; vertical: throughput lost, %")
	return panel{name, c.svg(id, "chart panel", "Overhead over threads, "+name,
		"Throughput lost at each number of threads, with 95 % intervals as a band and published values as diamonds. The figures are in the table of results.")}
}

// threadBand fills the area between the ends of neighbouring intervals and
// joins the estimates.
func threadBand(c *canvas, x, y scale, rows []result.Row) {
	var run []int
	flush := func() {
		if len(run) > 1 {
			var top, bottom, mid strings.Builder
			for k, i := range run {
				iv := rows[i].OverheadPct
				hi, _ := y.clamp(iv.Hi)
				est, _ := y.clamp(iv.Est)
				op := "L"
				if k == 0 {
					op = "M"
				}
				fmt.Fprintf(&top, "%s%s %s", op, px(x.at(float64(i))), px(hi))
				fmt.Fprintf(&mid, "%s%s %s", op, px(x.at(float64(i))), px(est))
			}
			for _, i := range slices.Backward(run) {
				lo, _ := y.clamp(rows[i].OverheadPct.Lo)
				fmt.Fprintf(&bottom, "L%s %s", px(x.at(float64(i))), px(lo))
			}
			c.path("ivband", top.String()+bottom.String()+"Z")
			c.path("est trace", mid.String())
		}
		run = nil
	}
	for i, r := range rows {
		if r.OverheadPct == nil {
			flush()
			continue
		}
		run = append(run, i)
	}
	flush()
}
