package sqlvfs_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sqlitedriver "github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/ext/statement"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
)

const originSchema = `
CREATE TABLE pub(id INTEGER PRIMARY KEY, name TEXT, k INT);
CREATE TABLE sec(id INTEGER PRIMARY KEY, secret TEXT, k INT, note TEXT);
CREATE INDEX sec_secret ON sec(secret);
CREATE INDEX sec_upper ON sec(upper(note));
CREATE TABLE wr(a TEXT, b TEXT, c TEXT, PRIMARY KEY(b, a)) WITHOUT ROWID;
CREATE TABLE gen(x TEXT, v TEXT AS (x || '!'), s TEXT AS (x || '?') STORED, y TEXT);
CREATE VIEW plainview AS SELECT secret AS hidden, k FROM sec;
CREATE VIEW deep AS SELECT hidden AS deeper FROM plainview;
CREATE VIEW both AS SELECT name FROM pub UNION ALL SELECT secret FROM sec;
CREATE VIEW overboth AS SELECT name AS n FROM both;
CREATE TABLE log(entry TEXT);
CREATE TRIGGER copy AFTER INSERT ON pub BEGIN INSERT INTO log SELECT secret FROM sec WHERE id = new.id; END;
CREATE VIRTUAL TABLE virt USING statement((SELECT secret FROM sec));
ATTACH ':memory:' AS other;
CREATE TABLE other.far(z TEXT);
`

// TestOrigins lists statements with the origin of each result column ("-" for
// an expression) and columns that must be among the reads, or with "!" must not.
func TestOrigins(t *testing.T) {
	cases := []struct{ name, query, origins, reads string }{
		{"column", `SELECT secret FROM sec`, "main.sec.secret", "sec.secret !sec.note !sec.k"},
		{"alias", `SELECT s.secret AS name FROM sec s`, "main.sec.secret", "sec.secret"},
		{"star", `SELECT * FROM pub`, "main.pub.id main.pub.name main.pub.k", "pub.name pub.id"},
		{"expression", `SELECT upper(secret), 1 FROM sec`, "- -", "sec.secret"},
		{"rowid", `SELECT rowid FROM sec`, "main.sec.id", "sec.id"},
		{"condition", `SELECT name FROM pub WHERE k IN (SELECT k FROM sec WHERE secret > 'a')`, "main.pub.name", "sec.secret sec.k"},
		{"scalar subquery", `SELECT (SELECT secret FROM sec LIMIT 1)`, "main.sec.secret", "sec.secret"},
		{"derived table", `SELECT q FROM (SELECT secret AS q FROM sec)`, "main.sec.secret", "sec.secret"},
		{"cte", `WITH w(q) AS (SELECT secret FROM sec) SELECT q, q||'x' FROM w`, "main.sec.secret -", "sec.secret"},
		{"view", `SELECT hidden FROM plainview`, "main.sec.secret", "sec.secret plainview.hidden"},
		{"view of view", `SELECT deeper FROM deep`, "main.sec.secret", "sec.secret"},
		{"union", `SELECT name FROM pub UNION ALL SELECT secret FROM sec`, "-", "sec.secret pub.name"},
		{"union in derived table", `SELECT n FROM (SELECT name AS n FROM pub UNION SELECT secret FROM sec)`, "-", "sec.secret"},
		{"union in view", `SELECT name FROM both`, "-", "sec.secret"},
		{"union two views down", `SELECT n FROM overboth`, "-", "sec.secret"},
		{"values", `VALUES ((SELECT name FROM pub)), ((SELECT secret FROM sec))`, "-", "sec.secret"},
		{"recursive", `WITH RECURSIVE r(q) AS (SELECT name FROM pub UNION ALL SELECT secret FROM sec, r LIMIT 3) SELECT q FROM r`, "-", "sec.secret"},
		{"count", `SELECT count(*) FROM sec`, "-", "!sec.secret !sec.note"},
		{"count column", `SELECT count(secret) FROM sec`, "-", "sec.secret"},
		{"using", `SELECT name FROM pub JOIN sec USING (k)`, "main.pub.name", "sec.k pub.k"},
		{"natural full join", `SELECT k FROM (SELECT k FROM pub) NATURAL FULL JOIN (SELECT k FROM sec)`, "-", "sec.k pub.k"},
		{"full join using", `SELECT k FROM pub FULL JOIN sec USING (k)`, "-", "sec.k pub.k"},
		{"right join using", `SELECT k FROM pub RIGHT JOIN sec USING (k)`, "main.sec.k", "sec.k"},
		{"index only", `SELECT secret FROM sec WHERE secret > 'm' ORDER BY secret`, "main.sec.secret", "sec.secret"},
		{"index on expression", `SELECT upper(note) FROM sec WHERE upper(note) > 'A'`, "-", "sec.note"},
		{"without rowid", `SELECT c, a FROM wr`, "main.wr.c main.wr.a", "wr.a wr.c !wr.b"},
		{"virtual generated column", `SELECT v FROM gen`, "-", "gen.x !gen.y"},
		{"stored generated column", `SELECT s FROM gen`, "-", "gen.s gen.*"},
		{"after a virtual generated column", `SELECT y FROM gen`, "main.gen.y", "gen.y !gen.x !gen.*"},
		{"window", `SELECT lag(secret) OVER (ORDER BY id) FROM sec`, "-", "sec.secret"},
		{"group", `SELECT k, max(secret) FROM sec GROUP BY k`, "main.sec.k -", "sec.secret"},
		{"order", `SELECT k FROM sec ORDER BY note`, "main.sec.k", "sec.note"},
		{"attached", `SELECT z FROM other.far`, "other.far.z", "far.z"},
		{"json", `SELECT value FROM pub, json_each(pub.name)`, "-", "pub.name"},
		{"except", `SELECT q FROM (SELECT secret AS q FROM sec EXCEPT SELECT name FROM pub)`, "-", "sec.secret pub.name"},
		{"intersect", `SELECT name FROM pub INTERSECT SELECT secret FROM sec`, "-", "sec.secret pub.name"},
		{"trigger", `INSERT INTO pub(name) VALUES ('x')`, "", "sec.secret"},
		{"returning", `UPDATE sec SET k = 1 RETURNING secret`, "main.sec.secret", "sec.secret"},
		{"insert select", `INSERT INTO log SELECT secret FROM sec`, "", "sec.secret"},
		{"delete", `DELETE FROM sec WHERE note = 'x'`, "", "sec.note"},
		{"schema", `SELECT sql FROM sqlite_schema`, "any", "sqlite_master.sql"},
		{"constant", `SELECT 1`, "-", "!sec.secret"},
		{"comment", `-- nothing`, "", ""},
		{"word in a string", `SELECT name, 'union' FROM pub`, "- -", "pub.name"},
		{"parameter", `SELECT name FROM pub WHERE id = ? AND k = :k`, "main.pub.name", "pub.k"},
		{"create as", `CREATE TABLE copied AS SELECT secret FROM sec`, "", "sec.secret"},
		{"create temporary as", `CREATE TEMP TABLE copied AS SELECT secret FROM sec`, "", "sec.secret"},
	}
	conn := originConn(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			columns, reads, err := sqlvfs.Origins(context.Background(), conn, c.query)
			if err != nil {
				t.Fatalf("%s: %v", c.query, err)
			}
			var got []string
			for _, col := range columns {
				s := "-"
				if col != (sqlvfs.Column{}) {
					s = col.Schema + "." + col.Table + "." + col.Name
				}
				got = append(got, s)
			}
			if c.origins != "any" && strings.Join(got, " ") != c.origins {
				t.Errorf("%s\norigins %v, want %q", c.query, got, c.origins)
			}
			for _, want := range strings.Fields(c.reads) {
				want, absent := strings.CutPrefix(want, "!")
				has := slices.ContainsFunc(reads, func(r sqlvfs.Column) bool { return r.Table+"."+r.Name == want })
				if has == absent {
					t.Errorf("%s\nreads %v; %s listed: %v", c.query, reads, want, has)
				}
			}
		})
	}
}

func TestOriginsRefuses(t *testing.T) {
	conn := originConn(t)
	for name, c := range map[string]struct {
		query string
		want  error
	}{
		"virtual table":    {`SELECT * FROM virt`, sqlvfs.ErrOpaque},
		"two statements":   {`SELECT 1; SELECT secret FROM sec`, nil},
		"syntax":           {`SELEC 1`, nil},
		"unknown table":    {`SELECT * FROM nowhere`, nil},
		"hidden statement": {"SELECT 1;\n/* */ SELECT 2", nil},
	} {
		columns, reads, err := sqlvfs.Origins(context.Background(), conn, c.query)
		if err == nil || c.want != nil && !errors.Is(err, c.want) || columns != nil || reads != nil {
			t.Errorf("%s: %v, %v, error %v; want an error only", name, columns, reads, err)
		}
	}
}

// TestOriginsRefusesSamples checks the tables in which ANALYZE keeps values.
func TestOriginsRefusesSamples(t *testing.T) {
	conn := originConn(t)
	if err := conn.Raw().Exec(`INSERT INTO sec(secret) VALUES ('s'), ('t'); ANALYZE`); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]error{
		`SELECT sample FROM sqlite_stat4`:                        sqlvfs.ErrOpaque,
		`SELECT * FROM main.SQLITE_STAT4`:                        sqlvfs.ErrOpaque,
		`CREATE TABLE copied AS SELECT sample FROM sqlite_stat4`: sqlvfs.ErrOpaque,
		`SELECT tbl, idx FROM sqlite_stat4`:                      nil,
		`SELECT * FROM sqlite_stat1`:                             nil,
		`ANALYZE`:                                                nil,
	} {
		if _, _, err := sqlvfs.Origins(context.Background(), conn, query); !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", query, err, want)
		}
	}
}

// TestOriginsLeavesTheConnection checks that the authorizer is gone and an
// open transaction and statements still work.
func TestOriginsLeavesTheConnection(t *testing.T) {
	conn := originConn(t)
	raw := conn.Raw()
	if err := raw.Exec(`BEGIN; INSERT INTO sec(secret) VALUES ('s')`); err != nil {
		t.Fatal(err)
	}
	stmt, _, err := raw.Prepare(`SELECT secret FROM sec`)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	if _, _, err := sqlvfs.Origins(context.Background(), conn, `SELECT secret FROM sec`); err != nil {
		t.Fatal(err)
	}
	if !stmt.Step() || stmt.ColumnText(0) != "s" {
		t.Errorf("statement prepared before: %v", stmt.Err())
	}
	stmt.Reset()
	if err := raw.Exec(`COMMIT`); err != nil {
		t.Error(err)
	}
}

func originConn(t *testing.T) sqlitedriver.Conn {
	t.Helper()
	c, err := sqlvfs.Connector(filepath.Join(t.TempDir(), "o.db"), sqlvfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(c)
	t.Cleanup(func() { db.Close() })
	conn, err := c.Connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	sc := conn.(sqlitedriver.Conn)
	if err := statement.Register(sc.Raw()); err != nil {
		t.Fatal(err)
	}
	if err := sc.Raw().Exec(originSchema); err != nil {
		t.Fatal(err)
	}
	return sc
}
