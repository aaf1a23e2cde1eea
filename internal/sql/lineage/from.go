package lineage

import (
	"regexp"
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/sqlast"
)

// lefts are what stands to the left in FROM, which LATERAL and JSON_TABLE see.
type lefts struct {
	before *lefts
	rel    *rel
}

// from returns what a part of FROM makes. sc is the scope around the query.
func (a *analysis) from(t sqlast.TableRef, sc *scope, left *lefts) *rel {
	switch t := t.(type) {
	case *sqlast.TableName:
		return a.table(t, sc)
	case *sqlast.Derived:
		outer := sc
		if t.Lateral {
			outer = a.lateral(sc, left)
		}
		cols := a.titled(t.Query, t.Columns, outer)
		return newRel(&source{name: t.Alias, columns: cols})
	case *sqlast.JSONTable:
		v := a.value(t.Doc, a.lateral(sc, left))
		a.use(useOther, v.labels) // how many rows come out depends on it
		s := &source{name: t.Alias}
		for _, c := range t.Columns {
			col := column{name: c.Name, labels: v.labels, tells: true, node: v.node}
			if c.Ordinal {
				col.labels = a.minded(v.labels)
			}
			s.columns = append(s.columns, col)
		}
		return newRel(s)
	case *sqlast.Join:
		return a.joins(t, sc, left)
	}
	a.refuse(refuseForm)
	return &rel{}
}

// lateral is the scope around a query that sees what is to its left.
func (a *analysis) lateral(sc *scope, left *lefts) *scope {
	all := &rel{}
	for ; left != nil; left = left.before {
		all = cross(left.rel, all)
	}
	return &scope{outer: sc.outer, ctes: sc.ctes, rel: all}
}

// cross puts two rels side by side.
func cross(l, r *rel) *rel {
	out := &rel{unnamed: l.unnamed || r.unnamed}
	out.sources = append(append(make([]*source, 0, len(l.sources)+len(r.sources)), l.sources...), r.sources...)
	out.star = append(append(make([]starColumn, 0, len(l.star)+len(r.star)), l.star...), r.star...)
	return out
}

// table returns the rel of a table or a query named by WITH.
func (a *analysis) table(n *sqlast.TableName, sc *scope) *rel {
	if n.Database == "" {
		if c, ok := sc.ctes.find(n.Table); ok {
			return a.cte(c, n)
		}
	}
	t := a.find(n)
	if t == nil {
		return &rel{}
	}
	s := &source{database: t.Database, name: n.Table, table: t, columns: a.columns(t)}
	if n.Alias != "" {
		s.name = n.Alias
	}
	if len(s.columns) == 0 {
		a.refuse(refuseTable)
	}
	a.narrows(n, s)
	return newRel(s)
}

// narrows refuses names of partitions with a table that has columns whose rules mind,
// and hints that may lead the server to indexes of such columns: which rows are there,
// and in which order, would tell.
func (a *analysis) narrows(n *sqlast.TableName, s *source) {
	indexes := slices.Clone(n.Indexes)
	if n.Shunned && s.table != nil { // the server may take any other
		for _, k := range s.table.Keys {
			indexes = append(indexes, k.Name)
		}
	}
	if !n.Narrowed && !n.Shunned && indexes == nil {
		return
	}
	for i := range s.columns {
		if len(a.minded(s.columns[i].labels)) > 0 && (n.Narrowed || !s.indexed(indexes, &s.columns[i])) {
			a.refuse(refuseNarrow)
		}
	}
}

// indexed reports whether all of the indexes named, and the primary key, which the
// server adds to others, are known and none has the column c.
func (s *source) indexed(indexes []string, c *column) bool {
	if s.table == nil {
		return false
	}
	for _, name := range indexes {
		known := false
		for _, k := range s.table.Keys {
			if !strings.EqualFold(k.Name, name) && !strings.EqualFold(k.Name, "PRIMARY") {
				continue
			}
			known = known || strings.EqualFold(k.Name, name)
			for _, col := range k.Columns {
				if col == "" || sameColumn(col, c.name) != no {
					return false
				}
			}
		}
		if !known {
			return false
		}
	}
	return true
}

func (a *analysis) cte(c *cte, n *sqlast.TableName) *rel {
	switch {
	case c == nil:
		a.refuse(refuseTable)
		return &rel{}
	case !c.known && a.rounds:
		a.pending = true
		return &rel{}
	case !c.known:
		a.refuse(refuseForm)
		return &rel{}
	}
	s := &source{name: n.Table, columns: c.columns}
	if n.Alias != "" {
		s.name = n.Alias
	}
	return newRel(s)
}

// find finds a table of the catalog, or refuses.
func (a *analysis) find(n *sqlast.TableName) *schema.Table {
	name := schema.TableName{Database: n.Database, Table: n.Table}
	if name.Database == "" {
		name.Database = a.session.Database
	}
	t := a.catalog.Table(name)
	if t == nil && a.catalog.Server.MariaDB && numbers.MatchString(name.Table) {
		t = &schema.Table{TableName: name, Kind: schema.System, Engine: "SEQUENCE", Columns: []schema.TableColumn{{Name: "seq", Type: "bigint(20) unsigned"}}}
	}
	if t == nil || name.Database == "" {
		a.refuse(refuseTable)
		return nil
	}
	return t
}

// numbers matches the names of tables that MariaDB makes up where there is none:
// numbers from one to another.
var numbers = regexp.MustCompile(`^seq_[0-9]{1,19}_to_[0-9]{1,19}(_step_[0-9]{1,19})?$`)

// joins returns the rel of a join.
func (a *analysis) joins(j *sqlast.Join, sc *scope, left *lefts) *rel {
	l := a.from(j.Left, sc, left)
	r := a.from(j.Right, sc, &lefts{left, l})
	if a.refusal != nil || a.pending {
		return &rel{}
	}
	if len(l.star)+len(r.star) > maxColumns {
		a.refuse(refuseForm)
		return &rel{}
	}
	out := cross(l, r)
	if j.Natural || j.Using != nil {
		out.star = a.coalesce(j, l, r)
	}
	if j.On != nil {
		wasOutput := a.output
		a.output = false
		a.condition(j.On, &scope{outer: sc.outer, ctes: sc.ctes, rel: out})
		a.output = wasOutput
	}
	return out
}

// coalesce returns the columns of a join by USING or NATURAL in the server's
// order: what is shared, in the order of the side whose rows all appear, then the
// rest of that side, then the rest of the other.
func (a *analysis) coalesce(j *sqlast.Join, l, r *rel) []starColumn {
	if l.unnamed || r.unnamed {
		a.refuse(refuseForm)
		return nil
	}
	first, second := l.star, r.star
	if j.Kind == sqlast.RightJoin {
		first, second = r.star, l.star
	}
	used := make([]bool, len(second))
	var shared, rest []starColumn
	for _, f := range first {
		at := a.partner(j, f.name, second)
		if at < 0 {
			rest = append(rest, f)
			continue
		}
		if used[at] || a.hides(l, f.name) || a.hides(r, f.name) {
			a.refuse(refuseColumn)
			return nil
		}
		used[at] = true
		s := second[at]
		both := f.labels.Union(s.labels)
		if len(both) > 0 {
			a.note(both)
			a.use(useJoin, both)
		}
		shared = append(shared, starColumn{&column{name: f.name, labels: both, tells: f.tells || s.tells, node: a.join("joined column", f.node, s.node)}, nil})
	}
	for _, u := range j.Using {
		n := 0
		for _, s := range shared {
			if sameColumn(s.name, u) == yes {
				n++
			}
		}
		if n != 1 {
			a.refuse(refuseColumn)
			return nil
		}
	}
	out := append(shared, rest...)
	for i, s := range second {
		if !used[i] {
			out = append(out, s)
		}
	}
	return out
}

// partner returns the column that a join makes one with the column name, -1 for
// none.
func (a *analysis) partner(j *sqlast.Join, name string, among []starColumn) int {
	wanted := j.Natural
	for _, u := range j.Using {
		switch sameColumn(u, name) {
		case yes:
			wanted = true
		case perhaps:
			a.refuse(refuseColumn)
		}
	}
	at := -1
	for i, s := range among {
		m := sameColumn(s.name, name)
		if !wanted || m == no {
			continue
		}
		if at >= 0 || m == perhaps {
			a.refuse(refuseColumn)
		}
		at = i
	}
	return at
}

// hides reports whether a rel has an invisible column of that name.
func (a *analysis) hides(r *rel, name string) bool {
	for _, s := range r.sources {
		for i := range s.columns {
			if s.columns[i].hidden && sameColumn(s.columns[i].name, name) != no {
				return true
			}
		}
	}
	return false
}
