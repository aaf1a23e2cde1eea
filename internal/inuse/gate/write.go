package gate

import (
	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/token"
)

// skip returns the first token from i that is none of the words.
func (r *reader) skip(i int, words ...string) int {
	for again := true; again; {
		again = false
		for _, w := range words {
			if r.text.IsWord(i, w) {
				i, again = i+1, true
			}
		}
	}
	return i
}

// find returns the first token from i outside parentheses that is one of the
// words, or the end.
func (r *reader) find(i int, words ...string) int {
	depth := 0
	for ; i < len(r.text.Tokens); i++ {
		switch {
		case r.text.IsSymbol(i, "("):
			depth++
		case r.text.IsSymbol(i, ")"):
			depth--
		case depth == 0:
			for _, w := range words {
				if r.text.IsWord(i, w) && !afterDot(&r.text, i) {
					return i
				}
			}
		}
	}
	return i
}

// inserts judges INSERT and REPLACE.
//
//	INSERT [words] [INTO] table [PARTITION (...)] [(columns)]
//	    {VALUES | VALUE} (...), ... | SET column = expression, ... | query
//	    [ON DUPLICATE KEY UPDATE column = expression, ...] [RETURNING ...]
func (r *reader) inserts() *Refusal {
	t := &r.text
	r.v.class = classInsert
	r.findCTEs()
	at := r.skip(1, "LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "IGNORE", "INTO")
	target, at, ref := r.table(at)
	if ref != nil {
		return ref
	}
	if target == nil {
		return refuseForm
	}
	if target.Kind == schema.View {
		return refuseView
	}
	if t.IsWord(at, "PARTITION") && t.IsSymbol(at+1, "(") {
		at = r.closing(at+1) + 1
	}
	owned := -1
	if t.IsSymbol(at, "(") && !t.IsWord(at+1, "SELECT") && !t.IsWord(at+1, "WITH") {
		owned = at
		at = r.closing(at) + 1
	}
	if ref := r.read(owned); ref != nil {
		return ref
	}
	r.wrote = append(r.wrote, target)
	if ref := r.references(at, len(t.Tokens), level{}); ref != nil {
		return ref
	}
	if ref := r.writes(); ref != nil || !r.v.touches {
		return ref
	}
	return r.insertsProtected(target, at)
}

func (r *reader) insertsProtected(target *schema.Table, at int) *Refusal {
	t := &r.text
	end := r.find(at, "ON", "RETURNING")
	switch {
	case t.IsWord(at, "VALUES"), t.IsWord(at, "VALUE"):
		for i := at + 1; i < end; i++ {
			if t.IsName(i) && !t.IsSymbol(i+1, "(") && (t.Tokens[i].Kind == token.Quoted || target.Column(t.Name(i)) != nil) {
				return refuseCopy
			}
		}
	case t.IsWord(at, "SET"):
		if ref := r.assignments(target, at+1, end); ref != nil {
			return ref
		}
	default:
		return refuseForm
	}
	if t.IsWord(end, "ON") {
		if !t.IsWord(end+1, "DUPLICATE") || !t.IsWord(end+2, "KEY") || !t.IsWord(end+3, "UPDATE") {
			return refuseForm
		}
		return r.assignments(target, end+4, r.find(end, "RETURNING"))
	}
	return nil
}

// updates judges UPDATE.
func (r *reader) updates() *Refusal {
	t := &r.text
	r.v.class = classUpdate
	if ref := r.read(-1); ref != nil {
		return ref
	}
	at := r.skip(1, "LOW_PRIORITY", "IGNORE")
	set := r.find(at, "SET")
	target, next, ref := r.table(at)
	if ref == nil {
		ref = r.references(at, set, level{from: true, expect: true})
	}
	if ref == nil {
		ref = r.references(set, len(t.Tokens), level{})
	}
	if ref != nil {
		return ref
	}
	if target != nil && target.Kind == schema.View {
		return refuseView
	}
	r.wrote = append(r.wrote, target)
	single := target != nil
	for i := next; i < set; i++ {
		single = single && !t.IsSymbol(i, ",") && !t.IsWord(i, "JOIN") && !t.IsWord(i, "STRAIGHT_JOIN")
	}
	if !single && (r.v.touches || r.writesUnknown(at, set)) {
		return refuseMultiWr
	}
	if ref := r.writes(); ref != nil || !r.v.touches {
		return ref
	}
	return r.assignments(target, set+1, r.find(set, "WHERE", "ORDER", "LIMIT"))
}

// writesUnknown reports whether some table among tokens [start, end) has
// triggers or is a view, whose tables may have some: of several any may be
// written to.
func (r *reader) writesUnknown(start, end int) bool {
	for i := start; i < end; i++ {
		if !r.text.IsName(i) {
			continue
		}
		for _, t := range r.cat.Tables {
			if fold(t.Table) == fold(r.text.Name(i)) && (t.Kind == schema.View || len(t.Triggers) > 0) {
				return true
			}
		}
	}
	return false
}

// deletes judges DELETE FROM one table.
func (r *reader) deletes() *Refusal {
	t := &r.text
	r.v.class = classDelete
	if ref := r.read(-1); ref != nil {
		return ref
	}
	at := r.skip(1, "LOW_PRIORITY", "QUICK", "IGNORE")
	if !t.IsWord(at, "FROM") {
		return refuseMultiWr
	}
	target, next, ref := r.table(at + 1)
	if ref == nil {
		ref = r.references(next, len(t.Tokens), level{})
	}
	if ref != nil {
		return ref
	}
	if target != nil && target.Kind == schema.View {
		return refuseView
	}
	if target == nil || t.IsSymbol(next, ",") || t.IsSymbol(next, ".") || t.IsWord(next, "USING") {
		return refuseMultiWr
	}
	r.wrote = append(r.wrote, target)
	return r.writes()
}

// writes checks what holds for all statements that write.
func (r *reader) writes() *Refusal {
	for _, t := range r.wrote {
		if t != nil && len(t.Triggers) > 0 {
			return refuseTrigger
		}
	}
	if !r.v.touches {
		return nil
	}
	for i := range r.text.Tokens {
		if r.text.IsWord(i, "SELECT") || r.text.IsWord(i, "WITH") || r.text.IsWord(i, "TABLE") {
			return refuseSubquery
		}
	}
	return r.touching()
}

// assignments checks "column = expression, ..." in tokens [start, end): an
// expression may name a protected column of the table only to assign to the
// same column.
func (r *reader) assignments(target *schema.Table, start, end int) *Refusal {
	t := &r.text
	for start < end {
		next := start
		for depth := 0; next < end && (depth > 0 || !t.IsSymbol(next, ",")); next++ {
			if t.IsSymbol(next, "(") {
				depth++
			} else if t.IsSymbol(next, ")") {
				depth--
			}
		}
		if ref := r.assignment(target, start, next); ref != nil {
			return ref
		}
		start = next + 1
	}
	return nil
}

func (r *reader) assignment(target *schema.Table, start, end int) *Refusal {
	t := &r.text
	eq := start
	for eq < end && !t.IsSymbol(eq, "=") {
		if !t.IsName(eq) && !t.IsSymbol(eq, ".") {
			return refuseForm
		}
		eq++
	}
	if eq == start || eq == end || !t.IsName(eq-1) {
		return refuseForm
	}
	column := target.Column(t.Name(eq - 1))
	if column == nil {
		return refuseForm
	}
	to := column.Name
	g := r.tables[r.cat.Key(target.TableName)]
	for i := eq + 1; i < end; i++ {
		if g == nil || !t.IsName(i) || t.IsSymbol(i+1, ".") {
			continue
		}
		name := t.Name(i)
		if fold(name) == fold(to) {
			continue
		}
		if _, protected := g.column(name); protected || g.hidden(name) {
			return refuseCopy
		}
	}
	return nil
}

// hidden reports whether the server could take an ASCII name that the table
// does not have for a protected column of another spelling.
func (g *guarded) hidden(name string) bool {
	if g.Table.Column(name) != nil {
		return false
	}
	for c := range g.columns {
		for i := range len(c) {
			if c[i] >= 0x80 {
				return true
			}
		}
	}
	for i := range len(name) {
		if name[i] >= 0x80 {
			return true
		}
	}
	return false
}
