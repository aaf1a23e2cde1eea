package lineage

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/sql/schema"
)

var update = flag.Bool("update", false, "rewrite docs/confidential-sql.md")

// constructs are statements of every kind. In want, * is ciphertext for a column
// and - plain; a word is the rule of a refusal. The three are for documented,
// guarded and strict, and are alike if there is one.
var constructs = []struct {
	kind, sql, want string
}{
	{"Results", "", ""},
	{"column", "SELECT name, ssn FROM employee", "-*"},
	{"column under another name", "SELECT ssn AS name, name AS ssn FROM employee", "*-"},
	{"all columns", "SELECT d.*, 1 FROM dept d", "--*-"},
	{"shared columns of a join first", "SELECT * FROM dept JOIN employee USING (name)", "--*-**--*--"},
	{"function, operator, cast", "SELECT UPPER(ssn), salary * 1.1, CAST(salary AS CHAR), LENGTH(notes) FROM employee", "****"},
	{"constants, functions of nothing", "SELECT 1, NOW(), VERSION(), @@version", "----"},
	{"CASE over a condition", "SELECT CASE WHEN salary > 100000 THEN 'A' ELSE 'B' END FROM employee", "*"},
	{"aggregate", "SELECT MAX(salary), MAX(hired), GROUP_CONCAT(ssn) FROM employee", "*-*"},
	{"how many rows or values", "SELECT COUNT(*), COUNT(ssn), COUNT(DISTINCT ssn) FROM employee", "---"},
	{"how many of an expression", "SELECT COUNT(NULLIF(ssn, 'x')) FROM employee", "*"},
	{"IS NULL of a column", "SELECT ssn IS NULL FROM employee", "-"},
	{"IS NULL of an expression", "SELECT (ssn = 'x') IS NULL FROM employee", "*"},
	{"NULL that depends on values", "SELECT NULLIF('x', ssn) FROM employee", "* null null"},
	{"NULL that depends on values, hidden", "SELECT IFNULL(NULLIF('x', ssn), '') FROM employee", "*"},
	{"NULLIF with a constant", "SELECT NULLIF(ssn, ''), bonus / NULLIF(SUM(salary), 0) FROM employee", "** ** null"},
	{"dividing by a column", "SELECT bonus / salary FROM employee", "* * null"},
	{"dividing by an expression", "SELECT 1 / (salary - 1) FROM employee", "* null null"},
	{"DISTINCT columns", "SELECT DISTINCT ssn FROM employee", "*"},
	{"DISTINCT expressions", "SELECT DISTINCT LEFT(ssn, 1) FROM employee", "* predicate predicate"},
	{"window over protected values", "SELECT SUM(salary) OVER (PARTITION BY id) FROM employee", "*"},
	{"window ordered by them", "SELECT ROW_NUMBER() OVER (ORDER BY salary) FROM employee", "* predicate predicate"},
	{"window ordered by others", "SELECT ROW_NUMBER() OVER w FROM employee WINDOW w AS (ORDER BY hired)", "-"},
	{"subquery", "SELECT (SELECT MAX(ssn) FROM employee), (SELECT MAX(name) FROM employee)", "*-"},
	{"correlated subquery", "SELECT (SELECT e.ssn) FROM employee e", "*"},
	{"EXISTS", "SELECT EXISTS(SELECT ssn FROM employee WHERE id = 1)", "-"},
	{"EXISTS with a guess", "SELECT EXISTS(SELECT 1 FROM employee WHERE ssn = 'x')", "- * predicate"},
	{"derived table", "SELECT t.a FROM (SELECT CONCAT(ssn) AS a, name AS b FROM employee) t", "*"},
	{"WITH", "WITH q(a, b) AS (SELECT name, ssn FROM employee) SELECT b, a FROM q", "*-"},
	{"WITH RECURSIVE, forward", "WITH RECURSIVE s AS (SELECT v FROM t), t AS (SELECT ssn v FROM employee) SELECT v FROM s", "*"},
	{"UNION ALL", "SELECT name, name FROM dept UNION ALL SELECT name, ssn FROM employee", "-*"},
	{"UNION with other columns", "SELECT name FROM dept UNION SELECT ssn FROM employee", "* predicate predicate"},
	{"INTERSECT, EXCEPT", "SELECT ssn FROM employee EXCEPT SELECT 'x'", "* predicate predicate"},
	{"VALUES", "VALUES (1, 'x') UNION ALL SELECT id, ssn FROM employee", "-*"},
	{"a table as a query", "TABLE employee", "--**--*--"},
	{"columns named after an alias", "SELECT b, a FROM (SELECT name, ssn FROM employee) AS t (a, b)", "*-"},
	{"view", "SELECT x, y FROM v_plain", "-*"},
	{"view over a condition the rule minds", "SELECT id FROM v_rich", "- * *"},
	{"JSON_TABLE", "SELECT j.v FROM employee, JSON_TABLE(JSON_ARRAY(ssn), '$[*]' COLUMNS (v TEXT PATH '$')) j", "* predicate predicate"},
	{"JSON_TABLE of a constant", "SELECT j.v FROM JSON_TABLE('[1]', '$[*]' COLUMNS (v TEXT PATH '$')) j", "-"},
	{"numbers that the server makes up", "SELECT seq FROM seq_1_to_12", "-"},
	{"RETURNING", "DELETE FROM employee WHERE id = 1 RETURNING name, ssn", "-*"},
	{"stored function", "SELECT tax_of(1)", "routine"},
	{"function that is not known", "SELECT frobnicate(name) FROM employee", "function"},
	{"table that is not known", "SELECT * FROM nothing", "unknown-table"},
	{"sleep by a value", "SELECT SLEEP(ASCII(ssn)) FROM employee", "effect"},
	{"Conditions", "", ""},
	{"equality with a constant", "SELECT name FROM employee WHERE ssn = ? AND id > 0", "- - predicate"},
	{"equality with a few", "SELECT name FROM employee WHERE ssn IN ('a', 'b')", "- - predicate"},
	{"equality under OR", "SELECT name FROM employee WHERE ssn = 'a' OR id = 1", "- predicate predicate"},
	{"text column with a number", "SELECT name FROM employee WHERE ssn = 1", "- predicate-type predicate-type"},
	{"text column with a computed number", "SELECT name FROM employee WHERE ssn IN (720 + 1, UPPER('a'))", "- predicate-type predicate-type"},
	{"named partition, or index of protected columns", "SELECT id FROM employee FORCE INDEX (uq_ssn)", "- narrowed narrowed"},
	{"IS NULL", "SELECT name FROM employee WHERE ssn IS NOT NULL", "- - predicate"},
	{"range", "SELECT name FROM employee WHERE salary > 1", "- predicate predicate"},
	{"LIKE", "SELECT name FROM employee WHERE ssn LIKE '7%'", "- predicate predicate"},
	{"function of the column", "SELECT name FROM employee WHERE LEFT(ssn, 1) = '7'", "- predicate predicate"},
	{"another column", "SELECT e.name FROM employee e JOIN dept d ON d.name = e.ssn", "- predicate predicate"},
	{"NATURAL JOIN", "SELECT e.name FROM employee e NATURAL JOIN (SELECT 'x' AS ssn) g", "- predicate predicate"},
	{"subquery compared", "SELECT name FROM dept WHERE id = (SELECT salary FROM employee LIMIT 1)", "- predicate predicate"},
	{"ORDER BY", "SELECT name FROM employee ORDER BY salary", "- predicate predicate"},
	{"GROUP BY", "SELECT COUNT(*) FROM employee GROUP BY ssn", "- predicate predicate"},
	{"GROUP BY beside a key", "SELECT id, ssn, COUNT(*) FROM employee GROUP BY id, ssn", "-*- -*- predicate"},
	{"HAVING", "SELECT dept_id FROM employee GROUP BY dept_id HAVING MAX(salary) > 1", "- predicate predicate"},
	{"Writes", "", ""},
	{"constants", "INSERT INTO employee (id, name, ssn) VALUES (9, 'x', 'y')", ""},
	{"to the same column", "UPDATE employee SET salary = salary * 1.05 WHERE dept_id = 1", ""},
	{"to another column", "UPDATE employee SET name = ssn", "write-copy"},
	{"to another table", "INSERT INTO log (msg) SELECT ssn FROM employee", "write-copy"},
	{"of others to another table", "INSERT INTO log (msg) SELECT CONCAT(name, hired) FROM employee", ""},
	{"by a subquery", "INSERT INTO log (msg) VALUES ((SELECT ssn FROM employee LIMIT 1))", "write-copy"},
	{"on duplicate key", "INSERT INTO employee (id, name) VALUES (1, 'x') ON DUPLICATE KEY UPDATE name = ssn", "write-copy"},
	{"on duplicate key, a name for the row", "INSERT INTO employee (id, name, ssn) VALUES (1, 'x', 'y') AS n ON DUPLICATE KEY UPDATE ssn = n.ssn, name = n.name", ""},
	{"on duplicate key, a copy of that row", "INSERT INTO employee (id, name, ssn) VALUES (1, 'x', 'y') AS n (a, b, c) ON DUPLICATE KEY UPDATE name = c", "write-copy"},
	{"through a view", "UPDATE v_plain SET x = 'a'", "write-view"},
	{"NULL that depends on values", "UPDATE employee SET notes = NULLIF('x', ssn)", " null null"},
	{"a column that a CHECK compares with a protected one", "UPDATE dept SET id = 9", " write-check write-check"},
	{"both of them", "UPDATE dept SET id = 9, budget = 10", ""},
	{"a row that a CHECK is for", "INSERT INTO dept VALUES (1, 'x', 2) ON DUPLICATE KEY UPDATE id = 3, budget = VALUES(budget)", ""},
	{"a row that a CHECK is for, of protected values", "INSERT INTO dept SELECT 7, name, budget FROM dept", " write-check write-check"},
	{"rows passed over or replaced, of expressions of protected values", "REPLACE INTO employee (id, name, ssn) SELECT 502, 'x', IF(salary > 80000, 'yes', 'no') FROM employee WHERE id = 1", " write-check write-check"},
	{"rows passed over or replaced, of protected values", "INSERT IGNORE INTO employee (id, name, ssn) SELECT id + 10, name, ssn FROM employee", " predicate predicate"},
	{"rows passed over or replaced, of others", "INSERT IGNORE INTO employee (id, name, ssn) SELECT id + 10, name, 'x' FROM employee", ""},
	{"CREATE TABLE", "CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(9) DEFAULT 'x')", ""},
	{"CREATE TABLE with constraints", "CREATE TABLE t (a INT CHECK (a > 0), b INT, FOREIGN KEY (b) REFERENCES employee (id))", ""},
	{"CREATE TABLE with a key to a protected column", "CREATE TABLE t (a VARCHAR(11), FOREIGN KEY (a) REFERENCES employee (ssn))", "define"},
	{"CREATE TABLE like another", "CREATE TABLE t LIKE log", ""},
	{"CREATE TABLE like one with protected columns", "CREATE TABLE t LIKE employee", "define"},
	{"CREATE INDEX", "CREATE INDEX i ON log (id, msg DESC)", ""},
	{"CREATE INDEX of a table with protected columns", "CREATE UNIQUE INDEX i ON employee (name)", "unreadable"},
	{"CREATE TABLE ... SELECT", "CREATE TABLE t AS SELECT ssn FROM employee", "write-copy"},
	{"table with a trigger that copies", "UPDATE watched SET a = 1", "trigger"},
	{"table with a trigger that names no protected column", "UPDATE dept SET name = 'x'", ""},
	{"Sessions", "", ""},
	{"SET to a constant", "SET @a = 1, autocommit = 0", ""},
	{"SET of sql_mode to a list", "SET sql_mode = (SELECT CONCAT(@@SESSION.sql_mode, ',ANSI_QUOTES')), autocommit = 1", ""},
	{"SET of sql_mode to a query", "SET sql_mode = (SELECT CONCAT(ssn) FROM employee)", "set"},
	{"SET to other settings, to what was kept", "SET sort_buffer_size = @@GLOBAL.sort_buffer_size, group_concat_max_len = 1024*1024, sql_mode = @a, character_set_client = @b, NAMES DEFAULT", ""},
	{"SET of what the gate does not ask for", "SET collation_connection = @a", "set"},
	{"SET of a character set by its number", "SET collation_connection = 28*1", "set"},
	{"SET to a query", "SET @a = (SELECT ssn FROM employee LIMIT 1)", "set"},
	{"assignment in a query", "SELECT @a := ssn FROM employee", "effect"},
	{"assignment of others", "SELECT @a := name FROM employee", "-"},
	{"SELECT ... INTO a variable", "SELECT ssn INTO @a FROM employee LIMIT 1", "select-into"},
	{"SELECT ... INTO a file", "SELECT name FROM employee INTO OUTFILE '/tmp/x'", "unreadable"},
	{"transactions", "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", ""},
	{"ends of transactions", "COMMIT WORK AND CHAIN NO RELEASE", ""},
	{"ends of transactions and the session", "ROLLBACK RELEASE", "unreadable"},
	{"description of a table", "SHOW FULL COLUMNS FROM employee", ""},
	{"warnings", "SHOW WARNINGS", ""},
	{"tables of a kind", "SHOW FULL TABLES FROM hr WHERE Table_type = 'BASE TABLE'", ""},
	{"lists of tables, triggers, events, routines", "SHOW TABLE STATUS FROM hr WHERE Name IN ('dept', 'log')", ""},
	{"texts of triggers, events, routines", "SHOW CREATE TRIGGER hr.t", ""},
	{"all variables, but for those that tell", "SHOW VARIABLES", ""},
	{"variables that tell", "SHOW VARIABLES LIKE 'warning_count'", "show"},
	{"counters, but for those that tell", "SHOW GLOBAL STATUS", ""},
	{"counters that tell", "SHOW STATUS LIKE 'Handler_read%'", "show"},
	{"what runs", "SHOW PROCESSLIST", "show"},
	{"locks", "LOCK TABLES employee READ, log AS l WRITE", ""},
	{"EXPLAIN", "EXPLAIN SELECT name FROM dept", ""},
	{"EXPLAIN as a text", "EXPLAIN FORMAT=JSON SELECT name FROM dept", ""},
	{"EXPLAIN of a protected column, as a text", "EXPLAIN FORMAT=JSON SELECT ssn FROM employee", "explain"},
	{"EXPLAIN of a protected column", "EXPLAIN SELECT ssn FROM employee", " explain explain"},
	{"PREPARE, EXECUTE", "PREPARE s FROM 'SELECT 1'", "unreadable"},
	{"CALL", "CALL p()", "unreadable"},
	{"settings for one statement", "SET STATEMENT max_statement_time = 9 FOR SELECT name, ssn FROM employee", "-*"},
	{"settings that change how it is read", "SET STATEMENT sql_mode = 'ANSI_QUOTES' FOR SELECT name FROM employee", "set"},
	{"ending a statement", "KILL QUERY 7", ""},
	{"statistics of a table", "ANALYZE TABLE employee", ""},
	{"check of a table", "CHECK TABLE log", ""},
	{"check of a table with protected columns", "CHECK TABLE log, employee", "unreadable"},
	{"HANDLER, LOAD DATA, KILL CONNECTION", "HANDLER employee OPEN", "unreadable"},
	{"ALTER, DROP, RENAME, GRANT", "ALTER TABLE employee ADD COLUMN x INT", "unreadable"},
}

// TestConstructs judges a statement of every kind in every mode, and writes the
// table in docs/confidential-sql.md.
func TestConstructs(t *testing.T) {
	w := newWorld()
	if !w.run(t, schemaFile(t, "schema_hr.sql")) || !w.run(t, `CREATE VIEW hr.v_plain AS SELECT name x, ssn y FROM hr.employee; CREATE VIEW hr.v_rich AS SELECT id FROM hr.employee WHERE salary > 1;
		CREATE FUNCTION hr.tax_of(p INT) RETURNS INT RETURN 1; CREATE TABLE hr.watched (a INT); CREATE TRIGGER tr AFTER UPDATE ON hr.watched FOR EACH ROW INSERT INTO hr.log (msg) SELECT ssn FROM hr.employee;
		CREATE TRIGGER told AFTER UPDATE ON hr.dept FOR EACH ROW INSERT INTO hr.log (msg) VALUES (CONCAT('changed ', NEW.id))`) {
		t.Fatal("definitions not understood")
	}
	dept := w.Table(schema.TableName{Database: "hr", Table: "dept"})
	dept.Checks = []string{"`budget` > `id`"}
	how := []Inference{Documented, Guarded, Strict}
	var accounts []*Account
	for _, h := range how {
		accounts = append(accounts, New(w.Catalog, testRules(h)))
	}
	var doc strings.Builder
	for _, c := range constructs {
		if c.sql == "" {
			fmt.Fprintf(&doc, "\n### %s\n\n| construct | example | documented | guarded | strict |\n|---|---|---|---|---|\n", c.kind)
			continue
		}
		want := strings.Split(c.want, " ")
		if len(want) == 1 {
			want = append(want, want[0], want[0])
		}
		fmt.Fprintf(&doc, "| %s | `%s` |", c.kind, strings.ReplaceAll(c.sql, "|", "\\|"))
		for i, x := range accounts {
			v := x.judge(c.sql, Session{Database: "hr"})
			if (v.Unreadable != "") != (short(v) == "unreadable") {
				t.Errorf("%s: unreadable because %q", c.sql, v.Unreadable)
			}
			got := short(v)
			if got != want[i] {
				t.Errorf("%s: %q, want %q\n%s", c.kind, got, want[i], c.sql)
			}
			fmt.Fprintf(&doc, " %s |", long(v))
		}
		doc.WriteString("\n")
	}
	document(t, doc.String())
}

func short(v *Verdict) string {
	if v.Refusal != nil {
		return v.Refusal.Rule
	}
	var b strings.Builder
	for _, o := range v.Outputs {
		if len(o.Labels) > 0 {
			b.WriteString("*")
		} else {
			b.WriteString("-")
		}
	}
	return b.String()
}

func long(v *Verdict) string {
	switch enc := len(v.Encrypted()); {
	case v.Refusal != nil:
		return "refused: " + v.Refusal.Rule
	case len(v.Outputs) == 0:
		return "runs"
	case enc == 0:
		return "plain"
	case enc == len(v.Outputs):
		return "ciphertext"
	default:
		return "`" + short(v) + "`"
	}
}

// document compares what is between the marks of docs/confidential-sql.md.
func document(t *testing.T, table string) {
	const begin, end = "<!-- constructs -->\n", "<!-- end of constructs -->\n"
	file := filepath.Join("..", "..", "..", "docs", "confidential-sql.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), begin)
	_, tail, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatalf("%s has no marks", file)
	}
	want := head + begin + table + "\n" + end + tail
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("%s does not say what is so; run this test with -update", file)
	}
}

// TestGrants gives the guarded mode one use after the other.
func TestGrants(t *testing.T) {
	w := newWorld()
	w.run(t, schemaFile(t, "schema_hr.sql"))
	for _, tt := range []struct {
		grant Grant
		sql   string
	}{
		{GrantRange, "SELECT name FROM employee WHERE salary > 1"},
		{GrantRange, "SELECT name FROM employee WHERE salary BETWEEN ? AND ?"},
		{GrantLikePrefix, "SELECT name FROM employee WHERE ssn LIKE '7%'"},
		{GrantOrder, "SELECT name FROM employee ORDER BY salary"},
		{GrantOrder, "SELECT name, salary FROM employee ORDER BY 2"},
		{GrantGroup, "SELECT ssn, COUNT(*) FROM employee GROUP BY ssn"},
		{GrantJoin, "SELECT a.name FROM employee a JOIN employee b ON a.ssn = b.ssn"},
		{GrantJoin, "SELECT a.name FROM employee a JOIN employee b USING (ssn)"},
	} {
		for g := GrantRange; g <= GrantJoin; g <<= 1 {
			rules := testRules(Guarded)
			rules.List[1].Grants = g
			v := New(w.Catalog, rules).judge(tt.sql, Session{Database: "hr"})
			if (v.Refusal == nil) != (g == tt.grant) {
				t.Errorf("grant %b: %v\n%s", g, v.Refusal, tt.sql)
			}
		}
	}
	for _, sql := range []string{
		"SELECT name FROM employee WHERE ssn LIKE '%7'", "SELECT name FROM employee WHERE ssn LIKE ?", "SELECT name FROM employee WHERE ssn NOT LIKE '7%'",
		"SELECT name FROM employee WHERE LEFT(ssn, 1) < '7'", "SELECT name FROM employee WHERE salary > bonus", "SELECT name FROM employee WHERE ssn > 7",
		"SELECT name FROM employee HAVING salary > 1", "SELECT RANK() OVER (ORDER BY salary) FROM employee",
		"SELECT name FROM employee WHERE CASE WHEN ssn = 'a' THEN 1 END", "SELECT name FROM employee WHERE ssn = (SELECT 'a')", "SELECT name FROM employee WHERE ssn = @a",
		"SELECT name FROM employee WHERE ssn = RAND()",
	} {
		rules := testRules(Guarded)
		rules.List[1].Grants = GrantRange | GrantLikePrefix | GrantOrder | GrantGroup | GrantJoin
		if v := New(w.Catalog, rules).judge(sql, Session{Database: "hr"}); v.Refusal == nil {
			t.Errorf("allowed with all grants: %s", sql)
		}
	}
}

// TestSpread follows labels through what a catalog says of tables.
func TestSpread(t *testing.T) {
	cat := schema.NewCatalog(schema.Server{MariaDB: true, Version: 101119}, schema.IgnoreCase)
	name := func(table string) schema.TableName { return schema.TableName{Database: "d", Table: table} }
	cat.Add(&schema.Table{TableName: name("p"), Engine: "InnoDB", Columns: []schema.TableColumn{{Name: "code"}, {Name: "g", Generated: "concat(`code`,'x')"},
		{Name: "h", Generated: "concat(`g`,`k`)"}, {Name: "k"}, {Name: "dflt", Default: "(upper(`code`))"}, {Name: "plain", Default: "'code'"}}})
	cat.Add(&schema.Table{TableName: name("kid"), Engine: "InnoDB", Columns: []schema.TableColumn{{Name: "id"}, {Name: "Code"}},
		Foreign: []schema.ForeignKey{{Columns: []string{"code"}, Ref: name("p"), RefColumns: []string{"CODE"}}}})
	cat.Add(&schema.Table{TableName: name("kidskid"), Engine: "InnoDB", Columns: []schema.TableColumn{{Name: "c"}},
		Foreign: []schema.ForeignKey{{Columns: []string{"c"}, Ref: name("kid"), RefColumns: []string{"code"}}}})
	cat.Add(&schema.Table{TableName: name("far"), Engine: "FEDERATED", Columns: []schema.TableColumn{{Name: "a"}}})
	cat.Add(&schema.Table{TableName: name("lost"), Engine: "InnoDB", Columns: []schema.TableColumn{{Name: "a"}}})
	cat.Add(&schema.Table{TableName: name("lostview"), Kind: schema.View, Definition: "select 1 AS `a`", Columns: []schema.TableColumn{{Name: "a"}}})
	cat.Add(&schema.Table{TableName: name("stamped"), Engine: "InnoDB", Columns: []schema.TableColumn{{Name: "id"}, {Name: "code", Type: "varchar(9)"}, {Name: "n", Type: "decimal(9,2)"}, {Name: "at", Stamped: true}}})
	cat.Add(&schema.Table{TableName: name("dark"), Kind: schema.View, Columns: []schema.TableColumn{{Name: "a"}}})
	cat.Add(&schema.Table{TableName: name("loop"), Kind: schema.View, Definition: "select `a` AS `a` from `d`.`loop`", Columns: []schema.TableColumn{{Name: "a"}}})
	rules := Rules{List: []Rule{{Name: "(derived)"}, {Name: "main"}}, Lost: []schema.TableName{name("lost"), name("lostview")}, Column: func(c schema.Column) Labels {
		if strings.EqualFold(c.Table, "p") && c.Column == "code" || c.Table == "stamped" && (c.Column == "code" || c.Column == "n") {
			return Labels{1}
		}
		return nil
	}}
	x := New(cat, rules)
	for sql, want := range map[string]string{
		"SELECT * FROM P": "***-*-", "SELECT * FROM Kid": "-*", "SELECT * FROM kidskid": "*", "SELECT * FROM far": "*", "SELECT * FROM lost": "*", "SELECT a FROM lostview": "*",
		// Whether a row was changed shows in stamped.at.
		"UPDATE stamped SET code = CONCAT('a', ?)": "", "UPDATE stamped SET n = n + 1": "", "UPDATE stamped SET n = n * 1.00001": "write-stamp", "UPDATE stamped SET n = n * 1.00001, at = NOW()": "",
		"INSERT INTO stamped (id) VALUES (1) ON DUPLICATE KEY UPDATE n = GREATEST(n, 9)": "write-stamp", "UPDATE stamped s JOIN p SET s.id = 1": "",
		"SELECT * FROM dark": "*", "SELECT * FROM `loop`": "*",
		"INSERT INTO kid (id, code) SELECT 1, code FROM p": "", "INSERT INTO kid (id, code) SELECT code, 1 FROM p": "write-copy", "INSERT INTO far SELECT code FROM p": "write-copy",
	} {
		if got := short(x.judge(sql, Session{Database: "D"})); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

// TestGeneratedNulls: a generated column's NULLs may tell of the values it is made
// of.
func TestGeneratedNulls(t *testing.T) {
	cat := schema.NewCatalog(schema.Server{MariaDB: true, Version: 101119}, schema.IgnoreCase)
	cat.Add(&schema.Table{TableName: schema.TableName{Database: "d", Table: "p"}, Engine: "InnoDB", Columns: []schema.TableColumn{{Name: "id", Type: "int(11)"}, {Name: "pay", Type: "int(11)"},
		{Name: "rich", Generated: "if(`pay` > 9,1,NULL)"}, {Name: "twice", Generated: "`pay` * 2"}, {Name: "again", Generated: "`rich` + 1"}, {Name: "n", Generated: "nullif(`id`,1)"}, {Name: "odd", Generated: "frobnicate(`pay`)"}}})
	for inference, want := range map[Inference]map[string]string{
		Guarded: {"SELECT twice, n, twice IS NULL FROM p": "*--", "SELECT rich FROM p": "null", "SELECT again FROM p": "null", "SELECT odd FROM p": "null", "SELECT * FROM p": "null",
			"SELECT COUNT(rich), rich IS NULL FROM p": "**", "SELECT id FROM p WHERE rich IS NULL": "predicate", "SELECT id FROM p WHERE twice IS NULL": "-"},
		Documented: {"SELECT * FROM p": "-****-*", "SELECT COUNT(rich), rich IS NULL FROM p": "--"},
	} {
		x := New(cat, Rules{List: []Rule{{Name: "(derived)", Inference: inference}, {Name: "main", Inference: inference}}, Column: func(c schema.Column) Labels {
			if c.Column == "pay" {
				return Labels{1}
			}
			return nil
		}})
		for sql, want := range want {
			if got := short(x.judge(sql, Session{Database: "d"})); got != want {
				t.Errorf("%v %s: %s, want %s", inference, sql, got, want)
			}
		}
	}
}

// TestNulls: what may be NULL, and what the server's description of a result may
// depend on.
func TestNulls(t *testing.T) {
	cat := schema.NewCatalog(schema.Server{MariaDB: true, Version: 101119}, schema.IgnoreCase)
	cat.Add(&schema.Table{TableName: schema.TableName{Database: "d", Table: "p"}, Engine: "InnoDB", Columns: []schema.TableColumn{
		{Name: "id", Type: "int(11)"}, {Name: "pay", Type: "int(11)"}, {Name: "born", Type: "date"}, {Name: "seen", Type: "timestamp"}, {Name: "code", Type: "varchar(9)"}}})
	x := New(cat, Rules{List: []Rule{{Name: "(derived)"}, {Name: "main"}}, Column: func(c schema.Column) Labels {
		if c.Column == "id" {
			return nil
		}
		return Labels{1}
	}})
	for expr, want := range map[string]string{
		"CONV(pay, 10, 16)": "*", "CONV('5', 10, pay)": "null", "CONV(pay, 10, NULL)": "*",
		"LAG(code, 2) OVER (ORDER BY id)": "*", "LEAD(id, 1) OVER (ORDER BY id)": "-", "NTH_VALUE(id, pay) OVER (ORDER BY id)": "null",
		"LPAD(code, 9, '0')": "*", "RPAD(code, 9)": "*", "LPAD(code, 9, '')": "null", "RPAD(code, 9, code)": "null", "LPAD(code, 9, id)": "null",
		"born + INTERVAL 1 YEAR": "*", "DATE_SUB(born, INTERVAL -90 DAY)": "*", "ADDDATE(born, 31)": "*", "DATE_SUB(born, INTERVAL 1978 YEAR)": "null", "ADDDATE(born, 2920000)": "null",
		"DATE_ADD(born, INTERVAL '7990-1' YEAR_MONTH)": "null", "DATE_ADD(born, INTERVAL 1e4 YEAR)": "null", "DATE_ADD(born + INTERVAL 900 YEAR, INTERVAL 900 YEAR)": "null", "DATE_ADD(code, INTERVAL 1 DAY)": "null",
		"born + INTERVAL pay DAY": "null", "born + INTERVAL id YEAR": "null", "SUBDATE(code, 1)": "null",
		"UNIX_TIMESTAMP(seen)": "*", "UNIX_TIMESTAMP(born)": "null",
		"CAST(code AS INET6)": "null", "CAST(code AS UUID)": "null", "CAST(code AS DATE)": "null", "CAST(code AS INT)": "*", "CAST(code AS VARCHAR(3))": "*",
		// How many decimals, how long, a date or a time: the server says so before the rows.
		"ROUND(pay, 2)": "*", "ROUND(id, pay)": "*", "ROUND(id, (SELECT MAX(pay) FROM p))": "predicate", "TRUNCATE(id, 1 + (SELECT MAX(pay) FROM p))": "predicate", "ROUND((SELECT MAX(pay) FROM p), 2)": "*",
		"SUBSTR(code, LOCATE('-', code) + 1)": "*", "SUBSTR('abc', (SELECT MAX(pay) FROM p))": "predicate", "IFNULL(STR_TO_DATE('1', (SELECT MAX(code) FROM p)), '')": "predicate",
		"(SELECT ROUND(1.5, n) FROM (SELECT (SELECT MAX(pay) FROM p) AS n) q)": "predicate", "ROUND(id, (SELECT MAX(id) FROM p))": "-",
	} {
		if got := short(x.judge("SELECT "+expr+" FROM p", Session{Database: "d"})); got != want {
			t.Errorf("%s: %s, want %s", expr, got, want)
		}
	}
	for sql, exact := range map[string]bool{"SELECT born + INTERVAL 1 YEAR FROM p": true, "SELECT LPAD(code, 9, ' ') FROM p": true, "SELECT code, id + INTERVAL 1 YEAR FROM p": false} {
		if v := x.judge(sql, Session{Database: "d"}); v.Exact != exact {
			t.Errorf("%s: exact %t", sql, v.Exact)
		}
	}
	if got := short(x.judge("SELECT id FROM p WHERE code = CAST(721 AS INT)", Session{Database: "d"})); got != "predicate-type" {
		t.Errorf("a text compared with CAST(721 AS INT): %s", got)
	}
}

// TestComparingWrites: what a write, or a set operation, compares with protected
// values.
func TestComparingWrites(t *testing.T) {
	w := newWorld()
	w.run(t, schemaFile(t, "schema_hr.sql"))
	for _, inference := range []Inference{Guarded, Documented} {
		x := New(w.Catalog, testRules(inference))
		for sql, want := range map[string]Verdict{
			"UPDATE employee SET ssn = 'x'":                                             {Compares: true},
			"UPDATE employee e JOIN dept d ON d.id = e.id SET d.name = 'x', budget = 1": {Compares: true},
			"UPDATE employee SET name = 'x'":                                            {},
			"INSERT INTO dept VALUES (1, 'x', 2)":                                       {},
			"INSERT INTO dept VALUES (1, 'x', 2) ON DUPLICATE KEY UPDATE budget = 2":    {Compares: true},
			"INSERT INTO dept VALUES (1, 'x', 2) ON DUPLICATE KEY UPDATE name = 'y'":    {},
			"REPLACE INTO dept (id, name) VALUES (1, 'x')":                              {Compares: true},
			"REPLACE INTO log (id, msg) VALUES (1, 'x')":                                {},
			"SELECT ROW_COUNT(), 1":                                                     {Counted: true},
			"SELECT ssn FROM employee UNION SELECT 'x' UNION SELECT 'y'":                {Guesses: 2},
		} {
			v := x.judge(sql, Session{Database: "hr"})
			if v.Refusal != nil || v.Compares != (want.Compares && inference == Guarded) || v.Counted != want.Counted || v.Guesses != want.Guesses {
				t.Errorf("%v %s: compares %t, counted %t, %d guesses, %v", inference, sql, v.Compares, v.Counted, v.Guesses, v.Refusal)
			}
		}
	}
}

// TestTextParams: which parameters are compared with protected texts.
func TestTextParams(t *testing.T) {
	w := newWorld()
	w.run(t, schemaFile(t, "schema_hr.sql"))
	x := New(w.Catalog, testRules(Guarded))
	for sql, want := range map[string]string{
		"SELECT name FROM employee WHERE id = ? AND ssn = ? AND salary = ?":                         "[2]",
		"SELECT ? FROM employee WHERE ssn IN (?, 'a', ?) LIMIT ?":                                   "[2 3]",
		"SELECT name FROM employee WHERE ? = notes COLLATE utf8mb4_bin OR 1":                        "[]",
		"WITH q AS (SELECT ? a) SELECT name FROM employee, q WHERE (id, ssn) = (?, ?)":              "[3]",
		"DELETE FROM employee WHERE id = ? AND ssn = ? RETURNING ?, name":                           "[2]",
		"UPDATE employee SET name = ?, ssn = ? WHERE ssn = ? COLLATE utf8mb4_bin":                   "[3]",
		"SELECT name FROM employee WHERE ssn = CONCAT(?, 'a') AND name = ?":                         "[]",
		"SELECT name FROM employee, JSON_TABLE(?, '$' COLUMNS (v INT PATH '$')) j WHERE ssn = ?":    "[0]",
		"SELECT id FROM employee WHERE ssn = ? UNION ALL SELECT id FROM employee WHERE notes <=> ?": "[1 2]",
	} {
		if got := fmt.Sprint(x.judge(sql, Session{Database: "hr"}).TextParams); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}

// TestTree draws the tree of a verdict.
func TestTree(t *testing.T) {
	w := newWorld()
	w.run(t, schemaFile(t, "schema_hr.sql"))
	x := New(w.Catalog, testRules(Guarded))
	for sql, want := range map[string]string{
		"SELECT name, CONCAT(UPPER(ssn), 'secret') FROM employee WHERE salary = 5": `select
├─ column name
├─ column 2  [main]
│  └─ concat
│     └─ upper
│        └─ hr.employee.ssn  [main]
└─ conditions, order and groups
   └─ equality with constants  [main]
`,
		"SELECT name FROM employee ORDER BY salary": `select, refused: a condition, order or group may not use a protected column in this way
└─ conditions, order and groups
   └─ order of rows  [main]
`,
	} {
		if got := x.judge(sql, Session{Database: "hr", Explain: true}).Tree.String(); got != want {
			t.Errorf("%s\n%s\nwant\n%s", sql, got, want)
		}
	}
}
