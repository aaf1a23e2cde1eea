package tpcc

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/run"
)

func TestConditionsHoldAfterRun(t *testing.T) {
	for _, f := range Flavors {
		for _, batch := range []bool{false, true} {
			if batch && f != HammerDB { // the others share TestSameSeedSameTransactions
				continue
			}
			t.Run(string(f)+map[bool]string{true: "/batch"}[batch], func(t *testing.T) {
				db := copySQLite(t, f)
				w := newWorkload(t, Config{Dialect: dsn.SQLite, Flavor: f, Warehouses: 1, Terminals: 3, Batch: batch})
				counted := &Counted{Workload: w}
				before, err := ReadTotals(context.Background(), db)
				if err != nil {
					t.Fatal(err)
				}
				r, err := run.Load(context.Background(), run.LoadConfig{
					Workload: counted, DB: db, Terminals: 3, Seed: 1, Window: run.Window{Events: 600},
				})
				if err != nil {
					t.Fatal(err)
				}
				if r.Errors+r.Retries != 0 {
					t.Errorf("%d errors, %d retries", r.Errors, r.Retries)
				}
				want := map[Flavor]int{BenchBase: 11, Spec: 11, HammerDB: 9}[f]
				if n := mustHold(t, db, dsn.SQLite, Info{Flavor: f, Warehouses: 1}); n != want {
					t.Errorf("%d conditions checked, want %d", n, want)
				}
				after, err := ReadTotals(context.Background(), db)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range CheckTotals(before, after, counted.Commits(NewOrder), counted.Commits(Payment)) {
					if !c.OK {
						t.Errorf("%s: %s", c.Name, c.Detail)
					}
				}
				if after == before {
					t.Error("nothing happened")
				}
			})
		}
	}
}

// TestEveryConditionCanFail breaks the database once for each condition.
func TestEveryConditionCanFail(t *testing.T) {
	db := copySQLite(t, BenchBase)
	p := profiles[BenchBase]
	ctx := context.Background()
	broken := map[int]string{
		1:  "UPDATE warehouse SET w_ytd = w_ytd + 1",
		2:  "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 10",
		3:  "DELETE FROM new_order WHERE no_d_id = 5 AND no_o_id = 2500",
		4:  "DELETE FROM order_line WHERE ol_d_id = 1 AND ol_o_id = 1 AND ol_number = 1",
		5:  "UPDATE oorder SET o_carrier_id = 1 WHERE o_d_id = 1 AND o_id = 3000",
		6:  "UPDATE oorder SET o_ol_cnt = o_ol_cnt + 1 WHERE o_d_id = 1 AND o_id = 7",
		7:  "UPDATE order_line SET ol_delivery_d = 1 WHERE ol_d_id = 2 AND ol_o_id = 3000 AND ol_number = 1",
		8:  "UPDATE history SET h_amount = h_amount + 1 WHERE h_c_id = 17 AND h_d_id = 3",
		9:  "UPDATE history SET h_d_id = 2 WHERE h_c_id = 17 AND h_d_id = 3",
		10: "UPDATE customer SET c_balance = c_balance + 1 WHERE c_d_id = 1 AND c_id = 3000",
		11: "DELETE FROM new_order WHERE no_d_id = 1 AND no_o_id = 2101",
		12: "UPDATE customer SET c_ytd_payment = c_ytd_payment + 1 WHERE c_d_id = 1 AND c_id = 3000",
	}
	replace := strings.NewReplacer("{orders}", p.orders, "{tolerance}", p.tolerance(dsn.SQLite))
	list := p.conditions(true)
	if len(list) != len(broken) {
		t.Fatalf("%d conditions, %d ways to break them", len(list), len(broken))
	}
	for _, c := range list {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(broken[c.number]); err != nil {
			t.Fatal(err)
		}
		var bad int
		if err := tx.QueryRow(replace.Replace(c.query)).Scan(&bad); err != nil {
			t.Fatal(err)
		}
		if bad == 0 {
			t.Errorf("condition %d does not see: %s", c.number, broken[c.number])
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSameSeedSameTransactions runs the same terminals on two copies; the
// databases must end up equal, batched or not.
func TestSameSeedSameTransactions(t *testing.T) {
	sum := func(batch bool) string {
		db := copySQLite(t, BenchBase)
		w := newWorkload(t, Config{Dialect: dsn.SQLite, Warehouses: 1, Terminals: 2, Batch: batch})
		interleave(t, w, db, 1, 300)
		return fingerprint(t, db, BenchBase)
	}
	one := sum(false)
	if again := sum(false); again != one {
		t.Error("the same seed gave different databases")
	}
	if batched := sum(true); batched != one {
		t.Error("batched statements had another effect")
	}
}

// interleave runs n transactions on all terminals of w in turn, and returns
// what each kind did.
func interleave(t testing.TB, w *Workload, db *sql.DB, seed uint64, n int) (tallies [numKinds]run.Tally) {
	t.Helper()
	ctx := context.Background()
	terms := make([]run.Terminal, w.config.Terminals)
	for i := range terms {
		var err error
		if terms[i], err = w.Terminal(ctx, db, i, seed); err != nil {
			t.Fatal(err)
		}
		defer terms[i].Close()
	}
	for i := range n {
		var one run.Tally
		kind, err := terms[i%len(terms)].Next(ctx, &one)
		if err != nil {
			t.Fatal(err)
		}
		tallies[kind].Add(one)
	}
	return tallies
}

// TestStatementsPerTransaction compares the average number of statements, BEGIN
// and COMMIT not counted, with what BenchBase sends.
func TestStatementsPerTransaction(t *testing.T) {
	for _, tt := range []struct {
		name      string
		terminals int // 1: Delivery covers ten districts, as in the specification
		batch     bool
		want      float64
	}{
		{"8 terminals", 8, false, 25.4},
		{"1 terminal batched", 1, true, 18.7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorkload(t, Config{Dialect: dsn.SQLite, Warehouses: 1, Terminals: tt.terminals, Batch: tt.batch})
			tallies := interleave(t, w, copySQLite(t, BenchBase), 1, 2000)
			var mean float64
			for k, n := range tallies {
				each := float64(n.Queries)/float64(n.Transactions) - 2
				mean += each * float64(w.weights[k]) / float64(w.total)
			}
			if math.Abs(mean-tt.want) > 0.5 {
				t.Errorf("%.2f statements a transaction, want %.1f", mean, tt.want)
			}
		})
	}
}

// TestRetries holds SQLite's write lock, so that every attempt fails.
func TestRetries(t *testing.T) {
	db := copySQLite(t, BenchBase)
	ctx := context.Background()
	blocker, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer blocker.Close()
	if _, err := blocker.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	w := newWorkload(t, Config{Dialect: dsn.SQLite, Warehouses: 1, Terminals: 1, Mix: [5]int{1}})
	term, err := w.Terminal(ctx, db, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if _, err := term.(*terminal).conn.ExecContext(ctx, "PRAGMA busy_timeout = 1"); err != nil {
		t.Fatal(err)
	}
	var tally run.Tally
	if _, err := term.Next(ctx, &tally); err != nil {
		t.Fatal(err)
	}
	want := run.Tally{Transactions: 1, Retries: 2, Errors: 1, Queries: 3} // BEGIN alone, three times
	if !reflect.DeepEqual(tally, want) {
		t.Errorf("a locked database gave %+v, want %+v", tally, want)
	}
	if _, err := blocker.ExecContext(ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if _, err := term.Next(ctx, &tally); err != nil || tally.Commits != 1 {
		t.Errorf("after that: %+v, %v", tally, err)
	}
}

func TestNextStopsWithContext(t *testing.T) {
	db := copySQLite(t, BenchBase)
	w := newWorkload(t, Config{Dialect: dsn.SQLite, Warehouses: 1, Terminals: 1})
	term, err := w.Terminal(context.Background(), db, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var tally run.Tally
	if _, err := term.Next(ctx, &tally); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if tally.Transactions != 0 {
		t.Errorf("counted %+v", tally)
	}
}

// unwatched is a context that ends after so many looks at it. Nobody may wait
// for its end: drivers have goroutines for that, which cost more than statements.
type unwatched struct {
	context.Context
	t     *testing.T
	looks *int
}

func (c unwatched) Done() <-chan struct{} {
	c.t.Error("the context's end is waited for")
	return nil
}

func (c unwatched) Err() error {
	if *c.looks--; *c.looks < 0 {
		return context.Canceled
	}
	return nil
}

// TestInterrupted ends transactions before each of their statements.
func TestInterrupted(t *testing.T) {
	db := copySQLite(t, BenchBase)
	w := newWorkload(t, Config{Dialect: dsn.SQLite, Warehouses: 1, Terminals: 1, Mix: [5]int{0, 1}})
	ctx := context.Background()
	term, err := w.Terminal(ctx, db, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	before, err := ReadTotals(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	for looks := 0; ; looks++ {
		var tally run.Tally
		left := looks
		_, err := term.Next(unwatched{ctx, t, &left}, &tally)
		if err == nil {
			if looks < 7 || tally.Commits != 1 {
				t.Errorf("ended after %d looks: %+v", looks, tally)
			}
			break
		}
		if !errors.Is(err, context.Canceled) || tally.Transactions != 0 {
			t.Fatalf("after %d looks: %+v, %v", looks, tally, err)
		}
		if now, err := ReadTotals(ctx, db); err != nil || now != before {
			t.Fatalf("after %d looks: %+v, were %+v; %v", looks, now, before, err)
		}
	}
	if now, err := ReadTotals(ctx, db); err != nil || now == before {
		t.Errorf("the last one did nothing: %+v, %v", now, err)
	}
}

func TestWrongWarehousesAreNamed(t *testing.T) {
	db := copySQLite(t, BenchBase)
	w := newWorkload(t, Config{Dialect: dsn.SQLite, Warehouses: 2, Terminals: 2, Mix: [5]int{1}})
	term, err := w.Terminal(context.Background(), db, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	var tally run.Tally
	if _, err := term.Next(context.Background(), &tally); err == nil || !strings.Contains(err.Error(), "2 warehouses") {
		t.Errorf("got %v", err)
	}
}

func TestConfigRefuses(t *testing.T) {
	good := Config{Dialect: dsn.SQLite, Warehouses: 1, Terminals: 1}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"dialect":    func(c *Config) { c.Dialect = 0 },
		"flavor":     func(c *Config) { c.Flavor = "tpcd" },
		"warehouses": func(c *Config) { c.Warehouses = 0 },
		"terminals":  func(c *Config) { c.Terminals = -1 },
		"mix":        func(c *Config) { c.Mix[2] = -1 },
		"isolation":  func(c *Config) { c.Isolation = "chaos" },
	} {
		c := good
		change(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%s: %+v accepted", name, c)
		}
	}
}
