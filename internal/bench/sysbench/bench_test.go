package sysbench_test

import (
	"testing"

	"github.com/veildb/veildb/internal/bench/run"
)

// BenchmarkEvent is the time of an event on SQLite, engine included; its CPU
// profile shows the share of this package.
func BenchmarkEvent(b *testing.B) {
	db := openSQLite(b)
	o := small()
	o.TableSize = 10000
	prepare(b, db, workload(b, db, "oltp_read_write", o), 1)
	for _, name := range []string{"oltp_point_select", "oltp_read_only", "oltp_read_write", "oltp_write_only"} {
		b.Run("workload="+name, func(b *testing.B) {
			term, err := workload(b, db, name, o).Terminal(b.Context(), db.DB, 0, 1)
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
