package cli

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/run"
	"github.com/veildb/veildb/internal/bench/sysbench"
	"github.com/veildb/veildb/internal/bench/tpcc"
	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/inuse/cells"
	"github.com/veildb/veildb/internal/inuse/sqlend"
)

var tiers = []string{"cols20", "cols50", "cols100"}

// fixedKey is a key source with one version.
type fixedKey struct{ dek *secret.Bytes }

func (k fixedKey) Current() uint32                   { return 1 }
func (k fixedKey) DEK(uint32) (*secret.Bytes, error) { return k.dek, nil }

// openTier opens the database at path with the columns of a tier protected
// and revealed again; the tier "" opens it as it is.
func openTier(t testing.TB, path, workload, tier string, strict bool) *sql.DB {
	t.Helper()
	var c driver.Connector
	c, err := sqlvfs.Connector(path, sqlvfs.Options{Synchronous: "off"})
	if err != nil {
		t.Fatal(err)
	}
	if tier != "" {
		set, err := builtinColumns(workload, tier)
		if err != nil {
			t.Fatal(err)
		}
		dek, err := secret.From(bytes.Repeat([]byte{1}, 32))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { dek.Close() })
		sealer, err := cells.NewSealer(fixedKey{dek})
		if err != nil {
			t.Fatal(err)
		}
		if c, err = sqlend.Protect(c, sqlend.Config{Engine: sqliteEngine{}, Columns: set, Sealer: sealer, Strict: strict}); err != nil {
			t.Fatal(err)
		}
		if c, err = sqlend.Reveal(c, cells.NewOpener(fixedKey{dek})); err != nil {
			t.Fatal(err)
		}
	}
	db := sql.OpenDB(c)
	t.Cleanup(func() { db.Close() })
	return db
}

// loadTPCC makes a database with one warehouse and returns its file's path.
func loadTPCC(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tpcc.db")
	db := openTier(t, path, "", "", false)
	if err := tpcc.Load(context.Background(), db, tpcc.LoadConfig{Dialect: dsn.SQLite, Warehouses: 1, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func copyDatabase(t testing.TB, from string) string {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestTPCCWithProtectedColumns runs the same transactions at every tier, with
// writes that copy data out refused, and compares what they did and left.
func TestTPCCWithProtectedColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("loads a warehouse")
	}
	ctx := context.Background()
	loaded := loadTPCC(t)
	var want run.Tally
	var wantTotals tpcc.Totals
	for _, tier := range append([]string{""}, tiers...) {
		db := openTier(t, copyDatabase(t, loaded), "tpcc", tier, true)
		w, err := tpcc.New(tpcc.Config{Dialect: dsn.SQLite, Warehouses: 1, Terminals: 1})
		if err != nil {
			t.Fatal(err)
		}
		res, err := run.Load(ctx, run.LoadConfig{Workload: w, DB: db, Terminals: 1, Seed: 1, Window: run.Window{Events: 300}})
		if err != nil {
			t.Fatalf("%s: %v", tier, err)
		}
		info, err := tpcc.Inspect(ctx, db, dsn.SQLite)
		if err != nil {
			t.Fatalf("%s: %v", tier, err)
		}
		if tier == "cols100" {
			checks, err := tpcc.Check(ctx, db, dsn.SQLite, info)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range checks {
				if !c.OK {
					t.Errorf("check %s does not hold", c.Name)
				}
			}
		}
		totals, err := tpcc.ReadTotals(ctx, db)
		if err != nil {
			t.Fatalf("%s: %v", tier, err)
		}
		if tier == "" {
			want, wantTotals = res.Tally, totals
		} else if !reflect.DeepEqual(res.Tally, want) || totals != wantTotals {
			t.Errorf("%s: %+v, %+v\nplain: %+v, %+v", tier, res.Tally, totals, want, wantTotals)
		}
	}
}

// TestSysbenchWithProtectedColumns runs every script at every tier.
func TestSysbenchWithProtectedColumns(t *testing.T) {
	ctx := context.Background()
	for _, tier := range tiers {
		o := sysbench.Defaults()
		o.TableSize, o.Tables, o.Threads = 200, 2, 1
		for _, name := range sysbench.Names() {
			db := openTier(t, filepath.Join(t.TempDir(), "sb.db"), "sysbench", tier, true)
			w, err := sysbench.New(name, o, dsn.SQLite)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Prepare(ctx, db, sysbench.PrepareConfig{Threads: 1}); err != nil {
				t.Fatalf("%s %s: %v", tier, name, err)
			}
			if _, err := run.Load(ctx, run.LoadConfig{Workload: w, DB: db, Terminals: 1, Seed: 1, Window: run.Window{Events: 20}}); err != nil {
				t.Errorf("%s %s: %v", tier, name, err)
			}
		}
	}
}

// BenchmarkTPCC runs one terminal's transactions in turn on a plain database
// and on one with a tier's columns protected and revealed, and reports the
// processor time a transaction takes on each (cpu-ns/op, the whole process).
func BenchmarkTPCC(b *testing.B) {
	loaded := loadTPCC(b)
	for _, tier := range append([]string{""}, tiers...) {
		name := tier
		if name == "" {
			name = "plain"
		}
		db := openTier(b, copyDatabase(b, loaded), "tpcc", tier, false)
		w, err := tpcc.New(tpcc.Config{Dialect: dsn.SQLite, Warehouses: 1, Terminals: 1})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("columns=%s", name), func(b *testing.B) {
			term, err := w.Terminal(context.Background(), db, 0, 1)
			if err != nil {
				b.Fatal(err)
			}
			defer term.Close()
			var tally run.Tally
			before := processTime(b)
			for b.Loop() {
				if _, err := term.Next(context.Background(), &tally); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(processTime(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// processTime returns the processor time of the process so far, in ns.
func processTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
