package lineage

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/sqlast"
	"github.com/veildb/veildb/internal/sql/token"
)

// An analysis is one statement being judged.
type analysis struct {
	account *Account
	catalog *schema.Catalog
	fold    bool // case of names of tables does not count
	session Session
	view    *viewing // not nil for the text of a view

	depth   int
	work    int                // queries gone over so far
	rounds  bool               // columns of recursive queries are being found out
	output  bool               // in an expression of a result
	windows [][]*sqlast.Window // of the queries around, innermost last
	state
}

// A state is what an analysis has found so far.
type state struct {
	refusal *Refusal // the first reason to refuse
	pending bool     // a query was named whose columns are not known yet
	touched Labels
	preds   Labels // what conditions and the like depend on
	implied Labels // in a view: what of preds the rules mind
	effects int    // assignments and functions that change something
	guesses int
	counted bool    // ROW_COUNT is asked for
	exact   bool    // see Verdict
	params  []int   // Verdict.TextParams
	uses    []*Node // for explanations: what protected columns serve for
}

func (a *analysis) refuse(r *Refusal) {
	if a.refusal == nil {
		a.refusal = r
	}
}

// note notes that a value with labels is named.
func (a *analysis) note(l Labels) {
	if len(l) > 0 {
		a.touched = a.touched.Union(l)
	}
}

func (a *analysis) rules() *Rules { return &a.account.rules }

// Judge judges the statement t, which was read in mode. It is to hold one
// statement and no semicolon. The Verdict uses no memory of t.
func (x *Account) Judge(t *token.Text, mode token.Mode, s Session) *Verdict {
	a := &analysis{account: x, catalog: x.catalog, session: s}
	if s.Catalog != nil {
		a.catalog = s.Catalog
	}
	a.fold = a.catalog.Names == schema.IgnoreCase
	v := &Verdict{Class: ClassOther}
	if s.Explain {
		v.Tree = &Node{}
	}
	if t.IsWord(0, "SET") && t.IsWord(1, "STATEMENT") {
		t = chat{a, t, v}.prefixed()
	}
	switch {
	case a.catalog.Blind != "":
		v.Refusal = refuseCatalog
	case t == nil:
		v.Refusal = refuseSet
	case a.chatter(t, v):
	default:
		stmt, err := sqlast.Parse(t, mode)
		if err != nil {
			a.refuse(refuseUnreadable)
			var why *sqlast.Unreadable
			if errors.As(err, &why) {
				v.Unreadable = why.Why
			}
			break
		}
		a.statement(stmt, v)
	}
	a.finish(v)
	return v
}

// statement judges what was read.
func (a *analysis) statement(stmt sqlast.Stmt, v *Verdict) {
	switch s := stmt.(type) {
	case sqlast.Query:
		v.Class = ClassSelect
		a.selection(s, v)
	case *sqlast.Insert:
		v.Class = ClassInsert
		a.insert(s, v)
	case *sqlast.Update:
		v.Class = ClassUpdate
		a.update(s, v)
	case *sqlast.Delete:
		v.Class = ClassDelete
		a.deletes(s, v)
	case *sqlast.CreateTable:
		v.Class = ClassDefine
		a.create(s, v)
	case *sqlast.DropTable:
		v.Class = ClassDefine
		a.drop(s, v)
	case *sqlast.Truncate:
		v.Class = ClassDelete
		a.truncate(s, v)
	case *sqlast.Do:
		v.Class = ClassSelect
		for _, e := range s.Exprs {
			a.whole(useOther, e, &scope{})
		}
	case *sqlast.Explain:
		a.explain(s, v)
	default:
		a.refuse(refuseClass)
	}
}

// selection judges a query whose result goes to the client or to variables.
func (a *analysis) selection(q sqlast.Query, v *Verdict) {
	cols := a.query(q, nil)
	if into := q.Around().Into; into != nil {
		for i := range cols {
			if len(cols[i].labels) > 0 {
				a.refuse(refuseInto)
			}
		}
		if len(into) != len(cols) {
			a.refuse(refuseForm)
		}
		a.effects++
		return
	}
	a.outputs(cols, v)
	if s, ok := q.(*sqlast.Select); ok {
		misnamed(s, v)
	}
}

// misnamed takes back the names of columns that show the same column of a query
// or view under several: MariaDB may give all of them the last one's.
func misnamed(q *sqlast.Select, v *Verdict) {
	if len(q.Items) != len(v.Outputs) {
		return
	}
	for i := range q.Items {
		for j := range i {
			x, ok := q.Items[i].Expr.(*sqlast.Column)
			y, too := q.Items[j].Expr.(*sqlast.Column)
			if ok && too && sameColumn(x.Name, y.Name) != no {
				v.Outputs[i].Name, v.Outputs[j].Name = "", ""
			}
		}
	}
}

// outputs makes columns the result.
func (a *analysis) outputs(cols []column, v *Verdict) {
	v.Outputs = make([]Output, len(cols))
	for i, c := range cols {
		v.Outputs[i] = Output{Name: c.name, Labels: c.labels}
		if c.tells && len(a.minded(c.labels)) > 0 {
			a.refuse(refuseNull)
		}
		if c.base != nil {
			v.Outputs[i].Base = &c.base.Column
		}
		if v.Tree != nil {
			n := &Node{Text: "column " + cmp.Or(c.name, strconv.Itoa(i+1)), Labels: a.account.ruleNames(c.labels)}
			if c.node != nil && len(c.labels) > 0 {
				n.Kids = []*Node{c.node}
			}
			v.Tree.Kids = append(v.Tree.Kids, n)
		}
	}
}

// explain judges EXPLAIN, whose answer tells of rows.
func (a *analysis) explain(s *sqlast.Explain, v *Verdict) {
	inner := &Verdict{}
	a.statement(s.Stmt, inner)
	if len(a.minded(a.touched)) > 0 || s.Detail && len(a.touched) > 0 || a.effects > 0 {
		a.refuse(refuseExplain)
	}
	v.Class = ClassShow
}

// finish draws the conclusions from the whole.
func (a *analysis) finish(v *Verdict) {
	// What is done for some rows only tells which.
	if a.effects > 0 && len(a.preds) > 0 {
		a.refuse(refuseEffect)
	}
	if a.pending {
		a.refuse(refuseForm)
	}
	if v.Refusal == nil {
		v.Refusal = a.refusal
	}
	v.Touched = len(a.touched) > 0
	for _, t := range v.Writes {
		v.Numbers = v.Numbers || a.account.numbered[strings.ToLower(t.Table)]
	}
	v.Guesses, v.Counted, v.Exact = a.guesses, a.counted, a.exact
	v.Effects, v.TextParams = a.effects > 0, a.params
	if v.Refusal != nil {
		v.Outputs = nil
	}
	if v.Tree == nil {
		return
	}
	v.Tree.Text = string(v.Class)
	if v.Refusal != nil {
		v.Tree.Text += ", refused: " + v.Refusal.Reason
		v.Tree.Kids = nil
	}
	if len(a.uses) > 0 {
		v.Tree.Kids = append(v.Tree.Kids, &Node{Text: "conditions, order and groups", Kids: a.uses})
	}
}

// join makes the node of a part of which others are part. Nodes are made for
// explanations only, and for views, which are kept.
func (a *analysis) join(text string, nodes ...*Node) *Node {
	if !a.session.Explain && a.view == nil {
		return nil
	}
	out := &Node{Text: text}
	for _, n := range nodes {
		switch {
		case n == nil:
		case n.Text == text:
			out.Kids = append(out.Kids, n.Kids...)
		default:
			out.Kids = append(out.Kids, n)
		}
	}
	return out
}

// leaf makes a node without parts.
func (a *analysis) leaf(text string, l Labels) *Node {
	if !a.session.Explain && a.view == nil {
		return nil
	}
	return &Node{Text: text, Labels: slices.Clone(a.account.ruleNames(l))}
}

// String draws the tree, a part on a line.
func (n *Node) String() string {
	var b strings.Builder
	n.draw(&b, "", "")
	return b.String()
}

func (n *Node) draw(b *strings.Builder, first, rest string) {
	b.WriteString(first + n.Text)
	if len(n.Labels) > 0 {
		b.WriteString("  [" + strings.Join(n.Labels, ", ") + "]")
	}
	b.WriteString("\n")
	for i, k := range n.Kids {
		if i == len(n.Kids)-1 {
			k.draw(b, rest+"└─ ", rest+"   ")
		} else {
			k.draw(b, rest+"├─ ", rest+"│  ")
		}
	}
}
