package gate

import (
	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/inuse/wire"
	"github.com/veildb/veildb/internal/sql/schema"
)

// column says whether a result column of a statement is protected, and by which
// rule: the strictest answer of the labels, the rules and, where the statement
// touches protected tables, of what the server's metadata can vouch for. utf8
// says that names in it are UTF-8.
func (r *reader) column(c *wire.Column, v *verdict, utf8 bool) (policy.Decision, bool) {
	if len(c.Schema) == 0 || len(c.OrgTable) == 0 || len(c.OrgName) == 0 {
		return v.all, v.touches
	}
	n := schema.TableName{Database: string(c.Schema), Table: string(c.OrgTable)}
	name := string(c.OrgName)
	if !utf8 && !(sure(n.Database) && sure(n.Table) && sure(name)) {
		return policy.Decision{Level: r.view.Least(), Rule: derived}, true
	}
	if g := r.tables[r.cat.Key(n)]; g != nil {
		if d, ok := g.column(name); ok {
			return d, true
		}
	}
	if d := r.view.Decide(schema.Column{Database: n.Database, Table: n.Table, Column: name}); d.Protected() && d.Level != policy.Full {
		return d, true
	}
	if !v.touches {
		return policy.Decision{}, false
	}
	t := r.cat.Table(n)
	return v.all, !v.simple || t == nil || t.Kind == schema.View || t.Column(name) == nil
}

// sure reports whether a name in a character set that is not Unicode is the one
// the catalog has: others show what they lack as "?".
func sure(name string) bool {
	for i := range len(name) {
		if name[i] >= 0x80 || name[i] == '?' {
			return false
		}
	}
	return true
}
