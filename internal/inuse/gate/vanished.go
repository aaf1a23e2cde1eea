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
// rule knows: what was not there before, or had other columns, is protected then,
// until the table is back or the rules are others. A table that is new or has got
// other columns, and looks like one that a rule names, may be a copy of it, or be
// it, if the two have changed names; it is protected until the rules are others. A
// table of a rule whose
// protected columns have gone, and others have come, or whose columns stand in
// another order, may have had them renamed: it is protected until it is as before.
type vanishing struct {
	mu     sync.Mutex
	rules  uint64                        // version
	there  map[schema.TableName]*watched // tables of rules that have been seen
	before map[schema.TableName]string   // columns of all tables, when none was missing
	alike  map[schema.TableName]bool     // tables that may hold values of those of rules
	told   map[string]bool               // rules
}

// A watched is a table that a rule names, as it was when it was last seen and
// nothing was strange about it. Names are folded.
type watched struct {
	rule      string
	kind      schema.Kind
	columns   []string
	protected map[string]bool
	moved     bool // it is not like that now
}

// behind reports whether no catalog was looked at since the rules have this number.
func (v *vanishing) behind(rules uint64) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.there == nil || v.rules != rules
}

// look compares a catalog with those before. lost are the tables to protect,
// gone the rules whose tables are newly missing or look-alike.
func (v *vanishing) look(cat *schema.Catalog, set *policy.Set, rules uint64) (lost []schema.TableName, gone []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.there == nil || v.rules != rules {
		v.rules, v.there, v.before, v.alike, v.told = rules, map[schema.TableName]*watched{}, nil, map[schema.TableName]bool{}, map[string]bool{}
	}
	named := v.named(cat, set, &gone)
	missing := v.missing(cat, &gone)
	for key, t := range cat.Tables {
		was, known := v.before[key]
		if v.before == nil || named[key] || v.alike[key] || t.Kind == schema.System || known && was == signature(t) {
			continue
		}
		if missing {
			lost = append(lost, t.TableName)
		}
		if rule := v.like(t); rule != "" {
			v.alike[key] = true
			gone = append(gone, rule)
		}
	}
	for key, t := range cat.Tables {
		if w := v.there[key]; v.alike[key] || w != nil && w.moved {
			lost = append(lost, t.TableName)
		}
	}
	slices.SortFunc(lost, compareNames)
	lost = slices.Compact(lost)
	if !missing {
		v.before = make(map[schema.TableName]string, len(cat.Tables))
		for key, t := range cat.Tables {
			if t.Kind != schema.System {
				v.before[key] = signature(t)
			}
		}
		clear(v.told)
	}
	slices.Sort(gone)
	return lost, slices.Compact(gone)
}

// named notes the tables that rules name, and adds the rules of those that are
// newly strange.
func (v *vanishing) named(cat *schema.Catalog, set *policy.Set, gone *[]string) map[schema.TableName]bool {
	named := map[schema.TableName]bool{}
	for _, t := range targets(cat, set) {
		for _, table := range t.tables {
			key := cat.Key(table.TableName)
			named[key] = true
			now := watch(t.rule, table, set)
			switch w := v.there[key]; {
			case w == nil:
				v.there[key] = now
			case w.kind != table.Kind:
			case !w.strange(now):
				*w = *now
			case !w.moved:
				w.moved = true
				*gone = append(*gone, w.rule)
			}
		}
	}
	return named
}

// watch notes what a table is like.
func watch(rule string, t *schema.Table, set *policy.Set) *watched {
	w := &watched{rule: rule, kind: t.Kind, protected: map[string]bool{}}
	for _, c := range t.Columns {
		w.columns = append(w.columns, fold(c.Name))
		if set.Protected(schema.Column{Database: t.Database, Table: t.Table, Column: c.Name}) {
			w.protected[fold(c.Name)] = true
		}
	}
	return w
}

// strange reports whether columns may have been renamed since w: what names of now
// meant then is not known.
func (w *watched) strange(now *watched) bool {
	kept := func(in, of []string) (out []string) {
		for _, c := range in {
			if slices.Contains(of, c) {
				out = append(out, c)
			}
		}
		return out
	}
	stay := kept(w.columns, now.columns)
	if !slices.Equal(stay, kept(now.columns, w.columns)) {
		return true
	}
	if len(stay) == len(now.columns) { // none has come
		return false
	}
	for c := range w.protected {
		if !slices.Contains(stay, c) {
			return true
		}
	}
	return false
}

// like returns the rule of a table that has been seen and t looks like, "" if there
// is none: t has all of its columns, or most of them and a protected one.
func (v *vanishing) like(t *schema.Table) string {
	if t.Kind != schema.Base {
		return ""
	}
	var columns []string
	for _, c := range t.Columns {
		columns = append(columns, fold(c.Name))
	}
	for _, w := range v.there {
		shared, protected := 0, false
		for _, c := range w.columns {
			if slices.Contains(columns, c) {
				shared++
				protected = protected || w.protected[c]
			}
		}
		if shared > 0 && (shared == len(w.columns) || protected && 2*shared > max(len(w.columns), len(columns))) {
			return w.rule
		}
	}
	return ""
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

// signature tells tables apart that are not of one kind and columns.
func signature(t *schema.Table) string {
	var b strings.Builder
	b.WriteByte(byte(t.Kind))
	for _, c := range t.Columns {
		b.WriteString(fold(c.Name) + "\x00")
	}
	return b.String()
}
