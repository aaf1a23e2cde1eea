package sqlvfs_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
)

// TestFlows lists statements with every flow, as "target<source,source".
func TestFlows(t *testing.T) {
	cases := []struct{ name, query, flows string }{
		{"select", `SELECT secret FROM sec`, ""},
		{"insert", `INSERT INTO pub(name) VALUES (?)`, "log<sec.secret,sec.id,pub.id pub<sec.secret,sec.id,pub.id"}, // the trigger copy selects
		{"insert without trigger", `INSERT INTO wr VALUES (?, ?, ?)`, "wr<"},
		{"insert returning", `INSERT INTO wr VALUES (?, ?, ?) RETURNING a, b`, "wr<"},
		{"insert select", `INSERT INTO log SELECT secret FROM sec`, "log<sec.secret"},
		{"insert scalar", `INSERT INTO log VALUES ((SELECT secret FROM sec))`, "log<sec.secret"},
		{"insert through a view", `INSERT INTO log SELECT hidden FROM plainview`, "log<plainview.hidden,sec.k,sec.secret"},
		{"insert through a cte", `WITH w AS (SELECT secret FROM sec) INSERT INTO log SELECT * FROM w`, "log<sec.secret"},
		{"replace", `REPLACE INTO log SELECT note FROM sec`, "log<sec.note"},
		{"update to a value", `UPDATE sec SET note = ? WHERE secret = ?`, "sec.note<"},
		{"update itself", `UPDATE sec SET k = k + ? WHERE secret = ?`, "sec.k<sec.k"},
		{"update copies", `UPDATE sec SET note = secret WHERE id = ?`, "sec.note<sec.secret"},
		{"update of two", `UPDATE sec SET k = ?, note = upper(secret), secret = secret || k WHERE id = ?`, "sec.k< sec.note<sec.secret sec.secret<sec.k,sec.secret"},
		{"update of a tuple", `UPDATE sec SET (k, note) = (id, secret)`, "sec.k<sec.id sec.note<sec.secret"},
		{"update from", `UPDATE pub SET name = sec.secret FROM sec WHERE sec.id = pub.id`, "pub.name<pub.id,sec.id,sec.secret"},
		{"update subquery", `UPDATE pub SET name = (SELECT secret FROM sec)`, "pub.name<sec.secret"},
		{"upsert", `INSERT INTO sec(id, secret) VALUES (?, ?) ON CONFLICT(id) DO UPDATE SET note = secret`, "sec.note<sec.id,sec.secret sec<"},
		{"delete", `DELETE FROM sec WHERE secret = ?`, ""},
		{"create as", `CREATE TABLE copied AS SELECT secret FROM sec`, "copied<sec.secret"},
		{"create temporary as", `CREATE TEMP TABLE copied AS SELECT secret FROM sec`, "copied<sec.secret"},
		{"create", `CREATE TABLE fresh(x)`, "fresh<"},
		{"create view", `CREATE VIEW v AS SELECT secret FROM sec`, ""},
		{"create index", `CREATE INDEX i ON sec(secret, note)`, ""},
		{"rename column", `ALTER TABLE sec RENAME COLUMN secret TO open`, "sec<sec.*"},
		{"rename table", `ALTER TABLE sec RENAME TO open`, "sec<sec.*"},
		{"add column", `ALTER TABLE sec ADD COLUMN more`, "sec<sec.*"},
		{"trigger", `INSERT INTO far(z) VALUES (1)`, "far< noted<far.z"},
		{"begin", `BEGIN IMMEDIATE`, ""},
		{"pragma", `PRAGMA table_info(sec)`, ""},
		{"comment", `-- nothing`, ""},
	}
	conn := originConn(t)
	if err := conn.Raw().Exec(`CREATE TABLE other.noted(n);
		CREATE TRIGGER other.note AFTER INSERT ON far BEGIN INSERT INTO noted VALUES (new.z); END`); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			flows, err := sqlvfs.Flows(context.Background(), conn, c.query)
			if err != nil {
				t.Fatal(err)
			}
			name := func(c sqlvfs.Column) string { return strings.TrimSuffix(c.Table+"."+c.Name, ".") }
			var got []string
			for _, f := range flows {
				var from []string
				for _, s := range f.From {
					from = append(from, name(s))
				}
				slices.Sort(from)
				got = append(got, name(f.To)+"<"+strings.Join(slices.Compact(from), ","))
			}
			slices.Sort(got)
			want := strings.Fields(c.flows)
			for i, w := range want {
				to, from, _ := strings.Cut(w, "<")
				list := strings.Split(from, ",")
				slices.Sort(list)
				want[i] = to + "<" + strings.Join(list, ",")
			}
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s\nflows %q, want %q", c.query, got, want)
			}
		})
	}
	for _, query := range []string{`VACUUM`, `VACUUM INTO 'copy.db'`} {
		if flows, err := sqlvfs.Flows(context.Background(), conn, query); !errors.Is(err, sqlvfs.ErrOpaque) {
			t.Errorf("%s: %v, %v, want ErrOpaque", query, flows, err)
		}
	}
	if _, err := sqlvfs.Flows(context.Background(), conn, `SELECT 1; SELECT 2`); err == nil {
		t.Error("two statements are taken for one")
	}
}
