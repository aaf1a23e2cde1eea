package lineage

import (
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/sql/sqlast"
)

// A use is what a protected column serves for outside the result.
type use byte

const (
	useOther    use = iota
	useEqual        // equality with constants
	useNull         // IS [NOT] NULL
	useDistinct     // rows made one with rows as protected
	useRange        // order compared with constants
	useLike         // beginning compared with a constant
	useOrder        // order of rows
	useGroup        // groups of rows
	useJoin         // equality with another column
)

// granted says which grant allows a use that Guarded does not.
var granted = [...]Grant{useRange: GrantRange, useLike: GrantLikePrefix, useOrder: GrantOrder, useGroup: GrantGroup, useJoin: GrantJoin}

// said are the uses in the tree of a verdict.
var said = [...]string{useOther: "another use", useEqual: "equality with constants", useNull: "IS NULL", useDistinct: "equality of rows", useRange: "order compared with constants",
	useLike: "beginning compared with a constant", useOrder: "order of rows", useGroup: "groups or equality of rows", useJoin: "equality with another column"}

// use notes that values with labels serve for u, or refuses the statement.
func (a *analysis) use(u use, l Labels) {
	if len(l) > 0 && a.session.Explain {
		a.uses = append(a.uses, a.leaf(said[u], l))
	}
	for _, r := range l {
		rule := &a.rules().List[r]
		if rule.Inference == Documented || rule.Inference == Guarded && (u == useEqual || u == useNull || u == useDistinct || rule.Grants&granted[u] != 0) {
			continue
		}
		if a.view == nil {
			a.refuse(refusePredicate)
			break
		}
		a.implied = a.implied.Union(Labels{r})
	}
	a.preds = a.preds.Union(l)
}

// whole judges an expression of which no part may use a protected column but as
// u.
func (a *analysis) whole(u use, e sqlast.Expr, sc *scope) {
	if v := a.value(e, sc); len(v.labels) > 0 {
		a.use(u, v.labels)
	}
}

// condition judges WHERE and ON: what is joined by AND, one by one.
func (a *analysis) condition(e sqlast.Expr, sc *scope) {
	if c, ok := e.(*sqlast.Call); ok && c.Operator && c.Name == "and" {
		for _, arg := range c.Args {
			a.condition(arg, sc)
		}
		return
	}
	v := a.value(e, sc)
	a.use(useNull, a.nulls(e, sc))
	if len(v.labels) == 0 || a.refusal != nil {
		return
	}
	if c, ok := e.(*sqlast.Call); !ok || !c.Operator || !a.allowed(c, sc) {
		a.use(useOther, v.labels)
	}
}

// nulls returns the labels of columns that IS NULL asks about. As a value that
// is clean; as a condition it is a use.
func (a *analysis) nulls(e sqlast.Expr, sc *scope) (l Labels) {
	c, ok := e.(*sqlast.Call)
	if !ok || a.refusal != nil {
		return nil
	}
	if c.Name == "is null" || c.Name == "isnull" {
		for _, arg := range c.Args {
			if f, ok := a.bare(arg, sc); ok && !f.tells {
				l = l.Union(f.labels)
			}
		}
	}
	for _, arg := range c.Args {
		l = l.Union(a.nulls(arg, sc))
	}
	return l
}

// allowed notes the use that a condition is of, and reports whether it is of a
// form that can be allowed.
func (a *analysis) allowed(c *sqlast.Call, sc *scope) bool {
	if len(c.Args) < 1 {
		return false
	}
	switch c.Name {
	case "=", "<=>":
		return a.equal(c.Args[0], c.Args[1], sc)
	case "in":
		return a.in(c, sc)
	case "<", "between":
		return a.compared(useRange, c, sc)
	case "like":
		if p, ok := c.Args[1].(*sqlast.Constant); ok && p.Kind == sqlast.String && p.Text != "" && !strings.ContainsAny(p.Text[:1], "%_") {
			return a.compared(useLike, c, sc)
		}
	}
	return false
}

// bare returns the column that an expression is.
func (a *analysis) bare(e sqlast.Expr, sc *scope) (found, bool) {
	c, ok := e.(*sqlast.Column)
	if !ok {
		return found{}, false
	}
	f := a.lookup(c, sc)
	return f, f.base != nil
}

// compared notes a use of one column with constants.
func (a *analysis) compared(u use, c *sqlast.Call, sc *scope) bool {
	var labels Labels
	for _, arg := range c.Args {
		if constant(arg) {
			continue
		}
		f, ok := a.bare(arg, sc)
		if !ok || labels != nil || !a.typed(f, c.Args) {
			return false
		}
		labels = f.labels
	}
	a.guess(1)
	a.use(u, labels)
	return true
}

// equal judges x = y.
func (a *analysis) equal(x, y sqlast.Expr, sc *scope) bool {
	if constant(x) {
		x, y = y, x
	}
	if row, ok := x.(*sqlast.Call); ok && row.Operator && row.Name == "row" {
		other, ok := y.(*sqlast.Call)
		if !ok || !other.Operator || other.Name != "row" || len(other.Args) != len(row.Args) {
			return false
		}
		for i := range row.Args {
			if !a.equalPart(row.Args[i], other.Args[i], sc) {
				return false
			}
		}
		return true
	}
	return a.equalPart(x, y, sc)
}

// equalPart judges x = y, where either may be without labels.
func (a *analysis) equalPart(x, y sqlast.Expr, sc *scope) bool {
	if constant(x) {
		x, y = y, x
	}
	if constant(x) {
		return true
	}
	c, ok := x.(*sqlast.Column)
	if !ok {
		return false
	}
	f := a.lookup(c, sc)
	if constant(y) {
		if len(f.labels) == 0 {
			return true
		}
		if f.base == nil || !a.typed(f, []sqlast.Expr{y}) {
			return false
		}
		a.guess(1)
		a.use(useEqual, f.labels)
		return true
	}
	d, ok := y.(*sqlast.Column)
	if !ok {
		return false
	}
	g := a.lookup(d, sc)
	both := f.labels.Union(g.labels)
	if len(both) > 0 && (f.base == nil || g.base == nil) {
		return false
	}
	a.use(useJoin, both)
	return true
}

// in judges x IN (...).
func (a *analysis) in(c *sqlast.Call, sc *scope) bool {
	row, isRow := c.Args[0].(*sqlast.Call)
	isRow = isRow && row.Operator && row.Name == "row"
	for _, y := range c.Args[1:] {
		if !constant(y) {
			return false
		}
		if isRow {
			if !a.equal(row, y, sc) {
				return false
			}
			continue
		}
		if !a.equalPart(c.Args[0], y, sc) {
			return false
		}
	}
	return true
}

// guess counts constants that were compared with protected columns.
func (a *analysis) guess(n int) {
	if a.view != nil {
		return
	}
	if a.guesses += n; a.guesses > MaxGuesses && len(a.minded(a.touched)) > 0 {
		a.refuse(refuseGuesses)
	}
}

// typed reports whether a column can be compared with expressions without its
// values being turned into numbers, which the server would complain about value
// by value. It refuses if not.
func (a *analysis) typed(f found, with []sqlast.Expr) bool {
	if !textual(f.base.kind) || len(a.minded(f.labels)) == 0 {
		return true
	}
	for _, e := range with {
		if constant(e) && !a.isText(e) {
			a.refuse(refuseType)
			return false
		}
	}
	return true
}

// isText reports whether a constant is for certain no number or time, with which
// the server compares what a text begins with. Of parameters it takes note.
func (a *analysis) isText(e sqlast.Expr) bool {
	switch e := e.(type) {
	case *sqlast.Constant:
		if e.Kind == sqlast.Param {
			a.params = append(slices.Clip(a.params), e.Param)
		}
		return e.Kind != sqlast.Number
	case *sqlast.Call:
		if e.Operator {
			return e.Text || e.Name == "collate" && a.isText(e.Args[0])
		}
		return textFunctions[e.Name]
	}
	return false
}

// textual reports whether a type is one of texts.
func textual(kind string) bool {
	kind = strings.ToLower(kind)
	for _, t := range []string{"char", "varchar", "text", "enum", "set", "json", "binary", "varbinary", "blob", "tiny", "medium", "long"} {
		if strings.HasPrefix(kind, t) && !strings.Contains(kind, "int") {
			return true
		}
	}
	return false
}

// position returns which column of the result a constant in ORDER BY or GROUP BY
// means, -1 for none.
func position(e sqlast.Expr) int {
	c, ok := e.(*sqlast.Constant)
	if !ok || c.Kind != sqlast.Number || c.Text == "" || len(c.Text) > 6 {
		return -1
	}
	n := 0
	for i := range len(c.Text) {
		n = n*10 + int(c.Text[i]-'0')
	}
	return n - 1
}

// positions returns the labels of the columns of the result that a constant in ORDER
// BY or GROUP BY may mean, and whether it may mean one: a parameter can be the
// number of any, and so can what a sign or a function makes of a number.
func positions(e sqlast.Expr, out []column) (l Labels, ok bool) {
	if i := position(e); i >= 0 {
		if i < len(out) {
			l = out[i].labels
		}
		return l, true
	}
	if c, literal := e.(*sqlast.Constant); !constant(e) || literal && c.Kind != sqlast.Param {
		return nil, false
	}
	for i := range out {
		l = l.Union(out[i].labels)
	}
	return l, true
}

// order judges ORDER BY: names are those of results first.
func (a *analysis) order(list []sqlast.Expr, from *scope, out []column) {
	for _, e := range list {
		if l, ok := positions(e, out); ok {
			a.use(useOrder, l)
			continue
		}
		if c, ok := e.(*sqlast.Column); ok && c.Table == "" {
			if f, ok := a.lookupResults(c.Name, out); ok {
				also, _ := unnamedResults(c.Name, out)
				a.use(useOrder, f.labels.Union(also.labels))
				continue
			}
		}
		from.results, from.direct = out, true
		a.whole(useOrder, e, from)
		from.results, from.direct = nil, false
	}
}

// group judges GROUP BY. A protected column beside a key of its table makes no
// more groups than the key alone.
func (a *analysis) group(list []sqlast.Expr, from *scope, out []column) {
	var cols []found
	for _, e := range list {
		if i := position(e); i >= 0 {
			if i < len(out) {
				cols = append(cols, found{labels: out[i].labels, base: out[i].base, src: out[i].src})
			}
			continue
		}
		if l, ok := positions(e, out); ok {
			cols = append(cols, found{labels: l})
			continue
		}
		from.results, from.direct = out, true
		if c, ok := e.(*sqlast.Column); ok {
			f := a.lookup(c, from)
			a.note(f.labels)
			cols = append(cols, f)
		} else {
			cols = append(cols, found{labels: a.value(e, from).labels})
		}
		from.results, from.direct = nil, false
	}
	for _, f := range cols {
		switch {
		case len(f.labels) == 0:
		case determined(f, cols):
			a.use(useDistinct, f.labels)
		default:
			a.use(useGroup, f.labels)
		}
	}
}

// determined reports whether a key of f's table is among cols.
func determined(f found, cols []found) bool {
	if f.src == nil || f.src.table == nil || f.base == nil {
		return false
	}
	t := f.src.table
	has := func(name string) bool {
		for _, c := range cols {
			if c.src == f.src && c.base != nil && sameColumn(c.base.Column.Column, name) == yes {
				return true
			}
		}
		return false
	}
	for _, k := range t.Keys {
		whole := k.Unique && len(k.Columns) > 0
		for _, name := range k.Columns {
			col := t.Column(name)
			whole = whole && has(name) && col != nil && !col.Nullable
		}
		if whole {
			return true
		}
	}
	return false
}
