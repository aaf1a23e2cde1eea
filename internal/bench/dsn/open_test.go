package dsn

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sqlite "github.com/ncruces/go-sqlite3/driver"

	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/bench/target/targettest"
)

const password = "correct horse"

func withPassword(s string) Options {
	return Options{Password: func(context.Context) (string, error) { return s, nil }}
}

func mustOpen(t *testing.T, raw string, o Options) (*sql.DB, DSN) {
	t.Helper()
	d, err := Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	db, err := d.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db, d
}

func exec(t *testing.T, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(context.Background(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func TestServers(t *testing.T) {
	for _, tt := range []struct {
		engine string
		user   []string // makes user bob with a password
		limit  bool     // has max_prepared_stmt_count
	}{
		{target.MariaDB, []string{
			"CREATE USER bob@'%' IDENTIFIED BY '" + password + "'", "GRANT ALL ON *.* TO bob@'%'",
		}, true},
		{target.Postgres, []string{"CREATE ROLE bob LOGIN PASSWORD '" + password + "'"}, false},
	} {
		t.Run(tt.engine, func(t *testing.T) {
			t.Parallel()
			server := targettest.Start(t, tt.engine, nil)
			db, d := mustOpen(t, server.DSN(), Options{})
			ctx := context.Background()
			engine, version, err := d.Dialect().ServerVersion(ctx, db)
			if err != nil || engine != tt.engine || !strings.Contains(version, ".") {
				t.Errorf("ServerVersion = %s, %s, %v", engine, version, err)
			}
			exec(t, db, tt.user...)
			testLogin(t, server, d.Dialect())
			testValues(t, db, d)
			testText(t, server.DSN())
			exec(t, db, "CREATE TABLE pair (id INT PRIMARY KEY, n INT)", "INSERT INTO pair VALUES (1, 0), (2, 0)")
			if _, err := db.Exec("INSERT INTO pair VALUES (1, 1)"); !d.Dialect().IsDuplicate(err) || d.Dialect().IsDeadlock(err) {
				t.Errorf("duplicate key: %v", err)
			}
			testConflicts(t, db, d.Dialect())
			if tt.limit {
				exec(t, db, "SET GLOBAL max_prepared_stmt_count = 0")
				if _, err := db.Prepare("SELECT 1"); !d.Dialect().IsPreparedLimit(err) {
					t.Errorf("too many statements: %v", err)
				}
			}
			testLost(t, db, d.Dialect(), server)
		})
	}
}

// testLogin connects over TCP with and without the right password.
func testLogin(t *testing.T, server *target.Server, dialect Dialect) {
	t.Helper()
	_, address, _ := strings.Cut(server.TCPDSN(), "@")
	raw := dialect.String() + "://bob@" + address
	if dialect == MySQL { // a private PostgreSQL trusts every local user
		for _, o := range []Options{{}, withPassword("wrong horse")} {
			d, err := Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			_, err = d.Open(context.Background(), o)
			if !dialect.IsAccessDenied(err) || strings.Contains(err.Error(), "horse") {
				t.Errorf("wrong password: %v", err)
			}
		}
	}
	db, _ := mustOpen(t, raw, withPassword(password))
	var user string
	if err := db.QueryRow("SELECT CURRENT_USER").Scan(&user); err != nil || !strings.HasPrefix(user, "bob") {
		t.Errorf("connected as %q, %v", user, err)
	}
}

// testValues checks the session's settings: UTC, times as time.Time, rows met
// and not rows changed, one statement a text.
func testValues(t *testing.T, db *sql.DB, d DSN) {
	t.Helper()
	exec(t, db, "CREATE TABLE v (id INT, at TIMESTAMP NULL, s VARCHAR(20))")
	want := time.Date(2024, 2, 29, 23, 59, 58, 0, time.UTC)
	if _, err := db.Exec(d.Dialect().Rebind("INSERT INTO v VALUES (?,?,?)"), 1, want, "żółw 🐢"); err != nil {
		t.Fatal(err)
	}
	var at time.Time
	var s string
	if err := db.QueryRow(d.Dialect().Rebind("SELECT at, s FROM v WHERE id = ?"), 1).Scan(&at, &s); err != nil || !at.Equal(want) || s != "żółw 🐢" {
		t.Errorf("read back %v %q, %v", at, s, err)
	}
	r, err := db.Exec("UPDATE v SET id = 1 WHERE id = 1")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.RowsAffected(); n != 1 || err != nil {
		t.Errorf("%d rows affected, %v", n, err)
	}
	if _, err := db.Exec(d.Dialect().Rebind("SELECT 1; SELECT ?"), 1); err == nil {
		t.Error("two statements in one text were accepted")
	}
	if d.Dialect() != Postgres {
		return
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	n, err := CopyText(context.Background(), conn, "COPY v FROM STDIN", strings.NewReader("2\t\\N\ta\n3\t2024-01-01 00:00:00\tb\n"))
	if n != 2 || err != nil {
		t.Errorf("CopyText = %d, %v", n, err)
	}
}

// testText sends values inside the text, hostile ones too.
func testText(t *testing.T, raw string) {
	t.Helper()
	db, d := mustOpen(t, raw, Options{TextStatements: true})
	for _, want := range []string{"plain", `it's "quoted"`, `back\slash`, "$1 ? %", "'; DROP TABLE v; --"} {
		var got string
		cast := map[Dialect]string{MySQL: "SELECT CONCAT(?)", Postgres: "SELECT ?::text"}[d.Dialect()]
		if err := db.QueryRow(d.Dialect().Rebind(cast), want).Scan(&got); err != nil || got != want {
			t.Errorf("sent %q as text, got %q, %v", want, got, err)
		}
	}
	if d.Dialect() == MySQL {
		var n string
		if err := db.QueryRow("SHOW SESSION STATUS LIKE 'Com_stmt_prepare'").Scan(new(string), &n); err != nil || n != "0" {
			t.Errorf("%s statements were prepared, %v", n, err)
		}
	}
}

// testConflicts provokes a real deadlock and, on PostgreSQL, a serialization
// failure.
func testConflicts(t *testing.T, db *sql.DB, d Dialect) {
	t.Helper()
	ctx := context.Background()
	update := d.Rebind("UPDATE pair SET n = n + 1 WHERE id = ?")
	a, b := mustBegin(t, db, sql.LevelReadCommitted), mustBegin(t, db, sql.LevelReadCommitted)
	for i, tx := range []*sql.Tx{a, b} {
		if _, err := tx.ExecContext(ctx, update, i+1); err != nil {
			t.Fatal(err)
		}
	}
	other := make(chan error, 1)
	go func() {
		_, err := a.ExecContext(ctx, update, 2)
		other <- err
	}()
	time.Sleep(50 * time.Millisecond)
	_, err := b.ExecContext(ctx, update, 1)
	b.Rollback()
	if err = errors.Join(err, <-other); !d.IsDeadlock(err) || d.IsSerializationFailure(err) || d.IsConnectionLost(err) {
		t.Errorf("deadlock: %v", err)
	}
	a.Rollback()
	if d != Postgres {
		return
	}
	a, b = mustBegin(t, db, sql.LevelRepeatableRead), mustBegin(t, db, sql.LevelRepeatableRead)
	for _, tx := range []*sql.Tx{a, b} {
		if err := tx.QueryRow("SELECT n FROM pair WHERE id = 1").Scan(new(int)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Exec(update, 1); err != nil {
		t.Fatal(err)
	}
	if err := a.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Exec(update, 1); !d.IsSerializationFailure(err) || d.IsDeadlock(err) {
		t.Errorf("serialization failure: %v", err)
	}
	b.Rollback()
}

func mustBegin(t *testing.T, db *sql.DB, level sql.IsolationLevel) *sql.Tx {
	t.Helper()
	tx, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: level})
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// testLost kills the server under a connection.
func testLost(t *testing.T, db *sql.DB, d Dialect, server *target.Server) {
	t.Helper()
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	server.Kill()
	if err := conn.QueryRowContext(ctx, "SELECT 1").Scan(new(int)); !d.IsConnectionLost(err) {
		t.Errorf("lost connection: %v", err)
	}
	if err := db.PingContext(ctx); !d.IsConnectionLost(err) {
		t.Errorf("no server: %v", err)
	}
}

func TestSQLite(t *testing.T) {
	o := Options{SQLite: func(_ context.Context, d DSN) (*sql.DB, error) {
		return sqlite.Open("file:" + d.Path + "?_pragma=busy_timeout(1)")
	}}
	db, d := mustOpen(t, "sqlite:"+filepath.Join(t.TempDir(), "a.db"), o)
	if engine, version, err := d.Dialect().ServerVersion(context.Background(), db); engine != "sqlite" || !strings.HasPrefix(version, "3.") || err != nil {
		t.Errorf("ServerVersion = %s, %s, %v", engine, version, err)
	}
	exec(t, db, "CREATE TABLE pair (id INT PRIMARY KEY)", "INSERT INTO pair VALUES (1)")
	if _, err := db.Exec("INSERT INTO pair VALUES (1)"); !SQLite.IsDuplicate(err) || SQLite.IsBusy(err) {
		t.Errorf("duplicate key: %v", err)
	}
	tx := mustBegin(t, db, sql.LevelSerializable)
	defer tx.Rollback()
	_, err := db.Exec("INSERT INTO pair VALUES (2)")
	if !SQLite.IsSerializationFailure(err) || !SQLite.IsBusy(err) || SQLite.IsDuplicate(err) {
		t.Errorf("busy: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := db.PingContext(ctx); SQLite.IsSerializationFailure(err) {
		t.Errorf("a cancelled call counts as busy: %v", err)
	}
	if _, err := (DSN{dialect: SQLite, Path: "a"}).Open(context.Background(), Options{}); err == nil {
		t.Error("opened SQLite without an opener")
	}
}
