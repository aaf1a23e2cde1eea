package gate

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/sql/lineage"
	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/token"
)

func hrTable(name string) schema.TableName { return schema.TableName{Database: "hr", Table: name} }

// testCatalog is a server's catalog.
func testCatalog() *schema.Catalog {
	cat := schema.NewCatalog(schema.ParseServer("10.11.19-MariaDB"), schema.MatchCase)
	columns := func(names ...string) (out []schema.TableColumn) {
		for _, n := range names {
			out = append(out, schema.TableColumn{Name: n, Type: "varchar(40)"})
		}
		return out
	}
	for _, t := range []schema.Table{
		{TableName: hrTable("employee"), Engine: "InnoDB", Columns: columns("id", "name", "ssn", "salary")},
		{TableName: hrTable("log"), Engine: "InnoDB", Columns: columns("id", "msg")},
		{TableName: hrTable("v_ssn"), Kind: schema.View, Definition: "select `hr`.`employee`.`ssn` AS `s` from `hr`.`employee`", Columns: columns("s")},
	} {
		cat.Add(&t)
	}
	return cat
}

const judgeRules = `
version: 1
accounts: {ciphertext: [app]}
rules:
  - {name: hr, databases: [hr], tables: [employee], columns: [ssn, salary]}
  - {name: pay, databases: [hr], tables: [employee], columns: [salary], accounts: {blocked: [app]}}
`

func testReader(t testing.TB) *reader {
	set, err := policy.Parse([]byte(judgeRules), schema.MatchCase)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{access: newAccess(testCatalog(), set.For("app", ""), nil), tables: new(temporaries)}
	r.set(token.Mode{}, "hr")
	return r
}

func TestJudge(t *testing.T) {
	hr, pay := policy.Decision{Level: policy.Ciphertext, Rule: "hr"}, policy.Decision{Level: policy.Blocked, Rule: "pay"}
	open := policy.Decision{Level: policy.Full}
	for _, c := range []struct {
		sql     string
		outputs []policy.Decision
		touches bool
		rule    string // of a refusal
	}{
		{sql: "SELECT id FROM log", outputs: []policy.Decision{open}},
		{sql: "SELECT id, ssn, CONCAT(ssn, salary) FROM employee", outputs: []policy.Decision{open, hr, pay}, touches: true},
		{sql: "SELECT s FROM v_ssn", outputs: []policy.Decision{hr}, touches: true},
		{sql: "UPDATE employee SET name = 'x' WHERE id = 1", touches: true}, // a key's error would show the row
		{sql: "UPDATE log SET msg = 'x'"},
		{sql: "INSERT INTO log (msg) SELECT ssn FROM employee", rule: "write-copy"},
		{sql: "SELECT 1; SELECT 2", rule: "multi-statement"},
		{sql: "SELECT /*! 1", rule: "unreadable"},
		{sql: "SELECT id FROM nosuch", rule: "unknown-table"},
	} {
		j := testReader(t).judge([]byte(c.sql)).judgement
		if c.rule != "" || j.refusal != nil {
			if j.refusal == nil || j.refusal.Rule != c.rule {
				t.Errorf("%s: refusal %v, want %s", c.sql, j.refusal, c.rule)
			}
			continue
		}
		if !slices.Equal(j.outputs, c.outputs) || j.touches != c.touches {
			t.Errorf("%s: %v, touches %v", c.sql, j.outputs, j.touches)
		}
	}
}

// TestJudgeCached: the second and third time give what the first gave, with the
// text in its canonical form.
func TestJudgeCached(t *testing.T) {
	r := testReader(t)
	for _, sql := range []string{"SELECT ssn FROM employee WHERE id = 5 /* x */;", "SELECT id FROM log", "SELECT ssn FROM employee ORDER BY salary", "SET @a = 1"} {
		first := *r.judge([]byte(sql)).judgement.Verdict
		text := string(r.judge([]byte(sql)).sql)
		for range 3 {
			v := r.judge([]byte(sql))
			if !reflect.DeepEqual(*v.Verdict, first) || string(v.sql) != text || strings.Contains(text, "/*") {
				t.Errorf("%s: %q %+v, then %q %+v", sql, text, first, v.sql, *v.Verdict)
			}
		}
		if _, ok := r.plans.get(r.environment, []byte(sql)); !ok {
			t.Errorf("%s is not remembered", sql)
		}
	}
	a, b := r.judge([]byte("SELECT ssn FROM employee WHERE id = 6")), r.judge([]byte("SELECT ssn FROM employee WHERE id = 77"))
	if a.judgement != b.judgement {
		t.Error("statements that differ in a constant are judged twice")
	}
	if a, b := r.judge([]byte("SET NAMES utf8mb4")), r.judge([]byte("SET NAMES gbk")); a.refusal != nil || b.refusal == nil {
		t.Errorf("SET: %v, %v", a.refusal, b.refusal)
	}
}

// TestEnvironments: what a statement means depends on more than its text.
func TestEnvironments(t *testing.T) {
	r := testReader(t)
	const sql = `SELECT "ssn" FROM employee`
	for range 3 {
		r.set(token.Mode{}, "hr")
		if j := r.judge([]byte(sql)); j.outputs[0].Protected() {
			t.Error("a string is protected")
		}
		r.set(token.Mode{ANSIQuotes: true}, "hr")
		if j := r.judge([]byte(sql)); !j.outputs[0].Protected() {
			t.Error("a name is not protected")
		}
		r.set(token.Mode{}, "pub")
		if j := r.judge([]byte(sql)); j.refusal == nil {
			t.Error("a table of another database is found")
		}
	}
}

func TestTemporaries(t *testing.T) {
	r := testReader(t)
	judge := func(sql string) verdict {
		r.set(token.Mode{}, "hr")
		return r.judge([]byte(sql))
	}
	const sql = "SELECT s FROM v_ssn"
	if !judge(sql).outputs[0].Protected() {
		t.Fatal("the view is not protected")
	}
	made := judge("CREATE TEMPORARY TABLE v_ssn (s VARCHAR(10))")
	if made.refusal != nil {
		t.Fatal(made.refusal)
	}
	r.tables.ran(r.cat, made.Verdict)
	if j := judge(sql); j.refusal != nil || j.outputs[0].Protected() {
		t.Errorf("a temporary table does not hide a view: %v", j.refusal)
	}
	if r.tables.hides(r.cat, hrTable("log")) || !r.tables.hides(r.cat, hrTable("v_ssn")) {
		t.Error("hides")
	}
	r.tables.ran(r.cat, judge("DROP TEMPORARY TABLE v_ssn").Verdict)
	if !judge(sql).outputs[0].Protected() {
		t.Error("the view is hidden by a table that is gone")
	}
}

// TestPlanCacheIsBounded floods the cache with statements that differ.
func TestPlanCacheIsBounded(t *testing.T) {
	var p planCache
	var wg sync.WaitGroup
	j := &judgement{Verdict: new(lineage.Verdict)}
	long := strings.Repeat("x", 1000)
	for w := range 4 {
		wg.Go(func() {
			for i := range 20000 {
				sql := fmt.Appendf(nil, "%d %d %s", w, i, long)
				p.put(environment{}, sql, cached{judgement: j})
				p.put(environment{}, sql, cached{judgement: j})
				p.putKey(environment{}, sql, j)
				p.getKey(environment{}, []byte("0 0 "+long))
			}
		})
	}
	wg.Wait()
	for name, g := range map[string]*generations{"exact": &p.exact, "tokens": &p.tokens} {
		if n := len(g.young) + len(g.old); n*(1000+entrySize) > cacheBytes+2*(2000+entrySize) {
			t.Errorf("%s: %d entries", name, n)
		}
	}
	if _, ok := p.getKey(environment{}, []byte("0 0 "+long)); !ok {
		t.Error("what was asked for again and again is forgotten")
	}
	p.put(environment{}, make([]byte, maxCachedStatement+1), cached{judgement: j})
	p.put(environment{}, make([]byte, maxCachedStatement+1), cached{judgement: j})
	if _, ok := p.get(environment{}, make([]byte, maxCachedStatement+1)); ok {
		t.Error("a statement that is too long is kept")
	}
}

func TestVanished(t *testing.T) {
	set, err := policy.Parse([]byte(judgeRules), schema.MatchCase)
	if err != nil {
		t.Fatal(err)
	}
	var v vanishing
	look := func(rules uint64, tables ...string) (lost []string, gone []string) {
		cat := schema.NewCatalog(schema.Server{}, schema.MatchCase)
		for _, n := range tables {
			table := &schema.Table{Columns: []schema.TableColumn{{Name: "x"}}}
			if n, view := strings.CutPrefix(n, "view:"); view {
				table.TableName, table.Kind = hrTable(n), schema.View
			} else {
				table.TableName = hrTable(n)
			}
			if n, columns, ok := strings.Cut(table.Table, "="); ok {
				table.TableName, table.Columns = hrTable(n), nil
				for c := range strings.SplitSeq(columns, ",") {
					table.Columns = append(table.Columns, schema.TableColumn{Name: c})
				}
			} else if n, alike := strings.CutPrefix(table.Table, "alike:"); alike || n == "employee" {
				table.TableName, table.Columns = hrTable(n), []schema.TableColumn{{Name: "ssn"}, {Name: "salary"}}
			}
			cat.Add(table)
		}
		names, gone := v.look(cat, set, rules)
		for _, n := range names {
			lost = append(lost, n.Table)
		}
		slices.Sort(lost)
		return lost, gone
	}
	for i, step := range []struct {
		rules      uint64
		tables     string
		lost, gone string
	}{
		{1, "log", "", ""}, // has never been there
		{1, "log employee", "", ""},
		{1, "log workers", "workers", "pay"},
		{1, "log workers more", "more workers", ""},
		{1, "log workers employee", "", ""},
		{1, "log", "", "pay"},
		{2, "log more", "", ""}, // other rules
		{2, "log more employee", "", ""},
		{2, "log more view:employee staff", "staff", "pay"}, // a view in its place
		{2, "log more employee", "", ""},
		{2, "log more employee alike:old", "old", "pay"}, // may have been it before
		{2, "log more employee alike:old", "old", ""},
		{2, "log more employee", "", ""},
		{3, "log more employee alike:old", "", ""},
		// Columns that change names.
		{4, "employee=id,name,ssn,salary", "", ""},
		{4, "employee=id,name,ssn,salary,more", "", ""},
		{4, "employee=id,name,tax,salary,more", "employee", "pay"},
		{4, "employee=id,name,ssn,salary,more", "", ""},
		{4, "employee=id,ssn,name,salary,more", "employee", "pay"},
		{4, "employee=id,name,salary", "", ""}, // one was dropped
		// Tables that change names with others, and copies with columns of their own.
		{5, "employee=id,name,ssn,salary log=id,text", "", ""},
		{5, "employee=id,text log=id,name,ssn,salary", "employee log", "pay"},
		{6, "employee=id,name,ssn,salary log=id,text", "", ""},
		{6, "employee=id,name,ssn,salary log=id,text _employee_new=id,name,ssn,salary,more other=id,name,note", "_employee_new", "pay"},
		{6, "employee=id,name,ssn,salary,more log=id,text _employee_old=id,name,tax,salary other=id,name", "_employee_old", "pay"},
	} {
		lost, gone := look(step.rules, strings.Fields(step.tables)...)
		if strings.Join(lost, " ") != step.lost || strings.Join(gone, " ") != step.gone {
			t.Errorf("step %d: lost %v, gone %v", i, lost, gone)
		}
	}
}

func TestDefines(t *testing.T) {
	for sql, want := range map[string]bool{
		"SELECT 1": false, " (select 1)": false, "CREATE TABLE t (a INT)": true, "ALTER TABLE t ADD b INT": true, "CALL p()": true, "/* x */ DROP TABLE t": true, "": true,
		"SELECT 1; SELECT 2": false, "SELECT 1; DROP TABLE t": true, "INSERT INTO t VALUES ('a; b; c')": false, "SELECT 1;\n  rename table a to b": true, "UPDATE t SET a = ';'": false,
	} {
		if got := defines([]byte(sql)); got != want {
			t.Errorf("%q: %v", sql, got)
		}
	}
}

func TestGuesses(t *testing.T) {
	var g guessing
	now := time.Now()
	for i, step := range []struct {
		account string
		n       int
		later   time.Duration
		want    bool
	}{
		{"a", 50, 0, true}, {"a", 11, 0, false}, {"a", 10, 0, true}, {"b", 60, 0, true}, {"a", 1, 0, false},
		{"a", 10, 10 * time.Second, true}, {"a", 1, 0, false}, {"a", 60, time.Hour, true}, {"a", 1, 0, false},
	} {
		now = now.Add(step.later)
		if got := g.take(step.account, step.n, 60, now); got != step.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	statement := func(i int) []byte {
		return fmt.Appendf(nil, "SELECT id, name, ssn, salary FROM employee WHERE id = %d AND name = 'x' ORDER BY id LIMIT 10", i)
	}
	b.Run("hit=exact", func(b *testing.B) {
		r, sql := testReader(b), statement(1)
		r.judge(sql)
		r.judge(sql)
		b.ReportAllocs()
		for b.Loop() {
			r.judge(sql)
		}
	})
	b.Run("hit=key", func(b *testing.B) {
		r := testReader(b)
		sqls := make([][]byte, 5000)
		for i := range sqls {
			sqls[i] = statement(i)
		}
		r.judge(sqls[0])
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			r.judge(sqls[i%len(sqls)])
		}
	})
	b.Run("hit=none", func(b *testing.B) {
		r, sql := testReader(b), statement(1)
		b.ReportAllocs()
		for b.Loop() {
			if err := r.text.Scan(sql, r.mode); err != nil {
				b.Fatal(err)
			}
			r.analyse(false)
		}
	})
}
