package lineage

import (
	"slices"

	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/sqlast"
)

// A value is what an expression gives.
type value struct {
	labels Labels
	base   *baseColumn // whose values it is, unchanged
	tells  bool        // see column
	src    *source     // of a column, nil for others
	node   *Node
}

// value returns what flows into an expression: whatever is named inside it,
// without regard to what is done with it.
func (a *analysis) value(e sqlast.Expr, sc *scope) value {
	if a.refusal != nil {
		return value{}
	}
	switch e := e.(type) {
	case *sqlast.Column:
		f := a.lookup(e, sc)
		a.note(f.labels)
		return value{f.labels, f.base, f.tells, f.src, f.node}
	case *sqlast.Constant:
		return value{}
	case *sqlast.Variable:
		return a.variable(e, sc)
	case *sqlast.Subquery:
		return a.subquery(e, sc)
	case *sqlast.Call:
		return a.call(e, sc)
	}
	a.refuse(refuseForm)
	return value{}
}

func (a *analysis) variable(v *sqlast.Variable, sc *scope) value {
	switch {
	case v.System:
		if v.Assign != nil || !readableVariables[v.Name] {
			a.refuse(refuseVariable)
		}
		if lastNumbers[v.Name] {
			return a.numbered()
		}
	case v.Assign != nil:
		a.effects++
		got := a.value(v.Assign, sc)
		if len(got.labels) > 0 {
			a.refuse(refuseEffect)
		}
	}
	return value{} // a protected value was never let into it
}

// lastNumbers are the variables that hold the number of the row inserted last.
var lastNumbers = words(`identity last_insert_id`)

// numbered is the number of the row inserted last.
func (a *analysis) numbered() value {
	if len(a.account.numbered) == 0 {
		return value{}
	}
	l := Labels{Derived}
	a.note(l)
	return value{labels: l, node: a.leaf("number of the last row", l)}
}

// subquery is what a query gives as an operand. In a result its conditions count
// too, unless the rules put up with what conditions tell.
func (a *analysis) subquery(s *sqlast.Subquery, sc *scope) value {
	before := a.preds
	a.preds = nil
	cols := a.query(s.Query, sc)
	inner := a.preds
	a.preds = before.Union(inner)
	var v value
	if !s.Exists {
		for i := range cols {
			v.labels = v.labels.Union(cols[i].labels)
			v.tells = v.tells || cols[i].tells
			v.node = a.join("subquery", v.node, cols[i].node)
		}
	}
	if a.output {
		if l := a.minded(inner); len(l) > 0 {
			v.labels = v.labels.Union(l)
			v.node = a.join("subquery", v.node, a.leaf("conditions", l))
		}
	}
	return v
}

// minded returns those of l whose rules mind what conditions tell.
func (a *analysis) minded(l Labels) (out Labels) {
	for _, r := range l {
		if a.rules().List[r].Inference != Documented {
			out = append(out, r)
		}
	}
	return out
}

// call is what a function or operator gives.
func (a *analysis) call(c *sqlast.Call, sc *scope) value {
	effects := a.effects
	if !c.Operator {
		a.function(c)
	}
	var v value
	add := func(got value) {
		if len(got.labels) > 0 {
			v.labels = v.labels.Union(got.labels)
			v.node = a.join(c.Name, v.node, got.node)
		}
	}
	if c.Name == "last_insert_id" && !c.Operator && len(c.Args) == 0 {
		return a.numbered()
	}
	if c.Name == "sequence" && c.Operator {
		a.sequence(c)
		return v
	}
	bare := len(c.Args) > 0
	var few [4]value
	args := few[:0]
	for _, arg := range c.Args {
		got := a.value(arg, sc)
		bare = bare && got.base != nil && (!got.tells || len(a.minded(got.labels)) == 0)
		args = append(args, got)
		add(got)
	}
	if len(v.labels) > 0 {
		v.tells = a.tells(c, args, sc)
		a.shaped(c, args, sc)
	}
	switch {
	case c.Name == "count" && (bare || c.Star), // how many are not NULL
		c.Operator && c.Name == "is null" && bare, !c.Operator && c.Name == "isnull" && bare,
		!c.Operator && typeOnly[c.Name]:
		v = value{}
	}
	for _, o := range c.Order {
		got := a.value(o, sc)
		if len(got.labels) > 0 {
			a.use(useOrder, got.labels)
			add(value{labels: a.minded(got.labels), node: got.node})
		}
	}
	if c.Over != nil {
		if l := a.window(c.Over, sc); len(l) > 0 {
			a.use(useOther, l)
			add(value{labels: l, node: a.leaf("window", l)})
			v.tells = true
		}
	}
	if len(v.labels) > 0 && a.effects > effects {
		a.refuse(refuseEffect)
	}
	return v
}

// shapes are the functions whose operands, but the first, decide what type the
// server says the result is of, if it finds their values before the rows.
var shapes = words(`mid round str_to_date substr substring truncate`)

// shaped judges what the description of a result would tell, which comes in plain.
func (a *analysis) shaped(c *sqlast.Call, args []value, sc *scope) {
	if c.Operator || !shapes[c.Name] || len(args) < 2 {
		return
	}
	for i, v := range args[1:] {
		if len(v.labels) > 0 && a.early(c.Args[i+1], sc) {
			a.use(useOther, v.labels)
		}
	}
}

// early reports whether the server may know the value of a protected expression
// without a row: it has a subquery, perhaps one behind the name of a column.
func (a *analysis) early(e sqlast.Expr, sc *scope) bool {
	switch e := e.(type) {
	case *sqlast.Column:
		f := a.lookup(e, sc)
		return len(f.labels) > 0 && f.base == nil
	case *sqlast.Subquery:
		return true
	case *sqlast.Call:
		return slices.ContainsFunc(e.Args, func(x sqlast.Expr) bool { return a.early(x, sc) })
	}
	return false
}

// sequence checks the table NEXTVAL and its kin take.
func (a *analysis) sequence(c *sqlast.Call) {
	n := c.Args[0].(*sqlast.Column)
	if t := a.find(&sqlast.TableName{Database: n.Database, Table: n.Table}); t != nil && t.Kind != schema.Sequence {
		a.refuse(refuseTable)
	}
}

// window returns the labels of what decides over which rows a function runs.
func (a *analysis) window(w *sqlast.Window, sc *scope) Labels {
	if w.Name == "" {
		return a.windowParts(w, sc)
	}
	return a.windowNamed(w.Name, sc, 0)
}

// windowNamed finds a window of the WINDOW clause.
func (a *analysis) windowNamed(name string, sc *scope, depth int) Labels {
	if n := len(a.windows); n > 0 && depth < maxDepth {
		for _, w := range a.windows[n-1] {
			if sameColumn(w.Name, name) == yes {
				l := a.windowParts(&sqlast.Window{Partition: w.Partition, Order: w.Order, Frame: w.Frame}, sc)
				if w.Base != "" {
					l = l.Union(a.windowNamed(w.Base, sc, depth+1))
				}
				return l
			}
		}
	}
	a.refuse(refuseForm)
	return nil
}

func (a *analysis) windowParts(w *sqlast.Window, sc *scope) (l Labels) {
	for _, list := range [][]sqlast.Expr{w.Partition, w.Order, w.Frame} {
		for _, e := range list {
			l = l.Union(a.value(e, sc).labels)
		}
	}
	if w.Base != "" {
		l = l.Union(a.windowNamed(w.Base, sc, 0))
	}
	return l
}

// constant reports whether an expression is the same for all rows and known to
// the client: literals, parameters, and pure functions of them.
func constant(e sqlast.Expr) bool {
	switch e := e.(type) {
	case *sqlast.Constant:
		return e.Kind != sqlast.Default
	case *sqlast.Call:
		if e.Over != nil || e.Aggregate || !e.Operator && (functions[e.Name] != fnPure || random[e.Name] || e.Schema != "") {
			return false
		}
		for _, arg := range e.Args {
			if !constant(arg) {
				return false
			}
		}
		return len(e.Order) == 0
	}
	return false
}
