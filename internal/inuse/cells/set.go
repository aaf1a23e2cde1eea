package cells

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A Set is a list of protected columns. It is immutable and safe for
// concurrent use.
//
// Its text form has one pattern a line, [database.]table.column; # starts a
// comment. Each name may hold * for any run of characters, and may stand in
// double quotes, "" for one quote, where * and . are plain characters. A
// pattern without a database matches in every database.
type Set struct {
	patterns []pattern
	exact    map[Column]bool // patterns without database and without *
	wild     []pattern       // all others
}

type pattern struct {
	text     string
	database glob // empty: any
	table    glob
	column   glob
}

// NewSet returns the set of the given patterns. It fails with ErrSyntax.
func NewSet(patterns ...string) (*Set, error) {
	s := &Set{exact: map[Column]bool{}}
	for _, text := range patterns {
		p, err := parsePattern(text)
		if err != nil {
			return nil, err
		}
		s.add(p)
	}
	return s, nil
}

// ReadSet reads a set in its text form. It fails with ErrSyntax, naming the
// line, and when the text names no column at all: an empty list is more
// likely an accident than a wish.
func ReadSet(r io.Reader) (*Set, error) {
	s := &Set{exact: map[Column]bool{}}
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		text := strings.TrimSpace(stripComment(sc.Text()))
		if text == "" {
			continue
		}
		p, err := parsePattern(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		s.add(p)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("read columns: %w", err)
	}
	if len(s.patterns) == 0 {
		return nil, fmt.Errorf("read columns: %w: no line names a column", ErrSyntax)
	}
	return s, nil
}

func (s *Set) add(p pattern) {
	s.patterns = append(s.patterns, p)
	if p.database == nil && p.table.literal() && p.column.literal() {
		s.exact[Column{Table: p.table[0], Column: p.column[0]}] = true
		return
	}
	s.wild = append(s.wild, p)
}

// Has reports whether c is protected. A column whose database is not known
// matches patterns of every database.
func (s *Set) Has(c Column) bool {
	c = c.fold()
	if s.exact[Column{Table: c.Table, Column: c.Column}] {
		return true
	}
	for i := range s.wild {
		if s.wild[i].match(c) {
			return true
		}
	}
	return false
}

// HasTable reports whether any column of the table can be protected.
func (s *Set) HasTable(database, table string) bool {
	database, table = strings.ToLower(database), strings.ToLower(table)
	for i := range s.patterns {
		if s.patterns[i].matchTable(database, table) {
			return true
		}
	}
	return false
}

// Len returns the number of patterns.
func (s *Set) Len() int { return len(s.patterns) }

// Patterns returns the patterns as they were written.
func (s *Set) Patterns() []string {
	out := make([]string, len(s.patterns))
	for i, p := range s.patterns {
		out[i] = p.text
	}
	return out
}

// Unmatched returns the patterns that match no column of schema: a misspelt
// name protects nothing, and whoever knows the schema should say so.
func (s *Set) Unmatched(schema []Column) []string {
	var out []string
	for i := range s.patterns {
		matched := false
		for _, c := range schema {
			if matched = s.patterns[i].match(c.fold()); matched {
				break
			}
		}
		if !matched {
			out = append(out, s.patterns[i].text)
		}
	}
	return out
}

func (p *pattern) match(c Column) bool {
	return p.matchTable(c.Database, c.Table) && p.column.match(c.Column)
}

func (p *pattern) matchTable(database, table string) bool {
	return (p.database == nil || database == "" || p.database.match(database)) && p.table.match(table)
}

// A glob is a folded name cut at its stars: n+1 literal parts for n stars.
type glob []string

func (g glob) literal() bool { return len(g) == 1 }

func (g glob) match(s string) bool {
	if g.literal() {
		return s == g[0]
	}
	s, ok := strings.CutPrefix(s, g[0])
	if !ok {
		return false
	}
	for _, part := range g[1 : len(g)-1] {
		_, s, ok = strings.Cut(s, part)
		if !ok {
			return false
		}
	}
	return strings.HasSuffix(s, g[len(g)-1])
}

func parsePattern(text string) (pattern, error) {
	p := pattern{text: text}
	var names []glob
	for rest := text; ; {
		g, tail, err := cutName(rest)
		if err != nil {
			return p, fmt.Errorf("%w: %q: %w", ErrSyntax, text, err)
		}
		names = append(names, g)
		if tail == "" {
			break
		}
		if tail[0] != '.' {
			return p, fmt.Errorf("%w: %q: text after a quoted name", ErrSyntax, text)
		}
		rest = tail[1:]
	}
	switch len(names) {
	case 2:
		p.table, p.column = names[0], names[1]
	case 3:
		p.database, p.table, p.column = names[0], names[1], names[2]
	default:
		return p, fmt.Errorf("%w: %q: want table.column or database.table.column", ErrSyntax, text)
	}
	return p, nil
}

// cutName cuts the first name off s. The tail is empty or starts behind it.
func cutName(s string) (g glob, tail string, err error) {
	if !strings.HasPrefix(s, `"`) {
		name := s
		if i := strings.IndexByte(s, '.'); i >= 0 {
			name, tail = s[:i], s[i:]
		}
		switch {
		case name == "":
			return nil, "", errors.New("empty name")
		case strings.ContainsAny(name, " \t\"'`,;"):
			return nil, "", errors.New("a name with such characters must stand in double quotes")
		}
		return strings.Split(strings.ToLower(name), "*"), tail, nil
	}
	var name strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '"' {
			name.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '"' {
			name.WriteByte('"')
			i++
			continue
		}
		if name.Len() == 0 {
			return nil, "", errors.New("empty name")
		}
		return glob{strings.ToLower(name.String())}, s[i+1:], nil
	}
	return nil, "", errors.New("quote without end")
}

// stripComment cuts a line at the first # outside double quotes.
func stripComment(line string) string {
	quoted := false
	for i := range len(line) {
		switch line[i] {
		case '"':
			quoted = !quoted
		case '#':
			if !quoted {
				return line[:i]
			}
		}
	}
	return line
}
