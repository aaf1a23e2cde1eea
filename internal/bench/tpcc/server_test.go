package tpcc

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/run"
	"github.com/veildb/veildb/internal/bench/target"
)

func TestMariaDB(t *testing.T) {
	testServer(t, target.MariaDB, Info{BenchBase, 1, 1}, Info{HammerDB, 1, 1})
}

func TestPostgres(t *testing.T) {
	testServer(t, target.Postgres, Info{BenchBase, 1, 1}, Info{HammerDB, 2, 1})
}

// testServer loads each flavor in turn, runs it on four terminals, batched and
// not, and checks the conditions before and after.
func testServer(t *testing.T, engine string, infos ...Info) {
	t.Parallel()
	db, d := openServer(t, engine, nil)
	ctx := context.Background()
	for _, info := range infos {
		f := info.Flavor
		c := LoadConfig{Dialect: d, Flavor: f, Warehouses: info.Warehouses, Seed: info.Seed, Loaders: 2}
		if err := Load(ctx, db, c); err != nil {
			t.Fatal(err)
		}
		if err := Load(ctx, db, c); !errors.Is(err, ErrLoaded) {
			t.Errorf("%s: second Load: %v", f, err)
		}
		if got, err := Inspect(ctx, db, d); err != nil || got != info {
			t.Errorf("%s: Inspect = %+v, %v", f, got, err)
		}
		want := 12
		if f == HammerDB {
			want = 9
		}
		if n := mustHold(t, db, d, info); n != want {
			t.Errorf("%s: %d conditions checked after the load, want %d", f, n, want)
		}
		if f == BenchBase {
			testSeedEverywhere(t, db)
		}
		if f == BenchBase && d == dsn.MySQL {
			testStatementOrder(t, db)
			testGivenUp(t, db)
		}
		before, err := ReadTotals(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		server, _, err := ServerTransactions(ctx, db, d)
		if err != nil {
			t.Fatal(err)
		}
		counted := &Counted{}
		var ended int64
		ways := []Config{{}, {Batch: true}}
		if f == HammerDB {
			ways = append(ways, Config{Routines: true})
		}
		for _, c := range ways {
			c.Dialect, c.Flavor, c.Warehouses, c.Terminals = d, f, info.Warehouses, 4
			counted.Workload = newWorkload(t, c)
			r, err := run.Load(ctx, run.LoadConfig{Workload: counted, DB: db, Terminals: 4, Seed: 1, Window: run.Window{Events: 300}})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %+v in %v", f, r.Tally, r.Elapsed)
			ended += int64(r.Transactions + r.Retries)
		}
		if now, ok, err := ServerTransactions(ctx, db, d); err != nil || !ok || now-server < ended || now-server > ended+600 {
			// Preparing a statement is a transaction to PostgreSQL.
			t.Errorf("%s: the server counts %d transactions more, the terminals ended %d; %v", f, now-server, ended, err)
		}
		after, err := ReadTotals(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range CheckTotals(before, after, counted.Commits(NewOrder), counted.Commits(Payment)) {
			if !c.OK {
				t.Errorf("%s: %s: %s", f, c.Name, c.Detail)
			}
		}
		mustHold(t, db, d, info)
		if err := Cleanup(ctx, db, d); err != nil {
			t.Fatal(err)
		}
		if list, err := listTables(ctx, db, d); err != nil || len(list) != 0 {
			t.Errorf("%s: Cleanup left %v, %v", f, list, err)
		}
	}
}

// testSeedEverywhere compares a server's data with what the seed gives.
func testSeedEverywhere(t *testing.T, db *sql.DB) {
	p := profiles[BenchBase]
	pop := population{profile: &p, seed: 1}
	v := values{dialect: dsn.SQLite}
	var amounts, customers, discounts int64
	for i := range districtsPerWH * ordersPerDistrict {
		d, o := i/ordersPerDistrict+1, i%ordersPerDistrict+1
		for n := range pop.lines(1, d, o) {
			v.reset()
			pop.orderLine(&v, 1, d, o, n+1)
			amounts += v.args[6].(int64) * int64(n+1)
		}
		v.reset()
		pop.customer(&v, 1, d, o)
		discounts += v.args[3].(int64) * int64(o)
	}
	for d := 1; d <= districtsPerWH; d++ {
		for i, c := range pop.customersOf(1, d) {
			customers += int64(c) * int64(i+1)
		}
	}
	for _, q := range []struct {
		query string
		want  float64
	}{
		{"SELECT SUM(ol_amount * ol_number) FROM order_line", float64(amounts) / 100},
		{"SELECT SUM(o_c_id * o_id) FROM oorder", float64(customers)},
		{"SELECT SUM(c_discount * c_id) FROM customer", float64(discounts) / 10000},
	} {
		if got := scalar[float64](t, db, q.query); got != q.want {
			t.Errorf("%s gives %v, want %v", q.query, got, q.want)
		}
	}
	v.reset()
	pop.stock(&v, 1, 4711)
	if got := scalar[string](t, db, "SELECT s_data FROM stock WHERE s_i_id = 4711"); got != v.args[6] {
		t.Errorf("s_data is %q, want %q", got, v.args[6])
	}
	v.reset()
	pop.customer(&v, 1, 7, 2999)
	if got := scalar[string](t, db, "SELECT c_data FROM customer WHERE c_d_id = 7 AND c_id = 2999"); got != v.args[20] {
		t.Errorf("c_data is %q, want %q", got, v.args[20])
	}
}

// statementOrder is the order of BenchBase's statements as MariaDB's general
// log shows it, each as its verb, its table and a lock.
var statementOrder = [numKinds]string{
	NewOrder: `^(SELECT customer, SELECT warehouse, SELECT district FOR UPDATE, UPDATE district, INSERT oorder, INSERT new_order, ` +
		`(SELECT item, SELECT stock FOR UPDATE, ){5,15}(INSERT order_line, ){5,15}(UPDATE stock, ){5,15}COMMIT)$`,
	Payment: `^(UPDATE warehouse, SELECT warehouse, UPDATE district, SELECT district, ` +
		`SELECT customer, (SELECT customer, )?UPDATE customer, INSERT history, COMMIT)$`,
	OrderStatus: `^(SELECT customer, SELECT oorder, SELECT order_line, COMMIT)$`,
	Delivery: `^((SELECT new_order, DELETE new_order, SELECT oorder, UPDATE oorder, UPDATE order_line, ` +
		`SELECT order_line, UPDATE customer, ){10}COMMIT)$`,
	StockLevel: `^(SELECT district, SELECT order_line, COMMIT)$`,
}

var statementForm = regexp.MustCompile(`^(COMMIT|ROLLBACK|UPDATE|SELECT|INSERT|DELETE)(?: (?:.*?(?:FROM|INTO) )?([a-z_]+).*?)?( FOR UPDATE)?$`)

// testStatementOrder runs each transaction with MariaDB's general log on.
func testStatementOrder(t *testing.T, db *sql.DB) {
	ctx := context.Background()
	for _, s := range []string{"SET GLOBAL log_output = 'TABLE'", "SET GLOBAL general_log = 1"} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	defer db.Exec("SET GLOBAL general_log = 0")
	var level string
	for kind, want := range statementOrder {
		mix := [5]int{}
		mix[kind] = 1
		w := newWorkload(t, Config{Dialect: dsn.MySQL, Warehouses: 1, Terminals: 1, Mix: mix})
		term, err := w.Terminal(ctx, db, 0, 3)
		if err != nil {
			t.Fatal(err)
		}
		id := connectionID(t, term)
		err = term.(*terminal).conn.QueryRowContext(ctx, "SELECT CONCAT(@@tx_isolation, ' ', @@autocommit)").Scan(&level)
		if err != nil || level != "SERIALIZABLE OFF" {
			t.Fatalf("the session has isolation and autocommit %s, %v", level, err)
		}
		if _, err := db.Exec("TRUNCATE mysql.general_log"); err != nil {
			t.Fatal(err)
		}
		var tally run.Tally
		looks := 1000
		if _, err := term.Next(unwatched{ctx, t, &looks}, &tally); err != nil || tally.Commits != 1 {
			t.Fatalf("%s: %+v, %v", kindNames[kind], tally, err)
		}
		got := loggedStatements(t, db, id)
		term.Close()
		if uint64(len(got)) != tally.Queries {
			t.Errorf("%s: the server saw %d statements, the tally has %d", kindNames[kind], len(got), tally.Queries)
		}
		joined := strings.Join(got, ", ")
		if !regexp.MustCompile(want).MatchString(joined) {
			t.Errorf("%s sent\n%s\nwant\n%s", kindNames[kind], joined, want)
		}
		lines := func(s string) int { return strings.Count(joined, s) }
		if kind == NewOrder && !slices.Equal([]int{lines("SELECT item"), lines("SELECT stock"), lines("INSERT order_line")},
			slices.Repeat([]int{lines("UPDATE stock")}, 3)) {
			t.Errorf("uneven lines: %s", joined)
		}
	}
}

// testGivenUp holds the row that a payment changes, and waits for no lock.
func testGivenUp(t *testing.T, db *sql.DB) {
	ctx := context.Background()
	w := newWorkload(t, Config{Dialect: dsn.MySQL, Warehouses: 1, Terminals: 1, Mix: [5]int{0, 1}})
	term, err := w.Terminal(ctx, db, 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if _, err := term.(*terminal).conn.ExecContext(ctx, "SET innodb_lock_wait_timeout = 0"); err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Exec("UPDATE warehouse SET w_ytd = w_ytd + 0"); err != nil {
		t.Fatal(err)
	}
	var got run.Tally
	_, err = term.Next(ctx, &got)
	want := run.Tally{Transactions: 1, Retries: 2, Errors: 1, Queries: 6, ErrorCodes: map[string]uint64{"1205": 1}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("a held row gave %+v, %v, want %+v", got, err, want)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := term.Next(ctx, &got); err != nil || got.Commits != 1 {
		t.Errorf("after that: %+v, %v", got, err)
	}
}

func connectionID(t *testing.T, term run.Terminal) (id int) {
	t.Helper()
	if err := term.(*terminal).conn.QueryRowContext(context.Background(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// loggedStatements reads what the connection sent, in short form.
func loggedStatements(t *testing.T, db *sql.DB, connection int) (list []string) {
	t.Helper()
	rows, err := db.Query("SELECT argument FROM mysql.general_log WHERE thread_id = ? AND command_type IN ('Query','Execute')", connection)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		m := statementForm.FindStringSubmatch(s)
		if m == nil {
			t.Fatalf("unexpected statement %s", s)
		}
		list = append(list, strings.TrimSpace(m[1]+" "+m[2])+m[3])
	}
	return list
}
