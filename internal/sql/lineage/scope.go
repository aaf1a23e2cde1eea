package lineage

import (
	"unicode/utf8"

	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/sqlast"
)

// A column is a column of a relation.
type column struct {
	name   string // "" if it is not known what the server calls it
	text   bool   // it is an expression, which the server calls by its text, or by of
	of     string // the column that all of the expression is about, "" for none
	labels Labels
	base   *baseColumn // whose values it shows unchanged, nil for others
	hidden bool        // not in *
	// tells: whether a value is NULL depends on protected values, and not only on
	// which of them are NULL. The client sees which values are NULL.
	tells bool
	src   *source // in a select list: of which FROM has it, nil for expressions
	node  *Node
}

// A baseColumn is a column of a table.
type baseColumn struct {
	schema.Column
	kind  string // type
	table *schema.Table
}

// A source is a table or query in FROM. Its columns may be shared and are never
// changed.
type source struct {
	database string // "" if it has none
	name     string // alias, or name of the table; "" for none
	table    *schema.Table
	columns  []column
}

// A rel is what FROM, or a part of it, makes: its sources, and its columns in the
// order of *.
type rel struct {
	sources []*source
	star    []starColumn
	unnamed bool // some column has no name we know
}

// A starColumn is a column of a rel. One that USING has made of two has no
// source.
type starColumn struct {
	*column
	src *source
}

// maxColumns is how many columns a rel can have.
const maxColumns = 1 << 13

func newRel(s *source) *rel {
	r := &rel{sources: []*source{s}, star: make([]starColumn, 0, len(s.columns))}
	for i := range s.columns {
		c := &s.columns[i]
		if !c.hidden {
			r.star = append(r.star, starColumn{c, s})
		}
		r.unnamed = r.unnamed || c.name == ""
	}
	return r
}

// A scope is where names are looked up: in a rel, then in the results that have
// been named, then outside.
type scope struct {
	outer *scope
	rel   *rel
	// results are the columns of the select list, as far as they are known.
	// Queries inside see them, and with direct, expressions here too.
	results []column
	direct  bool
	ctes    *ctes
}

// A found is what a name means.
type found struct {
	labels Labels
	base   *baseColumn
	src    *source // nil if there is not one
	tells  bool    // see column
	node   *Node
}

// lookup finds what a column's name means. What cannot be found, or not with
// certainty, refuses the statement. Where the server may see one of several,
// all of them count.
func (a *analysis) lookup(c *sqlast.Column, sc *scope) found {
	var also found // what it may mean besides
	some := false
	add := func(f found) {
		also.labels, also.tells, also.node, some = also.labels.Union(f.labels), also.tells || f.tells, f.node, true
	}
	for s := sc; s != nil; s = s.outer {
		sees := c.Table == "" && len(s.results) > 0 && (s != sc || s.direct)
		if s.rel != nil {
			f, n := a.lookupRel(c, s.rel)
			if n > 1 {
				a.refuse(refuseColumn)
				return found{}
			}
			if n == 1 && s.direct && sees {
				if r, ok := a.lookupResults(c.Name, s.results); ok && (r.base == nil || r.base != f.base) {
					add(r)
				}
				if r, ok := unnamedResults(c.Name, s.results); ok {
					add(r)
				}
			}
			if n == 1 {
				if some {
					return found{labels: f.labels.Union(also.labels), tells: f.tells || also.tells, node: f.node}
				}
				return f
			}
			if s.rel.unnamed {
				if l, ok := a.unnamed(c, s.rel); ok {
					add(found{labels: l, tells: true})
				}
			}
		}
		if sees {
			if r, ok := a.lookupResults(c.Name, s.results); ok {
				add(r)
			}
			if r, ok := unnamedResults(c.Name, s.results); ok {
				add(r)
			}
		}
	}
	if !some {
		a.refuse(refuseColumn)
	}
	return also
}

// lookupRel finds a column in a rel and says how many there are.
func (a *analysis) lookupRel(c *sqlast.Column, r *rel) (f found, n int) {
	hit := func(col *column, src *source) {
		switch sameColumn(col.name, c.Name) {
		case yes:
			n++
			f = found{col.labels, col.base, src, col.tells, col.node}
		case perhaps:
			n += 2
		}
	}
	if c.Table == "" {
		for _, sc := range r.star {
			hit(sc.column, sc.src)
		}
		for _, s := range r.sources {
			for i := range s.columns {
				if s.columns[i].hidden {
					hit(&s.columns[i], s)
				}
			}
		}
		return f, n
	}
	for _, s := range r.sources {
		if a.names(s, c.Database, c.Table) {
			for i := range s.columns {
				hit(&s.columns[i], s)
			}
		}
	}
	return f, n
}

// names reports whether database.name can mean a source.
func (a *analysis) names(s *source, database, name string) bool {
	return s.name != "" && a.sameTable(s.name, name) != no && (database == "" || s.database != "" && a.sameTable(s.database, database) != no)
}

// unnamed returns the labels of columns a name could mean because theirs are not
// known.
func (a *analysis) unnamed(c *sqlast.Column, r *rel) (l Labels, any bool) {
	for _, s := range r.sources {
		if c.Table != "" && !a.names(s, c.Database, c.Table) {
			continue
		}
		for i := range s.columns {
			if s.columns[i].name == "" {
				l, any = l.Union(s.columns[i].labels), true
			}
		}
	}
	return l, any
}

// lookupResults finds a name in a select list. Of several, all count.
func (a *analysis) lookupResults(name string, results []column) (f found, ok bool) {
	for i := range results {
		r := &results[i]
		if r.name == "" || sameColumn(r.name, name) == no {
			continue
		}
		if !ok {
			f = found{labels: r.labels, base: r.base, src: r.src, tells: r.tells, node: r.node}
		} else {
			f = found{labels: f.labels.Union(r.labels), tells: f.tells || r.tells, node: f.node}
		}
		ok = true
	}
	return f, ok
}

// unnamedResults returns the labels of results a name could mean because theirs are
// not known, and whether there are any. The text of an expression with labels is no
// plain word, but the server drops what changes nothing, as in +a.
func unnamedResults(name string, results []column) (f found, ok bool) {
	word := len(name) <= maxName
	for _, c := range []byte(name) {
		word = word && (c >= utf8.RuneSelf || c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'z')
	}
	for i := range results {
		if r := &results[i]; r.name == "" && (!r.text || !word || sameColumn(r.of, name) != no) {
			f = found{labels: f.labels.Union(r.labels), tells: true}
		}
	}
	return f, len(f.labels) > 0
}

// ctes are the named queries of a WITH that can be seen.
type ctes struct {
	outer *ctes
	list  []*cte
}

// A cte is a named query.
type cte struct {
	name    string
	columns []column
	known   bool // columns are; false while a recursive one is being found out
}

func (c *ctes) find(name string) (*cte, bool) {
	for ; c != nil; c = c.outer {
		for i := len(c.list) - 1; i >= 0; i-- {
			switch sameColumn(c.list[i].name, name) {
			case yes:
				return c.list[i], true
			case perhaps:
				return nil, true
			}
		}
	}
	return nil, false
}
