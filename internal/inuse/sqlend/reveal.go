package sqlend

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/veildb/veildb/internal/inuse/cells"
)

// Reveal returns a connector whose results have the values that the protecting
// end inner sealed, with their types. The caller closes opener after the last
// connection. Connecting fails with ErrNotProtecting when inner's connections
// are not a protecting end's.
//
// Rows fail with cells.ErrTampered or cells.ErrWrongKey when a cell does not
// open; nothing of such a row is returned.
func Reveal(inner driver.Connector, opener *cells.Opener) (driver.Connector, error) {
	if inner == nil || opener == nil {
		return nil, errors.New("reveal columns: opener is needed")
	}
	return &revealConnector{connector{inner}, opener}, nil
}

type revealConnector struct {
	connector
	opener *cells.Opener
}

func (c *revealConnector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, ok := inner.inner.(interface{ protects() }); !ok {
		inner.Close()
		return nil, fmt.Errorf("reveal columns: %T: %w", inner.inner, ErrNotProtecting)
	}
	return &revealConn{inner, c.opener}, nil
}

type revealConn struct {
	conn
	opener *cells.Opener
}

var _ driver.ConnPrepareContext = (*revealConn)(nil)

func (c *revealConn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

func (c *revealConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	inner, err := c.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return &revealStmt{stmt: inner, opener: c.opener}, nil
}

type revealStmt struct {
	stmt
	opener *cells.Opener
	own    revealRows // used again and again, unless still open
}

var _ driver.StmtQueryContext = (*revealStmt)(nil)

// Exec is there for driver.Stmt; database/sql calls ExecContext.
func (s *revealStmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), named(args))
}

// Query is there for driver.Stmt; database/sql calls QueryContext.
func (s *revealStmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), named(args))
}

func (s *revealStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	inner, err := s.inner.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	sealed, ok := inner.(SealedRows)
	if !ok {
		inner.Close()
		return nil, fmt.Errorf("reveal rows: %T: %w", inner, ErrNotProtecting)
	}
	r := &s.own
	if r.open {
		r = new(revealRows)
	}
	*r = revealRows{rows: rows{inner, sealed.Plain()}, sealed: sealed, opener: s.opener, open: true, cells: r.cells, buf: r.buf}
	r.near, _ = inner.(*protectRows)
	return r, nil
}

type revealRows struct {
	rows
	sealed SealedRows
	near   *protectRows // sealed, where it is our own
	opener *cells.Opener
	open   bool
	cells  [][]byte // of the current row, where not near
	buf    []byte   // the []byte values of the current row
}

var (
	_ driver.RowsNextResultSet              = (*revealRows)(nil)
	_ driver.RowsColumnTypeDatabaseTypeName = (*revealRows)(nil)
	_ driver.RowsColumnTypeLength           = (*revealRows)(nil)
	_ driver.RowsColumnTypeNullable         = (*revealRows)(nil)
	_ driver.RowsColumnTypePrecisionScale   = (*revealRows)(nil)
	_ driver.RowsColumnTypeScanType         = (*revealRows)(nil)
)

// Next opens a row. []byte values are valid until the next call. On any error
// no value is left in dest.
func (r *revealRows) Next(dest []driver.Value) error {
	sealed, err := r.nextCells(dest)
	if err == nil && sealed != nil {
		err = r.reveal(dest, sealed)
	}
	if err != nil {
		clear(dest)
	}
	return err
}

// nextCells gets a row and the cells in it.
func (r *revealRows) nextCells(dest []driver.Value) ([][]byte, error) {
	if r.near != nil {
		return r.near.nextCells(dest)
	}
	if err := r.inner.Next(dest); err != nil {
		return nil, err
	}
	labels := r.sealed.Labels()
	if labels == nil {
		return nil, nil
	}
	if len(labels) != len(dest) {
		return nil, fmt.Errorf("reveal row: %w: %d, not %d", ErrShape, len(dest), len(labels))
	}
	if len(r.cells) != len(dest) {
		r.cells = make([][]byte, len(dest))
	}
	for i, l := range labels {
		r.cells[i] = nil
		if l.IsZero() || dest[i] == nil {
			continue
		}
		cell, ok := dest[i].([]byte)
		if !ok || cell == nil {
			return nil, fmt.Errorf("reveal column %s: %w", l, cells.ErrTampered)
		}
		r.cells[i] = cell
	}
	return r.cells, nil
}

func (r *revealRows) Close() error {
	r.open = false
	r.buf = spare(r.buf)
	return r.inner.Close()
}

// reveal puts the values of the cells into dest.
func (r *revealRows) reveal(dest []driver.Value, sealed [][]byte) error {
	opener, labels, buf := r.opener, r.sealed.Labels(), r.buf[:0]
	for i, cell := range sealed {
		if cell == nil {
			continue
		}
		v, grown, err := opener.Open(buf, cell, labels[i])
		if err != nil {
			return err
		}
		if _, ok := v.([]byte); ok {
			buf = grown
		} else {
			buf = grown[:len(buf)] // keep the room, not the content
		}
		dest[i] = v
	}
	r.buf = buf
	return nil
}

func (r *revealRows) NextResultSet() error {
	if n, ok := r.inner.(driver.RowsNextResultSet); ok {
		return n.NextResultSet()
	}
	return io.EOF
}
