package study

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/run"
)

// loaded is a database with the data of w, after n transactions of it.
func loaded(t *testing.T, w Workload, n int) (*sql.DB, *counted) {
	t.Helper()
	db, err := sqlvfs.Open(filepath.Join(t.TempDir(), "a.db"), sqlvfs.Options{JournalMode: "wal", Synchronous: "off"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	ctx := context.Background()
	if err := w.fill(ctx, db, dsn.SQLite, 1, nil); err != nil {
		t.Fatal(err)
	}
	load, err := w.runner(dsn.SQLite, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := &counted{Workload: load}
	terminal, err := c.Terminal(ctx, db, 0, 7)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	var tally run.Tally
	for range n {
		if _, err := terminal.Next(ctx, &tally); err != nil {
			t.Fatal(err)
		}
	}
	return db, c
}

// TestCheckRows runs each script, finds what it did in the tables, and finds
// what somebody else does there.
func TestCheckRows(t *testing.T) {
	for _, c := range []struct{ script, tamper, says string }{
		{"oltp_point_select", "UPDATE sbtest2 SET k = k + 1 WHERE id = 3", "sum of k changed by 1"},
		{"oltp_read_only", "DELETE FROM sbtest1 WHERE id = 3", "sbtest1 has 49 rows, 50 were loaded"},
		{"oltp_read_write", "INSERT INTO sbtest1 (k, c, pad) SELECT k, c, pad FROM sbtest1 WHERE id = 3", "sbtest1 has 51 rows"},
		{"oltp_write_only", "UPDATE sbtest1 SET c = 'x' WHERE id = 3", "1 rows of another shape"},
		{"oltp_update_index", "UPDATE sbtest1 SET k = k - 1 WHERE id = 3", "the sum of k grew"},
		{"oltp_update_non_index", "UPDATE sbtest1 SET k = k - 1 WHERE id = 3", "the sum of k changed by -1"},
		{"oltp_insert", "DELETE FROM sbtest1 WHERE id = 3", "rows grew"},
		{"oltp_delete", "INSERT INTO sbtest1 (k, c, pad) SELECT k, c, pad FROM sbtest1 LIMIT 1", "rows fell"},
	} {
		t.Run(c.script, func(t *testing.T) {
			w := Workload{Name: c.script, Tables: 2, TableSize: 50}
			db, load := loaded(t, w, 40)
			ctx := context.Background()
			got, err := w.checkRows(ctx, db, dsn.SQLite, []done{load.done()})
			if err != nil || !got.OK {
				t.Fatalf("after the load: %+v, %v", got, err)
			}
			if _, err := db.Exec(c.tamper); err != nil {
				t.Fatal(err)
			}
			got, err = w.checkRows(ctx, db, dsn.SQLite, []done{load.done()})
			if err != nil || got.OK || !strings.Contains(got.Detail, c.says) {
				t.Errorf("after %q: %+v, %v; want it to say %q", c.tamper, got, err, c.says)
			}
		})
	}
}

// TestCheckOrders counts new orders and payments.
func TestCheckOrders(t *testing.T) {
	w := Workload{Name: "tpcc", Flavor: "benchbase", Warehouses: 1}
	db, load := loaded(t, w, 60)
	ctx := context.Background()
	got, err := w.checkOrders(ctx, db, dsn.SQLite, []done{load.done()})
	if err != nil || !got.OK {
		t.Fatalf("after the load: %+v, %v", got, err)
	}
	for _, c := range []struct{ tamper, says string }{
		{"UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 4", "new orders in the database"},
		{"DELETE FROM history WHERE rowid = 5", "payments in the database"},
	} {
		if _, err := db.Exec(c.tamper); err != nil {
			t.Fatal(err)
		}
		got, err := w.checkOrders(ctx, db, dsn.SQLite, []done{load.done()})
		if err != nil || got.OK || !strings.Contains(got.Detail, c.says) {
			t.Errorf("after %q: %+v, %v; want it to say %q", c.tamper, got, err, c.says)
		}
	}
}
