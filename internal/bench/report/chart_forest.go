package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/bench/result"
)

// The forest plot: one line a comparison with point, interval and published
// value around a common zero, in groups of one place each.

// forestLimit is the number of lines after which a new picture begins, so that
// none outgrows a printed page.
const forestLimit = 32

// A forest is the layout of one forest plot.
type forest struct {
	canvas
	s      *result.Summary
	n      naming
	narrow bool // labels above the lines instead of beside them
	x      scale
	y      float64
}

// forests draws the comparisons, groups never split, for a page's wide or
// narrow form.
func forests(s *result.Summary, narrow bool) []template.HTML {
	groups := groupBy(s.Rows, placeOf)
	lo, hi := overheadDomain(slices.Concat(s.Rows, s.AA))
	var out []template.HTML
	for len(groups) > 0 {
		k, lines := 0, 0
		for k < len(groups) && (k == 0 || lines+len(groups[k]) <= forestLimit) {
			lines += len(groups[k])
			k++
		}
		out = append(out, drawForest(s, groups[:k], scale{lo: lo, hi: hi}, narrow, len(out)))
		groups = groups[k:]
	}
	return out
}

// overheadDomain is the range of an axis of overheads: all estimates,
// published values and zero, and the intervals as far as they do not flatten
// the rest; what is cut off is drawn with an arrow.
func overheadDomain(rows []result.Row) (lo, hi float64) {
	var l, h float64
	for _, r := range rows {
		if p := r.Published; p != nil {
			lo, hi = min(lo, p.OverheadPct), max(hi, p.OverheadPct)
		}
		if iv := r.OverheadPct; iv != nil {
			lo, hi = min(lo, iv.Est), max(hi, iv.Est)
			l, h = min(l, iv.Lo), max(h, iv.Hi)
		}
	}
	slack := max(hi-lo, 1)
	lo, hi = max(min(l, lo), lo-slack), min(max(h, hi), hi+slack)
	pad := max((hi-lo)*0.04, 0.3)
	return lo - pad, hi + pad
}

func drawForest(s *result.Summary, groups [][]result.Row, x scale, narrow bool, index int) template.HTML {
	f := &forest{s: s, n: namingOf(s), narrow: narrow}
	f.width, f.x = 760, scale{lo: x.lo, hi: x.hi, from: 120, to: 615}
	id, class := fmt.Sprintf("forest-%d", index), "chart wide"
	if narrow {
		f.width, f.x = panelWidth, scale{lo: x.lo, hi: x.hi, from: 6, to: panelWidth - 6}
		id, class = fmt.Sprintf("forest-n%d", index), "chart narrow"
	}
	f.height = 26
	for _, g := range groups {
		f.height += f.groupHeight(g)
	}
	f.height += 40
	f.axis()
	f.y = 26
	for _, g := range groups {
		f.place(g)
	}
	return f.svg(id, class, "Overhead of each variant with its 95 % interval",
		fmt.Sprintf("%s around a zero line. Points to the right of zero mean the variant is slower. Diamonds are published values. The figures are in the table of results.",
			plural(len(slices.Concat(groups...)), "comparison")))
}

// Heights of the parts of a group, in pixels.
const (
	headLine     = 16
	controlLabel = "A/A control"
	forestLine   = 26
	forestTall   = 40 // a line of the narrow form, label above
)

func (f *forest) lineHeight() float64 {
	if f.narrow {
		return forestTall
	}
	return forestLine
}

// headLines breaks the heading of a group to the width of the picture.
func (f *forest) headLines(g []result.Row) []string {
	n := int(f.width / headChar)
	var lines []string
	for l := range strings.SplitSeq(wrap(f.n.workload(g[0]), n, ""), "\n") {
		lines = append(lines, fit(l, f.width, headChar))
	}
	return lines
}

func (f *forest) groupHeight(g []result.Row) float64 {
	n := float64(len(g))
	if _, ok := control(f.s, placeOf(g[0])); ok {
		n++
	}
	return float64(len(f.headLines(g)))*headLine + n*f.lineHeight() + 20
}

// axis draws grid, zero line and labels over the full height.
func (f *forest) axis() {
	n := 8
	if f.narrow {
		n = 5
	}
	step := niceStep(f.x.hi-f.x.lo, n)
	bottom := f.height - 36
	for _, t := range f.x.ticks(n) {
		class := "grid"
		if math.Abs(t) < step/1e6 {
			class = "zero"
		}
		f.line(class, f.x.at(t), 22, f.x.at(t), bottom)
		f.text("tick", middle, f.x.at(t), bottom+15, tickLabel(t, step))
	}
	f.text("axis", middle, (f.x.from+f.x.to)/2, bottom+31, "throughput lost, % — right of zero is slower")
	z := f.x.at(0)
	if z-f.x.from > 50 {
		f.text("axis", end, z-6, 14, "← faster")
	}
	f.text("axis", start, z+6, 14, "slower →")
}

// place draws one place: heading, the band of its A/A control, its lines.
func (f *forest) place(g []result.Row) {
	aa, hasAA := control(f.s, placeOf(g[0]))
	height, heads := f.groupHeight(g), f.headLines(g)
	top := float64(len(heads))*headLine + 12
	f.line("rule", 0, f.y+2, f.width, f.y+2)
	if hasAA {
		a, _ := f.x.clamp(aa.OverheadPct.Lo)
		b, _ := f.x.clamp(aa.OverheadPct.Hi)
		f.rect("band", a, f.y+top-2, b-a, height-top-4)
	}
	for _, l := range heads {
		f.text("head", start, 0, f.y+20, l)
		f.y += headLine
	}
	f.y += 12
	for _, r := range g {
		f.row(r, clean(r.Variant))
	}
	if hasAA {
		f.row(aa, controlLabel)
	}
	f.y += 8
}

// row draws one comparison.
func (f *forest) row(r result.Row, label string) {
	mid := f.y + forestLine/2
	value := "no estimate"
	if r.OverheadPct != nil {
		value = pct(r.OverheadPct.Est) + " (" + span(*r.OverheadPct) + ")"
	}
	class := "label"
	if isControl(r) {
		class = "control"
	}
	f.canvas.group("row", forestTitle(f.n, r))
	if f.narrow {
		f.text(class, start, 6, f.y+13, fit(label, f.width-160, labelChar))
		f.text("value", end, f.width-6, f.y+13, value)
		mid = f.y + 27
	} else {
		f.text(class, start, 0, mid+4, fit(label, f.x.from, labelChar))
		f.text("value", end, f.width, mid+4, value)
	}
	f.interval(r, mid)
	f.ungroup()
	f.y += f.lineHeight()
}

// interval draws the detectable band, the interval, the published diamond and
// the point, in this order, so that the point is never hidden.
func (f *forest) interval(r result.Row, y float64) {
	if r.MDEPct != nil && !isControl(r) {
		a, _ := f.x.clamp(-*r.MDEPct)
		b, _ := f.x.clamp(*r.MDEPct)
		f.rect("mde", a, y-4, b-a, 8)
	}
	class := "est"
	if isControl(r) {
		class = "base"
	}
	if iv := r.OverheadPct; iv != nil {
		a, cutA := f.x.clamp(iv.Lo)
		b, cutB := f.x.clamp(iv.Hi)
		f.line(class+" whisker", a, y, b, y)
		f.whiskerEnd(class, a, y, cutA, -1)
		f.whiskerEnd(class, b, y, cutB, 1)
	}
	if r.Published != nil {
		x, _ := f.x.clamp(r.Published.OverheadPct)
		f.diamond("pub", x, y, 6)
	}
	if iv := r.OverheadPct; iv != nil {
		x, _ := f.x.clamp(iv.Est)
		if isControl(r) {
			f.rect(class+" mark hollow", x-4, y-4, 8, 8)
		} else {
			f.circle(class+" mark", x, y, 4.5)
		}
	}
}

// whiskerEnd is a small bar, or an arrow where the interval leaves the axis.
func (f *forest) whiskerEnd(class string, x, y float64, cut bool, dir float64) {
	if cut {
		f.path(class+" arrow", fmt.Sprintf("M%s %sL%s %sL%s %sZ", px(x), px(y), px(x-7*dir), px(y-4), px(x-7*dir), px(y+4)))
		return
	}
	f.line(class+" whisker", x, y-4, x, y+4)
}

func isControl(r result.Row) bool { return r.Variant == r.Baseline }

func forestTitle(n naming, r result.Row) string {
	t := clean(r.Variant) + " against " + clean(r.Baseline) + ", " + n.workload(r) + ": "
	if r.OverheadPct == nil {
		return t + whyAbsent(r)
	}
	t += pct(r.OverheadPct.Est) + " % (95 % interval " + span(*r.OverheadPct) + "), " + plural(r.Quads, "quad")
	if r.MDEPct != nil {
		t += ", smallest detectable " + pct(*r.MDEPct) + " %"
	}
	if r.Published != nil {
		t += ", published " + pct(r.Published.OverheadPct) + " % (" + clean(r.Published.Study) + ")"
	}
	return t
}
