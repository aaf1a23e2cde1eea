package sqlend

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// The types below hand everything to the driver's own. A driver must know
// contexts; where it lacks another optional interface they answer as
// database/sql would without it. Each end embeds them and replaces what it must.

var errOldDriver = errors.New("driver without contexts")

type connector struct{ inner driver.Connector }

func (c *connector) Driver() driver.Driver { return c.inner.Driver() }

func (c *connector) Close() error {
	if cl, ok := c.inner.(io.Closer); ok {
		return cl.Close()
	}
	return nil
}

func (c *connector) connect(ctx context.Context) (conn, error) {
	inner, err := c.inner.Connect(ctx)
	if err != nil {
		return conn{}, err
	}
	ctxInner, ok := inner.(contextConn)
	if !ok {
		inner.Close()
		return conn{}, fmt.Errorf("connect: %w: %T", errOldDriver, inner)
	}
	return conn{ctxInner}, nil
}

type contextConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
}

type conn struct{ inner contextConn }

var (
	_ driver.ConnBeginTx       = (*conn)(nil)
	_ driver.ExecerContext     = (*conn)(nil)
	_ driver.Pinger            = (*conn)(nil)
	_ driver.SessionResetter   = (*conn)(nil)
	_ driver.Validator         = (*conn)(nil)
	_ driver.NamedValueChecker = (*conn)(nil)
)

func (c *conn) unwrap() driver.Conn { return c.inner }

func (c *conn) Close() error { return c.inner.Close() }

// Begin is there for driver.Conn; database/sql calls BeginTx.
func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	return c.inner.BeginTx(ctx, opts)
}

// prepare compiles query with the driver itself.
func (c *conn) prepare(ctx context.Context, query string) (stmt, error) {
	inner, err := c.inner.PrepareContext(ctx, query)
	if err != nil {
		return stmt{}, err
	}
	ctxInner, ok := inner.(contextStmt)
	if !ok {
		inner.Close()
		return stmt{}, fmt.Errorf("prepare: %w: %T", errOldDriver, inner)
	}
	s := stmt{inner: ctxInner}
	if s.checker, ok = inner.(driver.NamedValueChecker); !ok {
		s.checker, _ = c.inner.(driver.NamedValueChecker) // as database/sql does
	}
	return s, nil
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if e, ok := c.inner.(driver.ExecerContext); ok {
		return e.ExecContext(ctx, query, args)
	}
	return nil, driver.ErrSkip
}

func (c *conn) Ping(ctx context.Context) error {
	if p, ok := c.inner.(driver.Pinger); ok {
		return p.Ping(ctx)
	}
	return nil
}

func (c *conn) ResetSession(ctx context.Context) error {
	if r, ok := c.inner.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

func (c *conn) IsValid() bool {
	if v, ok := c.inner.(driver.Validator); ok {
		return v.IsValid()
	}
	return true
}

func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if ch, ok := c.inner.(driver.NamedValueChecker); ok {
		return ch.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

type contextStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type stmt struct {
	inner   contextStmt
	checker driver.NamedValueChecker // of the statement or else the connection; may be nil
}

var (
	_ driver.StmtExecContext   = (*stmt)(nil)
	_ driver.NamedValueChecker = (*stmt)(nil)
)

func (s *stmt) Close() error  { return s.inner.Close() }
func (s *stmt) NumInput() int { return s.inner.NumInput() }

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.inner.ExecContext(ctx, args)
}

func (s *stmt) CheckNamedValue(v *driver.NamedValue) error {
	if s.checker == nil {
		return driver.ErrSkip
	}
	return s.checker.CheckNamedValue(v)
}

func named(args []driver.Value) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, v := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return out
}

// rows forwards all but Next and NextResultSet. meta is asked for column types.
type rows struct {
	inner driver.Rows
	meta  driver.Rows
}

// spare returns buf if it is worth keeping for the next rows of a statement.
// Their values may overwrite it: values of the rows before are not valid any
// more, as database/sql says of what a driver gives it as []byte.
func spare(buf []byte) []byte {
	if cap(buf) > 64<<10 {
		return nil
	}
	return buf
}

func (r *rows) Columns() []string { return r.inner.Columns() }

func (r *rows) HasNextResultSet() bool {
	n, ok := r.inner.(driver.RowsNextResultSet)
	return ok && n.HasNextResultSet()
}

func (r *rows) ColumnTypeDatabaseTypeName(i int) string {
	if m, ok := r.meta.(driver.RowsColumnTypeDatabaseTypeName); ok {
		return m.ColumnTypeDatabaseTypeName(i)
	}
	return ""
}

func (r *rows) ColumnTypeLength(i int) (length int64, ok bool) {
	if m, ok := r.meta.(driver.RowsColumnTypeLength); ok {
		return m.ColumnTypeLength(i)
	}
	return 0, false
}

func (r *rows) ColumnTypeNullable(i int) (nullable, ok bool) {
	if m, ok := r.meta.(driver.RowsColumnTypeNullable); ok {
		return m.ColumnTypeNullable(i)
	}
	return false, false
}

func (r *rows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	if m, ok := r.meta.(driver.RowsColumnTypePrecisionScale); ok {
		return m.ColumnTypePrecisionScale(i)
	}
	return 0, 0, false
}

func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	if m, ok := r.meta.(driver.RowsColumnTypeScanType); ok {
		return m.ColumnTypeScanType(i)
	}
	return reflect.TypeFor[any]()
}
