package veilsql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/veildb/veildb/internal/inuse/sidecar"
)

// mysqlConn is what a connection of go-sql-driver/mysql implements, and so what
// ours does.
type mysqlConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	driver.NamedValueChecker
}

// mysqlStmt is the same for statements.
type mysqlStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
	driver.NamedValueChecker
}

// A conn is a connection: the MySQL driver's, with our errors and rows, and with
// contexts watched by us.
type conn struct {
	mysqlConn
	watcher   watcher
	tag       string // ends the names of columns whose values begin with a type
	parseTime bool
	loc       *time.Location
}

var (
	_ mysqlConn = (*conn)(nil)
	_ mysqlStmt = (*stmt)(nil)
)

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	at, err := c.watcher.begin(ctx)
	if err != nil {
		return nil, err
	}
	s, err := c.mysqlConn.PrepareContext(inner, query)
	if err = c.watcher.end(at, err); err != nil {
		return nil, typed(err)
	}
	ms, ok := s.(mysqlStmt)
	if !ok {
		s.Close()
		return nil, fmt.Errorf("veilsql: %T lacks interfaces of driver.Stmt", s)
	}
	return &stmt{ms, c}, nil
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	at, err := c.watcher.begin(ctx)
	if err != nil {
		return nil, err
	}
	r, err := c.mysqlConn.ExecContext(inner, query, args)
	return r, typed(c.watcher.end(at, err))
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	at, err := c.watcher.begin(ctx)
	if err != nil {
		return nil, err
	}
	r, err := c.mysqlConn.QueryContext(inner, query, args)
	return c.rows(at, r, err)
}

// A stmt is a prepared statement.
type stmt struct {
	mysqlStmt
	conn *conn
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	at, err := s.conn.watcher.begin(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.mysqlStmt.ExecContext(inner, args)
	return r, typed(s.conn.watcher.end(at, err))
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	at, err := s.conn.watcher.begin(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.mysqlStmt.QueryContext(inner, args)
	return s.conn.rows(at, r, err)
}

// typed makes the sidecar's errors ours.
func typed(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	var e *mysql.MySQLError
	if errors.As(err, &e) && string(e.SQLState[:]) == sidecar.StateCell {
		return fmt.Errorf("veilsql: %w: %w", ErrTampered, err)
	}
	return err
}
