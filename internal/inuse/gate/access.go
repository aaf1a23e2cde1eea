package gate

import (
	"sync"

	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/sql/lineage"
	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/token"
)

// An access is what one account may see of a catalog under one set of rules. But
// for its cache it never changes.
type access struct {
	cat       *schema.Catalog
	view      *policy.View
	rules     []policy.Restriction // by lineage.RuleID
	views     map[string]bool      // folded names of views
	account   *lineage.Account
	guessable bool // no rule minds what conditions tell
	plans     planCache
	protected sync.Map // what protects found, by schema.TableName
}

// derived is the rule named for what is protected because nobody can say where
// it comes from.
const derived = "(derived)"

// newAccess makes the access of a view. lost are tables that are to be protected
// whole, beside those that rules have lost.
func newAccess(cat *schema.Catalog, view *policy.View, lost []schema.TableName) *access {
	a := &access{cat: cat, view: view, views: map[string]bool{}, guessable: strictestInference(view) == policy.Documented}
	a.rules = append([]policy.Restriction{{Rule: derived, Level: view.Least(), Inference: strictestInference(view)}}, view.All()...)
	ids := map[string]lineage.RuleID{}
	rules := &lineage.Rules{Lost: lost}
	for i, r := range a.rules {
		ids[r.Rule] = lineage.RuleID(i)
		rules.List = append(rules.List, lineage.Rule{Name: r.Rule, Inference: inferences[r.Inference], Grants: grants(r.Grants)})
	}
	ids[derived] = lineage.Derived
	for _, t := range targets(cat, view.Set()) {
		if len(t.missing) == 0 || view.Rule(t.rule) == policy.Full {
			continue
		}
		for _, table := range t.tables {
			rules.Lost = append(rules.Lost, table.TableName)
		}
	}
	rules.Column = func(c schema.Column) (out lineage.Labels) {
		for _, r := range view.Restrictions(c) {
			out = append(out, ids[r.Rule])
		}
		return out
	}
	for _, t := range cat.Tables {
		if t.Kind == schema.View {
			a.views[fold(t.Table)] = true
		}
	}
	a.account = lineage.New(cat, *rules)
	return a
}

// protects reports whether a table has protected columns.
func (a *access) protects(n schema.TableName) bool {
	if len(a.view.Restrictions(schema.Column{Database: n.Database, Table: n.Table})) > 0 {
		return true
	}
	if known, ok := a.protected.Load(n); ok {
		return known.(bool)
	}
	var t token.Text
	if t.Scan([]byte("SELECT * FROM `"+escapeName(n.Database)+"`.`"+escapeName(n.Table)+"`"), token.Mode{}) != nil {
		return true
	}
	v := a.account.Judge(&t, token.Mode{}, lineage.Session{})
	a.protected.Store(n, v.Refusal != nil || v.Touched)
	return v.Refusal != nil || v.Touched
}

// strictestInference is that of values that may be of any rule's column.
func strictestInference(view *policy.View) policy.Inference {
	strictest := policy.Documented
	for _, r := range view.All() {
		switch {
		case r.Inference == policy.Strict:
			return policy.Strict
		case r.Inference == policy.Guarded:
			strictest = policy.Guarded
		}
	}
	return strictest
}

// inferences are lineage's words for the policy's.
var inferences = [...]lineage.Inference{policy.Guarded: lineage.Guarded, policy.Strict: lineage.Strict, policy.Documented: lineage.Documented}

func grants(g policy.Grant) (out lineage.Grant) {
	for _, w := range [...]struct {
		policy  policy.Grant
		lineage lineage.Grant
	}{
		{policy.GrantRange, lineage.GrantRange}, {policy.GrantLikePrefix, lineage.GrantLikePrefix}, {policy.GrantOrder, lineage.GrantOrder},
		{policy.GrantGroup, lineage.GrantGroup}, {policy.GrantJoin, lineage.GrantJoin},
	} {
		if g&w.policy != 0 {
			out |= w.lineage
		}
	}
	return out
}

func systemSchema(name string) bool {
	switch name {
	case "information_schema", "performance_schema", "mysql", "sys", SharedDatabase:
		return true
	}
	return false
}
