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

// A conn is a connection: the MySQL driver's, with our errors and rows.
type conn struct {
	mysqlConn
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
	s, err := c.mysqlConn.PrepareContext(ctx, query)
	if err != nil {
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
	r, err := c.mysqlConn.ExecContext(ctx, query, args)
	return r, typed(err)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.rows(c.mysqlConn.QueryContext(ctx, query, args))
}

// A stmt is a prepared statement.
type stmt struct {
	mysqlStmt
	conn *conn
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	r, err := s.mysqlStmt.ExecContext(ctx, args)
	return r, typed(err)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.rows(s.mysqlStmt.QueryContext(ctx, args))
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
