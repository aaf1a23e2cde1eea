package policy

import (
	"fmt"
	"strings"

	"github.com/veildb/veildb/internal/sql/schema"
)

// An Inference says what an account that is restricted by a rule may do with
// the rule's columns beside selecting them: conditions, order and groups tell
// something of values. The zero value is Guarded.
type Inference byte

// The ways, which docs/confidential-sql.md describes with what each leaks.
const (
	Guarded    Inference = iota // equality with a few constants, and what Grants add
	Strict                      // nothing
	Documented                  // anything, as other products allow
)

var inferences = [...]string{Guarded: "guarded", Strict: "strict", Documented: "documented"}

func (i Inference) String() string {
	if int(i) >= len(inferences) {
		return fmt.Sprintf("inference %d", byte(i))
	}
	return inferences[i]
}

// A Grant is a set of what a Guarded rule allows more.
type Grant byte

// The grants.
const (
	GrantRange Grant = 1 << iota
	GrantLikePrefix
	GrantOrder
	GrantGroup
	GrantJoin
)

var grants = [...]string{"range", "like_prefix", "order", "group", "join"}

// A Restriction is a rule that keeps a column from an account.
type Restriction struct {
	Rule      string
	Level     Level
	Inference Inference
	Grants    Grant
}

// Restrictions returns the rules that keep a column from the account, in the
// order of the rules; with Column "", those that keep any column of the table.
func (v *View) Restrictions(c schema.Column) (out []Restriction) {
	for _, r := range v.set.matching(c) {
		if l := v.level(r); l != Full {
			out = append(out, Restriction{r.name, l, r.inference, r.grants})
		}
	}
	return out
}

// All returns all the rules that restrict the account, in their order.
func (v *View) All() (out []Restriction) {
	for i := range v.set.rules {
		r := &v.set.rules[i]
		if l := v.level(r); l != Full {
			out = append(out, Restriction{r.name, l, r.inference, r.grants})
		}
	}
	return out
}

// compileInference reads the two fields of a Rule.
func (p *problems) compileInference(r *Rule) (way Inference, set Grant) {
	known := r.Inference.Text == ""
	for i, name := range inferences {
		if r.Inference.Text == name {
			way, known = Inference(i), true
		}
	}
	if !known {
		p.wrong(r.Inference.Line, "rule %q: inference is one of %s", r.Name, strings.Join(inferences[:], ", "))
	}
	for _, e := range r.Grants {
		bit := Grant(0)
		for i, name := range grants {
			if e.Text == name {
				bit = 1 << i
			}
		}
		if bit == 0 {
			p.wrong(e.Line, "rule %q: a grant is one of %s", r.Name, strings.Join(grants[:], ", "))
		}
		set |= bit
	}
	if set != 0 && way != Guarded {
		p.wrong(r.Line, "rule %q: grants add to inference: guarded, and are nothing beside %s", r.Name, way)
	}
	return way, set
}
