package gate

import (
	"sync"

	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/sql/schema"
)

// A vanishing watches for tables that rules name to disappear. They may have
// been renamed, and their values be under a name that no rule knows: what was
// not there before is protected then, until the table is back or the rules are
// others.
type vanishing struct {
	mu     sync.Mutex
	rules  uint64                      // version
	there  map[schema.TableName]string // tables of rules that have been seen, and the rules
	before map[schema.TableName]bool   // all tables, when none was missing
	told   map[string]bool             // rules
}

// look compares a catalog with those before. lost are the tables to protect,
// gone the rules whose tables are newly missing.
func (v *vanishing) look(cat *schema.Catalog, set *policy.Set, rules uint64) (lost []schema.TableName, gone []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.there == nil || v.rules != rules {
		v.rules, v.there, v.before, v.told = rules, map[schema.TableName]string{}, nil, map[string]bool{}
	}
	for _, t := range targets(cat, set) {
		for _, table := range t.tables {
			v.there[cat.Key(table.TableName)] = t.rule
		}
	}
	missing := false
	for key, rule := range v.there {
		if cat.Tables[key] == nil {
			missing = true
			if !v.told[rule] {
				v.told[rule] = true
				gone = append(gone, rule)
			}
		}
	}
	if !missing {
		v.before = make(map[schema.TableName]bool, len(cat.Tables))
		for key := range cat.Tables {
			v.before[key] = true
		}
		clear(v.told)
		return nil, nil
	}
	for key, t := range cat.Tables {
		if !v.before[key] {
			lost = append(lost, t.TableName)
		}
	}
	return lost, gone
}
