package gate

import (
	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/token"
)

// An access is what one account may see of a catalog under one set of rules. It
// never changes.
//
// Labels spread from the columns the rules name to what holds the same values:
//
//	generated columns and defaults    of the same table, by the names in them
//	foreign keys                      to both sides
//	views                             as a whole, if anything in them is protected
//	                                  or cannot be judged
//	engines that reach elsewhere      as a whole (MERGE, FEDERATED, ...)
type access struct {
	cat  *schema.Catalog
	view *policy.View
	// tables holds those with something protected, by Catalog.Key.
	tables map[schema.TableName]*guarded
	// names holds the folded names of those tables: a statement with such a
	// name touches them, whatever database it means.
	names map[string]policy.Decision

	verdicts verdicts
}

// A guarded is a table that holds protected columns.
type guarded struct {
	*schema.Table
	columns map[string]policy.Decision // protected ones, by folded name
	whole   bool                       // all columns are, known or not
	all     policy.Decision            // the strictest of the columns
}

// column decides about a column of the table.
func (g *guarded) column(name string) (d policy.Decision, protected bool) {
	if g.whole {
		return g.all, true
	}
	d, protected = g.columns[fold(name)]
	return d, protected
}

// derived is the rule named for what is protected because of where it comes from.
const derived = "(derived)"

func newAccess(cat *schema.Catalog, view *policy.View) *access {
	a := &access{cat: cat, view: view, tables: map[schema.TableName]*guarded{}, names: map[string]policy.Decision{}}
	for key, t := range cat.Tables {
		if t.Kind == schema.System {
			continue
		}
		for _, c := range t.Columns {
			d := view.Decide(schema.Column{Database: t.Database, Table: t.Table, Column: c.Name})
			if d.Protected() && d.Level != policy.Full {
				a.label(key, t, c.Name, d)
			}
		}
		// A rule may name a table whose columns the catalog does not list.
		if d := view.Table(t.Database, t.Table); len(t.Columns) == 0 && d.Protected() && d.Level != policy.Full {
			a.whole(key, t)
		}
		if t.Reaches() {
			a.whole(key, t)
		}
	}
	for _, t := range a.lost() {
		a.whole(cat.Key(t.TableName), t)
	}
	for a.spread() {
	}
	return a
}

// lost returns the tables of rules that name columns none of their tables has:
// a protected column has been renamed, or the rule is wrong. Until somebody
// says which, all of the table is protected.
func (a *access) lost() (out []*schema.Table) {
	for _, target := range targets(a.cat, a.view.Set()) {
		if len(target.missing) > 0 {
			out = append(out, target.tables...)
		}
	}
	return out
}

// label protects a column and reports whether that is new.
func (a *access) label(key schema.TableName, t *schema.Table, column string, d policy.Decision) bool {
	g := a.tables[key]
	if g == nil {
		g = &guarded{Table: t, columns: map[string]policy.Decision{}, all: d}
		a.tables[key] = g
	}
	if old, ok := g.columns[fold(column)]; g.whole || ok && old.Level <= d.Level {
		return false
	}
	g.columns[fold(column)] = d
	if d.Level < g.all.Level {
		g.all = d
	}
	a.name(t.Table, g.all)
	return true
}

// whole protects all of a table and reports whether that is new.
func (a *access) whole(key schema.TableName, t *schema.Table) bool {
	if g := a.tables[key]; g != nil && g.whole {
		return false
	}
	g := &guarded{Table: t, whole: true, all: policy.Decision{Level: a.view.Least(), Rule: derived}}
	a.tables[key] = g
	a.name(t.Table, g.all)
	return true
}

func (a *access) name(table string, d policy.Decision) {
	if old, ok := a.names[fold(table)]; !ok || d.Level < old.Level {
		a.names[fold(table)] = d
	}
}

// spread passes labels on by one step and reports whether any was new.
func (a *access) spread() (changed bool) {
	for key, t := range a.cat.Tables {
		if t.Kind == schema.View {
			if a.tables[key] == nil && !a.cleanView(t) {
				changed = a.whole(key, t) || changed
			}
			continue
		}
		for _, c := range t.Columns {
			if d, hit := a.expression(a.tables[key], c.Generated+" "+c.Default); hit {
				changed = a.label(key, t, c.Name, d) || changed
			}
		}
		for _, fk := range t.Foreign {
			changed = a.twins(key, t, fk) || changed
		}
	}
	return changed
}

// twins labels both ends of a foreign key alike.
func (a *access) twins(key schema.TableName, t *schema.Table, fk schema.ForeignKey) (changed bool) {
	refKey := a.cat.Key(fk.Ref)
	ref := a.cat.Tables[refKey]
	if ref == nil {
		return a.whole(key, t)
	}
	for i, c := range fk.Columns {
		if g := a.tables[key]; g != nil {
			if d, ok := g.column(c); ok {
				changed = a.label(refKey, ref, fk.RefColumns[i], d) || changed
			}
		}
		if g := a.tables[refKey]; g != nil {
			if d, ok := g.column(fk.RefColumns[i]); ok {
				changed = a.label(key, t, c, d) || changed
			}
		}
	}
	return changed
}

// expression reports whether a column's expression names a protected column of
// its table, or cannot be read.
func (a *access) expression(g *guarded, expr string) (d policy.Decision, hit bool) {
	if g == nil || expr == " " {
		return d, false
	}
	var t token.Text
	if t.Scan([]byte(expr), token.Mode{}) != nil {
		return g.all, true
	}
	for i := range t.Tokens {
		if t.IsName(i) {
			if c, ok := g.column(t.Name(i)); ok && (!hit || c.Level < d.Level) {
				d, hit = c, true
			}
		}
	}
	return d, hit
}

// cleanView reports whether a view shows nothing protected for certain.
func (a *access) cleanView(v *schema.Table) bool {
	if v.Definition == "" {
		return false // the service account may not read it
	}
	var t token.Text
	if t.Scan([]byte(v.Definition), token.Mode{}) != nil {
		return false
	}
	for i := range t.Tokens {
		if !t.IsName(i) {
			continue
		}
		name := fold(t.Name(i))
		if _, touches := a.names[name]; touches || systemSchema(name) {
			return false
		}
		if t.IsSymbol(i+1, "(") && (t.Tokens[i].Kind == token.Quoted || !beforeParen[name] && !functions[name].pure()) {
			return false
		}
	}
	return true
}

func systemSchema(name string) bool {
	switch name {
	case "information_schema", "performance_schema", "mysql", "sys", RulesDatabase:
		return true
	}
	return false
}
