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
