package gate

import (
	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/token"
)

// A level is a pair of parentheses in a search for table references.
type level struct {
	query  bool // a SELECT stands in it
	from   bool // in its list of tables
	expect bool // a table comes next
}

// endsFrom are the words that end a list of tables. All are reserved, so none is
// an alias.
var endsFrom = words(`where group having order limit union except intersect procedure into set fetch select values`)

// references finds the table references in tokens [start, end) and checks each.
// top says what the outermost level is.
func (r *reader) references(start, end int, top level) *Refusal {
	t := &r.text
	stack := []level{top}
	for i := start; i < end; i++ {
		l := &stack[len(stack)-1]
		switch tok := t.Tokens[i]; {
		case t.IsSymbol(i, "("):
			inner := level{from: l.expect, expect: l.expect}
			l.expect = false
			stack = append(stack, inner)
		case t.IsSymbol(i, ")"):
			if len(stack) == 1 {
				return refuseForm
			}
			stack = stack[:len(stack)-1]
		case t.IsSymbol(i, ","):
			l.expect = l.from
		case tok.Kind == token.Word && t.IsWord(i, "FROM") && l.query:
			l.from, l.expect = true, true
		case tok.Kind == token.Word && l.from && (t.IsWord(i, "JOIN") || t.IsWord(i, "STRAIGHT_JOIN")):
			l.expect = true
		case tok.Kind == token.Word && !afterDot(t, i) && endsFrom[fold(t.Name(i))]:
			l.query = l.query || t.IsWord(i, "SELECT")
			l.from, l.expect = false, false
		case l.expect && t.IsName(i):
			next, ref := r.reference(i)
			if ref != nil {
				return ref
			}
			l.expect, i = false, next-1
		case l.expect:
			return refuseForm
		}
	}
	if len(stack) != 1 {
		return refuseForm
	}
	return nil
}

func afterDot(t *token.Text, i int) bool { return t.IsSymbol(i-1, ".") }

// reference checks the table reference that begins at token i and returns the
// token after it.
func (r *reader) reference(i int) (next int, ref *Refusal) {
	_, next, ref = r.table(i)
	return next, ref
}

// table is reference, and returns the table, nil for a name of WITH or DUAL.
func (r *reader) table(i int) (*schema.Table, int, *Refusal) {
	t := &r.text
	if !t.IsName(i) {
		return nil, i, refuseForm
	}
	n := schema.TableName{Database: r.database, Table: t.Name(i)}
	next := i + 1
	qualified := t.IsSymbol(next, ".")
	if qualified {
		if !t.IsName(next + 1) {
			return nil, i, refuseForm
		}
		n = schema.TableName{Database: n.Table, Table: t.Name(next + 1)}
		next += 2
	}
	switch {
	case !qualified && (r.ctes[fold(n.Table)] || t.IsWord(i, "DUAL")):
		return nil, next, nil
	case fold(n.Database) == "information_schema" && readableSchema[fold(n.Table)]:
		return nil, next, nil
	}
	found := r.cat.Table(n)
	if found == nil {
		return nil, next, refuseTable
	}
	if g := r.tables[r.cat.Key(n)]; g != nil {
		r.touched(g.all)
	}
	return found, next, nil
}
