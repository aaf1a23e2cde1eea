package sqlast

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
)

// target returns the table that INSERT names.
func (c *converter) target(n *ast.TableRefsClause) *TableName {
	if n != nil {
		if t, ok := c.from(n.TableRefs).(*TableName); ok {
			return t
		}
	}
	c.fail("INSERT")
	return &TableName{}
}

func (c *converter) insert(n *ast.InsertStmt) Stmt {
	s := &Insert{Replace: n.IsReplace, Ignore: n.IgnoreErr, Table: c.target(n.Table), OnDuplicate: c.assignments(n.OnDuplicate)}
	s.Table.Narrowed = s.Table.Narrowed || len(n.PartitionNames) > 0
	for _, col := range n.Columns {
		if n.Columns != nil && s.Columns == nil {
			s.Columns = make([]string, 0, len(n.Columns))
		}
		if col.Table.O != "" && !strings.EqualFold(col.Table.O, s.Table.Table) {
			c.fail("INSERT")
		}
		s.Columns = append(s.Columns, col.Name.O)
	}
	for _, row := range n.Lists {
		s.Rows = append(s.Rows, exprs(c, row))
	}
	if n.Select != nil {
		s.Query = c.query(n.Select)
	}
	return s
}

func (c *converter) assignments(list []*ast.Assignment) (out []Assignment) {
	for _, a := range list {
		out = append(out, Assignment{column(a.Column), expr(c, a.Expr)})
	}
	return out
}

func (c *converter) update(n *ast.UpdateStmt) Stmt {
	u := &Update{With: c.with(n.With), Ignore: n.IgnoreErr, Set: c.assignments(n.List), Order: c.order(n.Order), Limit: c.limit(n.Limit)}
	if n.TableRefs == nil {
		c.fail("UPDATE")
		return u
	}
	u.From = c.from(n.TableRefs.TableRefs)
	if n.Where != nil {
		u.Where = expr(c, n.Where)
	}
	return u
}

func (c *converter) delete(n *ast.DeleteStmt) Stmt {
	d := &Delete{With: c.with(n.With), Order: c.order(n.Order), Limit: c.limit(n.Limit)}
	if n.TableRefs == nil {
		c.fail("DELETE")
		return d
	}
	d.From = c.from(n.TableRefs.TableRefs)
	if n.Tables != nil {
		d.Targets = c.tableNames(n.Tables.Tables)
	} else if n.IsMultiTable {
		c.fail("DELETE")
	}
	if n.Where != nil {
		d.Where = expr(c, n.Where)
	}
	return d
}

func (c *converter) createTable(n *ast.CreateTableStmt) Stmt {
	t := &CreateTable{IfNotExists: n.IfNotExists, Table: c.tableName(n.Table, "")}
	switch n.TemporaryKeyword {
	case ast.TemporaryNone:
	case ast.TemporaryLocal:
		t.Temporary = true
	default:
		c.fail("CREATE TABLE")
	}
	if n.ReferTable != nil {
		t.Like = c.tableName(n.ReferTable, "")
	}
	if n.Partition != nil || n.SplitIndex != nil || n.OnCommitDelete {
		c.fail("CREATE TABLE")
	}
	for _, o := range n.Options {
		switch o.Tp {
		case ast.TableOptionEngine:
			t.Engine = o.StrValue
		case ast.TableOptionCharset, ast.TableOptionCollate, ast.TableOptionAutoIncrement, ast.TableOptionComment, ast.TableOptionRowFormat,
			ast.TableOptionKeyBlockSize, ast.TableOptionMaxRows, ast.TableOptionMinRows, ast.TableOptionAvgRowLength:
		default:
			c.fail("CREATE TABLE")
		}
	}
	for _, col := range n.Cols {
		t.Columns = append(t.Columns, c.columnDef(t, col))
	}
	for _, k := range n.Constraints {
		c.key(t, k)
	}
	if n.Select != nil {
		t.Query = c.query(n.Select)
	}
	return t
}

func (c *converter) columnDef(t *CreateTable, n *ast.ColumnDef) ColumnDef {
	d := ColumnDef{Name: n.Name.Name.O, Nullable: true}
	if n.Tp != nil {
		d.Type = n.Tp.String()
		d.Nullable = !mysql.HasNotNullFlag(n.Tp.GetFlag())
	}
	for _, o := range n.Options {
		switch o.Tp {
		case ast.ColumnOptionNotNull:
			d.Nullable = false
		case ast.ColumnOptionPrimaryKey:
			d.Key, d.Nullable = true, false
		case ast.ColumnOptionUniqKey:
			d.Key = true
		case ast.ColumnOptionNull, ast.ColumnOptionAutoIncrement, ast.ColumnOptionComment, ast.ColumnOptionCollate:
		case ast.ColumnOptionDefaultValue, ast.ColumnOptionOnUpdate:
			// Anything that names a column is as if it were generated from it.
			if e := expr(c, o.Expr); !isConstant(e) {
				d.Generated = e
			}
		case ast.ColumnOptionGenerated:
			d.Generated = expr(c, o.Expr)
		case ast.ColumnOptionCheck:
			t.Checks = append(t.Checks, expr(c, o.Expr))
		case ast.ColumnOptionReference:
			c.reference(t, o.Refer)
		default:
			c.fail("CREATE TABLE")
		}
	}
	return d
}

func isConstant(e Expr) bool {
	_, ok := e.(*Constant)
	return ok
}

func (c *converter) reference(t *CreateTable, n *ast.ReferenceDef) {
	if n == nil || n.Table == nil {
		c.fail("CREATE TABLE")
		return
	}
	r := Reference{Table: c.tableName(n.Table, "")}
	for _, p := range n.IndexPartSpecifications {
		if p.Column == nil {
			c.fail("CREATE TABLE")
			return
		}
		r.Columns = append(r.Columns, p.Column.Name.O)
	}
	t.Foreign = append(t.Foreign, r)
}

func (c *converter) key(t *CreateTable, n *ast.Constraint) {
	switch n.Tp {
	case ast.ConstraintCheck:
		t.Checks = append(t.Checks, expr(c, n.Expr))
		return
	case ast.ConstraintForeignKey:
		c.reference(t, n.Refer)
	}
	var cols []string
	for _, p := range n.Keys {
		if p.Column == nil {
			c.fail("CREATE TABLE")
			return
		}
		cols = append(cols, p.Column.Name.O)
	}
	switch n.Tp {
	case ast.ConstraintPrimaryKey, ast.ConstraintUniq, ast.ConstraintUniqKey, ast.ConstraintUniqIndex:
		t.Keys = append(t.Keys, KeyDef{cols})
	case ast.ConstraintKey, ast.ConstraintIndex, ast.ConstraintForeignKey:
	default:
		c.fail("CREATE TABLE")
	}
}
