package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/token"
)

// A ruleTarget is what a rule that spells out tables names in a catalog.
type ruleTarget struct {
	rule    string
	line    int
	tables  []*schema.Table // those that exist
	absent  []string        // tables that do not, in databases that do
	missing []string        // columns that none of tables has
}

// targets finds what the rules of a set name. Only names spelled out count:
// patterns may match nothing.
func targets(cat *schema.Catalog, set *policy.Set) (out []ruleTarget) {
	databases := map[string]bool{}
	for _, t := range cat.Tables {
		databases[fold(t.Database)] = true
	}
	for _, r := range set.Document().Rules {
		if r.Disabled {
			continue
		}
		t := ruleTarget{rule: r.Name, line: r.Line}
		for _, db := range spelled(r.Databases) {
			for _, name := range spelled(r.Tables) {
				if found := cat.Table(schema.TableName{Database: db, Table: name}); found != nil {
					t.tables = append(t.tables, found)
				} else if databases[fold(db)] {
					t.absent = append(t.absent, db+"."+name)
				}
			}
		}
		for _, c := range spelled(r.Columns) {
			if len(t.tables) > 0 && !t.has(c) {
				t.missing = append(t.missing, c)
			}
		}
		out = append(out, t)
	}
	return out
}

func (t *ruleTarget) has(column string) bool {
	for _, table := range t.tables {
		// A view's or a foreign table's columns may be protected as well.
		if table.Column(column) != nil {
			return true
		}
	}
	return false
}

func spelled(list []policy.Entry) (out []string) {
	for _, e := range list {
		if !strings.Contains(e.Text, "*") {
			out = append(out, e.Text)
		}
	}
	return out
}

// A Finding is something Check found.
type Finding struct {
	Bad    bool   `json:"bad"` // protection is not what the rules say, or nothing works
	Line   int    `json:"line,omitempty"`
	Rule   string `json:"rule,omitempty"`
	Reason string `json:"reason"`
}

// Check compares rules with a server's catalog.
func Check(cat *schema.Catalog, set *policy.Set) (out []Finding) {
	if cat.Blind != "" {
		out = append(out, Finding{Bad: true, Reason: "the service account lacks " + cat.Blind + " ON *.*: restricted accounts are refused everything"})
	}
	for _, t := range targets(cat, set) {
		for _, name := range t.absent {
			out = append(out, Finding{true, t.line, t.rule, fmt.Sprintf("there is no table %s", name)})
		}
		for _, c := range t.missing {
			out = append(out, Finding{true, t.line, t.rule, fmt.Sprintf("none of its tables has a column %s; until the rule is mended they are protected whole", c)})
		}
	}
	return append(out, derivations(cat, set)...)
}

// derivations finds what is protected because of other tables.
func derivations(cat *schema.Catalog, set *policy.Set) (out []Finding) {
	r := &reader{access: newAccess(cat, set.For("", ""), nil), tables: new(temporaries)}
	r.set(token.Mode{}, "")
	for _, key := range slices.SortedFunc(maps.Keys(cat.Tables), compareNames) {
		t := cat.Tables[key]
		if t.Kind == schema.System || t.Kind == schema.Sequence {
			continue
		}
		where := t.TableName.String()
		j := r.judge([]byte("SELECT * FROM `" + escapeName(t.Database) + "`.`" + escapeName(t.Table) + "`")).judgement
		if j.refusal != nil {
			out = append(out, Finding{Reason: "restricted accounts cannot read " + where + ": " + j.refusal.Reason})
			continue
		}
		var derived []string
		for i, d := range j.outputs {
			c := schema.Column{Database: t.Database, Table: t.Table, Column: j.Outputs[i].Name}
			if d.Protected() && !set.Protected(c) {
				derived = append(derived, c.Column)
			}
		}
		switch {
		case len(derived) > 0 && t.Kind == schema.View:
			out = append(out, Finding{Reason: "view " + where + " shows protected columns as " + strings.Join(derived, ", ")})
		case len(derived) > 0:
			out = append(out, Finding{Reason: "table " + where + " holds values of protected columns in " + strings.Join(derived, ", ")})
		}
		if j.touches && len(t.Triggers) > 0 {
			out = append(out, Finding{Reason: "table " + where + " has triggers: restricted accounts may not be able to write to it"})
		}
	}
	return out
}

func compareNames(a, b schema.TableName) int {
	return cmp.Or(strings.Compare(a.Database, b.Database), strings.Compare(a.Table, b.Table))
}
