package tpcc

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// background is the context statements run under; see dsn.Stmt.
var background = context.Background()

// say sends a verb, whether or not the load is over.
func (t *terminal) say(v verb) error {
	t.tally.Queries++
	var err error
	if v.stmt != nil {
		_, err = v.stmt.ExecContext(background, nil)
	} else {
		_, err = dsn.ExecText(t.dc, v.text)
	}
	return err
}

// exec runs a statement that changes rows and returns how many it changed.
func (t *terminal) exec(s dsn.Stmt, args ...any) (int64, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	t.tally.Queries++
	r, err := s.ExecContext(background, t.values(args))
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// change runs a statement that must change exactly n rows.
func (t *terminal) change(s dsn.Stmt, n int64, args ...any) error {
	got, err := t.exec(s, args...)
	if err == nil && got != n {
		err = fmt.Errorf("statement changed %d rows instead of %d; is the database loaded with %d warehouses?",
			got, n, t.config.Warehouses)
	}
	return err
}

// row reads the one row of a query into dest; io.EOF if there is none.
func (t *terminal) row(s dsn.Stmt, args []any, dest ...any) error {
	n := 0
	err := t.rows(s, args, func(r row) error {
		n++
		return r.scan(dest...)
	})
	if err == nil && n == 0 {
		return io.EOF
	}
	return err
}

// must is row for a row that a loaded database has.
func (t *terminal) must(s dsn.Stmt, args []any, dest ...any) error {
	err := t.row(s, args, dest...)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("a row is missing; is the database loaded with %d warehouses?", t.config.Warehouses)
	}
	return err
}

// rows calls each for every row of a query.
func (t *terminal) rows(s dsn.Stmt, args []any, each func(row) error) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	t.tally.Queries++
	rows, err := s.QueryContext(background, t.values(args))
	if err != nil {
		return err
	}
	n := len(rows.Columns())
	if n > len(t.dest) {
		t.dest = make([]driver.Value, n)
	}
	for {
		err := rows.Next(t.dest[:n])
		if err == nil {
			err = each(t.dest[:n])
		}
		if err == io.EOF {
			return rows.Close()
		}
		if err != nil {
			return errors.Join(err, rows.Close())
		}
	}
}

// values are args as the drivers take them, valid until the next call.
func (t *terminal) values(args []any) []driver.NamedValue {
	t.args = t.args[:0]
	for i, a := range args {
		if n, ok := a.(int); ok {
			a = int64(n)
		}
		t.args = append(t.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return t.args
}

// A row is what a driver read, valid until it reads the next.
type row []driver.Value

// scan copies r into dest, of which each is a *int, a *string or a sql.Scanner.
func (r row) scan(dest ...any) error {
	if len(r) != len(dest) {
		return fmt.Errorf("read row: %d columns, want %d", len(r), len(dest))
	}
	for i, d := range dest {
		var err error
		switch d := d.(type) {
		case ignored:
		case *int:
			err = scanInt(d, r[i])
		case *string:
			err = scanString(d, r[i])
		case sql.Scanner:
			err = d.Scan(r[i])
		default:
			panic("tpcc: internal error: unexpected destination")
		}
		if err != nil {
			return fmt.Errorf("read column %d: %w", i+1, err)
		}
	}
	return nil
}

func scanInt(d *int, v driver.Value) error {
	var text string
	switch v := v.(type) {
	case int64:
		*d = int(v)
		return nil
	case []byte:
		text = string(v)
	case string:
		text = v
	default:
		return fmt.Errorf("unexpected type %T of a number", v)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return errors.New("not a number") // without the value
	}
	*d = n
	return nil
}

func scanString(d *string, v driver.Value) error {
	switch v := v.(type) {
	case []byte:
		*d = string(v)
	case string:
		*d = v
	default:
		return fmt.Errorf("unexpected type %T of a text", v)
	}
	return nil
}
