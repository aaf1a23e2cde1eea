package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/veildb/veildb/internal/bench/result"
)

// A panel is a small picture and the heading above it.
type panel struct {
	Title string
	SVG   template.HTML
}

// panelWidth is the width of the small pictures, one a place or cell, that the
// page lays out in as many columns as fit; one column on a phone.
const panelWidth = 320

// cpuParts are the shares of processor time, in the order they are stacked.
var cpuParts = []string{"client", "engine", "product"}

// splits reports whether processor time is known by part. An embedded engine
// has one process, and everything is in one part.
func splits(p result.CPUPair) bool {
	n := 0
	for _, part := range cpuParts {
		if q := p.Parts[part]; q.Baseline > 0 || q.Variant > 0 {
			n++
		}
	}
	return n > 1
}

// cpuPanel draws processor time a transaction of one place: for each variant
// the baseline's bar above the variant's, split into client, engine, product.
func cpuPanel(n naming, rows []result.Row, id string) panel {
	const line, top = 50, 4
	c := &canvas{width: panelWidth, height: top + line*float64(len(rows))}
	most := 0.0
	for _, r := range rows {
		most = max(most, r.CPUUSPerTx.Baseline, r.CPUUSPerTx.Variant)
	}
	u := unitFor(most)
	x := scale{lo: 0, hi: max(most, 1e-9), from: 0, to: panelWidth - 64}
	for i, r := range rows {
		y := top + float64(i)*line
		p := r.CPUUSPerTx
		c.group("row", cpuTitle(n, r))
		c.text("label", start, 0, y+12, fit(armNames(r), panelWidth-150, labelChar))
		if most == 0 || p.Baseline == 0 && p.Variant == 0 {
			c.text("value", end, panelWidth, y+12, "no data")
			c.ungroup()
			continue
		}
		c.text("value", end, panelWidth, y+12, changeOf(p.OverheadPct))
		cpuBar(c, x, y+17, "base", p, func(q result.Pair) float64 { return q.Baseline }, u)
		cpuBar(c, x, y+31, "est", p, func(q result.Pair) float64 { return q.Variant }, u)
		c.ungroup()
	}
	name := n.workload(rows[0])
	return panel{name, c.svg(id, "chart panel", "Processor time a transaction, "+name,
		"For each variant the upper bar is the baseline and the lower bar the variant, split into client, engine and product. The figures are in the table of results.")}
}

// cpuBar draws one arm's stacked bar with its total behind it.
func cpuBar(c *canvas, x scale, y float64, arm string, p result.CPUPair, of func(result.Pair) float64, u unit) {
	at := 0.0
	for _, part := range cpuParts {
		if v := of(p.Parts[part]); v > 0 {
			c.rect(arm+" bar "+part, x.at(at), y, x.at(at+v)-x.at(at)-1, 12)
			at += v
		}
	}
	if total := of(p.Pair); at == 0 && total > 0 {
		c.rect(arm+" bar engine", 0, y, x.at(total), 12)
	}
	c.text("tick", start, x.at(of(p.Pair))+5, y+10, u.format(of(p.Pair))+" "+u.name)
}

// changeOf is "+3.5 % (2.8 to 4.1)".
func changeOf(iv *result.Interval) string {
	if iv == nil {
		return absent
	}
	return signedPct(iv.Est) + " % (" + span(*iv) + ")"
}

func cpuTitle(n naming, r result.Row) string {
	t := clean(r.Variant) + ", " + n.workload(r) + ": " + pairOf(r.CPUUSPerTx.Pair) + " a transaction"
	for _, part := range cpuParts {
		if p := r.CPUUSPerTx.Parts[part]; splits(r.CPUUSPerTx) {
			t += ", " + part + " " + pairOf(p)
		}
	}
	return t
}

// percentiles are the latencies the chart shows.
var percentiles = []string{"p50", "p95", "p99"}

// latencyPanel draws the latencies of one place on a logarithmic axis: a ring
// for the baseline, a dot for the variant.
func latencyPanel(n naming, rows []result.Row, id string) panel {
	const line, top, head = 17.0, 2.0, 20.0
	c := &canvas{width: panelWidth, height: top + float64(len(rows))*(head+3*line+6) + 36}
	lo, hi := math.Inf(1), 0.0
	for _, r := range rows {
		for _, name := range percentiles {
			for _, v := range []float64{r.LatencyUS[name].Baseline, r.LatencyUS[name].Variant} {
				if v > 0 {
					lo, hi = min(lo, v), max(hi, v)
				}
			}
		}
	}
	x := scale{lo: lo / 1.25, hi: hi * 1.25, from: 34, to: panelWidth - 58, log: true}
	if hi > 0 {
		logAxis(c, x, top, c.height-32)
	}
	y := top
	for _, r := range rows {
		c.text("label", start, 0, y+13, fit(armNames(r), panelWidth, labelChar))
		y += head
		for _, name := range percentiles {
			latencyLine(c, x, y+line/2, name, r, hi > 0)
			y += line
		}
		y += 6
	}
	name := n.workload(rows[0])
	return panel{name, c.svg(id, "chart panel", "Latency, "+name,
		"Median, 95th and 99th percentile of each arm on a logarithmic axis: rings are the baseline, dots the variant. The figures are in the table of each comparison.")}
}

func latencyLine(c *canvas, x scale, y float64, name string, r result.Row, axis bool) {
	l, ok := r.LatencyUS[name]
	c.group("row", fmt.Sprintf("%s %s: %s", clean(r.Variant), name, pairOf(l.Pair)))
	c.text("tick", start, 6, y+4, name)
	if ok && axis && l.Baseline > 0 && l.Variant > 0 {
		c.line("est whisker", x.at(l.Baseline), y, x.at(l.Variant), y)
		c.circle("base mark hollow", x.at(l.Baseline), y, 5)
		c.circle("est mark", x.at(l.Variant), y, 3)
		c.text("value", end, panelWidth, y+4, signedPct(100*(l.Variant/l.Baseline-1))+" %")
	} else {
		c.text("value", end, panelWidth, y+4, "no data")
	}
	c.ungroup()
}

// logAxis draws ticks at 1, 2 and 5 times powers of ten, in one unit, as many
// as there is room for.
func logAxis(c *canvas, x scale, top, bottom float64) {
	u := unitFor(x.hi)
	for _, steps := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		var at []float64
		for p := math.Floor(math.Log10(x.lo)); p <= math.Log10(x.hi); p++ {
			for _, m := range steps {
				if v := m * math.Pow(10, p); v >= x.lo && v <= x.hi {
					at = append(at, v)
				}
			}
		}
		if float64(len(at))*34 > x.to-x.from {
			continue
		}
		for _, v := range at {
			c.line("grid", x.at(v), top, x.at(v), bottom)
			c.text("tick", middle, x.at(v), bottom+13, tickLabel(v/u.us, v/u.us))
		}
		break
	}
	c.text("axis", middle, (x.from+x.to)/2, bottom+28, "latency, "+u.name+" (logarithmic)")
}
