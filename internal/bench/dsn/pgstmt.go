package dsn

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/stdlib"
)

// A PostgresStmt is a prepared statement of a PostgreSQL connection that does
// no more than a load needs: parameters are integers and strings, sent as text;
// values come back as the []byte the server sent, in its text format, and are
// valid until the next call. The driver's own statements convert values, watch
// for slow writes with a timer and look the statement up each time, which costs
// more than a short query's own work on the client. Contexts are looked at
// between statements only. It is used by one goroutine at a time, one result at
// a time.
type PostgresStmt struct {
	pg     *pgconn.PgConn
	name   string
	params int
	names  []string // of the columns
	bind   pgproto3.Bind
	text   []byte // of the parameters
	tag    []byte // of the last command
	failed error  // of the statement under way
	open   bool   // ReadyForQuery is to come
}

// PreparePostgres prepares text under name, which must be unused, on a
// connection of Open.
func PreparePostgres(ctx context.Context, conn driver.Conn, name, text string) (*PostgresStmt, error) {
	c, ok := conn.(*stdlib.Conn)
	if !ok {
		return nil, fmt.Errorf("prepare statement: a PostgreSQL connection is needed, not %T", conn)
	}
	pg := c.Conn().PgConn()
	d, err := pg.Prepare(ctx, name, text, nil)
	if err != nil {
		return nil, err
	}
	s := &PostgresStmt{pg: pg, name: name, params: len(d.ParamOIDs)}
	for _, f := range d.Fields {
		s.names = append(s.names, f.Name)
	}
	s.bind.PreparedStatement = name
	return s, nil
}

// NumInput implements driver.Stmt.
func (s *PostgresStmt) NumInput() int { return s.params }

// Close implements driver.Stmt.
func (s *PostgresStmt) Close() error {
	if s.pg.IsClosed() {
		return nil
	}
	return errors.Join(s.finish(), s.pg.Deallocate(context.Background(), s.name))
}

// Exec implements driver.Stmt, which has no use for it.
func (s *PostgresStmt) Exec([]driver.Value) (driver.Result, error) { return nil, errNoContext }

// Query implements driver.Stmt, which has no use for it.
func (s *PostgresStmt) Query([]driver.Value) (driver.Rows, error) { return nil, errNoContext }

var errNoContext = errors.New("run statement: it takes a context")

// ExecContext implements driver.StmtExecContext.
func (s *PostgresStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.send(ctx, args); err != nil {
		return nil, err
	}
	if err := s.finish(); err != nil {
		return nil, err
	}
	return driver.RowsAffected(pgconn.NewCommandTag(string(s.tag)).RowsAffected()), nil
}

// QueryContext implements driver.StmtQueryContext. The rows are the statement
// itself.
func (s *PostgresStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := s.send(ctx, args); err != nil {
		return nil, err
	}
	return postgresRows{s}, nil
}

// send sends the statement and reads up to its first row.
func (s *PostgresStmt) send(ctx context.Context, args []driver.NamedValue) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.pg.IsClosed() {
		return driver.ErrBadConn
	}
	if len(args) != s.params {
		return fmt.Errorf("run statement: %d parameters, want %d", len(args), s.params)
	}
	if err := s.setParameters(args); err != nil {
		return err
	}
	s.failed, s.tag = nil, s.tag[:0]
	f := s.pg.Frontend()
	f.SendBind(&s.bind)
	f.SendExecute(&pgproto3.Execute{})
	f.SendSync(&pgproto3.Sync{})
	if err := f.Flush(); err != nil {
		return err
	}
	s.open = true
	m, err := s.receive() // BindComplete
	if err != nil {
		return err
	}
	if _, ok := m.(*pgproto3.BindComplete); !ok {
		return s.finish()
	}
	return nil
}

// setParameters writes args one after the other into text, and then cuts it up.
func (s *PostgresStmt) setParameters(args []driver.NamedValue) error {
	s.text, s.bind.Parameters = s.text[:0], s.bind.Parameters[:0]
	var ends [16]int
	at := ends[:0]
	for _, a := range args {
		switch v := a.Value.(type) {
		case int64:
			s.text = strconv.AppendInt(s.text, v, 10)
		case string:
			s.text = append(s.text, v...)
		default:
			return fmt.Errorf("run statement: unexpected parameter of type %T", v)
		}
		at = append(at, len(s.text))
	}
	start := 0
	for _, end := range at {
		s.bind.Parameters = append(s.bind.Parameters, s.text[start:end:end])
		start = end
	}
	return nil
}

// receive reads the next message of the statement; nil at its end. What failed
// is remembered, for the server says more after an error.
func (s *PostgresStmt) receive() (pgproto3.BackendMessage, error) {
	for {
		m, err := s.pg.ReceiveMessage(context.Background())
		if err != nil {
			s.open = false
			return nil, errors.Join(s.failed, err) // why the server left, if it said so
		}
		switch m := m.(type) {
		case *pgproto3.ErrorResponse:
			s.failed = pgconn.ErrorResponseToPgError(m)
		case *pgproto3.CommandComplete:
			s.tag = append(s.tag[:0], m.CommandTag...)
		case *pgproto3.ReadyForQuery:
			s.open = false
			return nil, s.failed
		case *pgproto3.DataRow, *pgproto3.BindComplete:
			return m, nil
		}
	}
}

// finish reads the rest.
func (s *PostgresStmt) finish() error {
	for s.open {
		if _, err := s.receive(); err != nil {
			return err
		}
	}
	return nil
}

// postgresRows are the rows of a statement.
type postgresRows struct{ s *PostgresStmt }

// Columns implements driver.Rows.
func (r postgresRows) Columns() []string { return r.s.names }

// Close implements driver.Rows.
func (r postgresRows) Close() error { return r.s.finish() }

// Next implements driver.Rows.
func (r postgresRows) Next(dest []driver.Value) error {
	if !r.s.open {
		return io.EOF
	}
	m, err := r.s.receive()
	if err != nil {
		return err
	}
	row, ok := m.(*pgproto3.DataRow)
	if !ok {
		return io.EOF
	}
	if len(row.Values) != len(dest) {
		return fmt.Errorf("read row: %d values, want %d", len(row.Values), len(dest))
	}
	for i, v := range row.Values {
		dest[i] = nil
		if v != nil {
			dest[i] = v
		}
	}
	return nil
}
