package gate

import (
	"slices"
	"sync/atomic"

	"github.com/veildb/veildb/internal/sql/lineage"
	"github.com/veildb/veildb/internal/sql/schema"
)

// temporaries are a session's temporary tables. The zero value has none.
type temporaries struct {
	tables []*schema.Table
	number uint64 // of this state, 0 for none: no two states of any sessions share one

	base, with *schema.Catalog // with is base with tables
}

var temporaryStates atomic.Uint64

// id tells this state from others.
func (t *temporaries) id() uint64 { return t.number }

// catalog is base with the tables, nil if there are none.
func (t *temporaries) catalog(base *schema.Catalog) *schema.Catalog {
	if len(t.tables) == 0 {
		return nil
	}
	if t.base != base {
		t.base, t.with = base, base.WithTemporary(t.tables)
	}
	return t.with
}

// hides reports whether a name is that of a temporary table.
func (t *temporaries) hides(cat *schema.Catalog, n schema.TableName) bool {
	return slices.ContainsFunc(t.tables, func(x *schema.Table) bool { return cat.Key(x.TableName) == cat.Key(n) })
}

// clear forgets all, as the server does when it resets a session.
func (t *temporaries) clear() { *t = temporaries{} }

// ran takes note of a statement the server has run.
func (t *temporaries) ran(cat *schema.Catalog, v *lineage.Verdict) {
	if v.Temporary == nil && v.Dropped == nil {
		return
	}
	name := v.Dropped
	if v.Temporary != nil {
		name = &v.Temporary.TableName
	}
	tables := slices.DeleteFunc(slices.Clone(t.tables), func(x *schema.Table) bool { return cat.Key(x.TableName) == cat.Key(*name) })
	if v.Temporary != nil {
		tables = append(tables, v.Temporary)
	}
	*t = temporaries{tables: tables}
	if len(tables) > 0 {
		t.number = temporaryStates.Add(1)
	}
}
