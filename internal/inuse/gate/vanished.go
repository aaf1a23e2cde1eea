package gate

import (
	"slices"
	"strings"
	"sync"

	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/sql/schema"
)

// A vanishing watches over the tables that rules name. One that disappears, or
// becomes a view, may have been renamed, and its values be under a name that no
// rule knows: what was not there before is protected then, until the table is
// back or the rules are others. A table that is new and has the columns of one
// that a rule names may be a copy of it, or be it, if the two have changed
// names; it is protected until the rules are others.
type vanishing struct {
	mu     sync.Mutex
	rules  uint64                       // version
	there  map[schema.TableName]watched // tables of rules that have been seen
	before map[schema.TableName]bool    // all tables, when none was missing
	alike  map[schema.TableName]bool    // tables that look like those of rules
	told   map[string]bool              // rules
}

// A watched is a table that a rule names, as it was when it was seen last.
type watched struct {
	rule    string
	kind    schema.Kind
	columns string
}

// look compares a catalog with those before. lost are the tables to protect,
// gone the rules whose tables are newly missing or look-alike.
func (v *vanishing) look(cat *schema.Catalog, set *policy.Set, rules uint64) (lost []schema.TableName, gone []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.there == nil || v.rules != rules {
		v.rules, v.there, v.before, v.alike, v.told = rules, map[schema.TableName]watched{}, nil, map[schema.TableName]bool{}, map[string]bool{}
	}
	named := v.named(cat, set)
	missing := v.missing(cat, &gone)
	shapes := map[string]string{}
	for _, w := range v.there {
		shapes[w.columns] = w.rule
	}
	for key, t := range cat.Tables {
		if v.before == nil || v.before[key] || named[key] || t.Kind != schema.Base {
			continue
		}
		if rule, ok := shapes[columnNames(t)]; ok && !v.alike[key] {
			v.alike[key] = true
			gone = append(gone, rule)
		}
	}
	for key, t := range cat.Tables {
		if v.alike[key] || missing && !v.before[key] && t.Kind != schema.System {
			lost = append(lost, t.TableName)
		}
	}
	if !missing {
		v.before = make(map[schema.TableName]bool, len(cat.Tables))
		for key := range cat.Tables {
			v.before[key] = true
		}
		clear(v.told)
	}
	slices.Sort(gone)
	return lost, slices.Compact(gone)
}

// named notes the tables that rules name.
func (v *vanishing) named(cat *schema.Catalog, set *policy.Set) map[schema.TableName]bool {
	named := map[schema.TableName]bool{}
	for _, t := range targets(cat, set) {
		for _, table := range t.tables {
			key := cat.Key(table.TableName)
			named[key] = true
			if w, ok := v.there[key]; !ok || w.kind == table.Kind {
				v.there[key] = watched{t.rule, table.Kind, columnNames(table)}
			}
		}
	}
	return named
}

// missing reports whether a table that was there is not, and adds the rules of
// those that are newly so.
func (v *vanishing) missing(cat *schema.Catalog, gone *[]string) (missing bool) {
	for key, w := range v.there {
		if t := cat.Tables[key]; t != nil && t.Kind == w.kind {
			continue
		}
		missing = true
		if !v.told[w.rule] {
			v.told[w.rule] = true
			*gone = append(*gone, w.rule)
		}
	}
	return missing
}

func columnNames(t *schema.Table) string {
	var b strings.Builder
	for _, c := range t.Columns {
		b.WriteString(fold(c.Name) + "\x00")
	}
	return b.String()
}
