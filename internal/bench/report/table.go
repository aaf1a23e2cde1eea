package report

import (
	"io"
	"strings"
	"unicode/utf8"
)

// An align is the side a column's text keeps to.
type align bool

const (
	left  align = false
	right align = true
)

type column struct {
	head  string
	align align
}

// A table lays out rows in aligned columns for a terminal. Widths are counted
// in runes: cells hold no wide or combining characters, see clean.
type table struct {
	cols   []column
	rows   [][]string
	styles []string // of the row, an SGR sequence or ""
	gap    int
	last   bool // to be written even if too wide
}

// section adds a heading line of its own.
func (t *table) section(heading string) { t.add(sgrBold, heading) }

func (t *table) add(style string, cells ...string) {
	t.rows = append(t.rows, cells)
	t.styles = append(t.styles, style)
}

func (t *table) widths() []int {
	w := make([]int, len(t.cols))
	for i, c := range t.cols {
		w[i] = utf8.RuneCountInString(c.head)
	}
	for _, r := range t.rows {
		if len(r) == 1 && len(t.cols) > 1 {
			continue // a section
		}
		for i, cell := range r {
			w[i] = max(w[i], utf8.RuneCountInString(cell))
		}
	}
	return w
}

// width is that of the whole table.
func (t *table) width() int {
	n := t.gap * (len(t.cols) - 1)
	for _, w := range t.widths() {
		n += w
	}
	return n
}

func (t *table) write(w io.Writer, ink ink) {
	widths := t.widths()
	heads := make([]string, len(t.cols))
	for i, c := range t.cols {
		heads[i] = c.head
	}
	io.WriteString(w, ink.paint(sgrDim, t.line(heads, widths))+"\n")
	for i, r := range t.rows {
		io.WriteString(w, ink.paint(t.styles[i], t.line(r, widths))+"\n")
	}
}

func (t *table) line(cells []string, widths []int) string {
	if len(cells) == 1 {
		return cells[0]
	}
	var b strings.Builder
	for i, cell := range cells {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", t.gap))
		}
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if t.cols[i].align == right {
			b.WriteString(pad + cell)
		} else {
			b.WriteString(cell + pad)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// SGR sequences of the few styles the text report uses.
const (
	sgrBold   = "\x1b[1m"
	sgrDim    = "\x1b[2m"
	sgrYellow = "\x1b[33m"
	sgrRed    = "\x1b[31m"
	sgrGreen  = "\x1b[32m"
	sgrReset  = "\x1b[0m"
)

// ink paints, or leaves text as it is when colours are off.
type ink bool

func (on ink) paint(style, s string) string {
	if !on || style == "" {
		return s
	}
	return style + s + sgrReset
}

// wrap breaks text at spaces to lines of at most width runes; lines after the
// first are indented. No-break spaces hold and become plain ones.
func wrap(text string, width int, indent string) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Split(text, " ") {
		l := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case n+1+l > width:
			b.WriteString("\n" + indent)
			n = utf8.RuneCountInString(indent)
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(strings.ReplaceAll(word, "\u00a0", " "))
		n += l
	}
	return b.String()
}
