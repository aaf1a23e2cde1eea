package sysbench

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"

	"github.com/veildb/veildb/internal/bench/dsn"
)

const mysqlDialect = dsn.MySQL

// setInt sets parameter i (from 0) of the next statement.
func (t *terminal) setInt(i, v int) { t.args[i].Value = int64(v) }

// setDigits sets parameter i to a new random string of n bytes.
func (t *terminal) setDigits(i, n int) {
	t.buf = t.rng.appendDigits(t.buf[:0], n)
	t.args[i].Value = string(t.buf)
}

// params is the number of parameters of each kind.
func (t *terminal) params(k kind) int {
	switch k {
	case begin, commit:
		return 0
	case pointSelect, indexUpdate, deleteRow:
		return 1
	case insertRow:
		return 4
	case randomPoints:
		return t.o.RandomPoints
	case randomRanges:
		return 2 * t.o.NumberOfRanges
	}
	return 2
}

// do sends statement k on the table with the parameters set, reads all its
// rows and counts it.
func (t *terminal) do(k kind, table int) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	t.sent++
	args := t.args[:t.params(k)]
	var s dsn.Stmt
	if p := t.stmts[k]; p != nil {
		s = p[max(table-1, 0)]
	}
	var text string
	if s == nil {
		for i := range args {
			t.vals[i] = args[i].Value
		}
		text = k.text(table, t.o, t.w.dialect, t.w.script.writes)
		t.buf = splice(t.buf[:0], text, t.vals[:len(args)])
		text = string(t.buf)
	}
	if k.reads() {
		var rows driver.Rows
		var err error
		if s != nil {
			rows, err = s.QueryContext(context.Background(), args)
		} else {
			rows, err = dsn.QueryText(t.dc, text)
		}
		if err != nil {
			return err
		}
		if err := t.drain(rows); err != nil {
			return err
		}
		t.counts.reads.Add(1)
		return nil
	}
	var res driver.Result
	var err error
	if s != nil {
		res, err = s.ExecContext(context.Background(), args)
	} else {
		res, err = dsn.ExecText(t.dc, text)
	}
	if err != nil {
		return err
	}
	return t.count(k == begin || k == commit, res)
}

// execText sends a statement that has no parameters and returns no rows.
func (t *terminal) execText(text string) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	t.sent++
	res, err := dsn.ExecText(t.dc, text)
	if err != nil {
		return err
	}
	return t.count(false, res)
}

// count counts a statement without rows. SQLite reports for BEGIN and COMMIT
// the rows of the statement before.
func (t *terminal) count(control bool, res driver.Result) error {
	if control {
		t.counts.others.Add(1)
		return nil
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n > 0 {
		t.counts.writes.Add(1)
	} else {
		t.counts.others.Add(1)
	}
	return nil
}

// drain reads all rows without looking at them, as sysbench does.
func (t *terminal) drain(rows driver.Rows) error {
	if t.skips {
		return rows.Close()
	}
	n := len(rows.Columns())
	if n > len(t.dest) {
		t.dest = make([]driver.Value, n)
	}
	for {
		switch err := rows.Next(t.dest[:n]); err {
		case nil:
		case io.EOF:
			return rows.Close()
		default:
			return errors.Join(err, rows.Close())
		}
	}
}
