package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// A canvas collects the elements of one SVG picture. Coordinates are in CSS
// pixels from the top left; colours come from classes the page's style defines,
// so that a picture follows the light or dark theme and prints.
type canvas struct {
	b             strings.Builder
	width, height float64
}

// px prints a coordinate with at most one decimal.
func px(x float64) string {
	return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
}

// escape makes any string safe inside SVG text and attributes.
func escape(s string) string { return html.EscapeString(clean(s)) }

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&c.b, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, px(x1), px(y1), px(x2), px(y2))
}

func (c *canvas) rect(class string, x, y, w, h float64) {
	fmt.Fprintf(&c.b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, px(x), px(y), px(max(w, 0)), px(h))
}

func (c *canvas) circle(class string, x, y, r float64) {
	fmt.Fprintf(&c.b, `<circle class="%s" cx="%s" cy="%s" r="%s"/>`, class, px(x), px(y), px(r))
}

// path draws a path with the given SVG path data.
func (c *canvas) path(class, d string) { fmt.Fprintf(&c.b, `<path class="%s" d="%s"/>`, class, d) }

func (c *canvas) diamond(class string, x, y, r float64) {
	c.path(class, fmt.Sprintf("M%s %sL%s %sL%s %sL%s %sZ", px(x), px(y-r), px(x+r), px(y), px(x), px(y+r), px(x-r), px(y)))
}

// Anchors of text.
const (
	start  = "start"
	middle = "middle"
	end    = "end"
)

func (c *canvas) text(class, anchor string, x, y float64, s string) {
	fmt.Fprintf(&c.b, `<text class="%s" text-anchor="%s" x="%s" y="%s">%s</text>`, class, anchor, px(x), px(y), minus(escape(s)))
}

// group opens a group whose title browsers show as a tooltip and screen
// readers speak; close it with end.
func (c *canvas) group(class, title string) {
	fmt.Fprintf(&c.b, `<g class="%s"><title>%s</title>`, class, minus(escape(title)))
}

func (c *canvas) ungroup() { c.b.WriteString("</g>") }

// svg returns the picture. The id must be unique in the page; title names the
// picture and desc says in a sentence what it shows.
func (c *canvas) svg(id, class, title, desc string) template.HTML {
	return template.HTML(fmt.Sprintf(
		`<svg id="%[1]s" class="%[2]s" role="img" aria-labelledby="%[1]s-t %[1]s-d" viewBox="0 0 %[3]s %[4]s" width="%[3]s" height="%[4]s"><title id="%[1]s-t">%[5]s</title><desc id="%[1]s-d">%[6]s</desc>%[7]s</svg>`,
		id, class, px(c.width), px(c.height), minus(escape(title)), minus(escape(desc)), c.b.String()))
}

// Widths of a character in pixels, generous enough for the fonts the style
// names, at the size its class has.
const (
	labelChar = 7.4 // class label, monospaced
	headChar  = 9.0 // class head, bold
)

// fit shortens s to the given width in pixels.
func fit(s string, width, char float64) string {
	r := []rune(clean(s))
	if n := int(width / char); len(r) > n {
		return string(r[:max(n-1, 0)]) + "…"
	}
	return string(r)
}

// minus replaces hyphens before digits by the minus sign, for reading.
func minus(s string) string {
	if !strings.Contains(s, "-") {
		return s
	}
	out := []rune(s)
	for i, r := range out {
		if r == '-' && i+1 < len(out) && '0' <= out[i+1] && out[i+1] <= '9' && (i == 0 || strings.ContainsRune(" ([;±+", out[i-1]) || out[i-1] == '\u00a0') {
			out[i] = '−'
		}
	}
	return string(out)
}

// A scale maps values lo..hi to pixels from..to.
type scale struct {
	lo, hi   float64
	from, to float64
	log      bool
}

func (s scale) at(x float64) float64 {
	lo, hi := s.lo, s.hi
	if s.log {
		x, lo, hi = math.Log(x), math.Log(lo), math.Log(hi)
	}
	if hi == lo {
		return s.from
	}
	return s.from + (x-lo)/(hi-lo)*(s.to-s.from)
}

// clamp is at, kept within the ends; out reports whether it had to be.
func (s scale) clamp(x float64) (p float64, out bool) {
	p = s.at(x)
	a, b := min(s.from, s.to), max(s.from, s.to)
	return min(max(p, a), b), p < a-0.5 || p > b+0.5
}

// ticks returns round values inside the scale, at most n+1 of them.
func (s scale) ticks(n int) []float64 {
	step := niceStep(s.hi-s.lo, n)
	var out []float64
	for i := math.Ceil(s.lo/step - 1e-9); i*step <= s.hi+step*1e-9; i++ {
		out = append(out, i*step+0) // +0 turns -0 into 0
	}
	return out
}

// niceStep is the smallest of 1, 2, 5 times a power of ten that divides the
// range into at most n parts.
func niceStep(length float64, n int) float64 {
	if !(length > 0) || n < 1 {
		return 1
	}
	p := math.Pow(10, math.Floor(math.Log10(length/float64(n))))
	for _, m := range []float64{1, 2, 5, 10} {
		if length/(p*m) <= float64(n)+1e-9 {
			return p * m
		}
	}
	return p * 10
}

// tickLabel prints a tick of the given step without needless decimals.
func tickLabel(x, step float64) string {
	n := 0
	for n < 6 && math.Abs(step-math.Round(step*math.Pow10(n))/math.Pow10(n)) > step*1e-6 {
		n++
	}
	return decimal(x, n)
}
