package sqlvfs_test

import (
	"context"
	"database/sql/driver"
	"path/filepath"
	"testing"

	sqlitedriver "github.com/ncruces/go-sqlite3/driver"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
)

// TestWatch changes schemas in every way and checks that each is noticed, and
// that nothing else is.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	connector, err := sqlvfs.Connector(filepath.Join(dir, "w.db"), sqlvfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	connect := func() sqlitedriver.Conn {
		c, err := connector.Connect(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c.(sqlitedriver.Conn)
	}
	own, other := connect(), connect()
	attach := `ATTACH '` + filepath.Join(dir, "a.db") + `' AS "a b"`
	if err := own.Raw().Exec(`CREATE TABLE t(x); ` + attach + `; CREATE TABLE "a b".u(y); DETACH "a b"`); err != nil {
		t.Fatal(err)
	}
	if err := other.Raw().Exec(attach); err != nil {
		t.Fatal(err)
	}
	w, err := sqlvfs.NewWatch(own)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	last, err := w.Version(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		conn    sqlitedriver.Conn
		sql     string
		changes bool
	}{
		{"nothing", own, ``, false},
		{"insert", own, `INSERT INTO t VALUES (1)`, false},
		{"insert elsewhere", other, `INSERT INTO t VALUES (1)`, false},
		{"own view", own, `CREATE VIEW v AS SELECT x FROM t`, true},
		{"view elsewhere", other, `DROP VIEW v; CREATE VIEW v AS SELECT x+1 AS x FROM t`, true},
		{"temporary view", own, `CREATE TEMP VIEW t AS SELECT 1`, true},
		{"drop temporary view", own, `DROP VIEW temp.t`, true},
		{"temporary elsewhere", other, `CREATE TEMP TABLE z(x)`, false},
		{"index elsewhere", other, `CREATE INDEX i ON t(x)`, true},
		{"in a transaction", own, `BEGIN; ALTER TABLE t ADD COLUMN extra`, true},
		{"rolled back", own, `ROLLBACK`, true},
		{"attached", own, attach + `; SELECT * FROM u`, true},
		{"analysis", own, `SELECT 1`, false},
		{"view in attached, elsewhere", other, `CREATE VIEW "a b".uv AS SELECT y FROM u`, true},
		{"detached", own, `DETACH "a b"`, true},
	} {
		if err := c.conn.Raw().Exec(c.sql); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if c.name == "attached" || c.name == "detached" {
			// Noticed with the next statement that is inspected.
			if _, _, err := sqlvfs.Origins(context.Background(), own, `SELECT 1`); err != nil {
				t.Fatal(err)
			}
		}
		v, err := w.Version(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if (v != last) != c.changes {
			t.Errorf("%s: version %d after %d, want a change: %v", c.name, v, last, c.changes)
		}
		last = v
	}
}

func TestRecompiled(t *testing.T) {
	conn := originConn(t)
	stmt, err := conn.PrepareContext(context.Background(), `SELECT secret FROM sec`)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	want := func(n int) {
		t.Helper()
		if got, err := sqlvfs.Recompiled(stmt); err != nil || got != n {
			t.Errorf("recompiled %d times, %v, want %d", got, err, n)
		}
	}
	run := func() {
		t.Helper()
		rows, err := stmt.(driver.StmtQueryContext).QueryContext(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		rows.Columns()
		rows.Next(make([]driver.Value, 1)) // io.EOF
		rows.Close()
	}
	run()
	want(0)
	if err := conn.Raw().Exec(`CREATE TABLE another(x)`); err != nil {
		t.Fatal(err)
	}
	run()
	want(1)
	run()
	want(1)
}

func BenchmarkWatch(b *testing.B) {
	connector, err := sqlvfs.Connector(filepath.Join(b.TempDir(), "w.db"), sqlvfs.Options{})
	if err != nil {
		b.Fatal(err)
	}
	conn, err := connector.Connect(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	w, err := sqlvfs.NewWatch(conn)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	for b.Loop() {
		if _, err := w.Version(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
