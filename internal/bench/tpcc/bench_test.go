package tpcc

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/run"
)

// BenchmarkTransaction is the mix on one SQLite terminal. A profile of it
// shows the load generator's share.
func BenchmarkTransaction(b *testing.B) {
	for _, f := range Flavors {
		b.Run("engine=sqlite/flavor="+string(f), func(b *testing.B) {
			w := newWorkload(b, Config{Dialect: dsn.SQLite, Flavor: f, Warehouses: 1, Terminals: 1})
			term, err := w.Terminal(context.Background(), copySQLite(b, f), 0, 1)
			if err != nil {
				b.Fatal(err)
			}
			defer term.Close()
			var tally run.Tally
			b.ReportAllocs()
			for b.Loop() {
				if _, err := term.Next(context.Background(), &tally); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLoad makes one warehouse on SQLite.
func BenchmarkLoad(b *testing.B) {
	b.Run("engine=sqlite/warehouses=1", func(b *testing.B) {
		for b.Loop() {
			db := openSQLite(b, filepath.Join(b.TempDir(), "load.db"))
			if err := Load(context.Background(), db, loadConfig()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
