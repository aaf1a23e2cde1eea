package lineage

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/token"
)

// FuzzJudge: no statement makes the analysis panic or hang, the same statement
// has the same verdict again, and a further rule never takes protection away.
func FuzzJudge(f *testing.F) {
	for _, name := range []string{"bypass.jsonl", "benign.jsonl"} {
		for _, c := range readCases(f, name) {
			for _, s := range append(c.Statements, c.SQL) {
				f.Add(s)
			}
		}
	}
	w := newWorld()
	w.run(f, schemaFile(f, "schema_hr.sql"))
	w.run(f, schemaFile(f, "schema_benign.sql"))
	less, more := testRules(Guarded), testRules(Guarded, "hr.employee.name", "shop.users.id", "hr.log.msg")
	column := more.Column
	more.Column = func(c schema.Column) Labels { return column(c).Union(less.Column(c)) }
	x, y, free := New(w.Catalog, less), New(w.Catalog, more), New(w.Catalog, testRules(Documented))
	f.Fuzz(func(t *testing.T, sql string) {
		for _, db := range []string{"hr", "shop"} {
			s := Session{Database: db}
			v := x.judge(sql, s)
			if again := x.judge(sql, s); !reflect.DeepEqual(v, again) {
				t.Fatalf("two verdicts: %+v and %+v", v, again)
			}
			s.Explain = true
			told := x.judge(sql, s)
			told.Tree = nil
			if !reflect.DeepEqual(v, told) {
				t.Fatalf("explained otherwise: %+v and %+v", v, told)
			}
			u := y.judge(sql, Session{Database: db})
			if v.Refusal != nil || u.Refusal != nil {
				if v.Refusal != nil && u.Refusal == nil && !slices.Contains([]string{"write-copy", "define"}, v.Refusal.Rule) {
					t.Fatalf("refused by %s, allowed with more rules", v.Refusal.Rule)
				}
				continue
			}
			for _, i := range v.Encrypted() {
				if !slices.Contains(u.Encrypted(), i) {
					t.Fatalf("column %d is plain with more rules", i)
				}
			}
			if d := free.judge(sql, Session{Database: db}); d.Refusal != nil {
				t.Fatalf("refused by %s with weaker rules", d.Refusal.Rule)
			}
		}
	})
}

// TestHostile: statements made to hurt are refused or judged in reasonable time.
func TestHostile(t *testing.T) {
	w := newWorld()
	w.run(t, schemaFile(t, "schema_hr.sql"))
	x := New(w.Catalog, testRules(Documented))
	const n = 20000
	stars := "WITH c0 AS (SELECT * FROM employee)"
	for i := range 20 {
		a, b := string(rune('a'+i)), string(rune('a'+i+1))
		if i == 0 {
			a = "c0"
		}
		stars += ", " + b + " AS (SELECT x.*, y.* FROM " + a + " x, " + a + " y)"
	}
	nested := "SELECT 1 FROM employee"
	for range 200 {
		nested = "SELECT 1 FROM (" + nested + ") t"
	}
	compared, recursive := "SELECT ssn FROM employee", "SELECT 1 AS a"
	for range 50 {
		compared = "SELECT ssn FROM employee WHERE ssn = (" + compared + ")"
		recursive = "WITH RECURSIVE r(a) AS (SELECT 1 UNION ALL SELECT a FROM r WHERE a IN (" + recursive + ")) SELECT a FROM r"
	}
	for name, sql := range map[string]string{
		"compared":    compared,
		"recursive":   recursive,
		"parentheses": "SELECT " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n),
		"not":         "SELECT " + strings.Repeat("NOT ", n) + "1",
		"minus":       "SELECT " + strings.Repeat("- ", n) + "1",
		"and":         "SELECT 1 FROM employee WHERE ssn = 'x'" + strings.Repeat(" AND id = 1", n),
		"or":          "SELECT 1 FROM employee WHERE ssn = 'x'" + strings.Repeat(" OR id = 1", n),
		"plus":        "SELECT 1" + strings.Repeat(" + 1", n),
		"case":        "SELECT " + strings.Repeat("CASE WHEN ", n) + "1" + strings.Repeat(" THEN 1 END", n),
		"in":          "SELECT 1 FROM employee WHERE ssn IN ('a'" + strings.Repeat(", 'a'", n) + ")",
		"union":       "SELECT ssn FROM employee" + strings.Repeat(" UNION ALL SELECT ssn FROM employee", n/10),
		"joins":       "SELECT * FROM employee e0" + strings.Repeat(" NATURAL JOIN employee", 300),
		"values":      "INSERT INTO log(msg) VALUES ('a')" + strings.Repeat(", ('a')", n),
		"stars":       stars + " SELECT * FROM u",
		"nested":      nested,
		"as int":      "SELECT f(a" + strings.Repeat(" AS INT, a", n) + ")",
		"limits":      "SELECT " + strings.Repeat("LIMIT ", n),
		"percent":     "SHOW VARIABLES LIKE '" + strings.Repeat("%_", n) + "'",
		"interval":    "SELECT " + strings.Repeat("INTERVAL ", n) + "1",
		"json":        "SELECT * FROM " + strings.Repeat("JSON_TABLE(", n),
	} {
		t.Run(name, func(t *testing.T) {
			v := x.judge(sql, Session{Database: "hr"})
			if v.Refusal != nil {
				t.Log(v.Refusal.Rule)
			}
		})
	}
}

// TestConcurrent judges at once what makes an account find out the same things.
func TestConcurrent(t *testing.T) {
	w := newWorld()
	w.run(t, schemaFile(t, "schema_hr.sql"))
	w.run(t, "CREATE VIEW hr.v1 AS SELECT id, ssn FROM hr.employee; CREATE VIEW hr.v2 AS SELECT ssn FROM hr.v1")
	x := New(w.Catalog, testRules(Guarded))
	done := make(chan *Verdict)
	for range 16 {
		go func() {
			var text token.Text
			if err := text.Scan([]byte("SELECT v2.*, v1.*, employee.* FROM v2, v1, employee"), mariadb); err != nil {
				panic(err)
			}
			done <- x.Judge(&text, mariadb, Session{Database: "hr"})
		}()
	}
	for range 16 {
		if v := <-done; v.Refusal != nil || !slices.Equal(v.Encrypted(), []int{0, 2, 5, 6, 9}) {
			t.Errorf("%v, %v", v.Refusal, v.Encrypted())
		}
	}
}
