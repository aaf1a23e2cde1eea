package run_test

import (
	"context"
	"database/sql"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/run"
	"github.com/veildb/veildb/internal/bench/sysbench"
)

// TestPairedWorkOnSQLite compares two real databases and then looks into them:
// arms that ran the same transactions hold the same rows.
func TestPairedWorkOnSQLite(t *testing.T) {
	o := sysbench.Defaults()
	o.TableSize = 2000
	load, err := sysbench.New("oltp_read_write", o, dsn.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	var arms [2]run.Arm
	for i := range arms {
		db, err := sqlvfs.Open(filepath.Join(t.TempDir(), "x.db"), sqlvfs.Options{JournalMode: "WAL", Synchronous: "OFF"})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := load.Prepare(t.Context(), db, sysbench.PrepareConfig{Seed: 1, Threads: 1}); err != nil {
			t.Fatal(err)
		}
		arms[i] = run.Arm{DB: db, Workload: load}
	}
	fresh := contents(t, arms[0].DB)
	if other := contents(t, arms[1].DB); other != fresh {
		t.Fatalf("the arms start with %s and %s", fresh, other)
	}

	var blocks []result.Block
	var last run.Progress
	err = run.Compare(context.Background(), run.Plan{
		Cell:     result.Cell{Engine: "sqlite", Variant: "plain", Baseline: "plain", Workload: load.Name(), Threads: 1},
		Baseline: arms[0], Variant: arms[1], Seed: 5,
		Block: 30 * time.Millisecond, Slice: 10 * time.Millisecond, Settle: time.Millisecond, Stop: run.Stop{Quads: 4},
		Record: func(r any) error {
			b, ok := r.(result.Block)
			if !ok {
				return fmt.Errorf("unexpected record %+v", r)
			}
			blocks = append(blocks, b)
			return nil
		},
		Progress: func(p run.Progress) { last = p },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(blocks) != 16 || last.Quads != 4 || last.Overhead == nil {
		t.Errorf("%d blocks, last progress %+v", len(blocks), last)
	}
	for _, b := range blocks {
		if b.Commits == 0 || b.Commits != blocks[4*b.Quad].Commits || b.Queries != 20*b.Transactions || b.LatencyUS.P50 <= 0 {
			t.Errorf("block = %+v", b)
		}
	}
	after := contents(t, arms[0].DB)
	if other := contents(t, arms[1].DB); other != after {
		t.Errorf("after the same work the arms hold %s and %s", after, other)
	}
	if after == fresh {
		t.Error("the load changed nothing")
	}
}

// contents is a digest of all rows.
func contents(t *testing.T, db *sql.DB) string {
	t.Helper()
	rows, err := db.Query("SELECT id, k, c, pad FROM sbtest1 ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	sum, n := fnv.New64a(), 0
	for rows.Next() {
		var id, k int64
		var c, pad string
		if err := rows.Scan(&id, &k, &c, &pad); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(sum, id, k, c, pad)
		n++
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d rows, digest %x", n, sum.Sum64())
}
