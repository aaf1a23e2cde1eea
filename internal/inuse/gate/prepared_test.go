package gate

import (
	"strings"
	"testing"
)

// TestReadAnew: the server reads a prepared statement anew when a table it names is
// another one, in the character set of that time. What was judged is what it read
// first.
func TestReadAnew(t *testing.T) {
	g := startGate(t, nil)
	rootOn(t, g)
	// In UTF-8, U+00A0 is part of a name, in latin1 its second byte is a blank, but
	// for names in quotes: then these are the columns of different tables.
	const sql = "SELECT (SELECT CONCAT(`b\u00a0`.ssn, '') FROM (SELECT 'y' AS ssn) AS b\u00a0) AS x FROM employee AS `b\u00a0`"
	for _, c := range []struct{ first, then string }{
		{"SET NAMES utf8mb4", "SET NAMES latin1"}, {"SET NAMES latin1", "SET NAMES utf8mb4"},
		{"SET sql_mode = ''", "SET sql_mode = 'ANSI_QUOTES'"},
	} {
		at := dialRaw(t, g.addr, "app", "hr", 0)
		at.provision(true)
		var tr transcript
		run := func(s string) {
			t.Helper()
			if err := at.query(&tr, s); err != nil || tr.errors > 0 {
				t.Fatal(err, tr.String())
			}
		}
		run(c.first)
		text := sql
		if strings.Contains(c.then, "ANSI") {
			text = `SELECT CONCAT("ssn", '') AS x FROM employee`
		}
		if err := at.prepare(&tr, text); err != nil || tr.errors > 0 {
			continue // such names are not read at all
		}
		id := tr.prep.ID
		if err := at.execute(&tr, id, 0); err != nil || tr.errors > 0 {
			t.Fatal(err, tr.String())
		}
		run(c.then)
		run("CREATE TEMPORARY TABLE employee (id INT, ssn VARCHAR(11))")
		run("DROP TEMPORARY TABLE employee")
		if err := at.execute(&tr, id, 0); err != nil {
			t.Error(c, err)
		}
		if got := tr.String(); strings.Contains(got, "721-07-4426") {
			t.Errorf("%s, %s: %s", c.first, c.then, got)
		}
	}
}

// TestParameterOfOrder: the server takes a parameter in ORDER BY and GROUP BY for the
// number of a column.
func TestParameterOfOrder(t *testing.T) {
	g := startGate(t, nil)
	rootOn(t, g)
	at := dialRaw(t, g.addr, "app", "hr", 0)
	at.provision(true)
	for _, c := range []struct {
		sql     string
		refused bool
	}{
		{"SELECT name, ssn FROM employee ORDER BY ?", true},
		{"SELECT name, ssn FROM employee ORDER BY id, -?", true},
		{"SELECT COUNT(*), LEFT(ssn, 1) FROM employee GROUP BY ?", true},
		{"SELECT name, ssn FROM employee UNION ALL SELECT name, ssn FROM employee ORDER BY ?", true},
		{"SELECT * FROM (SELECT name, ssn FROM employee ORDER BY ? LIMIT 1) q", true},
		{"SELECT name, hired FROM employee ORDER BY ?", false},
		{"SELECT name, ssn FROM employee ORDER BY id LIMIT ?", false},
	} {
		var tr transcript
		if err := at.prepare(&tr, c.sql); err != nil {
			t.Fatal(err)
		}
		if refused := strings.Contains(tr.String(), "refused by the gate"); refused != c.refused {
			t.Errorf("%s: %s", c.sql, tr.String())
		}
	}
}

// TestStatementsOfOthers: the numbers of statements are those of a session, and die
// with its account.
func TestStatementsOfOthers(t *testing.T) {
	g := startGate(t, nil)
	rootOn(t, g)
	boss, at := dialRaw(t, g.addr, "boss", "hr", 0), dialRaw(t, g.addr, "app", "hr", 0)
	var tr transcript
	if err := boss.prepare(&tr, "SELECT ssn FROM employee"); err != nil || tr.errors > 0 {
		t.Fatal(err, tr.String())
	}
	for id := range tr.prep.ID + 3 {
		if id > 3 && id+3 < tr.prep.ID { // a server may count those of all sessions
			continue
		}
		var got transcript
		if err := at.execute(&got, id, 0); err != nil || got.errors != 1 {
			t.Errorf("statement %d: %v %s", id, err, got.String())
		}
		if err := at.fetch(&got, id, 9); err != nil || got.errors != 2 {
			t.Errorf("rows of statement %d: %v %s", id, err, got.String())
		}
	}
	rows(t, at, "text", "SELECT ssn FROM employee")
}
