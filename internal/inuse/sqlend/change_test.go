package sqlend_test

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestSchemaChanges lets the meaning of a text change after it was inspected
// and prepared: by another connection, by the same one, and back again.
func TestSchemaChanges(t *testing.T) {
	const text = `SELECT x FROM shifting`
	steps := []struct{ name, sql, column string }{
		{"view of plain", `CREATE VIEW shifting AS SELECT note AS x FROM person`, "-"},
		{"view of protected", `DROP VIEW shifting; CREATE VIEW shifting AS SELECT ssn AS x FROM person`, "S"},
		{"table", `DROP VIEW shifting; CREATE TABLE shifting(x); INSERT INTO shifting VALUES ('plain')`, "-"},
		{"view of an expression", `DROP TABLE shifting; CREATE VIEW shifting AS SELECT upper(ssn) AS x FROM person`, "S"},
		{"view of plain again", `DROP VIEW shifting; CREATE VIEW shifting AS SELECT note AS x FROM person`, "-"},
		{"unrelated", `CREATE TABLE unrelated(y)`, "-"},
		{"view of a union", `DROP VIEW shifting; CREATE VIEW shifting AS SELECT note AS x FROM person UNION ALL SELECT ssn FROM person`, "S"},
	}
	for _, by := range []string{"another connection", "the same connection"} {
		t.Run(by, func(t *testing.T) {
			w := newWorld(t, schema, "person.ssn")
			ctx := context.Background()
			sealed, err := w.sealed.Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer sealed.Close()
			revealed, err := w.revealed.Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer revealed.Close()
			var prepared, preparedRevealed *sql.Stmt
			for _, step := range steps {
				change := w.plain.ExecContext
				if by == "the same connection" {
					change = sealed.ExecContext
				}
				if _, err := change(ctx, step.sql); err != nil {
					t.Fatalf("%s: %v", step.name, err)
				}
				if prepared == nil {
					if prepared, err = sealed.PrepareContext(ctx, text); err != nil {
						t.Fatal(err)
					}
					defer prepared.Close()
					if preparedRevealed, err = revealed.PrepareContext(ctx, text); err != nil {
						t.Fatal(err)
					}
					defer preparedRevealed.Close()
				}
				plain, err := query(ctx, w.plain, text)
				if err != nil {
					t.Fatal(err)
				}
				for how, q := range map[string]queryer{"text": sealed, "prepared": stmtQueryer{prepared}} {
					got, err := query(ctx, q, text)
					if err != nil {
						t.Fatalf("%s, %s: %v", step.name, how, err)
					}
					isCell, isOther := cellsAndNulls(got, 0)
					if isCell != (step.column == "S") || isOther != (step.column == "-") || strings.Contains(fmt.Sprintf("%s", got.rows), "anary-") {
						t.Errorf("%s, %s: got %s, want column %s", step.name, how, got.rows, step.column)
					}
				}
				for how, q := range map[string]queryer{"text": revealed, "prepared": stmtQueryer{preparedRevealed}} {
					got, err := query(ctx, q, text)
					if err != nil || !reflect.DeepEqual(got.rows, plain.rows) {
						t.Errorf("%s, %s revealed: got %s, %v, want %s", step.name, how, got.rows, err, plain.rows)
					}
				}
			}
		})
	}
}

// TestTemporaryViewHides puts a temporary view before a table a prepared
// statement reads.
func TestTemporaryViewHides(t *testing.T) {
	w := newWorld(t, schema, "person.ssn")
	ctx := context.Background()
	conn, err := w.sealed.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stmt, err := conn.PrepareContext(ctx, `SELECT name FROM pet`)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	for _, change := range []string{``, `CREATE TEMP VIEW pet AS SELECT ssn AS name FROM person`, `DROP VIEW temp.pet`} {
		if _, err := conn.ExecContext(ctx, change); err != nil {
			t.Fatal(err)
		}
		got, err := query(ctx, stmtQueryer{stmt}, "")
		if err != nil {
			t.Fatal(err)
		}
		if isCell, _ := cellsAndNulls(got, 0); isCell != strings.Contains(change, "CREATE") {
			t.Errorf("after %q: got %s", change, got.rows)
		}
	}
}

// TestStarGrows adds a protected column under a prepared SELECT *.
func TestStarGrows(t *testing.T) {
	w := newWorld(t, schema, "pet.secret")
	stmt, err := w.sealed.Prepare(`SELECT * FROM pet`)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	if _, err := query(context.Background(), stmtQueryer{stmt}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := w.plain.Exec(`ALTER TABLE pet ADD COLUMN secret TEXT DEFAULT 'canary-x'`); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := query(context.Background(), stmtQueryer{stmt}, "")
		if strings.Contains(fmt.Sprintf("%s %v", got.rows, err), "canary") {
			t.Errorf("got %s, %v", got.rows, err)
		}
	}
}

// TestManyTexts sends more texts than a connection remembers.
func TestManyTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("inspects 1,100 texts")
	}
	w := newWorld(t, schema, "person.ssn")
	w.revealed.SetMaxOpenConns(1)
	for i := range 1100 {
		var n int
		var ssn string
		if err := w.revealed.QueryRow(fmt.Sprintf(`SELECT %d, ssn FROM person`, i)).Scan(&n, &ssn); err != nil || n != i || ssn != "canary-1" {
			t.Fatalf("text %d: %d, %s, %v", i, n, ssn, err)
		}
	}
}
