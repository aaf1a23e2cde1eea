package veilsql_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/sidecar/sidecartest"
	"github.com/veildb/veildb/veilsql"
)

func mustExec(t testing.TB, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, q string, args ...any) sql.Result {
	t.Helper()
	r, err := db.ExecContext(context.Background(), q, args...)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return r
}

func count(t testing.TB, db *sql.DB, q string) (n int) {
	t.Helper()
	if err := db.QueryRow(q).Scan(&n); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return n
}

func TestWritesAndTransactions(t *testing.T) {
	g := gate(t, &sidecartest.Gate{Columns: []string{"accounts.owner", "accounts.balance"}})
	db := open(t, g.Addr, "", veilsql.WithKey(withMEK))
	mustExec(t, db, "CREATE OR REPLACE TABLE accounts (id INT AUTO_INCREMENT PRIMARY KEY, owner VARCHAR(20), balance DECIMAL(12,2)) ENGINE=InnoDB")
	r := mustExec(t, db, "INSERT INTO accounts (owner, balance) VALUES (?, ?), (?, ?)", "a", "10.50", "b", 20)
	id, err := r.LastInsertId()
	n, err2 := r.RowsAffected()
	if id != 1 || n != 2 || err != nil || err2 != nil {
		t.Errorf("insert id %d, rows %d, %v, %v", id, n, err, err2)
	}
	for _, end := range []string{"commit", "rollback"} {
		tx, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: sql.LevelSerializable})
		if err != nil {
			t.Fatal(err)
		}
		mustExec(t, tx, "UPDATE accounts SET balance = balance + 1 WHERE owner = ?", "a")
		if end == "commit" {
			err = tx.Commit()
		} else {
			err = tx.Rollback()
		}
		if err != nil {
			t.Fatal(err)
		}
		var balance string
		if err := db.QueryRow("SELECT balance FROM accounts WHERE owner = 'a'").Scan(&balance); err != nil || balance != "11.50" {
			t.Errorf("%s: balance %s, %v", end, balance, err)
		}
	}
	tx, err := db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var denied *mysql.MySQLError
	if _, err := tx.Exec("DELETE FROM accounts"); !errors.As(err, &denied) || denied.Number != 1792 {
		t.Errorf("write in a read-only transaction: %v", err)
	}
}

func TestStatementsAreReused(t *testing.T) {
	g := gate(t, &sidecartest.Gate{})
	db := open(t, g.Addr, "", veilsql.WithKey(withMEK))
	st, err := db.Prepare("SELECT name, hired FROM people WHERE id = ?")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for range 3 {
		for id, want := range map[int]string{1: "Ada", 2: "Grace", 3: "Zed"} {
			var name string
			var hired sql.NullString
			if err := st.QueryRow(id).Scan(&name, &hired); err != nil || name != want {
				t.Fatalf("%q, %v", name, err)
			}
		}
	}
	var name string
	if err := st.QueryRow(99).Scan(&name, new(any)); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("no row: %v", err)
	}
}

func TestMultipleResults(t *testing.T) {
	g := gate(t, &sidecartest.Gate{})
	for _, layout := range []string{"", "&allowUnmarked=false"} {
		if layout != "" {
			g = gate(t, &sidecartest.Gate{Stranger: true})
		}
		db := open(t, g.Addr, "multiStatements=true"+layout, veilsql.WithKey(withMEK))
		plain := direct(t, "multiStatements=true")
		for _, q := range []string{
			"SELECT name FROM people ORDER BY id; SET @a = 1; SELECT id, tx FROM kinds; SELECT name AS id FROM people WHERE 1 = 0",
			"CALL both_tables()",
		} {
			rows, err := db.Query(q)
			got := read(t, rows, err)
			rows, err = plain.Query(q)
			want := read(t, rows, err)
			if fmt.Sprint(len(got), values(got)) != fmt.Sprint(len(want), values(want)) {
				t.Errorf("%s: got %.300v, want %.300v", q, values(got), values(want))
			}
		}
		// A caller may leave results where they are.
		rows, err := db.Query("CALL both_tables()")
		if err != nil {
			t.Fatal(err)
		}
		rows.Close()
		if n := count(t, db, "SELECT COUNT(*) FROM people"); n != 3 {
			t.Errorf("%d people", n)
		}
	}
}

// values are the rows without Go's types.
func values(tables []table) (out []string) {
	for _, tb := range tables {
		for _, r := range tb.Rows {
			for _, v := range r {
				if b, ok := v.([]byte); ok {
					v = string(b)
				}
				out = append(out, fmt.Sprint(v))
			}
		}
	}
	return out
}

func TestCancel(t *testing.T) {
	g := gate(t, &sidecartest.Gate{})
	db := open(t, g.Addr, "", veilsql.WithKey(withMEK))
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := db.QueryContext(ctx, "SELECT name, SLEEP(300) FROM people WHERE id = 1")
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 2*time.Minute {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	if n := count(t, db, "SELECT COUNT(*) FROM people"); n != 3 {
		t.Errorf("%d people", n)
	}
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	if err := db.PingContext(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("ping: %v", err)
	}
	waits := veilsql.WithKey(func(ctx context.Context) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() })
	ctx, cancel = context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := open(t, g.Addr, "", waits).PingContext(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("slow key: %v", err)
	}
}

// TestCancelReused uses a connection under contexts that end and that do not.
func TestCancelReused(t *testing.T) {
	g := gate(t, &sidecartest.Gate{})
	db := open(t, g.Addr, "", veilsql.WithKey(withMEK))
	db.SetMaxOpenConns(1)
	id := func(ctx context.Context) (id int) {
		t.Helper()
		if err := db.QueryRowContext(ctx, "SELECT CONNECTION_ID() FROM people WHERE id = 1").Scan(&id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	background := context.Background()
	first := id(background)
	for range 3 { // an end between statements does no harm
		ctx, cancel := context.WithCancel(background)
		if a, b := id(ctx), id(ctx); a != first || b != first {
			t.Errorf("connections %d and %d, want %d", a, b, first)
		}
		cancel()
		if now := id(background); now != first {
			t.Errorf("connection %d after the end of a context, want %d", now, first)
		}
		if err := db.PingContext(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("ping under a context that has ended: %v", err)
		}
	}
	for name, run := range map[string]func(ctx context.Context, cancel func()) error{
		"exec": func(ctx context.Context, cancel func()) error {
			_, err := db.ExecContext(ctx, "DO SLEEP(20)")
			return err
		},
		"prepared": func(ctx context.Context, cancel func()) error {
			st, err := db.Prepare("SELECT name, SLEEP(?) FROM people WHERE id = 1")
			if err != nil {
				return err
			}
			defer st.Close()
			_, err = st.QueryContext(ctx, 20)
			return err
		},
		"rows": func(ctx context.Context, cancel func()) error {
			rows, err := db.QueryContext(ctx, "SELECT p.name, city FROM people p, seq_1_to_1000000")
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				cancel()
			}
			return rows.Err()
		},
		"transaction": func(ctx context.Context, cancel func()) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer tx.Rollback()
			_, err = tx.ExecContext(ctx, "DO SLEEP(20)")
			return err
		},
	} {
		before := id(background)
		for now, patience := before, 100*time.Millisecond; now == before; patience *= 2 {
			if patience > 10*time.Second { // in which even a busy machine sends the statement
				t.Fatalf("%s: the connection is used again", name)
			}
			ctx, cancel := context.WithTimeout(background, patience)
			if err := run(ctx, cancel); !errors.Is(err, ctx.Err()) || err == nil {
				t.Errorf("%s: %v, want %v", name, err, ctx.Err())
			}
			cancel()
			now = id(background)
		}
	}
}

// TestDeadConnections kills idle connections; the pool must notice before it
// sends anything.
func TestDeadConnections(t *testing.T) {
	g := gate(t, &sidecartest.Gate{Columns: []string{"trace.v"}})
	db := open(t, g.Addr, "", veilsql.WithKey(withMEK))
	mustExec(t, db, "CREATE OR REPLACE TABLE trace (v INT)")
	for i := range 3 {
		g.Drop()
		for end := time.Now().Add(time.Minute); g.Conns() > 0 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		mustExec(t, db, "INSERT INTO trace VALUES (?)", i)
	}
	if n := count(t, db, "SELECT COUNT(*) FROM trace"); n != 3 {
		t.Errorf("%d rows", n)
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	done := make(chan error)
	go func() {
		_, err := conn.ExecContext(context.Background(), "SELECT SLEEP(20)")
		done <- err
	}()
	time.Sleep(50 * time.Millisecond)
	g.Drop()
	if err := <-done; err == nil {
		t.Error("a statement whose connection died succeeded")
	}
}

func TestLargeValues(t *testing.T) {
	g := gate(t, &sidecartest.Gate{Columns: []string{"large.v"}})
	db := open(t, g.Addr, "maxAllowedPacket=0", veilsql.WithKey(withMEK))
	mustExec(t, db, "CREATE OR REPLACE TABLE large (id INT, v LONGBLOB)")
	for i, size := range []int{1 << 16, 1<<24 - 10, 20 << 20} {
		want := make([]byte, size)
		rand.Read(want)
		mustExec(t, db, "INSERT INTO large VALUES (?, ?)", i, want)
		for _, q := range []string{"SELECT v FROM large WHERE id = ?", fmt.Sprintf("SELECT v FROM large WHERE id = %d", i)} {
			var args []any
			if strings.Contains(q, "?") {
				args = []any{i}
			}
			var got []byte
			if err := db.QueryRow(q, args...).Scan(&got); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("size %d: %d bytes, %v", size, len(got), err)
			}
		}
	}
}

func TestLoadData(t *testing.T) {
	g := gate(t, &sidecartest.Gate{Columns: []string{"loaded.v"}})
	db := open(t, g.Addr, "", veilsql.WithKey(withMEK))
	mustExec(t, db, "CREATE OR REPLACE TABLE loaded (id INT, v VARCHAR(20))")
	mysql.RegisterReaderHandler("veilsql", func() io.Reader {
		return strings.NewReader(strings.Repeat("1\tone\n", 50000))
	})
	defer mysql.DeregisterReaderHandler("veilsql")
	mustExec(t, db, "LOAD DATA LOCAL INFILE 'Reader::veilsql' INTO TABLE loaded")
	if n := count(t, db, "SELECT COUNT(*) FROM loaded"); n != 50000 {
		t.Errorf("%d rows", n)
	}
	rows, err := db.Query("SELECT id, v FROM loaded")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var v string
		if err := rows.Scan(new(int), &v); err != nil || v != "one" {
			t.Fatalf("%q %v", v, err)
		}
		n++
	}
	if n != 50000 || rows.Err() != nil {
		t.Errorf("%d rows, %v", n, rows.Err())
	}
}

// TestManyAtOnce also looks for what is left when all is closed.
func TestManyAtOnce(t *testing.T) {
	g := gate(t, &sidecartest.Gate{Encdb: encdb.Config{PadTo: 32}})
	before := runtime.NumGoroutine()
	db := open(t, g.Addr, "", veilsql.WithKey(withMEK))
	db.SetMaxOpenConns(8)
	db.SetConnMaxLifetime(20 * time.Millisecond)
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := range 30 {
				var name string
				var err error
				if (w+i)%2 == 0 {
					err = db.QueryRow("SELECT name FROM people WHERE id = ?", 1).Scan(&name)
				} else {
					err = db.QueryRow("SELECT name FROM people WHERE id = 1").Scan(&name)
				}
				if err != nil || name != "Ada" {
					t.Errorf("%q %v", name, err)
					return
				}
			}
		})
	}
	wg.Wait()
	db.Close()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if g.Conns() == 0 && runtime.NumGoroutine() <= before {
			return
		}
	}
	t.Errorf("%d connections, %d goroutines more than before", g.Conns(), runtime.NumGoroutine()-before)
}
