package sqlend_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/inuse/cells"
	"github.com/veildb/veildb/internal/inuse/sqlend"
)

// Every protected value of this schema holds the word canary, in a form no
// statement below takes apart.
const schema = `
CREATE TABLE person(id INTEGER PRIMARY KEY, ssn TEXT NOT NULL, note TEXT, born DATE, alive BOOLEAN, photo BLOB, weight REAL, code INTEGER,
	tag TEXT AS (ssn || '!'), kept TEXT AS (ssn || '?') STORED);
CREATE TABLE pet(id INTEGER PRIMARY KEY, owner INTEGER, name TEXT);
CREATE TABLE diary(entry TEXT);
CREATE UNIQUE INDEX person_ssn ON person(ssn);
CREATE VIEW names AS SELECT note, ssn AS number FROM person;
CREATE VIEW mixed AS SELECT name AS n FROM pet UNION ALL SELECT ssn FROM person;
CREATE VIEW over AS SELECT n AS m FROM mixed;
CREATE VIEW rest AS SELECT ssn AS m FROM person EXCEPT SELECT name FROM pet;
INSERT INTO person(id, ssn, note, born, alive, photo, weight, code) VALUES
	(1, 'canary-1', 'first', '2001-02-03', 1, x'00ff', 1.5, 42),
	(2, 'canary-2', NULL, NULL, NULL, NULL, NULL, NULL),
	(3, 'canary-3', '', '2004-05-06T07:08:09Z', 0, x'', -0.0, 0);
INSERT INTO pet VALUES (1, 1, 'cat'), (2, 3, 'dog');
`

// statements read the schema in every way we know of. The string has a letter
// a column: S for sealed, - for passed as is.
var statements = []struct{ name, query, columns string }{
	{"columns", `SELECT id, ssn, note FROM person`, "-S-"},
	{"star", `SELECT * FROM person`, "-S------SS"},
	{"alias", `SELECT p.ssn AS id, p.id AS ssn FROM person p`, "S-"},
	{"quoted", `SELECT "SSN", [ssn], Person.ssN FROM "PERSON"`, "SSS"},
	{"where", `SELECT note FROM person WHERE ssn = 'canary-1'`, "-"},
	{"order and limit", `SELECT note, ssn FROM person ORDER BY ssn DESC LIMIT 2`, "-S"},
	{"distinct", `SELECT DISTINCT ssn FROM person`, "S"},
	{"expressions", `SELECT ssn || '', upper(ssn), substr(ssn, 2), cast(ssn AS BLOB), ssn COLLATE NOCASE, +ssn FROM person`, "SSSSSS"},
	{"parentheses", `SELECT (ssn) FROM person`, "S"},
	{"constant beside", `SELECT 1, ssn FROM person`, "SS"},
	{"constant", `SELECT 1, 'x', NULL`, "---"},
	{"unprotected expression", `SELECT upper(note), count(*) FROM person`, "--"},
	{"aggregates", `SELECT max(ssn), count(ssn), group_concat(ssn), count(*) FROM person`, "SSSS"},
	{"group", `SELECT note, min(ssn) FROM person GROUP BY note HAVING count(*) > 0`, "-S"},
	{"window", `SELECT lag(ssn) OVER (ORDER BY id) FROM person`, "S"},
	{"case", `SELECT CASE WHEN ssn > '' THEN 'yes' END FROM person`, "S"},
	{"scalar subquery", `SELECT (SELECT ssn FROM person WHERE id = 1), name FROM pet`, "S-"},
	{"subquery in condition", `SELECT name FROM pet WHERE owner IN (SELECT id FROM person WHERE ssn LIKE 'canary%')`, "-"},
	{"derived", `SELECT x, y FROM (SELECT ssn AS x, note AS y FROM person)`, "S-"},
	{"derived expression", `SELECT x FROM (SELECT 'a' || ssn AS x FROM person)`, "S"},
	{"cte", `WITH w(a, b) AS (SELECT ssn, note FROM person) SELECT b, a FROM w`, "-S"},
	{"materialized cte", `WITH w AS MATERIALIZED (SELECT ssn, note FROM person) SELECT w.ssn, v.note FROM w, w v`, "S-"},
	{"recursive cte", `WITH RECURSIVE r(s, n) AS (SELECT ssn, 1 FROM person UNION ALL SELECT s || '.', n + 1 FROM r WHERE n < 3) SELECT s FROM r`, "S"},
	{"join", `SELECT pet.name, person.ssn FROM pet JOIN person ON person.id = pet.owner`, "-S"},
	{"left join", `SELECT pet.name, person.ssn FROM person LEFT JOIN pet ON person.id = pet.owner`, "-S"},
	{"natural join", `SELECT * FROM pet NATURAL JOIN person`, "---S------SS"},
	{"full join", `SELECT id, name, ssn FROM pet FULL JOIN person USING (id)`, "S-S"},
	{"join on protected", `SELECT a.note FROM person a JOIN person b ON a.ssn = b.ssn`, "-"},
	{"union", `SELECT name FROM pet UNION SELECT ssn FROM person`, "S"},
	{"union all behind", `SELECT ssn FROM person UNION ALL SELECT name FROM pet`, "S"},
	{"union of unprotected", `SELECT name FROM pet UNION SELECT note FROM person`, "-"},
	{"union in derived", `SELECT n FROM (SELECT name AS n FROM pet UNION ALL SELECT ssn FROM person)`, "S"},
	{"except", `SELECT n FROM (SELECT ssn AS n FROM person EXCEPT SELECT name FROM pet)`, "S"},
	{"intersect", `SELECT note FROM person INTERSECT SELECT ssn FROM person`, "S"},
	{"values", `VALUES ((SELECT name FROM pet LIMIT 1)), ((SELECT ssn FROM person LIMIT 1))`, "S"},
	{"view", `SELECT note, number FROM names`, "-S"},
	{"view star", `SELECT * FROM names WHERE number <> ''`, "-S"},
	{"view with union", `SELECT n FROM mixed`, "S"},
	{"view over it", `SELECT m FROM over`, "S"},
	{"view with except", `SELECT m FROM rest`, "S"},
	{"virtual generated", `SELECT tag FROM person`, "S"},
	{"stored generated", `SELECT kept FROM person`, "S"},
	{"json", `SELECT json_object('k', ssn), json_group_array(ssn) FROM person GROUP BY id`, "SS"},
	{"json table", `SELECT value FROM person, json_each(json_array(ssn))`, "S"},
	{"rowid", `SELECT rowid, ssn FROM person`, "-S"},
	{"index only", `SELECT ssn FROM person WHERE ssn > 'canary-1'`, "S"},
	{"explain", `EXPLAIN QUERY PLAN SELECT ssn FROM person WHERE ssn = 'x'`, "any"},
	{"explain with literal", `EXPLAIN SELECT note FROM person WHERE id = 7`, "any"},
	{"no rows", `SELECT ssn FROM person WHERE id = 99`, "S"},
	{"schema", `SELECT name, sql FROM sqlite_schema`, "--"},
	{"table info", `PRAGMA table_info(person)`, "------"},
	{"table info as a table", `SELECT name FROM pragma_table_info('person')`, "-"},
	{"typeof", `SELECT typeof(ssn), length(ssn) FROM person`, "SS"},
	{"types", `SELECT born, alive, photo, weight, code FROM person`, "-----"},
}

func cellsAndNulls(sealed table, column int) (isCell, isOther bool) {
	for _, row := range sealed.rows {
		switch v := row[column].(type) {
		case nil:
		case []byte:
			if len(v) >= cells.Overhead && v[0] == 0xc5 && v[1] == 0x41 {
				isCell = true
				continue
			}
			isOther = true
		default:
			isOther = true
		}
	}
	return isCell, isOther
}

// TestStatements runs every statement at all three places: the revealed result
// is the plain one with its types; the sealed one has cells in exactly the
// columns expected and no canary anywhere.
func TestStatements(t *testing.T) {
	w := newWorld(t, schema, "person.ssn")
	ctx := context.Background()
	for _, s := range statements {
		t.Run(s.name, func(t *testing.T) {
			plain, err := query(ctx, w.plain, s.query)
			if err != nil {
				t.Fatal(err)
			}
			revealed, err := query(ctx, w.revealed, s.query)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(plain, revealed) {
				t.Errorf("%s\nplain    %v\nrevealed %v", s.query, plain, revealed)
			}
			sealed, err := query(ctx, w.sealed, s.query)
			if err != nil {
				t.Fatal(err)
			}
			if len(sealed.rows) != len(plain.rows) || !reflect.DeepEqual(sealed.names, plain.names) {
				t.Errorf("%s\nplain  %v\nsealed %v", s.query, plain, sealed)
			}
			if strings.Contains(fmt.Sprintf("%s", sealed.rows), "canary") {
				t.Errorf("%s\nprotected value in %s", s.query, sealed.rows)
			}
			if s.columns == "any" {
				return
			}
			if len(s.columns) != len(sealed.names) {
				t.Fatalf("%d columns, want %d", len(sealed.names), len(s.columns))
			}
			for i, want := range s.columns {
				isCell, isOther := cellsAndNulls(sealed, i)
				if isCell && (want == '-' || isOther) || isOther && want == 'S' {
					t.Errorf("%s\ncolumn %d: cells %v, others %v, want %c", s.query, i, isCell, isOther, want)
				}
				if len(sealed.rows) > 0 && isCell != strings.HasPrefix(sealed.types[i], sqlend.CellType+" []uint8") {
					t.Errorf("%s\ncolumn %d: type %s, cells %v", s.query, i, sealed.types[i], isCell)
				}
			}
		})
	}
}

// TestAllColumns protects everything: nothing but names and NULL passes.
func TestAllColumns(t *testing.T) {
	w := newWorld(t, schema, "*.*")
	for _, s := range statements {
		plain, err := query(context.Background(), w.plain, s.query)
		if err != nil {
			t.Fatal(err)
		}
		revealed, err := query(context.Background(), w.revealed, s.query)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(plain, revealed) {
			t.Errorf("%s\nplain    %v\nrevealed %v", s.query, plain, revealed)
		}
	}
	sealed, err := query(context.Background(), w.sealed, `SELECT * FROM person`)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range sealed.names {
		if isCell, isOther := cellsAndNulls(sealed, i); !isCell || isOther {
			t.Errorf("column %s: %v, want cells", name, sealed.rows[0][i])
		}
	}
}

func TestValuesRoundTrip(t *testing.T) {
	w := newWorld(t, `CREATE TABLE v(id INTEGER PRIMARY KEY, x, t TIMESTAMP, b BOOLEAN); `, "v.*")
	when := time.Date(2026, 2, 28, 23, 59, 59, 123456789, time.FixedZone("", 5*3600))
	for i, x := range []any{int64(1) << 62, 1.5, "", "text\x00\xff", []byte{}, []byte{0, 0xc5, 0x41}, nil,
		strings.Repeat("long", 1<<15), bytes.Repeat([]byte{7}, 1<<20)} {
		if _, err := w.revealed.Exec(`INSERT INTO v VALUES (?, ?, ?, ?)`, i, x, when, i%2 == 0); err != nil {
			t.Fatal(err)
		}
		var got any
		var at time.Time
		var even bool
		var id int
		if err := w.revealed.QueryRow(`SELECT id, x, t, b FROM v WHERE id = ?`, i).Scan(&id, &got, &at, &even); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, x) || !at.Equal(when) || even != (i%2 == 0) || id != i {
			t.Errorf("row %d: got %.40v %v %v %v, want %.40v", i, got, at, even, id, x)
		}
		var raw sql.RawBytes
		rows, err := w.revealed.Query(`SELECT x, x FROM v WHERE id = ?`, i)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var twin sql.RawBytes
			if err := rows.Scan(&raw, &twin); err != nil {
				t.Fatal(err)
			}
			if want, ok := x.([]byte); ok && (!bytes.Equal(raw, want) || !bytes.Equal(twin, want)) {
				t.Errorf("row %d: raw bytes differ", i)
			}
		}
		rows.Close()
	}
}

// TestLookalike stores cells as ordinary data: they are data, not cells.
func TestLookalike(t *testing.T) {
	w := newWorld(t, schema, "person.ssn")
	var cell []byte
	if err := w.sealed.QueryRow(`SELECT ssn FROM person WHERE id = 1`).Scan(&cell); err != nil {
		t.Fatal(err)
	}
	if _, err := w.revealed.Exec(`INSERT INTO diary VALUES (?)`, cell); err != nil {
		t.Fatal(err)
	}
	if _, err := w.revealed.Exec(`UPDATE person SET ssn = ? WHERE id = 2`, cell); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{`SELECT entry FROM diary`, `SELECT ssn FROM person WHERE id = 2`} {
		var got []byte
		if err := w.revealed.QueryRow(q).Scan(&got); err != nil || !bytes.Equal(got, cell) {
			t.Errorf("%s: got %x, %v, want the cell as it was stored", q, got, err)
		}
	}
}

// TestCellsAreBoundToColumns checks at the level of cells what each is bound to.
func TestCellsAreBoundToColumns(t *testing.T) {
	w := newWorld(t, schema, "person.ssn", "person.note")
	var ssn, note, expr []byte
	if err := w.sealed.QueryRow(`SELECT ssn, note, ssn || note FROM person WHERE id = 1`).Scan(&ssn, &note, &expr); err != nil {
		t.Fatal(err)
	}
	label := func(column string) cells.Label {
		return cells.ColumnLabel(cells.Column{Database: "main", Table: "person", Column: column})
	}
	both := cells.ExpressionLabel([]cells.Column{{Database: "main", Table: "person", Column: "ssn"}, {Database: "main", Table: "person", Column: "note"}})
	for _, c := range []struct {
		name  string
		cell  []byte
		label cells.Label
		want  any
	}{
		{"ssn", ssn, label("ssn"), "canary-1"}, {"note", note, label("note"), "first"}, {"ssn as note", ssn, label("note"), nil},
		{"expression as ssn", expr, label("ssn"), nil}, {"ssn as expression", ssn, both, nil},
	} {
		v, _, err := w.opener.Open(nil, c.cell, c.label)
		if v != c.want || (c.want == nil) != errors.Is(err, cells.ErrTampered) {
			t.Errorf("%s: got %v, %v, want %v", c.name, v, err, c.want)
		}
	}
}

func TestWritesAndReturning(t *testing.T) {
	w := newWorld(t, schema, "person.ssn", "person.id")
	ctx := context.Background()
	tx, err := w.revealed.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var id int64
	var ssn string
	if err := tx.QueryRow(`INSERT INTO person(ssn, note) VALUES (?, ?) RETURNING id, ssn`, "canary-9", "n").Scan(&id, &ssn); err != nil || id != 4 || ssn != "canary-9" {
		t.Fatalf("insert returning: %d, %s, %v", id, ssn, err)
	}
	stmt, err := tx.Prepare(`UPDATE person SET code = coalesce(code, 0) + :by WHERE ssn = :ssn`)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	for range 3 {
		res, err := stmt.Exec(sql.Named("by", 2), sql.Named("ssn", "canary-9"))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := res.RowsAffected(); n != 1 || err != nil {
			t.Errorf("%d rows affected, %v", n, err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	var code int
	if err := w.plain.QueryRow(`SELECT code FROM person WHERE ssn = 'canary-9'`).Scan(&code); err != nil || code != 6 {
		t.Errorf("code %d, %v, want 6", code, err)
	}
	res, err := w.revealed.Exec(`INSERT INTO person(ssn) VALUES (?)`, "canary-10")
	if err != nil {
		t.Fatal(err)
	}
	if id, err := res.LastInsertId(); id != 5 || err != nil {
		t.Errorf("last insert id %d, %v, want 5", id, err)
	}
	sealed, err := query(ctx, w.sealed, `DELETE FROM person WHERE id = 5 RETURNING ssn, note, upper(note)`)
	if err != nil || len(sealed.rows) != 1 || strings.Contains(fmt.Sprintf("%s", sealed.rows), "canary") {
		t.Errorf("delete returning: %s, %v", sealed.rows, err)
	}
	if _, err := w.revealed.Exec(`CREATE TABLE a(x); CREATE TABLE b(y); INSERT INTO b VALUES (1)`); err != nil {
		t.Errorf("several statements: %v", err)
	}
}

// TestRefused checks that what the engine cannot account for gives an error
// and no data.
func TestRefused(t *testing.T) {
	w := newWorld(t, schema+`ANALYZE;`, "person.ssn")
	for name, q := range map[string]string{
		"samples":        `SELECT sample FROM sqlite_stat4`,
		"two statements": `SELECT 1; SELECT ssn FROM person`,
		"syntax":         `SELEC ssn FROM person`,
	} {
		for end, db := range map[string]*sql.DB{"sealed": w.sealed, "revealed": w.revealed} {
			got, err := query(context.Background(), db, q)
			if err == nil || got.rows != nil {
				t.Errorf("%s, %s: got %v, %v, want an error", name, end, got.rows, err)
			}
		}
	}
}

func TestErrorsHoldNoValues(t *testing.T) {
	w := newWorld(t, schema, "person.ssn")
	for _, c := range []struct {
		query string
		args  []any
	}{
		{`INSERT INTO person(id, ssn) SELECT 1, ssn FROM person`, nil},
		{`INSERT INTO person(ssn) VALUES (?)`, []any{"canary-1"}},
		{`INSERT INTO person(ssn) SELECT ssn FROM person`, nil},
		{`SELECT json_extract(ssn, '$') FROM person`, nil},
		{`SELECT ssn -> '$' FROM person`, nil},
	} {
		_, err := query(context.Background(), w.sealed, c.query, c.args...)
		if err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: error %v, want one without the value", c.query, err)
		}
	}
	// A value no cell holds: told by type, not by content.
	if _, err := w.revealed.Query(`SELECT ssn FROM person WHERE id = ?`, struct{ S string }{"canary"}); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("bad argument: error %v", err)
	}
}

func TestStrict(t *testing.T) {
	w := newWorld(t, schema+`
		CREATE TABLE watched(a TEXT);
		CREATE TRIGGER copy AFTER INSERT ON watched BEGIN INSERT INTO diary SELECT ssn FROM person; END;`, "person.ssn", "person.code")
	db := openDB(t, w.connect(true))
	for _, q := range []string{
		`UPDATE person SET code = code + 1 WHERE ssn = 'canary-1'`,
		`UPDATE person SET note = 'x' WHERE ssn = 'canary-1' AND code = 1`,
		`UPDATE person SET note = upper(note), ssn = ssn || 'canary' WHERE code > 0`,
		`INSERT INTO person(ssn, code) VALUES ('canary-5', 1) RETURNING ssn`,
		`DELETE FROM person WHERE ssn = 'canary-5'`,
		`INSERT INTO diary SELECT note FROM person`,
		`CREATE VIEW v AS SELECT ssn FROM person`,
		`CREATE INDEX i ON person(ssn, note)`,
		`CREATE TABLE more(x)`,
		`DROP TABLE more`,
	} {
		if _, err := db.Exec(q); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
	for _, q := range []string{
		`UPDATE person SET note = ssn`,
		`UPDATE person SET code = 1, note = 'x' || ssn WHERE id = 1`,
		`UPDATE pet SET name = (SELECT ssn FROM person)`,
		`UPDATE pet SET name = person.ssn FROM person WHERE person.id = owner`,
		`INSERT INTO diary SELECT ssn FROM person`,
		`INSERT INTO diary SELECT number FROM names`,
		`INSERT INTO diary VALUES ((SELECT max(ssn) FROM person))`,
		`INSERT INTO person(id, ssn) VALUES (1, 'y') ON CONFLICT(id) DO UPDATE SET note = ssn`,
		`REPLACE INTO pet SELECT id, id, ssn FROM person`,
		`CREATE TABLE copied AS SELECT ssn FROM person`,
		`CREATE TEMP TABLE copied AS SELECT * FROM person`,
		`ALTER TABLE person RENAME COLUMN ssn TO open`,
		`ALTER TABLE person RENAME TO people`,
		`INSERT INTO watched VALUES ('x')`,
	} {
		if _, err := db.Exec(q); !errors.Is(err, sqlend.ErrDenied) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: error %v, want ErrDenied", q, err)
		}
	}
	for _, q := range []string{`VACUUM INTO '` + t.TempDir() + `/copy.db'`, `SELECT 1; INSERT INTO diary SELECT ssn FROM person`} {
		if _, err := db.Exec(q); err == nil {
			t.Errorf("%s: no error", q)
		}
	}
	var n int
	if err := w.plain.QueryRow(`SELECT count(*) FROM diary WHERE entry LIKE '%canary%'`).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d copies, %v", n, err)
	}
}

// TestStrictFollowsTriggers makes a trigger behind the back of a prepared
// statement.
func TestStrictFollowsTriggers(t *testing.T) {
	w := newWorld(t, schema, "person.ssn")
	stmt, err := openDB(t, w.connect(true)).Prepare(`INSERT INTO pet(name) VALUES (?)`)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	if _, err := stmt.Exec("fish"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.plain.Exec(`CREATE TRIGGER t AFTER INSERT ON pet BEGIN INSERT INTO diary SELECT ssn FROM person; END`); err != nil {
		t.Fatal(err)
	}
	if _, err := stmt.Exec("bird"); !errors.Is(err, sqlend.ErrDenied) {
		t.Errorf("got error %v, want ErrDenied", err)
	}
}

func TestConcurrent(t *testing.T) {
	w := newWorld(t, schema, "person.*")
	w.revealed.SetMaxOpenConns(4)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 100 {
				var ssn, upper string
				var id int
				err := w.revealed.QueryRow(`SELECT id, ssn, upper(ssn) FROM person WHERE id = ?`, i%3+1).Scan(&id, &ssn, &upper)
				if want := fmt.Sprintf("canary-%d", i%3+1); err != nil || ssn != want || upper != strings.ToUpper(want) || id != i%3+1 {
					t.Errorf("goroutine %d: got %d %s %s, %v", g, id, ssn, upper, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestCancel(t *testing.T) {
	w := newWorld(t, schema, "person.ssn")
	ctx, cancel := context.WithCancel(context.Background())
	rows, err := w.revealed.QueryContext(ctx, `WITH RECURSIVE r(n, s) AS (SELECT 1, 'canary' UNION ALL SELECT n + 1, (SELECT max(ssn) FROM person) FROM r) SELECT n, s FROM r`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for i := 0; rows.Next(); i++ {
		if i == 10 {
			cancel()
		}
		if i == 1_000_000 {
			t.Fatal("cancelled query goes on")
		}
	}
	if rows.Err() == nil {
		t.Error("no error after cancel")
	}
	cancel()
	if _, err := w.revealed.QueryContext(ctx, `SELECT ssn FROM person`); !errors.Is(err, context.Canceled) {
		t.Errorf("query with a cancelled context: %v", err)
	}
	if err := w.revealed.PingContext(context.Background()); err != nil {
		t.Errorf("the pool is unusable: %v", err)
	}
}

func TestUnwrap(t *testing.T) {
	w := newWorld(t, schema, "person.ssn")
	conn, err := w.revealed.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = conn.Raw(func(c any) error {
		inner := sqlend.Unwrap(c.(driver.Conn))
		if got := fmt.Sprintf("%T", inner); got != "*driver.conn" {
			return fmt.Errorf("got %s", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
