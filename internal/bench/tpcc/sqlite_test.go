package tpcc

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/driver"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/run"
)

// openSQLite opens a database file with the settings of the embedded study.
func openSQLite(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := driver.Open("file:" + path + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func loadSQLite(t testing.TB, f Flavor) *sql.DB {
	t.Helper()
	db := openSQLite(t, filepath.Join(t.TempDir(), "tpcc.db"))
	start := time.Now()
	err := Load(context.Background(), db, LoadConfig{Dialect: dsn.SQLite, Flavor: f, Warehouses: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("loaded in %v", time.Since(start))
	return db
}

func TestLoadSQLite(t *testing.T) {
	loadSQLite(t, BenchBase)
}

func TestRunSQLite(t *testing.T) {
	db := loadSQLite(t, BenchBase)
	ctx := context.Background()
	w, err := New(Config{Dialect: dsn.SQLite, Warehouses: 1, Terminals: 1})
	if err != nil {
		t.Fatal(err)
	}
	term, err := w.Terminal(ctx, db, 0, 7)
	if err != nil {
		t.Fatal(err)
	}
	var tally run.Tally
	start := time.Now()
	for range 5000 {
		if _, err := term.Next(ctx, &tally); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%v %+v", time.Since(start), tally)
	start = time.Now()
	checks, err := Check(ctx, db, dsn.SQLite, Info{BenchBase, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v %+v", time.Since(start), checks)
}
