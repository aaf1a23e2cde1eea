package sqlast

import (
	"errors"
	"sync"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver" // makes the parser's literals
	"github.com/veildb/veildb/internal/sql/token"
)

// ErrUnreadable means a statement that cannot be read. Every error of Parse
// matches it and is an *Unreadable.
var ErrUnreadable = errors.New("statement form not supported for this account")

// An Unreadable says why a statement cannot be read. Error says always the same.
type Unreadable struct {
	Why string // in words of this package, never of the statement
}

func (*Unreadable) Error() string { return ErrUnreadable.Error() }

// Is reports whether target is ErrUnreadable.
func (*Unreadable) Is(target error) bool { return target == ErrUnreadable }

func unreadable(why string) error { return &Unreadable{why} }

// MaxTokens is how long a statement can be.
const MaxTokens = 1 << 18

// A reader holds what reading takes and can be used again. Parsers are not safe
// for concurrent use and dear to make.
type reader struct {
	p *parser.Parser
	w rewriter
}

var readers = sync.Pool{New: func() any { return &reader{p: parser.New()} }}

// Parse reads the statement t, which holds no ";", as a session of mode would.
// Its time is linear in the length of the statement, its result does not use
// t's memory. It is safe for concurrent use.
func Parse(t *token.Text, mode token.Mode) (stmt Stmt, err error) {
	r := readers.Get().(*reader)
	defer func() {
		if recover() != nil {
			stmt, err = nil, unreadable("parser") // and leave r to the collector
		} else if cap(r.w.out) < 1<<16 {
			readers.Put(r)
		}
	}()
	return r.parse(t, mode)
}

func (r *reader) parse(t *token.Text, mode token.Mode) (Stmt, error) {
	if len(t.Tokens) == 0 || len(t.Tokens) > MaxTokens {
		return nil, unreadable("length")
	}
	w := &r.w
	*w = rewriter{t: t, mode: mode, out: w.out[:0], pair: w.pair, up: w.up}
	w.insert = t.IsWord(0, "INSERT") || t.IsWord(0, "REPLACE")
	if err := w.check(); err != nil {
		return nil, err
	}
	if err := w.rewrite(0, len(t.Tokens)); err != nil {
		return nil, err
	}
	// || is one operator or another, which bind differently.
	r.p.SetSQLMode(mysql.ModeNone)
	if mode.PipesAsConcat {
		r.p.SetSQLMode(mysql.ModePipesAsConcat)
	}
	node, err := r.node(string(w.out))
	if err != nil {
		return nil, err
	}
	c := converter{lists: w.lists, rightJoin: w.rightJoin, single: mode.SingleByte}
	for _, j := range w.tables {
		doc, err := r.list(j.doc)
		if err != nil || len(doc) != 1 || doc[0].Expr == nil {
			return nil, unreadable("JSON_TABLE")
		}
		c.tables = append(c.tables, expr(&c, doc[0].Expr))
		c.columns = append(c.columns, j.columns)
	}
	stmt := c.statement(node)
	if len(w.tables) == 0 {
		c.count(w.params())
	}
	if w.returning > 0 && c.why == "" {
		r.returning(&c, stmt)
	}
	if w.into != nil && c.why == "" {
		q, ok := stmt.(Query)
		if !ok {
			return nil, unreadable("INTO")
		}
		q.Around().Into = w.into
	}
	if w.row.alias != "" {
		s, ok := stmt.(*Insert)
		if !ok || s.Query != nil || s.OnDuplicate == nil {
			return nil, unreadable("INSERT")
		}
		s.Alias, s.AliasOf = w.row.alias, w.row.columns
	}
	if c.listed != len(w.lists) {
		c.fail("alias")
	}
	if c.why != "" {
		return nil, unreadable(c.why)
	}
	return stmt, nil
}

// params is how many parameters there are before RETURNING.
func (w *rewriter) params() (n int) {
	end := len(w.t.Tokens)
	if w.returning > 0 {
		end = w.returning
	}
	for i := range end {
		if w.t.IsSymbol(i, "?") {
			n++
		}
	}
	return n
}

// node parses one statement.
func (r *reader) node(sql string) (ast.StmtNode, error) {
	nodes, _, err := r.p.ParseSQL(sql)
	if err != nil || len(nodes) != 1 {
		return nil, unreadable("syntax")
	}
	return nodes[0], nil
}

// list parses a list of results.
func (r *reader) list(sql string) ([]*ast.SelectField, error) {
	node, err := r.node("SELECT " + sql)
	if err != nil {
		return nil, err
	}
	s, ok := node.(*ast.SelectStmt)
	if !ok || s.From != nil || s.Where != nil || s.GroupBy != nil || s.Having != nil || s.OrderBy != nil || s.Limit != nil || s.With != nil ||
		s.WindowSpecs != nil || s.Distinct || s.SelectIntoOpt != nil || s.LockInfo != nil || s.Kind != ast.SelectStmtKindSelect {
		return nil, unreadable("syntax")
	}
	return s.Fields.Fields, nil
}

// returning adds the list of RETURNING to a statement.
func (r *reader) returning(c *converter, stmt Stmt) {
	w := &r.w
	start := len(w.out)
	if err := w.rewrite(w.returning, len(w.t.Tokens)); err != nil {
		c.fail("RETURNING")
		return
	}
	fields, err := r.list(string(w.out[start:]))
	if err != nil || len(w.tables) > 0 || w.into != nil {
		c.fail("RETURNING")
		return
	}
	items := c.items(fields)
	switch s := stmt.(type) {
	case *Insert:
		s.Returning = items
	case *Delete:
		if s.Targets != nil {
			c.fail("RETURNING")
		}
		s.Returning = items
	default:
		c.fail("RETURNING")
	}
}
