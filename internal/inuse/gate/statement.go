package gate

import (
	"bytes"
	"slices"

	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/inuse/wire"
	"github.com/veildb/veildb/internal/sql/lineage"
	"github.com/veildb/veildb/internal/sql/token"
)

// A judgement says whether an account may run a statement, and how the answer
// is passed on. But for its shape it never changes and is shared by sessions.
type judgement struct {
	*lineage.Verdict
	refusal *Refusal // nil if the statement may run
	// touches: cells, errors and counts of the answer are protected. all is the
	// strictest decision about any of it.
	touches bool
	all     policy.Decision
	outputs []policy.Decision // by column of the result; protected ones name a rule
	// hidden holds the folded names that the statement itself gives. In the
	// server's metadata they look like those of tables.
	hidden map[string]bool
	// nested: it has more than one query, or names a view. What the server says of
	// the source of a column is then not always so.
	nested bool
	// loose is the first column whose type may be another one in each execution;
	// above all of them if there is none. See beyond.
	loose int
	shape shapeHolder
}

// noResult is the verdict of commands that have no result.
var noResult = verdict{judgement: &judgement{Verdict: new(lineage.Verdict)}}

// size is what a judgement takes in memory, about.
func (j *judgement) size() int {
	const each, shaped = 128, 2 << 10
	if len(j.outputs) == 0 {
		return each
	}
	return shaped + each*len(j.outputs)
}

// A verdict is a judgement and the text to forward.
type verdict struct {
	*judgement
	sql []byte
}

// A reader judges the statements of one session. It is for one goroutine.
type reader struct {
	*access
	environment
	tables *temporaries

	text  token.Text
	key   []byte
	types []wire.Type // of parameters
}

// set changes what the session's statements depend on.
func (r *reader) set(mode token.Mode, database string) {
	mode.MariaDB, mode.Version = r.cat.Server.MariaDB, r.cat.Server.Version
	r.environment = environment{mode, database, r.tables.id()}
}

// judge says how to run a statement, or why not to. The verdict's text is good
// until the next call.
func (r *reader) judge(sql []byte) verdict {
	if c, ok := r.plans.get(r.environment, sql); ok {
		if c.canonical == nil {
			return verdict{c.judgement, sql}
		}
		return verdict{c.judgement, c.canonical}
	}
	if err := r.text.Scan(sql, r.mode); err != nil {
		return verdict{refused(refuseLex.Rule, refuseLex.Reason+": "+err.Error()), nil}
	}
	r.text.Trim()
	r.key = r.text.AppendKey(r.key[:0])
	c, ok := r.plans.getKey(r.environment, r.key)
	if !ok {
		c.judgement = r.analyse(false)
		switch c.Class {
		case lineage.ClassSelect, lineage.ClassInsert, lineage.ClassUpdate, lineage.ClassDelete:
			// What is SET or shown is a constant, which the key leaves out.
			if c.Exact {
				break
			}
			r.plans.putKey(r.environment, r.key, c.judgement)
		}
	}
	send := r.text.SQL
	if c.Instead != "" {
		send = []byte(c.Instead)
	}
	if !bytes.Equal(send, sql) {
		c.canonical = slices.Clone(send)
	}
	r.plans.put(r.environment, sql, c)
	return verdict{c.judgement, send}
}

// analyse judges the statement that has been scanned.
func (r *reader) analyse(explain bool) *judgement {
	for i := range r.text.Tokens {
		if r.text.IsSymbol(i, ";") {
			return refused(refuseMulti.Rule, refuseMulti.Reason)
		}
	}
	s := lineage.Session{Database: r.database, Catalog: r.tables.catalog(r.cat), Explain: explain}
	j := r.access.judgement(r.account.Judge(&r.text, r.mode, s))
	j.hidden, j.nested = givenNames(&r.text), r.nested(&r.text)
	j.loose = j.firstLoose(&r.text)
	return j
}

// givenNames finds the names that the statement itself gives: to queries, WITH
// name AS (...) and (...) AS name, and to tables, whose aliases the server takes
// for names if they are of views.
func givenNames(t *token.Text) (names map[string]bool) {
	for i := 1; i < len(t.Tokens); i++ {
		if !t.IsName(i) {
			continue
		}
		given := t.IsSymbol(i-1, ")") || t.IsName(i-1) && !beforeTable[fold(t.Name(i-1))] ||
			t.IsSymbol(i+1, "(") || t.IsWord(i+1, "AS") && t.IsSymbol(i+2, "(")
		if given {
			if names == nil {
				names = map[string]bool{}
			}
			names[fold(t.Name(i))] = true
		}
	}
	return names
}

// nested reports whether there is more than one query in a statement, or a view.
func (a *access) nested(t *token.Text) bool {
	queries := 0
	for i := range t.Tokens {
		if t.IsName(i) && a.views[fold(t.Name(i))] {
			return true
		}
		if t.IsWord(i, "SELECT") || t.IsWord(i, "TABLE") || t.IsWord(i, "VALUES") {
			queries++
		}
	}
	return queries > 1
}

// beforeTable are the words that a table's own name follows.
var beforeTable = words("from join straight_join into update table replace ignore low_priority high_priority delayed quick only")

func refused(rule, reason string) *judgement {
	return &judgement{Verdict: &lineage.Verdict{Class: lineage.ClassOther}, refusal: &Refusal{rule, reason}}
}

// judgement makes of a verdict what it means for the account.
func (a *access) judgement(v *lineage.Verdict) *judgement {
	j := &judgement{Verdict: v, touches: v.Touched, all: policy.Decision{Level: a.view.Least(), Rule: derived}}
	if v.Refusal != nil {
		j.refusal = &Refusal{v.Refusal.Rule, v.Refusal.Reason}
		return j
	}
	for _, t := range v.Writes {
		// Errors of keys and triggers speak of the whole row.
		j.touches = j.touches || a.protects(t)
	}
	for i := range v.Outputs {
		d := a.decide(v.Outputs[i].Labels)
		j.outputs = append(j.outputs, d)
		if d.Protected() {
			j.touches = true
		}
	}
	return j
}

// decide is the strictest decision of labels; it names no rule if there are none.
func (a *access) decide(labels lineage.Labels) policy.Decision {
	d := policy.Decision{Level: policy.Full}
	for _, id := range labels {
		if r := a.rules[id]; d.Rule == "" || r.Level < d.Level {
			d = policy.Decision{Level: r.Level, Rule: r.Rule}
		}
	}
	return d
}
