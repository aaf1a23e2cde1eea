package sysbench_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"testing"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/run"
	"github.com/veildb/veildb/internal/bench/sysbench"
)

// BenchmarkEvent is the time of an event: on SQLite with the engine, and on no
// engine, which leaves what this package and database/sql cost.
func BenchmarkEvent(b *testing.B) {
	o := small()
	o.TableSize = 10000
	lite := openSQLite(b)
	prepare(b, lite, workload(b, lite, "oltp_read_write", o), 1)
	for engine, db := range map[string]*sql.DB{"sqlite": lite.DB, "none": sql.OpenDB(nothing{})} {
		for _, name := range []string{"oltp_point_select", "oltp_read_only", "oltp_read_write", "oltp_write_only"} {
			b.Run("workload="+name+"/engine="+engine, func(b *testing.B) {
				w, err := sysbench.New(name, o, dsn.SQLite)
				if err != nil {
					b.Fatal(err)
				}
				term, err := w.Terminal(b.Context(), db, 0, 1)
				if err != nil {
					b.Fatal(err)
				}
				defer term.Close()
				var tally run.Tally
				b.ReportAllocs()
				for b.Loop() {
					if _, err := term.Next(b.Context(), &tally); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkPrepare is the time of a row on SQLite, engine and index included.
func BenchmarkPrepare(b *testing.B) {
	o := sysbench.Defaults()
	o.TableSize = 50_000
	rows := 0
	for b.Loop() {
		db := openSQLite(b)
		prepare(b, db, workload(b, db, "oltp_read_write", o), 1)
		rows += o.TableSize
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
}

// nothing is a driver that takes every statement and has one empty row.
type nothing struct{}

func (nothing) Connect(context.Context) (driver.Conn, error)                { return nothing{}, nil }
func (nothing) Driver() driver.Driver                                       { return nil }
func (nothing) Begin() (driver.Tx, error)                                   { return nil, driver.ErrSkip }
func (nothing) Prepare(string) (driver.Stmt, error)                         { return nothing{}, nil }
func (nothing) PrepareContext(context.Context, string) (driver.Stmt, error) { return nothing{}, nil }
func (nothing) Close() error                                                { return nil }
func (nothing) NumInput() int                                               { return -1 }
func (nothing) Exec([]driver.Value) (driver.Result, error)                  { return driver.RowsAffected(1), nil }
func (nothing) Query([]driver.Value) (driver.Rows, error)                   { return nothing{}, nil }
func (nothing) Columns() []string                                           { return nil }
func (nothing) Next([]driver.Value) error                                   { return io.EOF }
func (nothing) QueryContext(context.Context, []driver.NamedValue) (driver.Rows, error) {
	return nothing{}, nil
}
func (nothing) ExecContext(context.Context, []driver.NamedValue) (driver.Result, error) {
	return driver.RowsAffected(1), nil
}
