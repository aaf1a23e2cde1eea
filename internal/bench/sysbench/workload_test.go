package sysbench_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/run"
	"github.com/veildb/veildb/internal/bench/sysbench"
)

// load runs n events on one terminal and returns what was counted.
func load(tb testing.TB, db database, w *sysbench.Workload, n int, seed uint64) (run.Tally, sysbench.Counts) {
	tb.Helper()
	before := w.Counts()
	term, err := w.Terminal(tb.Context(), db.DB, 0, seed)
	if err != nil {
		tb.Fatal(err)
	}
	var tally run.Tally
	for range n {
		if _, err := term.Next(tb.Context(), &tally); err != nil {
			tb.Fatal(err)
		}
	}
	if err := term.Close(); err != nil {
		tb.Fatal(err)
	}
	return tally, w.Counts().Sub(before)
}

// perEvent is what one event of each workload counts, from sysbench's own
// runs.
var perEvent = map[string]sysbench.Counts{
	"oltp_point_select":     {Reads: 1},
	"oltp_read_only":        {Reads: 14, Others: 2},
	"oltp_read_write":       {Reads: 14, Writes: 4, Others: 2},
	"oltp_write_only":       {Writes: 4, Others: 2},
	"oltp_update_index":     {Writes: 1},
	"oltp_update_non_index": {Writes: 1},
	"oltp_insert":           {Writes: 1},
	"select_random_points":  {Reads: 1},
	"select_random_ranges":  {Reads: 1},
}

func TestCountsPerEvent(t *testing.T) {
	each(t, func(t *testing.T, db database) {
		for _, mode := range []string{"auto", "disable"} {
			db := db
			if mode == "disable" && db.server != nil {
				db.DB = openDSN(t, db.server.DSNFor("", db.name), dsn.Options{TextStatements: true})
				defer db.DB.Close()
			}
			o := small()
			o.PSMode = mode
			prepare(t, db, workload(t, db, "oltp_read_write", o), 1)
			for name, want := range perEvent {
				const n = 20
				tally, got := load(t, db, workload(t, db, name, o), n, 7)
				want = sysbench.Counts{Reads: n * want.Reads, Writes: n * want.Writes, Others: n * want.Others}
				if got != want {
					t.Errorf("%s, %s: %d events count %+v, want %+v", name, mode, n, got, want)
				}
				if !reflect.DeepEqual(tally, run.Tally{Transactions: n, Commits: n, Queries: got.Queries()}) {
					t.Errorf("%s, %s: tally %+v", name, mode, tally)
				}
			}
			// Rows deleted twice count as other.
			o.TableSize = 1000
			_, got := load(t, db, workload(t, db, "oltp_delete", o), 200, 7)
			if got.Writes+got.Others != 200 || got.Others == 0 || got.Reads != 0 {
				t.Errorf("oltp_delete, %s: 200 events count %+v", mode, got)
			}
			if err := workload(t, db, "oltp_read_write", o).Cleanup(t.Context(), db.DB, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestOptionsShapeTheEvent(t *testing.T) {
	db := openSQLite(t)
	prepare(t, db, workload(t, db, "oltp_read_write", small()), 1)
	for _, tc := range []struct {
		name string
		edit func(*sysbench.Options)
		want sysbench.Counts
	}{
		{"skip-trx", func(o *sysbench.Options) { o.SkipTrx = true }, sysbench.Counts{Reads: 14, Writes: 4}},
		{"no ranges", func(o *sysbench.Options) { o.RangeSelects = false }, sysbench.Counts{Reads: 10, Writes: 4, Others: 2}},
		{"counts", func(o *sysbench.Options) {
			o.PointSelects, o.SimpleRanges, o.SumRanges, o.OrderRanges, o.DistinctRanges = 1, 2, 3, 4, 5
			o.IndexUpdates, o.NonIndexUpdates, o.DeleteInserts = 0, 2, 3
		}, sysbench.Counts{Reads: 15, Writes: 8, Others: 2}},
	} {
		o := small()
		tc.edit(&o)
		if _, got := load(t, db, workload(t, db, "oltp_read_write", o), 1, 3); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

func TestTables(t *testing.T) {
	each(t, func(t *testing.T, db database) {
		o := small()
		w := workload(t, db, "oltp_read_write", o)
		rows := map[int]int{}
		err := w.Prepare(t.Context(), db.DB, sysbench.PrepareConfig{Seed: 5, Threads: 2, Progress: func(p sysbench.Progress) {
			if p.Step == sysbench.Filled {
				rows[p.Table] += p.Rows
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		for table := 1; table <= o.Tables; table++ {
			name := fmt.Sprintf("sbtest%d", table)
			if rows[table] != o.TableSize {
				t.Errorf("%s: progress told of %d rows", name, rows[table])
			}
			for query, want := range map[string]int{
				"SELECT COUNT(*) FROM " + name:                                   o.TableSize,
				"SELECT MIN(id) FROM " + name:                                    1,
				"SELECT MAX(id) FROM " + name:                                    o.TableSize,
				"SELECT COUNT(*) FROM " + name + " WHERE length(trim(c))=119":    o.TableSize,
				"SELECT COUNT(*) FROM " + name + " WHERE length(trim(pad))=59":   o.TableSize,
				"SELECT COUNT(*) FROM " + name + " WHERE k BETWEEN 1 AND 1000":   o.TableSize,
				"SELECT COUNT(DISTINCT c) FROM " + name:                          o.TableSize,
				"SELECT COUNT(*) FROM " + name + " WHERE c LIKE '___________-%'": o.TableSize,
			} {
				if got := scan[int](t, db, query); got != want {
					t.Errorf("%s: %d, want %d", query, got, want)
				}
			}
			// k is skewed: half of the rows and more in 1 % of its range.
			if got := scan[int](t, db, "SELECT COUNT(*) FROM "+name+" WHERE k BETWEEN 495 AND 505"); got < 700 {
				t.Errorf("%s: %d rows in the hot band of k", name, got)
			}
		}

		// A table that is there is refused, and nothing happens to it.
		if err := w.Prepare(t.Context(), db.DB, sysbench.PrepareConfig{}); !errors.Is(err, sysbench.ErrTableExists) {
			t.Errorf("second prepare: %v", err)
		}
		if got := scan[int](t, db, "SELECT COUNT(*) FROM sbtest1"); got != o.TableSize {
			t.Errorf("after a refused prepare: %d rows", got)
		}

		// Cleanup takes only the tables it was told of.
		o.Tables = 1
		if err := workload(t, db, "oltp_read_write", o).Cleanup(t.Context(), db.DB, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("SELECT * FROM sbtest1"); err == nil {
			t.Error("sbtest1 is there after cleanup")
		}
		if got := scan[int](t, db, "SELECT COUNT(*) FROM sbtest2"); got != o.TableSize {
			t.Errorf("sbtest2 after cleanup of one table: %d rows", got)
		}
	})
}

// TestSameSeedSameData compares tables made with one seed on all engines and
// with different numbers of threads.
func TestSameSeedSameData(t *testing.T) {
	content := func(db database, seed uint64, threads int) string {
		o := small()
		o.TableSize, o.Threads = 300, threads
		prepare(t, db, workload(t, db, "oltp_read_write", o), seed)
		var b strings.Builder
		for table := 1; table <= o.Tables; table++ {
			rows, err := db.Query(fmt.Sprintf("SELECT id, k, c, pad FROM sbtest%d ORDER BY id", table))
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			for rows.Next() {
				var id, k int
				var c, pad string
				if err := rows.Scan(&id, &k, &c, &pad); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintln(&b, id, k, strings.TrimSpace(c), strings.TrimSpace(pad))
			}
		}
		return b.String()
	}
	want := content(openSQLite(t), 42, 1)
	each(t, func(t *testing.T, db database) {
		if got := content(db, 42, 2); got != want {
			t.Error("other data than SQLite's with one thread")
		}
	})
	if content(openSQLite(t), 43, 1) == want {
		t.Error("another seed gives the same data")
	}
}

func TestInsertWithOwnIDs(t *testing.T) {
	each(t, func(t *testing.T, db database) {
		o := small()
		o.AutoInc = false
		w := workload(t, db, "oltp_insert", o)
		prepare(t, db, w, 1)
		if n := scan[int](t, db, "SELECT COUNT(*) FROM sbtest1"); n != 0 {
			t.Errorf("%d rows after prepare", n)
		}
		load(t, db, w, 50, 1)
		if n := scan[int](t, db, "SELECT (SELECT COUNT(*) FROM sbtest1) + (SELECT COUNT(*) FROM sbtest2)"); n != 50 {
			t.Errorf("%d rows after 50 events", n)
		}
	})
}

func TestBulkInsert(t *testing.T) {
	each(t, func(t *testing.T, db database) {
		w := workload(t, db, "bulk_insert", small())
		prepare(t, db, w, 1)
		const n = 60_000
		tally, got := load(t, db, w, n, 1)
		if tally.Transactions != n {
			t.Errorf("%d events", tally.Transactions)
		}
		// Rows are "(n,n)" with n up to 5 digits: some 778 KB of text.
		if got != (sysbench.Counts{Writes: 2}) {
			t.Errorf("%+v, want 2 writes", got)
		}
		if rows := scan[int](t, db, "SELECT COUNT(*) FROM sbtest1 WHERE id = k AND id BETWEEN 1 AND 60000"); rows != n {
			t.Errorf("%d rows", rows)
		}
		if err := w.Cleanup(t.Context(), db.DB, nil); err != nil {
			t.Error(err)
		}
	})
}

func TestCancelledEventRollsBack(t *testing.T) {
	each(t, func(t *testing.T, db database) {
		w := workload(t, db, "oltp_write_only", small())
		prepare(t, db, w, 1)
		term, err := w.Terminal(t.Context(), db.DB, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		// The context ends at its fourth look: within the transaction.
		ctx := &fuse{Context: t.Context(), left: 4}
		if _, err := term.Next(ctx, new(run.Tally)); !errors.Is(err, context.Canceled) {
			t.Errorf("Next: %v", err)
		}
		if got := w.Counts(); got.Writes == 0 || got.Writes == 4 {
			t.Errorf("cancelled outside the writes: %+v", got)
		}
		if err := term.Close(); err != nil {
			t.Error(err)
		}
		if n := scan[int](t, db, "SELECT COUNT(*) FROM sbtest1"); n != 1000 {
			t.Errorf("%d rows", n)
		}
		// Nothing is left locked.
		if _, err := db.Exec("UPDATE sbtest1 SET pad='x'"); err != nil {
			t.Error(err)
		}
		if _, err := db.Exec("UPDATE sbtest2 SET pad='x'"); err != nil {
			t.Error(err)
		}
	})
}

// fuse is a context that ends after so many looks.
type fuse struct {
	context.Context
	left int
}

func (f *fuse) Err() error {
	if f.left--; f.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestNewRefuses(t *testing.T) {
	if _, err := sysbench.New("oltp_nothing", sysbench.Defaults(), dsn.MySQL); !errors.Is(err, sysbench.ErrUnknownWorkload) {
		t.Errorf("unknown workload: %v", err)
	}
	for name, edit := range map[string]func(*sysbench.Options){
		"tables":               func(o *sysbench.Options) { o.Tables = 0 },
		"table-size":           func(o *sysbench.Options) { o.TableSize = 1 << 31 },
		"point-selects":        func(o *sysbench.Options) { o.PointSelects = -1 },
		"rand-type":            func(o *sysbench.Options) { o.Rand.Type = "zipfian" },
		"rand-pareto-h":        func(o *sysbench.Options) { o.Rand.ParetoH = 1 },
		"rand-spec-res":        func(o *sysbench.Options) { o.Rand.SpecRes = 100 },
		"mysql-storage-engine": func(o *sysbench.Options) { o.StorageEngine = "x */ y" },
		"db-ps-mode":           func(o *sysbench.Options) { o.PSMode = "maybe" },
	} {
		o := sysbench.Defaults()
		edit(&o)
		_, err := sysbench.New("oltp_insert", o, dsn.MySQL)
		if !errors.Is(err, sysbench.ErrOption) || !strings.Contains(err.Error(), "--"+name+"=") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
