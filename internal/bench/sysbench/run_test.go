package sysbench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/run"
	"github.com/veildb/veildb/internal/bench/sysbench"
	"github.com/veildb/veildb/internal/bench/target"
)

// TestSameSeedSameStatements runs two terminals one after the other on all
// engines; what is left in the tables must be the same.
func TestSameSeedSameStatements(t *testing.T) {
	left := func(db database, seed uint64) string {
		w := workload(t, db, "oltp_write_only", small())
		prepare(t, db, w, 1)
		for n := range 2 {
			term, err := w.Terminal(t.Context(), db.DB, n, seed)
			if err != nil {
				t.Fatal(err)
			}
			for range 60 {
				if _, err := term.Next(t.Context(), new(run.Tally)); err != nil {
					t.Fatal(err)
				}
			}
			if err := term.Close(); err != nil {
				t.Fatal(err)
			}
		}
		var b strings.Builder
		for table := 1; table <= 2; table++ {
			rows, err := db.Query(fmt.Sprintf("SELECT id, k, c, pad FROM sbtest%d ORDER BY id", table))
			if err != nil {
				t.Fatal(err)
			}
			for rows.Next() {
				var id, k int
				var c, pad string
				if err := rows.Scan(&id, &k, &c, &pad); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintln(&b, id, k, strings.TrimSpace(c), strings.TrimSpace(pad))
			}
			rows.Close()
		}
		return b.String()
	}
	want := left(openSQLite(t), 9)
	each(t, func(t *testing.T, db database) {
		if left(db, 9) != want {
			t.Error("other tables than SQLite's after the same streams")
		}
	})
	if left(openSQLite(t), 10) == want {
		t.Error("another seed sends the same")
	}
}

func TestRun(t *testing.T) {
	each(t, func(t *testing.T, db database) {
		o := small()
		w := workload(t, db, "oltp_read_write", o)
		prepare(t, db, w, 1)
		c := seconds(0)
		c.Events = 151
		c.Histogram = true
		var out bytes.Buffer
		c.Out = &out
		r, err := w.Run(t.Context(), db.DB, c)
		if err != nil {
			t.Fatal(err)
		}
		if r.Events != 151 || !r.Complete {
			t.Errorf("%d events, complete: %v", r.Events, r.Complete)
		}
		// Failed attempts stay in the counts, and a change of a row that the
		// other thread holds may find none: then it is other, not write.
		n, q := r.Events, r.Counts
		if q.Reads < 14*n || q.Writes+q.Others < 6*n || q.Errors == 0 && q.Queries() != 20*n {
			t.Errorf("counts %+v", q)
		}
		if got := uint64(r.EventsPer.Avg*2 + 0.5); got != 151 {
			t.Errorf("events over the threads: %d", got)
		}
		l := r.Latency
		if !(l.Min > 0 && l.Min <= l.P50 && l.P50 <= l.P95 && l.P95 <= l.P9999 && l.P9999 <= l.Max) {
			t.Errorf("latency %+v", l)
		}
		if l.Percentile < l.P95*0.98 || l.Percentile > l.P95*1.02 || l.Which != 95 {
			t.Errorf("sysbench's percentile %v, ours %v", l.Percentile, l.P95)
		}
		if r.TPS <= 0 || r.BusyPer.Avg <= 0 || r.BusyPer.Avg > r.TotalS*1.01 {
			t.Errorf("rates: %+v", r.Stretch)
		}
		for _, want := range []string{"Latency histogram", "****************************************", "transactions:                        151    ("} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in the report\n%s", want, out.String())
			}
		}
		b, err := json.Marshal(r)
		if err != nil || !strings.Contains(string(b), `"format":"veildb.sysbench/1"`) || !strings.Contains(string(b), `"p99_9":`) {
			t.Errorf("JSON %s, %v", b, err)
		}
	})
}

func TestCheckpointsAndIntervals(t *testing.T) {
	db := openSQLite(t)
	o := small()
	w := workload(t, db, "oltp_point_select", o)
	prepare(t, db, w, 1)
	c := seconds(3)
	c.Checkpoints = []time.Duration{2 * time.Second}
	c.ReportInterval = time.Second
	c.Rate = 500
	var out bytes.Buffer
	c.Out = &out
	r, err := w.Run(t.Context(), db.DB, c)
	if err != nil {
		t.Fatal(err)
	}
	all := w.Counts()
	if len(r.Checkpoints) != 1 || len(r.Intervals) < 2 {
		t.Fatalf("%d checkpoints, %d intervals", len(r.Checkpoints), len(r.Intervals))
	}
	cp := r.Checkpoints[0]
	if cp.Events+r.Events != all.Reads || cp.Counts.Reads+r.Counts.Reads != all.Reads {
		t.Errorf("events %d + %d, reads %d + %d, all %d", cp.Events, r.Events, cp.Counts.Reads, r.Counts.Reads, all.Reads)
	}
	if sum := cp.WindowS + r.WindowS; sum < r.TotalS-0.001 || sum > r.TotalS+0.001 || cp.WindowS < 2 {
		t.Errorf("windows %.2f and %.2f of %.2f s", cp.WindowS, r.WindowS, r.TotalS)
	}
	if all.Reads < 150 || all.Reads > 1800 { // 1500 in 3 s, Poisson; a busy machine does less
		t.Errorf("%d events at 500 a second", all.Reads)
	}
	// The threads' own counts are read a moment after the checkpoint's.
	if got := cp.EventsPer.Avg * 2; got < float64(cp.Events) {
		t.Errorf("checkpoint: %v events over the threads, %d in all", got, cp.Events)
	}
	if got := (cp.EventsPer.Avg + r.EventsPer.Avg) * 2; got != float64(all.Reads) {
		t.Errorf("%v events over the threads, %d in all", got, all.Reads)
	}
	if !strings.Contains(out.String(), "[ 1s ] queue length: ") || !strings.Contains(out.String(), "[ 2s ] Checkpoint report:") {
		t.Errorf("report\n%s", out.String())
	}
}

func TestInterruptedRun(t *testing.T) {
	db := openSQLite(t)
	w := workload(t, db, "oltp_read_only", small())
	prepare(t, db, w, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	c := seconds(30)
	c.Out = &out
	c.Ready = func() { time.AfterFunc(200*time.Millisecond, cancel) }
	r, err := w.Run(ctx, db.DB, c)
	if !errors.Is(err, context.Canceled) || r == nil {
		t.Fatalf("report %v, error %v", r, err)
	}
	if r.Complete || !strings.HasPrefix(out.String(), "Interrupted") {
		t.Errorf("complete: %v\n%s", r.Complete, out.String())
	}
}

func TestForcedShutdown(t *testing.T) {
	db := open(t, target.MariaDB, dsn.Options{})
	o := small()
	o.Tables, o.Threads = 1, 1
	w := workload(t, db, "oltp_update_index", o)
	prepare(t, db, w, 1)
	tx, err := db.Begin() // holds every row until the run has given up
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Exec("SELECT * FROM sbtest1 FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	c := seconds(1)
	c.Forced = 0
	if _, err := w.Run(t.Context(), db.DB, c); !errors.Is(err, sysbench.ErrForcedShutdown) {
		t.Errorf("got %v", err)
	}
}

func TestPreparedLimit(t *testing.T) {
	o := sysbench.Defaults()
	o.Tables, o.Threads = 128, 256
	w, err := sysbench.New("oltp_read_write", o, dsn.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.PreparedPerConnection(); got != 1154 {
		t.Errorf("%d statements a connection, want 1154", got)
	}

	db := open(t, target.MariaDB, dsn.Options{})
	// Connections of earlier tests may still be ending.
	const prepared = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Prepared_stmt_count'"
	for end := time.Now().Add(time.Minute); scan[int](t, db, prepared) > 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	before := scan[int](t, db, "SELECT @@GLOBAL.max_prepared_stmt_count")
	exec1(t, db.server, "SET GLOBAL max_prepared_stmt_count=30")
	defer exec1(t, db.server, fmt.Sprint("SET GLOBAL max_prepared_stmt_count=", before))
	o = small() // 2 tables: 20 statements for each of 2 threads
	w = workload(t, db, "oltp_read_write", o)
	prepare(t, db, w, 1)
	_, err = w.Run(t.Context(), db.DB, seconds(1))
	var limit *sysbench.PreparedLimitError
	if !errors.As(err, &limit) || !errors.Is(err, sysbench.ErrPreparedLimit) {
		t.Fatalf("got %v", err)
	}
	if limit.Need() != 40 || limit.Limit != 30 || !strings.Contains(limit.Hint(), "SET GLOBAL max_prepared_stmt_count=40") {
		t.Errorf("%v; %s", err, limit.Hint())
	}
	// A server filled up by others between the check and the run.
	term, err := w.Terminal(t.Context(), db.DB, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if _, err := w.Terminal(t.Context(), db.DB, 1, 1); !errors.Is(err, sysbench.ErrPreparedLimit) {
		t.Errorf("second terminal: %v", err)
	}
	// Without prepared statements there is no limit.
	o.PSMode = "disable"
	if _, err := workload(t, db, "oltp_read_write", o).Run(t.Context(), db.DB, seconds(1)); err != nil {
		t.Error(err)
	}
}

// TestIgnoredErrors provokes conflicts and checks the arithmetic of retries:
// rows and counts must agree.
func TestIgnoredErrors(t *testing.T) {
	each(t, func(t *testing.T, db database) {
		o := small()
		o.Tables, o.TableSize, o.Threads = 1, 200, 4
		w := workload(t, db, "oltp_read_write", o)
		prepare(t, db, w, 1)
		if db.dialect == dsn.Postgres {
			exec1(t, db.server, "ALTER DATABASE "+db.name+" SET default_transaction_isolation='serializable'")
			db.DB = openDSN(t, db.server.DSNFor("", db.name), dsn.Options{})
			defer db.DB.Close()
		}
		// Whether transactions overlap is the scheduler's choice; a serializable
		// server cannot avoid a conflict for ever.
		const events, most = 80, 50
		conflicts := uint64(0)
		for i := 0; i == 0 || i < most && conflicts == 0 && db.dialect == dsn.Postgres; i++ {
			c := seconds(0)
			c.Events = events
			r, err := w.Run(t.Context(), db.DB, c)
			if err != nil {
				t.Fatal(err)
			}
			if r.Events != events {
				t.Errorf("%d events", r.Events)
			}
			q := r.Counts
			if q.Reads < 14*events || q.Writes+q.Others < 6*events || q.Queries() > 20*(events+q.Errors) {
				t.Errorf("counts %+v", q)
			}
			conflicts += q.Errors
		}
		if conflicts == 0 && db.dialect == dsn.Postgres {
			t.Error("no conflict among serializable transactions")
		}
		if n := scan[int](t, db, "SELECT COUNT(*) FROM sbtest1"); n != 200 {
			t.Errorf("%d rows", n)
		}
	})
}

// TestRetryKeepsLatencyRunning makes an event wait for a lock beyond the
// server's time-out: it is tried again, and all of it is one event's latency.
func TestRetryKeepsLatencyRunning(t *testing.T) {
	db := open(t, target.MariaDB, dsn.Options{})
	o := small()
	o.Tables, o.TableSize, o.Threads = 1, 1, 1
	w := workload(t, db, "oltp_update_index", o)
	prepare(t, db, w, 1)
	exec1(t, db.server, "SET GLOBAL innodb_lock_wait_timeout=1")
	defer exec1(t, db.server, "SET GLOBAL innodb_lock_wait_timeout=DEFAULT")
	other := openDSN(t, db.server.DSNFor("", db.name), dsn.Options{})
	defer other.Close()
	tx, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Exec("SELECT * FROM sbtest1 FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	fresh := openDSN(t, db.server.DSNFor("", db.name), dsn.Options{}) // with the new time-out
	defer fresh.Close()
	const waits = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Innodb_row_lock_waits'"
	before, released := scan[int](t, db, waits), make(chan struct{})
	go func() { // once it waits for the second time
		defer close(released)
		for n := before; n < before+2 && t.Context().Err() == nil; time.Sleep(10 * time.Millisecond) {
			db.QueryRow(waits).Scan(&n)
		}
		tx.Rollback()
	}()
	c := seconds(0)
	c.Events = 1
	r, err := w.Run(t.Context(), fresh, c)
	<-released
	if err != nil {
		t.Fatal(err)
	}
	errs := r.Counts.Errors // more than one where the release took a second too
	if errs < 1 || r.Counts != (sysbench.Counts{Writes: 1, Errors: errs}) || r.Latency.Min < 1000*float64(errs) {
		t.Errorf("counts %+v, latency %.0f ms", r.Counts, r.Latency.Min)
	}
}

func TestOtherErrorsEndTheRun(t *testing.T) {
	each(t, func(t *testing.T, db database) {
		w := workload(t, db, "oltp_read_write", small())
		prepare(t, db, w, 1)
		term, err := w.Terminal(t.Context(), db.DB, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer term.Close()
		for _, table := range []string{"sbtest1", "sbtest2"} {
			if _, err := db.Exec("DROP TABLE " + table); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := term.Next(t.Context(), new(run.Tally)); err == nil {
			t.Error("no error without tables")
		}
	})
}

func TestReconnect(t *testing.T) {
	db := open(t, target.MariaDB, dsn.Options{})
	o := small()
	prepare(t, db, workload(t, db, "oltp_read_write", o), 1)
	for _, tc := range []struct {
		ignore []string
		ok     bool
	}{{[]string{"1213", "2013"}, true}, {[]string{"all"}, true}, {[]string{"1213", "1020", "1205"}, false}} {
		o.IgnoreErrors = tc.ignore
		w := workload(t, db, "oltp_read_write", o)
		term, err := w.Terminal(t.Context(), db.DB, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		next := func() error {
			_, err := term.Next(t.Context(), new(run.Tally))
			return err
		}
		if err := next(); err != nil {
			t.Fatal(err)
		}
		killSessions(t, db)
		if err := next(); (err == nil) != tc.ok {
			t.Errorf("ignoring %v: %v", tc.ignore, err)
		}
		if tc.ok {
			if err := next(); err != nil {
				t.Error(err)
			}
			if got := w.Counts(); got.Reconnects != 1 || got.Reads != 42 {
				t.Errorf("ignoring %v: %+v", tc.ignore, got)
			}
		}
		term.Close()
	}
}

// killSessions ends every session of the database but the one that asks.
func killSessions(t *testing.T, db database) {
	t.Helper()
	own := openDSN(t, db.server.DSN(), dsn.Options{})
	defer own.Close()
	rows, err := own.Query("SELECT id FROM information_schema.processlist WHERE db = ?", db.name)
	if err != nil {
		t.Fatal(err)
	}
	ids := column(t, rows)
	if len(ids) == 0 {
		t.Fatal("no session to kill")
	}
	for _, id := range ids {
		// Those of before may end meanwhile by themselves.
		if _, err := own.Exec("KILL CONNECTION " + id); err != nil && !strings.Contains(err.Error(), "Unknown thread id") {
			t.Fatal(err)
		}
	}
}

func TestPrewarm(t *testing.T) {
	each(t, func(t *testing.T, db database) {
		w := workload(t, db, "oltp_read_write", small())
		prepare(t, db, w, 1)
		err := w.Prewarm(t.Context(), db.DB, 2, nil)
		if db.dialect == dsn.MySQL && err != nil || db.dialect != dsn.MySQL && !errors.Is(err, sysbench.ErrOption) {
			t.Errorf("got %v", err)
		}
	})
}
