package lineage

import (
	"strings"
	"testing"
)

// TestServersNames: what the server itself calls a column of a result, and what ORDER
// BY of a set operation names, is not looked for further out alone. A word in want is
// the rule of a refusal, * is ciphertext and - plain.
func TestServersNames(t *testing.T) {
	w := newWorld()
	if !w.run(t, schemaFile(t, "schema_hr.sql")) {
		t.Fatal("definitions not understood")
	}
	x := New(w.Catalog, testRules(Strict))
	odd := func(name string) string {
		return "WITH q AS (SELECT t.* FROM (SELECT ssn AS `" + name + "` FROM employee) t) SELECT IFNULL((SELECT Name_exp_1 FROM q LIMIT 1), '') FROM (SELECT 1 AS Name_exp_1) o"
	}
	for _, c := range []struct{ name, sql, want string }{
		{"a blank at the end", odd("a "), "*"},
		{"a tab at the end", odd("a\t"), "*"},
		{"65 characters", odd(strings.Repeat("é", 65)), "*"},
		{"64 characters", odd(strings.Repeat("é", 64)), "-"},
		{"an own name", strings.ReplaceAll(odd("a "), "t.*", "t.`a ` AS b"), "-"},
		{"all columns", "WITH q AS (SELECT t.`a `, id FROM (SELECT ssn AS `a `, id FROM employee) t) SELECT * FROM q", "*-"},
		{"a set operation", "SELECT (WITH q AS (SELECT t.`a `, id FROM (SELECT ssn AS `a `, id FROM employee) t UNION ALL SELECT 'x', 0 ORDER BY Name_exp_1 LIMIT 1) SELECT id FROM q) FROM (SELECT 1 AS Name_exp_1) o", "predicate"},
		{"a list of names", "SELECT (WITH q(b, id) AS (SELECT ssn, id FROM employee UNION ALL SELECT 'x', 0 ORDER BY b LIMIT 1) SELECT id FROM q) FROM (SELECT 1 AS b) o", "predicate"},
		{"a list that exchanges names", "WITH q(id, name) AS (SELECT ssn AS name, id FROM employee UNION ALL SELECT 'x', 0 ORDER BY id LIMIT 1) SELECT name FROM q", "predicate"},
		{"a list, in FROM", "SELECT name FROM (SELECT ssn AS name, id FROM employee UNION ALL SELECT 'x', 0 ORDER BY id LIMIT 1) AS q (id, name)", "predicate"},
		{"a list, by position", "WITH q(b, c) AS (SELECT ssn, id FROM employee UNION ALL SELECT ssn, id FROM employee ORDER BY 2) SELECT c, b FROM q", "-*"},
		{"a list, of others", "WITH q(b, c) AS (SELECT name, id FROM employee UNION ALL SELECT name, id FROM employee ORDER BY name) SELECT c, b FROM q", "--"},
		{"a list, recursive", "SELECT (WITH RECURSIVE q(b, id) AS (SELECT ssn, id FROM employee UNION ALL SELECT 'x', id FROM q WHERE FALSE ORDER BY b LIMIT 1) SELECT id FROM q) FROM (SELECT 1 AS b) o", "predicate"},
		{"VALUES", "SELECT (SELECT t.b FROM (VALUES ROW((SELECT MIN(ssn) FROM employee), 1), ROW('x', 2) ORDER BY column_0 LIMIT 1) AS t (a, b)) FROM (SELECT 1 AS column_0) o", "predicate"},
		{"the text of an expression", "SELECT EXISTS(SELECT MIN(ssn) FROM employee HAVING `MIN(ssn)` > '3') FROM (SELECT 1 AS `MIN(ssn)`) o", "predicate"},
		{"the text of an expression, in ORDER BY", "SELECT LEFT(ssn, 1) FROM (SELECT ssn, 1 AS `LEFT(ssn, 1)` FROM employee) t ORDER BY `LEFT(ssn, 1)`", "predicate"},
		{"the text of an expression, beside an alias", "SELECT id AS `LEFT(ssn, 1)`, LEFT(ssn, 1) FROM employee ORDER BY `LEFT(ssn, 1)`", "predicate"},
		{"a word beside an expression", "SELECT LEFT(ssn, 1), name FROM employee HAVING name > 'a' ORDER BY name", "*-"},
		{"a name that was replaced, in HAVING", "WITH q AS (SELECT t.`a ` FROM (SELECT ssn AS `a ` FROM employee) t) SELECT q.*, id FROM q, (SELECT 1 AS Name_exp_1, 2 AS id) o HAVING Name_exp_1 > '3'", "predicate"},
		{"a text that was replaced, in HAVING", "WITH q AS (SELECT CONCAT(ssn, '" + strings.Repeat("x", 65) + "') FROM employee) SELECT q.*, id FROM q, (SELECT 1 AS Name_exp_1, 2 AS id) o HAVING Name_exp_1 > '3'", "predicate"},
		{"an alias beside a column that is an expression", "SELECT id, LEFT(ssn, 1) AS x FROM (SELECT id, ssn, LEFT(name, 1) AS x FROM employee) t HAVING x > '4'", "predicate"},
		{"a sign the server drops", "SELECT (SELECT EXISTS(SELECT +o.ssn FROM dept HAVING ssn > '5') FROM (SELECT 1 AS ssn) m) FROM employee o", "predicate"},
		{"a parenthesis", "SELECT (SELECT EXISTS(SELECT (o.ssn) FROM dept HAVING ssn > '5') FROM (SELECT 1 AS ssn) m) FROM employee o", "predicate"},
		{"a parenthesis in a sign", "SELECT (SELECT EXISTS(SELECT +(o.ssn) FROM dept HAVING ssn > '5') FROM (SELECT 1 AS ssn) m) FROM employee o", "predicate"},
		{"a literal that is none", "SELECT (SELECT EXISTS(SELECT {d o.ssn} FROM dept HAVING ssn > '5') FROM (SELECT 1 AS ssn) m) FROM employee o", "predicate"},
		{"a subquery", "SELECT (SELECT EXISTS(SELECT (SELECT o.ssn) FROM dept HAVING ssn > '5') FROM (SELECT 1 AS ssn) m) FROM employee o", "-"},
		{"a column that is an expression, under its name", "SELECT id, x FROM (SELECT id, LEFT(name, 1) AS x FROM employee) t HAVING x > '4'", "--"},
	} {
		if got := short(x.judge(c.sql, Session{Database: "hr"})); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
