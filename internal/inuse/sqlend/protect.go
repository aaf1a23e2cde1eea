package sqlend

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/veildb/veildb/internal/inuse/cells"
)

// Protect returns a connector whose results carry cells for the values of
// protected columns, as []byte; NULL stays NULL. Its connections are as safe
// for concurrent use as those of inner. It fails when cfg is incomplete.
func Protect(inner driver.Connector, cfg Config) (driver.Connector, error) {
	if inner == nil || cfg.Engine == nil || cfg.Columns == nil || cfg.Sealer == nil {
		return nil, errors.New("protect columns: engine, columns and sealer are needed")
	}
	return &protectConnector{connector{inner}, &cfg}, nil
}

type protectConnector struct {
	connector
	cfg *Config
}

func (c *protectConnector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	watch, err := c.cfg.Engine.Watch(ctx, inner.inner)
	if err != nil {
		inner.Close()
		return nil, fmt.Errorf("watch schema: %w", err)
	}
	return &protectConn{conn: inner, cfg: c.cfg, watch: watch, plans: map[string]*plan{}}, nil
}

type protectConn struct {
	conn
	cfg   *Config
	watch Watch
	plans map[string]*plan
}

var _ driver.ConnPrepareContext = (*protectConn)(nil)

// protects marks a connection whose rows are SealedRows.
func (c *protectConn) protects() {}

func (c *protectConn) Close() error {
	return errors.Join(c.watch.Close(), c.conn.Close())
}

func (c *protectConn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

func (c *protectConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	inner, err := c.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	s := &protectStmt{stmt: inner, conn: c, text: query}
	if err := s.recheck(ctx); err != nil {
		inner.Close()
		return nil, err
	}
	return s, nil
}

// ExecContext gives no rows, so there is nothing to seal. A strict end has the
// text prepared instead, one statement, to see what it writes.
func (c *protectConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if c.cfg.Strict {
		return nil, driver.ErrSkip
	}
	return c.conn.ExecContext(ctx, query, args)
}

type protectStmt struct {
	stmt
	conn       *protectConn
	text       string
	plan       *plan
	recompiled int         // what the engine's count was when plan was made
	own        protectRows // used again and again, unless still open
}

var _ driver.StmtQueryContext = (*protectStmt)(nil)

// Exec is there for driver.Stmt; database/sql calls ExecContext.
func (s *protectStmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), named(args))
}

// Query is there for driver.Stmt; database/sql calls QueryContext.
func (s *protectStmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), named(args))
}

func (s *protectStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if s.conn.cfg.Strict {
		if err := s.recheck(ctx); err != nil {
			return nil, err
		}
	}
	inner, err := s.inner.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	r := &s.own
	if r.open {
		r = new(protectRows)
	}
	*r = protectRows{rows: rows{inner, inner}, ctx: ctx, stmt: s, open: true, cells: r.cells, buf: r.buf}
	return r, nil
}

func (s *protectStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if s.conn.cfg.Strict {
		if err := s.recheck(ctx); err != nil {
			return nil, err
		}
	}
	return s.stmt.ExecContext(ctx, args)
}

// recheck makes the plan fit the present schema.
func (s *protectStmt) recheck(ctx context.Context) error {
	n, err := s.conn.cfg.Engine.Recompiled(s.inner)
	if err != nil {
		return err
	}
	p, err := s.conn.plan(ctx, s.text)
	if err != nil {
		return err
	}
	s.plan, s.recompiled = p, n
	return nil
}

type protectRows struct {
	rows
	ctx     context.Context
	stmt    *protectStmt
	labels  []cells.Label // valid once started
	started bool
	open    bool
	cells   [][]byte // of the current row; nil for NULL and what is not sealed
	buf     []byte   // what cells are parts of
}

var (
	_ SealedRows                            = (*protectRows)(nil)
	_ driver.RowsNextResultSet              = (*protectRows)(nil)
	_ driver.RowsColumnTypeDatabaseTypeName = (*protectRows)(nil)
	_ driver.RowsColumnTypeLength           = (*protectRows)(nil)
	_ driver.RowsColumnTypeNullable         = (*protectRows)(nil)
	_ driver.RowsColumnTypePrecisionScale   = (*protectRows)(nil)
	_ driver.RowsColumnTypeScanType         = (*protectRows)(nil)
)

func (r *protectRows) Labels() []cells.Label {
	if r.started {
		return r.labels
	}
	return r.stmt.plan.labels
}

func (r *protectRows) Plain() driver.Rows { return r.inner }

// Next seals a row. The cells are valid until the next call. On any error no
// value is left in dest.
func (r *protectRows) Next(dest []driver.Value) error {
	sealed, err := r.nextCells(dest)
	if err != nil {
		return err
	}
	for i, cell := range sealed {
		if cell != nil {
			dest[i] = cell
		}
	}
	return nil
}

// nextCells is Next but for the cells, which it returns beside dest: a
// revealing end in the same process need not have each put in an interface.
func (r *protectRows) nextCells(dest []driver.Value) ([][]byte, error) {
	err := r.inner.Next(dest)
	if err == io.EOF {
		return nil, err
	}
	if err == nil && !r.started {
		err = r.start(dest)
	}
	if err == nil && r.labels != nil {
		err = r.seal(dest)
	}
	if err != nil {
		clear(dest)
		return nil, err
	}
	return r.cells, nil
}

func (r *protectRows) Close() error {
	r.open = false
	r.buf = spare(r.buf)
	return r.inner.Close()
}

// start looks, now that the engine runs the statement and its schema cannot
// change under it, whether that is still the statement that was inspected.
func (r *protectRows) start(dest []driver.Value) error {
	s := r.stmt
	if n, err := s.conn.cfg.Engine.Recompiled(s.inner); err != nil {
		return err
	} else if n != s.recompiled {
		if err := s.recheck(r.ctx); err != nil {
			return err
		}
	}
	if len(dest) != s.plan.columns {
		return fmt.Errorf("seal row: %w: %d, not %d", ErrShape, len(dest), s.plan.columns)
	}
	r.labels, r.started = s.plan.labels, true
	if len(r.cells) != len(r.labels) {
		r.cells = make([][]byte, len(r.labels))
	}
	return nil
}

// seal moves the values of sealed columns from dest to r.cells.
func (r *protectRows) seal(dest []driver.Value) error {
	sealer, list, buf := r.stmt.conn.cfg.Sealer, r.cells, r.buf[:0]
	for i := range r.labels {
		list[i] = nil
		if r.labels[i].IsZero() || dest[i] == nil {
			continue
		}
		n := len(buf)
		var err error
		if buf, err = sealer.Append(buf, dest[i], r.labels[i]); err != nil {
			return err
		}
		list[i], dest[i] = buf[n:len(buf):len(buf)], nil
	}
	r.buf = buf
	return nil
}

// NextResultSet refuses: only one statement was inspected.
func (r *protectRows) NextResultSet() error {
	if r.HasNextResultSet() {
		return fmt.Errorf("read next result: %w: one result", ErrShape)
	}
	return io.EOF
}

func (r *protectRows) sealed(i int) bool {
	labels := r.Labels()
	return i < len(labels) && !labels[i].IsZero()
}

// Column types of a sealed column are those of the cell.

// CellType is the database type name of a column of cells.
const CellType = "CELL"

func (r *protectRows) ColumnTypeDatabaseTypeName(i int) string {
	if r.sealed(i) {
		return CellType
	}
	return r.rows.ColumnTypeDatabaseTypeName(i)
}

func (r *protectRows) ColumnTypeLength(i int) (length int64, ok bool) {
	if r.sealed(i) {
		return 0, false
	}
	return r.rows.ColumnTypeLength(i)
}

func (r *protectRows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	if r.sealed(i) {
		return 0, 0, false
	}
	return r.rows.ColumnTypePrecisionScale(i)
}

func (r *protectRows) ColumnTypeScanType(i int) reflect.Type {
	if r.sealed(i) {
		return reflect.TypeFor[[]byte]()
	}
	return r.rows.ColumnTypeScanType(i)
}
