package sqlast

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// A converter turns the parser's nodes into ours. It goes on after it failed, so
// that few places must check.
type converter struct {
	why       string // "" as long as all was understood
	single    bool   // characters of texts are single bytes
	lists     []aliasList
	listed    int // how many of lists were met
	rightJoin bool
	tables    []Expr // documents of JSON_TABLEs
	columns   [][]JSONColumn
	depth     int
	params    []placed
}

// A placed is a parameter and where it stands in the text.
type placed struct {
	offset int
	param  *Constant
}

// count numbers the parameters that were met, of n that there are to be.
func (c *converter) count(n int) {
	if len(c.params) != n {
		return
	}
	slices.SortFunc(c.params, func(a, b placed) int { return a.offset - b.offset })
	for i, p := range c.params {
		p.param.Param = i + 1
	}
}

func (c *converter) fail(why string) {
	if c.why == "" {
		c.why = why
	}
}

// maxNesting is how deep a tree can be.
const maxNesting = 4096

// enter counts levels and reports whether there may be one more.
func (c *converter) enter() bool {
	if c.depth++; c.depth > maxNesting {
		c.fail("too deep")
	}
	return c.why == ""
}

func (c *converter) statement(n ast.StmtNode) Stmt {
	switch n := n.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		return c.query(n)
	case *ast.InsertStmt:
		return c.insert(n)
	case *ast.UpdateStmt:
		return c.update(n)
	case *ast.DeleteStmt:
		return c.delete(n)
	case *ast.CreateTableStmt:
		return c.createTable(n)
	case *ast.DropTableStmt:
		if n.IsView || n.TemporaryKeyword != ast.TemporaryLocal {
			c.fail("DROP")
		}
		return &DropTable{c.tableNames(n.Tables)}
	case *ast.TruncateTableStmt:
		return &Truncate{c.tableName(n.Table, "")}
	case *ast.DoStmt:
		return &Do{exprs(c, n.Exprs)}
	case *ast.ExplainStmt:
		if n.Explore || n.SQLDigest != "" || n.PlanDigest != "" || n.Stmt == nil || !explainFormats[strings.ToLower(n.Format)] {
			c.fail("EXPLAIN")
			return nil
		}
		if !c.enter() {
			return nil
		}
		e := &Explain{c.statement(n.Stmt), n.Analyze || strings.EqualFold(n.Format, "json")}
		if _, ok := e.Stmt.(Query); n.Analyze && !ok {
			c.fail("EXPLAIN") // it runs the statement
		}
		return e
	}
	c.fail("statement")
	return nil
}

// explainFormats are the formats of EXPLAIN; TREE is read as JSON.
var explainFormats = map[string]bool{"row": true, "traditional": true, "json": true}

func (c *converter) query(n ast.Node) Query {
	if !c.enter() {
		return &Select{}
	}
	defer func() { c.depth-- }()
	switch n := n.(type) {
	case *ast.SelectStmt:
		return c.selects(n)
	case *ast.SetOprStmt:
		s := c.setOp(n.SelectList)
		if n.SelectList != nil && s.With == nil {
			s.With = c.with(n.With)
		} else if n.With != nil {
			c.fail("WITH")
		}
		if s.Order == nil {
			s.Order = c.order(n.OrderBy)
		} else if n.OrderBy != nil {
			c.fail("ORDER BY")
		}
		s.Limit = append(s.Limit, c.limit(n.Limit)...)
		return s
	case *ast.SetOprSelectList:
		return c.setOp(n)
	}
	c.fail("query")
	return &Select{}
}

func (c *converter) setOp(n *ast.SetOprSelectList) *SetOp {
	s := &SetOp{}
	if n == nil {
		c.fail("query")
		return s
	}
	if len(n.Selects) == 1 { // what else is in the head is the query's own
		if q, ok := n.Selects[0].(*ast.SelectStmt); !ok || q.With != n.With {
			s.With = c.with(n.With)
		}
	} else {
		s.With = c.with(n.With)
	}
	s.Order, s.Limit = c.order(n.OrderBy), c.limit(n.Limit)
	for i, b := range n.Selects {
		var after *ast.SetOprType
		switch b := b.(type) {
		case *ast.SelectStmt:
			after = b.AfterSetOperator
		case *ast.SetOprSelectList:
			after = b.AfterSetOperator
		}
		branch := Branch{Query: c.query(b)}
		switch {
		case i == 0:
		case after == nil:
			c.fail("query")
		default:
			switch *after {
			case ast.Union, ast.UnionAll:
				branch.Op = Union
			case ast.Intersect, ast.IntersectAll:
				branch.Op = Intersect
			case ast.Except, ast.ExceptAll:
				branch.Op = Except
			default:
				c.fail("query")
			}
			branch.All = *after == ast.UnionAll || *after == ast.IntersectAll || *after == ast.ExceptAll
		}
		s.Branches = append(s.Branches, branch)
	}
	return s
}

func (c *converter) selects(n *ast.SelectStmt) Query {
	h := Head{With: c.with(n.With), Order: c.order(n.OrderBy), Limit: c.limit(n.Limit)}
	if n.SelectIntoOpt != nil {
		c.fail("INTO")
	}
	if n.Kind == ast.SelectStmtKindValues {
		r := &Rows{Head: h}
		for _, row := range n.Lists {
			r.Rows = append(r.Rows, exprs(c, row.Values))
			if len(row.Values) != len(n.Lists[0].Values) {
				c.fail("VALUES")
			}
		}
		return r
	}
	s := &Select{Head: h, Distinct: n.Distinct}
	if n.SelectStmtOpts != nil && n.SelectStmtOpts.ExplicitAll && n.Distinct {
		c.fail("DISTINCT")
	}
	if n.Fields != nil {
		s.Items = c.items(n.Fields.Fields)
	}
	if n.Kind == ast.SelectStmtKindTable && (len(s.Items) != 1 || !s.Items[0].Star) {
		s.Items = []Item{{Star: true}}
	}
	if n.From != nil {
		s.From = c.from(n.From.TableRefs)
	}
	if n.Where != nil {
		s.Where = expr(c, n.Where)
	}
	if n.GroupBy != nil {
		for _, it := range n.GroupBy.Items {
			s.Group = append(s.Group, expr(c, it.Expr))
		}
	}
	if n.Having != nil {
		s.Having = expr(c, n.Having.Expr)
	}
	for i := range n.WindowSpecs {
		s.Windows = append(s.Windows, c.window(&n.WindowSpecs[i]))
	}
	return s
}

func (c *converter) with(n *ast.WithClause) *With {
	if n == nil {
		return nil
	}
	w := &With{Recursive: n.IsRecursive}
	for _, cte := range n.CTEs {
		out := &CTE{Name: cte.Name.O, Columns: names(cte.ColNameList)}
		if cte.Query == nil {
			c.fail("WITH")
			return w
		}
		out.Query = c.query(cte.Query.Query)
		w.CTEs = append(w.CTEs, out)
	}
	return w
}

func names(in []ast.CIStr) (out []string) {
	for _, n := range in {
		out = append(out, n.O)
	}
	return out
}

func (c *converter) items(fields []*ast.SelectField) []Item {
	out := make([]Item, 0, len(fields))
	for _, f := range fields {
		it := Item{Alias: c.alias(f.AsName.O)}
		if f.WildCard != nil {
			it.Star, it.Database, it.Table = true, f.WildCard.Schema.O, f.WildCard.Table.O
		} else {
			it.Expr = expr(c, f.Expr)
			if text := strings.TrimRight(f.OriginalText(), " "); it.Alias == "" && (strings.HasSuffix(text, "''") || strings.HasSuffix(text, `""`)) {
				it.Alias = " " // named by an empty text, or an expression that ends with one
			}
		}
		out = append(out, it)
	}
	return out
}

// alias is a name that is given to a result, " " if it is not known what the server
// makes of it.
func (c *converter) alias(name string) string {
	if c.single && !ascii([]byte(name)) {
		return " "
	}
	return name
}

func (c *converter) order(n *ast.OrderByClause) (out []Expr) {
	if n != nil {
		for _, it := range n.Items {
			out = append(out, expr(c, it.Expr))
		}
	}
	return out
}

func (c *converter) limit(n *ast.Limit) (out []Expr) {
	if n != nil {
		for _, e := range []ast.ExprNode{n.Count, n.Offset} {
			if e != nil {
				out = append(out, expr(c, e))
			}
		}
	}
	return out
}

func (c *converter) from(n ast.ResultSetNode) TableRef {
	if !c.enter() {
		return nil
	}
	defer func() { c.depth-- }()
	switch n := n.(type) {
	case *ast.Join:
		return c.join(n)
	case *ast.TableSource:
		return c.source(n)
	case *ast.TableName:
		return c.tableRef(n, "")
	case *ast.SelectStmt, *ast.SetOprStmt:
		return &Derived{Query: c.query(n)}
	}
	c.fail("FROM")
	return nil
}

func (c *converter) join(n *ast.Join) TableRef {
	// The parser makes left joins of some right joins inside parentheses.
	if n.ExplicitParens && c.rightJoin && n.Tp == ast.LeftJoin {
		c.fail("RIGHT JOIN in parentheses")
	}
	if n.Right == nil {
		return c.from(n.Left)
	}
	j := &Join{Left: c.from(n.Left), Right: c.from(n.Right), Natural: n.NaturalJoin}
	switch n.Tp {
	case ast.LeftJoin:
		j.Kind = LeftJoin
	case ast.RightJoin:
		j.Kind = RightJoin
	case ast.CrossJoin:
	default:
		if n.Tp != 0 {
			c.fail("JOIN")
		}
	}
	for _, u := range n.Using {
		j.Using = append(j.Using, u.Name.O)
	}
	if n.On != nil {
		j.On = expr(c, n.On.Expr)
	}
	return j
}

func (c *converter) source(n *ast.TableSource) TableRef {
	switch s := n.Source.(type) {
	case *ast.TableName:
		if n.Lateral || n.ColumnNames != nil {
			c.fail("LATERAL")
		}
		return c.tableRef(s, n.AsName.O)
	case *ast.SelectStmt, *ast.SetOprStmt:
		d := &Derived{Query: c.query(s), Lateral: n.Lateral, Alias: n.AsName.O, Columns: names(n.ColumnNames)}
		if rest, ok := strings.CutPrefix(d.Alias, placeholder); ok {
			i, err := strconv.Atoi(rest)
			if err != nil || i >= len(c.lists) {
				c.fail("alias")
				return d
			}
			d.Alias, d.Columns = c.lists[i].alias, c.lists[i].columns
			c.listed++
		}
		return d
	case *ast.Join:
		if n.AsName.O != "" {
			c.fail("JOIN")
		}
		return c.join(s)
	}
	c.fail("FROM")
	return nil
}

// tableRef is tableName, or the JSON_TABLE it stands for.
func (c *converter) tableRef(n *ast.TableName, alias string) TableRef {
	t := c.tableName(n, alias)
	if !strings.HasPrefix(t.Table, placeholder) {
		return t
	}
	i, err := strconv.Atoi(t.Table[len(placeholder):])
	if err != nil || i >= len(c.tables) || alias == "" || t.Database != "" {
		c.fail("JSON_TABLE")
		return t
	}
	return &JSONTable{c.tables[i], c.columns[i], alias}
}

func (c *converter) tableName(n *ast.TableName, alias string) *TableName {
	if n == nil || n.AsOf != nil || n.TableSample != nil {
		c.fail("table")
		return &TableName{}
	}
	t := &TableName{Database: n.Schema.O, Table: n.Name.O, Alias: alias, Narrowed: len(n.PartitionNames) > 0}
	for _, h := range n.IndexHints {
		switch h.HintType {
		case ast.HintUse, ast.HintForce:
			t.Indexes = append(t.Indexes, names(h.IndexNames)...)
			t.Shunned = t.Shunned || len(h.IndexNames) == 0
		case ast.HintIgnore:
			t.Shunned = true
		default:
			c.fail("hint")
		}
	}
	return t
}

func (c *converter) tableNames(list []*ast.TableName) (out []*TableName) {
	for _, n := range list {
		out = append(out, c.tableName(n, ""))
	}
	return out
}
