package gate

import (
	"testing"

	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/token"
)

// testCatalog is a server's catalog made up for what one cannot easily have.
func testCatalog() *schema.Catalog {
	columns := func(names ...string) (out []schema.TableColumn) {
		for _, n := range names {
			out = append(out, schema.TableColumn{Name: n})
		}
		return out
	}
	hr := func(name string) schema.TableName { return schema.TableName{Database: "hr", Table: name} }
	cat := schema.NewCatalog(schema.ParseServer("10.11.19-MariaDB"), schema.MatchCase)
	cat.AddRoutine(&schema.Routine{TableName: hr("regexp_like")})
	for _, t := range []schema.Table{
		{TableName: hr("employee"), Engine: "InnoDB", Columns: append(columns("id", "name", "ssn", "salary"), schema.TableColumn{Name: "copy", Generated: "concat(`ssn`,'')"})},
		{TableName: hr("log"), Engine: "InnoDB", Columns: columns("id", "msg")},
		{TableName: hr("watched"), Engine: "InnoDB", Columns: columns("id", "msg"), Triggers: make([]schema.Trigger, 1)},
		{TableName: hr("child"), Engine: "InnoDB", Columns: columns("id", "code"), Foreign: []schema.ForeignKey{{Columns: []string{"code"}, Ref: hr("employee"), RefColumns: []string{"ssn"}}}},
		{TableName: hr("uni"), Engine: "InnoDB", Columns: columns("id", "name", "größe")},
		{TableName: hr("far"), Engine: "FEDERATED", Columns: columns("id", "x")},
		{TableName: hr("v_clean"), Kind: schema.View, Definition: "select `hr`.`log`.`id` AS `id` from `hr`.`log`", Columns: columns("id")},
		{TableName: hr("v_ssn"), Kind: schema.View, Definition: "select `hr`.`employee`.`ssn` AS `s` from `hr`.`employee`", Columns: columns("s")},
		{TableName: hr("v_deep"), Kind: schema.View, Definition: "select `v_ssn`.`s` AS `t` from `hr`.`v_ssn`", Columns: columns("t")},
		{TableName: hr("v_routine"), Kind: schema.View, Definition: "select `hr`.`f`(1) AS `t`", Columns: columns("t")},
		{TableName: hr("v_hidden"), Kind: schema.View, Columns: columns("t")},
	} {
		cat.Add(&t)
	}
	return cat
}

func testReader(t testing.TB) *reader {
	set, err := policy.Parse([]byte(`
version: 1
accounts: {ciphertext: [app]}
rules:
  - {name: hr, databases: [hr], tables: [employee], columns: [ssn, salary]}
  - {name: uni, databases: [hr], tables: [uni], columns: [größe]}
`), schema.MatchCase)
	if err != nil {
		t.Fatal(err)
	}
	return &reader{access: newAccess(testCatalog(), set.For("app", "")), database: "hr"}
}

func TestLabels(t *testing.T) {
	r := testReader(t)
	for name, want := range map[string]map[string]bool{
		"employee":  {"id": false, "name": false, "SSN": true, "salary": true, "copy": true, "new": false},
		"child":     {"id": false, "code": true},
		"uni":       {"name": false, "GRÖSSE": false, "Größe": true},
		"far":       {"x": true, "new": true},
		"v_ssn":     {"s": true},
		"v_deep":    {"t": true},
		"v_routine": {"t": true},
		"v_hidden":  {"t": true},
		"log":       nil,
		"v_clean":   nil,
	} {
		g := r.tables[schema.TableName{Database: "hr", Table: name}]
		if (g == nil) != (want == nil) {
			t.Errorf("%s: guarded is %v", name, g != nil)
			continue
		}
		for c, protected := range want {
			if _, got := g.column(c); got != protected {
				t.Errorf("%s.%s: protected is %v", name, c, got)
			}
		}
	}
}

func TestJudge(t *testing.T) {
	const ok, touches = "", "touches"
	for _, c := range []struct{ sql, want string }{
		{"SELECT id FROM log", ok},
		{"SELECT id FROM v_clean", ok},
		{"SELECT 1", ok},
		{"SELECT id FROM employee", touches},
		{"SELECT id FROM EMPLOYEE", "unknown-table"},
		{"SELECT id FROM other.employee", "unknown-table"},
		{"SELECT employee FROM log", touches},
		{"SELECT id FROM log WHERE msg = 'employee'", ok},
		{"SELECT id FROM `employee`;", touches},
		{"SELECT t FROM v_deep", touches},
		{"SELECT x FROM far", touches},
		{"SELECT id FROM log, nosuch", "unknown-table"},
		{"SELECT id FROM log offset, nosuch", "unknown-table"},
		{"SELECT id FROM log USE INDEX FOR ORDER BY (x), nosuch", "statement-form"},
		{"SELECT id FROM (log, (nosuch))", "unknown-table"},
		{"SELECT id FROM log WHERE id IN (SELECT id FROM nosuch)", "unknown-table"},
		{"SELECT SUBSTRING(msg FROM 2) FROM log", ok},
		{"WITH nosuch AS (SELECT 1) SELECT * FROM nosuch", ok},
		{"SELECT * FROM mysql.user", "unknown-table"},
		{"SELECT * FROM information_schema.PROCESSLIST", "unknown-table"},
		{"SELECT TABLE_NAME FROM information_schema.TABLES", ok},
		{"SELECT TABLE_NAME FROM information_schema.TABLES, employee", "unknown-table"},
		{"SELECT f(1)", "function"},
		{"SELECT hr.abs(1)", "function"},
		{"SELECT `abs`(1)", "function"},
		{"SELECT regexp_like(msg, 'x') FROM log", "function"}, // a stored function has that name
		{"SELECT lateral(1)", "function"},
		{"SELECT LAST_INSERT_ID()", ok},
		{"SELECT LAST_INSERT_ID(id) FROM log", "function"},
		{"SELECT ROW_COUNT() FROM employee", "function"},
		{"SELECT @a", ok},
		{"SELECT @a FROM employee", "variable"},
		{"SELECT @a := 1", "variable"},
		{"SELECT @@version, @@session.sql_mode", ok},
		{"SELECT @@warning_count", "variable"},
		{"SELECT @@hr.sql_mode", "variable"},
		{"SELECT id FROM log INTO @a", "select-into"},
		{"SELECT id FROM log PROCEDURE ANALYSE()", "procedure"},
		{"SELECT {fn ABS(1)}", "braces"},
		{"SELECT 1; SELECT 2", "multi-statement"},
		{"SELECT /*! 1 */ 2", ok},
		{"SELECT name /*!80000 '*/ FROM employee -- ' */", touches}, // MariaDB takes that for MySQL's
		{"SELECT name /*!50000 '*/ FROM employee -- ' */", ok},      // and runs that: a string
		{"SELECT 1 /*!50000 ; SELECT ssn FROM employee */", "multi-statement"},
		{"/*!40101 SET NAMES utf8mb4 */", ok},
		{"EXPLAIN SELECT 1", "statement-class"},
		{"(VALUES (1))", "statement-class"},
		{"", "statement-class"},
		{"INSERT INTO log (msg) VALUES ('x'), (CONCAT('a', ?))", ok},
		{"INSERT INTO log (msg) SELECT msg FROM log", ok},
		{"INSERT INTO log (msg) SELECT ssn FROM employee", "write-select"},
		{"INSERT INTO watched VALUES (1, 'x')", "trigger"},
		{"INSERT INTO v_clean VALUES (1)", "write-view"},
		{"INSERT INTO hr.employee (id, ssn) VALUES (?, ?)", touches},
		{"INSERT INTO employee (name, ssn) VALUES ('x', name)", "write-copy"},
		{"INSERT INTO employee (id) VALUES (1) ON DUPLICATE KEY UPDATE name = ssn", "write-copy"},
		{"INSERT INTO employee (id) VALUES (1) ON DUPLICATE KEY UPDATE salary = salary + 1", touches},
		{"INSERT INTO employee SET name = 'x'", touches},
		{"UPDATE employee SET salary = salary * 2, name = 'x' WHERE ssn = 'y'", touches},
		{"UPDATE employee SET name = UPPER(ssn)", "write-copy"},
		{"UPDATE employee e SET e.name = e.copy", "write-copy"},
		{"UPDATE employee SET ssn = salary", "write-copy"},
		{"UPDATE uni SET name = grosse", "write-copy"}, // which the server may take for größe
		{"UPDATE employee, log SET msg = 'x'", "write-join"},
		{"UPDATE log JOIN log b SET log.msg = 'x'", ok},
		{"UPDATE v_clean SET id = 1", "write-view"}, // the table below may have triggers
		{"DELETE FROM v_clean", "write-view"},
		{"UPDATE v_clean JOIN log SET msg = 'x'", "write-view"}, {"UPDATE log JOIN v_clean SET msg = 'x'", "write-join"},
		{"UPDATE log SET msg = (SELECT ssn FROM employee)", "write-select"},
		{"DELETE FROM employee WHERE id = 1", touches},
		{"DELETE employee FROM employee", "write-join"},
		{"DELETE FROM log USING log", "write-join"},
		{"DELETE FROM employee RETURNING id, name", touches},
		{"SET NAMES gbk", "set"},
		{"SET NAMES 'latin1' COLLATE latin1_bin", ok},
		{"SET character_set_client = sjis", "set"},
		{"SET autocommit = 0, @@session.time_zone = '+00:00'", ok},
		{"SET character_set_results = NULL", ok},
		{"SET character_set_client = NULL", "set"},
		{"SET character_set_results = 'NULL'", "set"},
		{"SET character_set_results = DEFAULT", "set"},
		{"SET character_set_results = gbk", "set"},
		{"set sql_mode=CONCAT(@@sql_mode,',STRICT_TRANS_TABLES'), session_track_system_variables=CONCAT(@@global.session_track_system_variables,',tx_isolation'), NAMES utf8mb4", ok},
		{"SET NAMES utf8mb4, autocommit = 1", ok},
		{"SET autocommit = 1, NAMES gbk", "set"},
		{"SET autocommit = 1, CHARACTER SET sjis", "set"},
		{"SET NAMES utf8mb4 autocommit = 1", "set"},
		{"SET NAMES", "set"},
		{"SET NAMES utf8mb4 COLLATE gbk_bin, autocommit = 1", "set"},
		{"SET session_track_system_variables = 'autocommit,time_zone'", ok},
		{"SET session_track_system_variables = '*'", "set"},
		{"SET session_track_system_variables = 'rand_seed1'", "set"},
		{"SET session_track_system_variables = CONCAT('rand', '_seed1')", "set"},
		{"SET session_track_system_variables = REPLACE('autocommit', (SELECT 1), '')", "set"},
		{"SET session_track_system_variables = (SELECT 1)", "set"},
		{"SET sql_mode = CONCAT(@@sql_mode, @a)", "set"},
		{"SET autocommit = 1,", "set"},
		{"SET GLOBAL wait_timeout = 1", "set"},
		{"SET @@global.wait_timeout = 1", "set"},
		{"SET optimizer_trace = 'enabled=on'", "set"},
		{"SET wait_timeout = (SELECT 1)", "set"},
		{"SET @a = 'x', @b = -1", ok},
		{"SET @a = ssn", "set"},
		{"SET PASSWORD = 'x'", "set"},
		{"SHOW WARNINGS LIMIT 4", ok},
		{"SHOW PROCESSLIST", "show"},
		{"SHOW COLUMNS FROM employee FROM hr", ok},
		{"SHOW COLUMNS FROM user FROM mysql", "show"},
		{"USE hr", ok},
		{"USE mysql", "unknown-table"},
		{"BEGIN", ok},
		{"BEGIN NOT ATOMIC SELECT 1", "statement-class"},
		{"ROLLBACK TO SAVEPOINT `x`", ok},
	} {
		r := testReader(t)
		v, ref := r.judge([]byte(c.sql))
		got := ""
		switch {
		case ref != nil:
			got = ref.Rule
		case v.touches:
			got = touches
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.sql, got, c.want)
		}
	}
}

// FuzzJudge looks for statements that are accepted although they name a
// protected table and the verdict does not say so, or hold what never may pass.
func FuzzJudge(f *testing.F) {
	for _, s := range []string{
		"SELECT id, ssn FROM employee e JOIN log ON 1 WHERE id IN (SELECT 1)", "INSERT INTO employee (id) VALUES (1) ON DUPLICATE KEY UPDATE name = ssn",
		"UPDATE employee SET name = 'x', ssn = ? WHERE id = 1", "SET @a = 'x', sql_mode = CONCAT(@@sql_mode, 'y')", "WITH a AS (SELECT 1) SELECT * FROM a", "SHOW COLUMNS FROM log",
	} {
		f.Add([]byte(s))
	}
	r := testReader(f)
	f.Fuzz(func(t *testing.T, sql []byte) {
		v, ref := r.judge(sql)
		if ref != nil {
			return
		}
		var text token.Text
		if err := text.Scan(v.sql, token.Mode{}); err != nil {
			t.Fatalf("%q is forwarded as %q, which cannot be read: %v", sql, v.sql, err)
		}
		for i := range text.Tokens {
			if text.IsSymbol(i, ";") && i < len(text.Tokens)-1 || text.IsWord(i, "OUTFILE") && !text.IsSymbol(i-1, ".") && text.IsWord(i-1, "INTO") {
				t.Fatalf("%q is accepted", sql)
			}
			tables := v.class == classSelect || v.class == classInsert || v.class == classUpdate || v.class == classDelete
			if text.IsName(i) && fold(text.Name(i)) == "employee" && tables && !v.touches {
				t.Fatalf("%q touches nothing", sql)
			}
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	r := testReader(b)
	for name, sql := range map[string]string{
		"open":    "SELECT id, msg FROM log WHERE id = ?",
		"touches": "SELECT id, name, ssn, salary FROM employee WHERE id = ? AND name = ? ORDER BY id",
	} {
		b.Run("statement="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ref := r.judge([]byte(sql)); ref != nil {
					b.Fatal(ref)
				}
			}
		})
	}
}
