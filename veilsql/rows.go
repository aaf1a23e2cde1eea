package veilsql

import (
	"database/sql/driver"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/veildb/veildb/internal/inuse/encdb"
)

// mysqlRows is what rows of go-sql-driver/mysql implement, and so what ours do.
type mysqlRows interface {
	driver.Rows
	driver.RowsNextResultSet
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypePrecisionScale
	driver.RowsColumnTypeScanType
}

var _ mysqlRows = (*rows)(nil)

// rows are the MySQL driver's. Where the server does not say the type of a
// protected column, the sidecar has put the tag behind the column's name and
// the type of each value, one byte, before its text.
type rows struct {
	mysqlRows
	conn  *conn
	at    *watch // until Close
	names []string
	typed []int // columns whose values begin with their type
}

// rows wraps what a query gave that began with at.
func (c *conn) rows(at *watch, raw driver.Rows, err error) (driver.Rows, error) {
	if err != nil {
		return nil, typed(c.watcher.end(at, err))
	}
	mr, ok := raw.(mysqlRows)
	if !ok {
		raw.Close()
		return nil, c.watcher.end(at, fmt.Errorf("veilsql: %T lacks interfaces of driver.Rows", raw))
	}
	r := &rows{mysqlRows: mr, conn: c, at: at}
	r.begin()
	return r, nil
}

// begin reads the columns of a result.
func (r *rows) begin() {
	r.names, r.typed = r.mysqlRows.Columns(), nil
	for i, n := range r.names {
		if name, ok := strings.CutSuffix(n, r.conn.tag); ok {
			r.names[i], r.typed = name, append(r.typed, i)
		}
	}
}

func (r *rows) Columns() []string { return r.names }

func (r *rows) Close() error {
	err := r.conn.watcher.end(r.at, r.mysqlRows.Close())
	r.at = nil
	return typed(err)
}

func (r *rows) Next(dest []driver.Value) error {
	if err := r.mysqlRows.Next(dest); err != nil {
		return r.failed(err)
	}
	for _, i := range r.typed {
		v, err := r.conn.value(dest[i])
		if err != nil {
			return fmt.Errorf("veilsql: read column %s: %w", r.names[i], err)
		}
		dest[i] = v
	}
	return nil
}

func (r *rows) NextResultSet() error {
	if err := r.mysqlRows.NextResultSet(); err != nil {
		return r.failed(err)
	}
	r.begin()
	return nil
}

// failed is err, or the context's error in place of one that came of it.
func (r *rows) failed(err error) error {
	if err != io.EOF && r.at != nil && r.conn.watcher.ended.Load() {
		return r.at.ctx.Err()
	}
	return typed(err)
}

func (r *rows) isTyped(i int) bool {
	for _, t := range r.typed {
		if t == i {
			return true
		}
	}
	return false
}

func (r *rows) ColumnTypeDatabaseTypeName(i int) string {
	if r.isTyped(i) {
		return ""
	}
	return r.mysqlRows.ColumnTypeDatabaseTypeName(i)
}

func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	if r.isTyped(i) {
		return reflect.TypeFor[any]()
	}
	return r.mysqlRows.ColumnTypeScanType(i)
}

// value is a value that began with its type. Errors do not quote it.
func (c *conn) value(v driver.Value) (driver.Value, error) {
	b, ok := v.([]byte)
	if v == nil {
		return nil, nil
	}
	if !ok || len(b) == 0 {
		return nil, ErrTampered
	}
	typ, text := b[0], b[1:]
	var out driver.Value
	var err error
	switch typ {
	case encdb.TypeTiny, encdb.TypeShort, encdb.TypeInt24, encdb.TypeLong, encdb.TypeLongLong, encdb.TypeYear:
		out, err = strconv.ParseInt(string(text), 10, 64)
	case encdb.TypeFloat:
		var f float64
		f, err = strconv.ParseFloat(string(text), 32)
		out = float32(f)
	case encdb.TypeDouble:
		out, err = strconv.ParseFloat(string(text), 64)
	case encdb.TypeDate, encdb.TypeNewDate, encdb.TypeDateTime, encdb.TypeTimestamp:
		if !c.parseTime {
			return text, nil
		}
		out, err = parseTime(string(text), c.loc)
	default:
		return text, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: not of its type", ErrTampered)
	}
	return out, nil
}

// parseTime reads a date or a time; all zero is the zero time, as with
// go-sql-driver/mysql.
func parseTime(text string, loc *time.Location) (time.Time, error) {
	if strings.Trim(text, "0-: .") == "" {
		return time.Time{}, nil
	}
	layout := "2006-01-02 15:04:05.999999"
	if len(text) == len(time.DateOnly) {
		layout = time.DateOnly
	}
	return time.ParseInLocation(layout, text, loc)
}
