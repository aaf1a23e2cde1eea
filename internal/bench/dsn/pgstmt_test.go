package dsn

import (
	"database/sql"
	"database/sql/driver"
	"io"
	"testing"

	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/bench/target/targettest"
)

func named(values ...driver.Value) (args []driver.NamedValue) {
	for i, v := range values {
		args = append(args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return args
}

func TestPostgresStmt(t *testing.T) {
	server := targettest.Start(t, target.Postgres, nil)
	db, d := mustOpen(t, server.DSN(), Options{})
	exec(t, db, "CREATE TABLE pair (id INT PRIMARY KEY, s CHAR(4))", "INSERT INTO pair VALUES (1, 'one'), (2, NULL)")
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Raw(func(dc any) error {
		testPostgresStmt(t, d.Dialect(), dc.(driver.Conn))
		return nil
	}); err != nil {
		t.Error(err)
	}
	// The driver's own statements go on as before.
	var n int
	if err := conn.QueryRowContext(t.Context(), "SELECT count(*) FROM pair WHERE id > $1", 0).Scan(&n); n != 3 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	if err := conn.Raw(func(dc any) error {
		s, err := PreparePostgres(t.Context(), dc.(driver.Conn), "late", "SELECT pg_terminate_backend(pg_backend_pid())")
		if err != nil {
			return err
		}
		rows, err := s.QueryContext(t.Context(), nil)
		if err == nil {
			for dest := make([]driver.Value, 1); err == nil; {
				err = rows.Next(dest)
			}
		}
		if !d.Dialect().IsConnectionLost(err) {
			t.Errorf("ended by the server: %v", err)
		}
		return nil
	}); err != nil && err != sql.ErrConnDone {
		t.Error(err)
	}
}

func testPostgresStmt(t *testing.T, d Dialect, conn driver.Conn) {
	t.Helper()
	ctx := t.Context()
	insert, err := PreparePostgres(ctx, conn, "a", "INSERT INTO pair VALUES ($1, $2)")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := insert.ExecContext(ctx, named(int64(3), "")); err != nil || r != driver.RowsAffected(1) {
		t.Errorf("insert: %v, %v", r, err)
	}
	if _, err := insert.ExecContext(ctx, named(int64(3), "x")); !d.IsDuplicate(err) {
		t.Errorf("insert again: %v", err)
	}
	if _, err := insert.ExecContext(ctx, named(int64(3))); err == nil {
		t.Error("a parameter too few was sent")
	}
	query, err := PreparePostgres(ctx, conn, "b", "SELECT id, s FROM pair WHERE id >= $1 ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time after rows left unread
		rows, err := query.QueryContext(ctx, named(int64(1)))
		if err != nil {
			t.Fatal(err)
		}
		dest := make([]driver.Value, len(rows.Columns()))
		for i, want := range [][2]any{{"1", "one "}, {"2", nil}, {"3", "    "}} {
			if err := rows.Next(dest); err != nil {
				t.Fatal(err)
			}
			for c, w := range want {
				if b, ok := dest[c].([]byte); w == nil && dest[c] != nil || w != nil && (!ok || string(b) != w) {
					t.Errorf("row %d, column %d: %q, want %q", i, c, dest[c], w)
				}
			}
		}
		if err := rows.Next(dest); err != io.EOF {
			t.Errorf("after the last row: %v", err)
		}
		if rows, err = query.QueryContext(ctx, named(int64(1))); err != nil {
			t.Fatal(err)
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}
	bad, err := PreparePostgres(ctx, conn, "c", "SELECT 1 / (id - 2) FROM pair ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := bad.QueryContext(ctx, nil)
	if err == nil {
		for dest := make([]driver.Value, 1); err == nil; {
			err = rows.Next(dest)
		}
	}
	if d.Code(err) != "22012" {
		t.Errorf("division by zero: %v", err)
	}
	for _, s := range []*PostgresStmt{insert, query, bad} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
