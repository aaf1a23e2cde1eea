package sqlast

import (
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"
)

func exprs(c *converter, in []ast.ExprNode) []Expr {
	out := make([]Expr, len(in))
	for i, e := range in {
		out[i] = expr(c, e)
	}
	return out
}

// operator makes the Call of an operator; nil operands are left out.
func operator(c *converter, name string, in ...ast.ExprNode) Expr {
	call := &Call{Name: name, Operator: true, Args: make([]Expr, 0, len(in))}
	for _, e := range in {
		if e != nil {
			call.Args = append(call.Args, expr(c, e))
		}
	}
	return call
}

func column(n *ast.ColumnName) *Column {
	return &Column{n.Schema.O, n.Table.O, n.Name.O}
}

// parserNames begins the parser's own names of functions. No statement that has
// it in a name is read.
const parserNames = "'tidb`"

// expr turns an expression into ours.
func expr(c *converter, n ast.ExprNode) Expr {
	if !c.enter() {
		return &Constant{Kind: Other}
	}
	defer func() { c.depth-- }()
	switch n := n.(type) {
	case *ast.ColumnNameExpr:
		return column(n.Name)
	case *driver.ValueExpr:
		return constant(n)
	case *driver.ParamMarkerExpr:
		p := &Constant{Kind: Param}
		c.params = append(c.params, placed{n.Offset, p})
		return p
	case *ast.ParenthesesExpr:
		return expr(c, n.Expr)
	case *ast.BinaryOperationExpr:
		return c.binary(n)
	case *ast.UnaryOperationExpr:
		return operator(c, unary(n.Op), n.V)
	case *ast.FuncCallExpr:
		if strings.HasPrefix(n.FnName.L, parserNames) { // DATE '2020-01-01'
			return &Call{Name: "cast", Operator: true, Args: exprs(c, n.Args)}
		}
		return &Call{Schema: n.Schema.O, Name: strings.ToLower(n.FnName.O), Args: exprs(c, n.Args)}
	case *ast.FuncCastExpr:
		if n.Tp != nil && safeCasts[n.Tp.GetType()] {
			t := n.Tp.GetType()
			text := t == mysql.TypeVarString || t == mysql.TypeVarchar || t == mysql.TypeString
			return &Call{Name: "cast", Operator: true, Text: text, Args: []Expr{expr(c, n.Expr)}}
		}
		return operator(c, "parse", n.Expr)
	case *ast.AggregateFuncExpr:
		return c.aggregate(n)
	case *ast.WindowFuncExpr:
		over := c.window(&n.Spec)
		return &Call{Name: strings.ToLower(n.Name), Args: exprs(c, n.Args), Distinct: n.Distinct, Over: over, Star: star(n.Name, n.Args)}
	case *ast.SubqueryExpr:
		return &Subquery{Query: c.query(n.Query), Exists: n.Exists}
	case *ast.ExistsSubqueryExpr:
		return c.exists(n)
	case *ast.CompareSubqueryExpr:
		return operator(c, "any", n.L, n.R)
	case *ast.VariableExpr:
		v := &Variable{Name: strings.ToLower(n.Name), System: n.IsSystem}
		if n.Value != nil {
			v.Assign = expr(c, n.Value)
		}
		return v
	}
	return c.other(n)
}

// other is expr for the rarer nodes.
func (c *converter) other(n ast.ExprNode) Expr {
	switch n := n.(type) {
	case *ast.PatternInExpr:
		name := "in"
		if n.Not {
			name = "not in"
		}
		if n.Sel != nil {
			return operator(c, name, n.Expr, n.Sel)
		}
		return operator(c, name, append([]ast.ExprNode{n.Expr}, n.List...)...)
	case *ast.BetweenExpr:
		if n.Not {
			return operator(c, "not between", n.Expr, n.Left, n.Right)
		}
		return operator(c, "between", n.Expr, n.Left, n.Right)
	case *ast.IsNullExpr:
		return operator(c, "is null", n.Expr)
	case *ast.IsTruthExpr:
		return operator(c, "is true", n.Expr)
	case *ast.PatternLikeOrIlikeExpr:
		name := "like"
		if n.Not || !n.IsLike || n.EscapeExplicit && n.Escape != '\\' {
			name = "not like"
		}
		return operator(c, name, n.Expr, n.Pattern)
	case *ast.PatternRegexpExpr:
		return operator(c, "regexp", n.Expr, n.Pattern)
	case *ast.CaseExpr:
		return c.cases(n)
	case *ast.RowExpr:
		return operator(c, "row", n.Values...)
	case *ast.SetCollationExpr:
		return operator(c, "collate", n.Expr)
	case *ast.ValuesExpr:
		if n.Column == nil {
			c.fail("VALUES")
			return &Constant{Kind: Other}
		}
		return &Call{Name: "values", Args: []Expr{column(n.Column.Name)}}
	case *ast.DefaultExpr:
		if n.Name == nil {
			return &Constant{Kind: Default}
		}
		return &Call{Name: "default", Args: []Expr{column(n.Name)}}
	case *ast.MatchAgainst:
		m := &Call{Name: "match", Operator: true}
		for _, col := range n.ColumnNames {
			m.Args = append(m.Args, column(col))
		}
		m.Args = append(m.Args, expr(c, n.Against))
		return m
	case *ast.PositionExpr:
		if n.P != nil {
			return &Constant{Kind: Param}
		}
		return &Constant{Kind: Number, Text: strconv.Itoa(n.N)}
	case *ast.TableNameExpr: // of a sequence
		return &Call{Name: "sequence", Operator: true, Args: []Expr{&Column{n.Name.Schema.O, n.Name.Name.O, ""}}}
	case *ast.TimeUnitExpr:
		return &Constant{Kind: Other, Text: n.Unit.String()}
	case *ast.TrimDirectionExpr, *ast.GetFormatSelectorExpr:
		return &Constant{Kind: Other}
	}
	c.fail("expression")
	return &Constant{Kind: Other}
}

// safeCasts are types to which casts give NULL for NULL alone.
var safeCasts = map[byte]bool{
	mysql.TypeVarString: true, mysql.TypeVarchar: true, mysql.TypeString: true, mysql.TypeLonglong: true, mysql.TypeNewDecimal: true,
	mysql.TypeDouble: true, mysql.TypeFloat: true,
}

// cases makes CASE: what is compared first, in a row, then the results.
func (c *converter) cases(n *ast.CaseExpr) Expr {
	when := &Call{Name: "row", Operator: true}
	out := &Call{Name: "case", Operator: true, Args: []Expr{when}}
	if n.Value != nil {
		when.Args = append(when.Args, expr(c, n.Value))
	}
	for _, w := range n.WhenClauses {
		when.Args = append(when.Args, expr(c, w.Expr))
		out.Args = append(out.Args, expr(c, w.Result))
	}
	if n.ElseClause == nil {
		out.Args = append(out.Args, &Constant{Kind: Null})
	} else {
		out.Args = append(out.Args, expr(c, n.ElseClause))
	}
	return out
}

func (c *converter) exists(n *ast.ExistsSubqueryExpr) Expr {
	sub, ok := n.Sel.(*ast.SubqueryExpr)
	if !ok {
		c.fail("EXISTS")
		return &Constant{Kind: Other}
	}
	out := &Subquery{Query: c.query(sub.Query), Exists: true}
	if n.Not {
		return &Call{Name: "not", Operator: true, Args: []Expr{out}}
	}
	return out
}

func constant(n *driver.ValueExpr) Expr {
	switch n.Kind() {
	case driver.KindNull:
		return &Constant{Kind: Null}
	case driver.KindString, driver.KindBytes:
		return &Constant{Kind: String, Text: n.GetString()}
	case driver.KindBinaryLiteral, driver.KindMysqlBit:
		return &Constant{Kind: Other}
	}
	out := &Constant{Kind: Number}
	switch n.Kind() {
	case driver.KindInt64, driver.KindUint64:
		out.Text = strconv.FormatUint(n.GetUint64(), 10)
	}
	return out
}

// binary flattens chains of AND and OR, which can be long.
func (c *converter) binary(n *ast.BinaryOperationExpr) Expr {
	name := n.Op.String()
	switch n.Op {
	case opcode.LogicAnd, opcode.LogicOr:
		call := &Call{Name: name, Operator: true}
		var right []ast.ExprNode
		left := ast.ExprNode(n)
		for {
			b, ok := left.(*ast.BinaryOperationExpr)
			if !ok || b.Op != n.Op {
				break
			}
			right = append(right, b.R)
			left = b.L
		}
		call.Args = c.flat(call.Args, name, left)
		for i := len(right) - 1; i >= 0; i-- {
			call.Args = c.flat(call.Args, name, right[i])
		}
		return call
	case opcode.EQ:
		name = "="
	case opcode.NullEQ:
		name = "<=>"
	case opcode.LT, opcode.GT, opcode.LE, opcode.GE:
		name = "<"
	case opcode.NE:
		name = "<>"
	}
	return operator(c, name, n.L, n.R)
}

// flat adds an operand of a chain, or its operands if it is such a chain itself.
func (c *converter) flat(to []Expr, name string, n ast.ExprNode) []Expr {
	e := expr(c, n)
	if inner, ok := e.(*Call); ok && inner.Operator && inner.Name == name {
		return append(to, inner.Args...)
	}
	return append(to, e)
}

func unary(op opcode.Op) string {
	switch op {
	case opcode.Not, opcode.Not2:
		return "not"
	case opcode.Minus, opcode.Plus:
		return "sign"
	}
	return op.String()
}

func (c *converter) aggregate(n *ast.AggregateFuncExpr) Expr {
	return &Call{Name: strings.ToLower(n.F), Args: exprs(c, n.Args), Aggregate: true, Distinct: n.Distinct, Order: c.order(n.Order), Star: star(n.F, n.Args)}
}

// star reports whether it is COUNT(*), which the parser makes COUNT(1).
func star(name string, args []ast.ExprNode) bool {
	if !strings.EqualFold(name, "count") || len(args) != 1 {
		return false
	}
	_, ok := args[0].(*driver.ValueExpr)
	return ok
}

func (c *converter) window(n *ast.WindowSpec) *Window {
	w := &Window{Name: n.Name.O, Base: n.Ref.O}
	if n.PartitionBy != nil {
		for _, it := range n.PartitionBy.Items {
			w.Partition = append(w.Partition, expr(c, it.Expr))
		}
	}
	w.Order = c.order(n.OrderBy)
	if n.Frame != nil {
		for _, b := range []ast.FrameBound{n.Frame.Extent.Start, n.Frame.Extent.End} {
			if b.Expr != nil {
				w.Frame = append(w.Frame, expr(c, b.Expr))
			}
		}
	}
	return w
}
