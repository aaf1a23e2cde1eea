package gate

import (
	"fmt"
	"strings"

	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/sql/schema"
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
	a := newAccess(cat, set.For("", ""))
	for _, g := range a.tables {
		where := g.Database + "." + g.Table.Table
		switch {
		case g.whole && g.Kind == schema.View:
			out = append(out, Finding{Reason: "view " + where + " shows protected columns, or cannot be judged: all of it is protected"})
		case g.whole && len(a.lost()) == 0:
			out = append(out, Finding{Reason: "table " + where + " is of an engine that shows other tables: all of it is protected"})
		}
		if len(g.Triggers) > 0 {
			out = append(out, Finding{Reason: "table " + where + " has triggers: restricted accounts cannot write to it"})
		}
	}
	return out
}
