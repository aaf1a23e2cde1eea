package lineage

import (
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/sqlast"
	"github.com/veildb/veildb/internal/sql/token"
)

// A check is a constraint of a table that depends on columns with labels: whether
// a row can be written tells of their values.
type check struct {
	columns []int // it depends on, also by generated columns
	// unique: it is a unique key of a generated column. Without a change of a column
	// without labels it tells what unique keys tell.
	unique bool
	// triggered: a trigger may set one of the columns.
	triggered bool
}

// constraints finds the checks.
func (x *Account) constraints() {
	x.checks = map[*schema.Table][]check{}
	x.references()
	for t, labels := range x.labels {
		if t.Kind != schema.Base {
			continue
		}
		add := func(c check) {
			c.triggered = x.triggered(t, c.columns)
			if slices.ContainsFunc(c.columns, func(i int) bool { return len(labels[i]) > 0 }) {
				x.checks[t] = append(x.checks[t], c)
			}
		}
		x.keyed[t] = keyed(t)
		for _, text := range t.Checks {
			add(check{columns: dependence(t, text)})
		}
		for _, k := range t.Keys {
			for _, name := range k.Columns {
				if i := index(t, name); k.Unique && i >= 0 && t.Columns[i].Generated != "" {
					add(check{columns: dependence(t, t.Columns[i].Generated), unique: true})
				} else if k.Unique && i < 0 { // of an expression that is not known
					add(check{columns: dependence(t, ""), unique: true})
				}
			}
		}
	}
}

// conflicts judges values that are given to columns of rows which may be passed over,
// or take the place of others: which are shows. ignore says that any error makes
// the server pass over a row, not only that a row of its keys is there.
func (a *analysis) conflicts(given []flow, sources []*source, ignore bool) {
	for _, f := range given {
		if len(a.minded(f.labels)) == 0 {
			continue
		}
		keyed := slices.ContainsFunc(sources, func(s *source) bool {
			return slices.ContainsFunc(a.account.keyed[s.table], func(i int) bool { return f.to == &s.columns[i] })
		})
		switch {
		case f.base == nil && (keyed || ignore):
			a.refuse(refuseCheck)
		case keyed:
			a.use(useJoin, f.labels)
		}
	}
}

// keyed returns the columns of t that its unique and foreign keys depend on.
func keyed(t *schema.Table) (out []int) {
	for _, k := range t.Keys {
		for _, name := range k.Columns {
			switch i := index(t, name); {
			case !k.Unique:
			case i < 0: // an expression that is not known
				out = append(out, dependence(t, "")...)
			case t.Columns[i].Generated != "":
				out = append(out, dependence(t, t.Columns[i].Generated)...)
			default:
				out = append(out, i)
			}
		}
	}
	for _, k := range t.Foreign {
		for _, name := range k.Columns {
			if i := index(t, name); i >= 0 {
				out = append(out, i)
			}
		}
	}
	return out
}

// A reference is a column that a foreign key refers to, without ON UPDATE CASCADE.
type reference struct {
	column int
	// orphans: rows that refer to it get NULL when it is changed. Otherwise it cannot be
	// changed while there are some.
	orphans bool
}

// references finds the columns that others refer to.
func (x *Account) references() {
	x.keyed, x.referred = map[*schema.Table][]int{}, map[*schema.Table][]reference{}
	for _, t := range x.catalog.Tables {
		for _, fk := range t.Foreign {
			ref := x.catalog.Table(fk.Ref)
			if ref == nil || strings.EqualFold(fk.OnUpdate, "CASCADE") {
				continue
			}
			for _, name := range fk.RefColumns {
				if i := index(ref, name); i >= 0 {
					x.referred[ref] = append(x.referred[ref], reference{i, strings.EqualFold(fk.OnUpdate, "SET NULL")})
				}
			}
		}
	}
}

// dependence returns the columns that an expression of t depends on: all of them
// if it cannot be read.
func dependence(t *schema.Table, text string) (out []int) {
	for todo := []string{text}; len(todo) > 0; todo = todo[1:] {
		named, ok := mentions(t, todo[0])
		if !ok {
			out = out[:0]
			for i := range t.Columns {
				out = append(out, i)
			}
			return out
		}
		for _, i := range named {
			if slices.Contains(out, i) {
				continue
			}
			out = append(out, i)
			if g := t.Columns[i].Generated; g != "" {
				todo = append(todo, g)
			}
		}
	}
	return out
}

// mentions returns the columns of t that a text may name, and whether it could be
// read.
func mentions(t *schema.Table, text string) (out []int, ok bool) {
	var tokens token.Text
	// In which sql_mode it was written is not known: a backslash may mean either.
	if text == "" || strings.Contains(text, `\`) || tokens.Scan([]byte(text), token.Mode{}) != nil {
		return nil, false
	}
	for i := range tokens.Tokens {
		name := mentioned(&tokens, i)
		for j := range t.Columns {
			if name != "" && sameColumn(t.Columns[j].Name, name) != no {
				out = append(out, j)
			}
		}
	}
	return out, true
}

// triggered reports whether a trigger that runs before rows are changed may set
// one of columns.
func (x *Account) triggered(t *schema.Table, columns []int) bool {
	for _, tr := range t.Triggers {
		if !strings.EqualFold(tr.Timing, "BEFORE") || !strings.EqualFold(tr.Event, "UPDATE") {
			continue
		}
		named, ok := mentions(t, tr.Body)
		if !ok || slices.ContainsFunc(named, func(i int) bool { return slices.Contains(columns, i) }) {
			return true
		}
	}
	return false
}

// updates judges whether rows can be changed as set says.
func (a *analysis) updates(set []flow, sources []*source) {
	for _, s := range sources {
		for _, c := range a.account.checks[s.table] {
			written := slices.ContainsFunc(set, func(f flow) bool { return s.has(f.to) })
			if written && a.checked(c, s, set, c.triggered) {
				a.refuse(refuseCheck)
			}
		}
	}
}

// inserts judges whether rows can be inserted that have the values given, but for
// literals, in the columns to. What is not given is the same for all rows.
func (a *analysis) inserts(given []flow, to []*column, s *source) {
	for _, c := range a.account.checks[s.table] {
		for _, i := range c.columns {
			col := &s.columns[i]
			open := !c.unique || slices.ContainsFunc(c.columns, func(j int) bool { return len(s.columns[j].labels) == 0 && slices.Contains(to, &s.columns[j]) })
			if open && slices.ContainsFunc(given, func(f flow) bool { return f.to == col && a.depends(c, f) }) {
				a.refuse(refuseCheck)
			}
		}
	}
}

// checked reports whether assignments to columns of s make c depend on protected
// values. It is decided anew if one of its columns is set.
func (a *analysis) checked(c check, s *source, set []flow, anew bool) bool {
	kept := false // a protected value
	for _, i := range c.columns {
		col, assigned := &s.columns[i], false
		for _, f := range set {
			if f.to == col {
				assigned = true
				anew = anew || !c.unique || len(col.labels) == 0
				kept = kept || a.depends(c, f)
			}
		}
		kept = kept || !assigned && len(a.minded(col.labels)) > 0
	}
	return anew && kept
}

// depends reports whether a value makes c depend on protected ones that the rules
// mind.
func (a *analysis) depends(c check, f flow) bool {
	if len(a.minded(f.labels)) == 0 {
		return false
	}
	// What was valid where it comes from is so again.
	again := len(c.columns) == 1 && !c.unique && f.base != nil && f.to.base != nil && *f.base == *f.to.base
	return !again
}

// fromRow takes what ON DUPLICATE KEY UPDATE sets to a value of the row that is
// inserted for what that row is given.
func (a *analysis) fromRow(set, given []flow, s *sqlast.Insert) []flow {
	if s.Query != nil {
		return set
	}
	for i, f := range set {
		var col *sqlast.Column
		switch e := f.expr.(type) {
		case *sqlast.Call:
			if !e.Operator && e.Name == "values" && len(e.Args) == 1 {
				col, _ = e.Args[0].(*sqlast.Column)
			}
		case *sqlast.Column:
			if s.Alias != "" && s.AliasOf == nil && strings.EqualFold(e.Table, s.Alias) {
				col = e
			}
		}
		if col == nil {
			continue
		}
		set[i].value = value{}
		for _, g := range given {
			if sameColumn(g.to.name, col.Name) != no {
				set[i].labels = set[i].labels.Union(g.labels)
			}
		}
	}
	return set
}
