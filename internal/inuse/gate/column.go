package gate

import (
	"errors"
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/inuse/wire"
	"github.com/veildb/veildb/internal/sql/lineage"
	"github.com/veildb/veildb/internal/sql/schema"
)

// errForeseen means that the server's answer is not what was foreseen for the
// statement: one of the two was read wrongly. Nothing of it may pass. The others
// say in what.
var (
	errForeseen = errors.New("the server's answer is not the one foreseen for the statement")
	errNumber   = unforeseen("number of columns")
	errName     = unforeseen("name of a column")
	errSource   = unforeseen("source of a column")
	errChanged  = unforeseen("definitions have changed")
)

type unforeseen string

func (u unforeseen) Error() string { return errForeseen.Error() + ": " + string(u) }

// Is reports whether target is errForeseen.
func (u unforeseen) Is(target error) bool { return target == errForeseen }

// column says whether column i of a result is protected, and by which rule. It
// fails with errForeseen if the server's definition of the column contradicts
// the judgement. utf8 says that names in it are UTF-8.
func (r *reader) column(i int, c *wire.Column, j *judgement, utf8 bool) (policy.Decision, error) {
	base := schema.Column{Database: string(c.Schema), Table: string(c.OrgTable), Column: string(c.OrgName)}
	known := base.Database != "" && base.Table != "" && base.Column != "" && (utf8 || sure(base.Database) && sure(base.Table) && sure(base.Column)) &&
		!j.hidden[fold(base.Table)] && !r.tables.hides(r.cat, schema.TableName{Database: base.Database, Table: base.Table})
	if j.nested && !r.cat.Server.MariaDB && j.hidden[fold(base.Column)] {
		known = false // MySQL says the name a query in FROM gives, of the table it is from
	}
	if j.outputs == nil && j.Class == lineage.ClassShow {
		if known && len(r.view.Restrictions(base)) > 0 {
			return policy.Decision{}, errSource
		}
		if slices.ContainsFunc(j.Hidden, func(name string) bool { return strings.EqualFold(name, string(c.Name)) }) {
			return r.decide(lineage.Labels{lineage.Derived}), nil
		}
		return policy.Decision{Level: policy.Full}, nil
	}
	if i >= len(j.outputs) {
		return policy.Decision{}, errNumber
	}
	d, out := j.outputs[i], &j.Outputs[i]
	if name := string(c.Name); out.Name != "" && (utf8 || sure(name)) && !strings.EqualFold(out.Name, name) {
		return d, errName
	}
	if !known {
		return d, nil
	}
	if !d.Protected() && len(r.view.Restrictions(base)) > 0 {
		if j.nested { // the server may mean an alias in a query of FROM
			return r.view.Decide(base), nil
		}
		return d, errSource
	}
	if t := r.cat.Table(schema.TableName{Database: base.Database, Table: base.Table}); !j.nested && out.Base != nil && t != nil && t.Kind == schema.Base &&
		r.cat.Names.Fold(*out.Base) != r.cat.Names.Fold(base) {
		return d, errSource
	}
	return d, nil
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
