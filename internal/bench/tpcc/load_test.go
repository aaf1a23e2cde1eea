package tpcc

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/veildb/veildb/internal/bench/dsn"
)

func loadConfig() LoadConfig { return LoadConfig{Dialect: dsn.SQLite, Warehouses: 1, Seed: 1} }

func tables(t *testing.T, db *sql.DB) string {
	t.Helper()
	list, err := listTables(context.Background(), db, dsn.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, " ")
}

func TestLoadRefusesOtherTables(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"accounts", "warehouse", "item"} {
		db := openSQLite(t, filepath.Join(t.TempDir(), "other.db"))
		if _, err := db.Exec("CREATE TABLE " + name + " (id INTEGER, note TEXT)"); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("INSERT INTO " + name + " VALUES (1, 'precious')"); err != nil {
			t.Fatal(err)
		}
		if err := Load(ctx, db, loadConfig()); !errors.Is(err, ErrNotEmpty) || !strings.Contains(err.Error(), name) {
			t.Errorf("Load over %s: %v", name, err)
		}
		if err := Cleanup(ctx, db, dsn.SQLite); !errors.Is(err, ErrNotEmpty) {
			t.Errorf("Cleanup over %s: %v", name, err)
		}
		if got := scalar[string](t, db, "SELECT note FROM "+name); got != "precious" || tables(t, db) != name {
			t.Errorf("%s was touched: %q, tables %s", name, got, tables(t, db))
		}
		if _, err := Inspect(ctx, db, dsn.SQLite); !errors.Is(err, ErrNotLoaded) {
			t.Errorf("Inspect: %v", err)
		}
	}
}

func TestCleanupDropsOursOnly(t *testing.T) {
	ctx := context.Background()
	for _, f := range []Flavor{BenchBase, HammerDB} {
		db := copySQLite(t, f)
		if info, err := Inspect(ctx, db, dsn.SQLite); err != nil || info != (Info{f, 1, 1}) {
			t.Errorf("Inspect = %+v, %v", info, err)
		}
		if err := Load(ctx, db, loadConfig()); !errors.Is(err, ErrLoaded) {
			t.Errorf("second Load: %v", err)
		}
		if _, err := db.Exec("CREATE TABLE accounts (id INTEGER)"); err != nil {
			t.Fatal(err)
		}
		if err := Cleanup(ctx, db, dsn.SQLite); err != nil {
			t.Fatal(err)
		}
		if got := tables(t, db); got != "accounts" {
			t.Errorf("left: %s", got)
		}
		if _, err := db.Exec("DROP TABLE accounts"); err != nil {
			t.Fatal(err)
		}
		if err := Cleanup(ctx, db, dsn.SQLite); err != nil {
			t.Errorf("Cleanup of an empty database: %v", err)
		}
	}
}

func TestInterruptedLoadIsSeen(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	db := openSQLite(t, filepath.Join(t.TempDir(), "half.db"))
	c := loadConfig()
	var calls atomic.Int64
	c.Progress = func(done, total int64) {
		if done > total || total < 590_000 {
			t.Errorf("progress %d of %d", done, total)
		}
		if calls.Add(1) == 12 { // in the middle of stock
			cancel()
		}
	}
	if err := Load(ctx, db, c); !errors.Is(err, context.Canceled) {
		t.Fatalf("Load = %v", err)
	}
	mustBeHalf(t, db)
}

// mustBeHalf checks that db is seen as half loaded and can be cleaned.
func mustBeHalf(t *testing.T, db *sql.DB) {
	t.Helper()
	ctx := context.Background()
	if err := Load(ctx, db, loadConfig()); !errors.Is(err, ErrHalfLoaded) {
		t.Errorf("Load again: %v", err)
	}
	if _, err := Inspect(ctx, db, dsn.SQLite); !errors.Is(err, ErrHalfLoaded) {
		t.Errorf("Inspect: %v", err)
	}
	if err := Cleanup(ctx, db, dsn.SQLite); err != nil {
		t.Fatal(err)
	}
	if got := tables(t, db); got != "" {
		t.Errorf("Cleanup left: %s", got)
	}
}

// TestDiskFull loads into a file system of 24 MB, or, where mounting one is not
// permitted, into a database that may not grow beyond that.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	var limit []string
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=24m"); err == nil {
		t.Cleanup(func() {
			if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
	} else {
		limit = []string{"max_page_count(6000)"}
	}
	db := openSQLite(t, filepath.Join(dir, "full.db"), limit...)
	err := Load(context.Background(), db, loadConfig())
	if err == nil || !strings.Contains(err.Error(), "full") && !strings.Contains(err.Error(), "disk I/O error") {
		t.Fatalf("Load = %v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) == 0 {
		t.Error("nothing was written where it should be")
	}
	mustBeHalf(t, db)
}
