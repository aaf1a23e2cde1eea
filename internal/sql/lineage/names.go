package lineage

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// A match says whether two names are the same for the server.
type match byte

const (
	no match = iota
	yes
	perhaps // the server ignores accents in some places; we do not know all of them
)

// sameColumn compares names of columns, whose case does not count.
func sameColumn(a, b string) match {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x|y >= utf8.RuneSelf {
			return sameRunes(a[i:], b[i:])
		}
		if x != y && lower(x) != lower(y) {
			return no
		}
	}
	if len(a) == len(b) {
		return yes
	}
	if longer := a[n:] + b[n:]; longer[0] >= utf8.RuneSelf && unicode.IsMark(first(longer)) {
		return perhaps
	}
	return no
}

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// sameRunes is sameColumn for names with letters beyond ASCII.
func sameRunes(a, b string) match {
	got := yes
	for len(a) > 0 && len(b) > 0 {
		x, n := utf8.DecodeRuneInString(a)
		y, m := utf8.DecodeRuneInString(b)
		a, b = a[n:], b[m:]
		switch {
		case x == y:
		case x < utf8.RuneSelf && y < utf8.RuneSelf:
			if lower(byte(x)) != lower(byte(y)) {
				return no
			}
		case unicode.ToLower(x) == unicode.ToLower(y):
		default:
			got = perhaps
		}
	}
	if len(a) != len(b) {
		return no
	}
	return got
}

// given is what the server makes of a name that a statement gives a result: blanks
// and control characters before it are dropped, and all beyond 255 bytes, which is
// taken for a name that is not known.
func given(name string) string {
	for name != "" && (name[0] <= ' ' || name[0] == 0x7f) {
		name = name[1:]
	}
	if len(name) > maxGiven {
		return ""
	}
	return name
}

const maxGiven = 255

// replaced takes names that no column of a table can have for not known. In the
// result of a query of WITH, and for ORDER BY of its set operations, the server
// puts others (Name_exp_1) in place of those that are not given there.
func replaced(cols []column) []column {
	odd := func(c column) bool {
		n := len(c.name)
		return c.text || n > 0 && (c.name[n-1] <= ' ' || utf8.RuneCountInString(c.name) > maxName)
	}
	if !slices.ContainsFunc(cols, odd) {
		return cols
	}
	cols = slices.Clone(cols)
	for i := range cols {
		if odd(cols[i]) {
			cols[i].name, cols[i].text = "", false
		}
	}
	return cols
}

// maxName is how many characters the name of a column of a table can have.
const maxName = 64

// sameTable compares names of tables and aliases.
func (a *analysis) sameTable(x, y string) match {
	if a.fold {
		return sameColumn(x, y)
	}
	if x == y {
		return yes
	}
	return no
}
