package gate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// A footing is what statements start from and no ROLLBACK restores: the next
// numbers of tables with an AUTO_INCREMENT column, and the server's statistics,
// which count a row less for each that a unique key besides the primary refuses.
type footing struct {
	o      *oracle
	root   *rawClient
	tables string            // with such a column, as a list of strings
	now    string            // statements that make the next numbers what they are
	rows   string            // how many the statistics count, by table
	level  string            // rows as they are after loading
	born   *strings.Replacer // puts a name in place of the times at which the tables were made
}

// newFooting takes the footing of a state that has been loaded.
func newFooting(o *oracle) *footing {
	o.Helper()
	f := &footing{o: o}
	f.firm()
	f.tables = f.value("SELECT GROUP_CONCAT(QUOTE(TABLE_NAME)) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'hr' AND EXTRA LIKE '%auto_increment%'")
	f.read()
	f.level = f.rows
	return f
}

// read notes the next numbers and the statistics as they are.
func (f *footing) read() {
	f.rows = f.value("SELECT GROUP_CONCAT(TABLE_NAME, ' ', TABLE_ROWS ORDER BY TABLE_NAME SEPARATOR ', ') FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'hr' AND ENGINE = 'InnoDB'")
	f.now = f.value("SELECT GROUP_CONCAT('ALTER TABLE hr.', TABLE_NAME, ' AUTO_INCREMENT = ', AUTO_INCREMENT ORDER BY TABLE_NAME SEPARATOR '; ') FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'hr' AND TABLE_NAME IN (" + f.tables + ")")
}

// restore makes the next numbers what they were, and all else as after loading.
func (f *footing) restore(numbers string) {
	f.o.Helper()
	f.root.Close()
	f.firm()
	f.root.must(numbers)
	f.read()
	if f.now != numbers {
		f.o.Fatalf("the next numbers are %q, not %q", f.now, numbers)
	}
	f.awaitCatalog()
}

// made stands for the time at which a table was made.
const made = "<when it was made>"

// timeless is text without the times at which tables were made: those of the
// states, and for those of the server now, which is between start and the present.
func (f *footing) timeless(text string, start time.Time) string {
	text = f.born.Replace(text)
	for at := start.Add(-time.Second); at.Before(time.Now().Add(time.Second)); at = at.Add(time.Second) {
		text = strings.ReplaceAll(text, at.Format(time.DateTime), made)
	}
	return sorted(text)
}

// steady makes the statistics anew if a statement has changed them.
func (f *footing) steady() {
	f.o.Helper()
	if f.rows == f.level {
		return
	}
	f.analyze()
	if f.read(); f.rows != f.level {
		f.o.Fatalf("the statistics are %q, not %q", f.rows, f.level)
	}
}

// firm makes the statistics of all tables, as nothing else does from then on, and
// has the server write what it would forget if it died, such as its accounts.
func (f *footing) firm() {
	f.root = dialRaw(f.o, backendServer(f.o).Addr(), "root", "", wire.MultiStatements|wire.MultiResults)
	f.root.tap.on = false
	f.root.must("SET GLOBAL innodb_stats_auto_recalc = OFF") // which a server that died has forgotten
	f.root.must("FLUSH TABLES")
	f.analyze()
	var born []string
	if err := queryStrings(f.root.Conn, "SELECT DISTINCT CREATE_TIME FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ('hr', 'pub') AND CREATE_TIME IS NOT NULL", func(v []string) {
		born = append(born, v[0], made)
	}); err != nil {
		f.o.Fatal(err)
	}
	f.born = strings.NewReplacer(born...)
}

// analyze makes the statistics of all tables, and last of those that hold them.
func (f *footing) analyze() {
	f.o.Helper()
	f.root.must(f.value("SELECT CONCAT('ANALYZE TABLE ', GROUP_CONCAT(TABLE_SCHEMA, '.`', REPLACE(TABLE_NAME, '`', '``'), '`')) FROM information_schema.TABLES" +
		" WHERE TABLE_SCHEMA IN ('hr', 'pub') AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED')"))
	f.root.must("ANALYZE TABLE mysql.innodb_table_stats, mysql.innodb_index_stats")
}

// awaitCatalog waits until the gate sees the server's tables.
func (f *footing) awaitCatalog() {
	f.o.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		at := f.o.connect("hr")
		var tr transcript
		err := at.query(&tr, "SELECT id FROM employee")
		at.Close()
		if err == nil && tr.errors == 0 {
			return
		}
	}
	f.o.Fatal("the gate does not see the server's tables")
}

// value returns what sql, whose answer is one string, gives.
func (f *footing) value(sql string) (value string) {
	f.o.Helper()
	if err := queryStrings(f.root.Conn, sql, func(v []string) { value = v[0] }); err != nil {
		f.o.Fatal(err)
	}
	return value
}

// TestOracleIsSteady: neither a server that dies nor what one statement leaves
// makes others look as though they told the states apart; what one leaves counts
// against it alone.
func TestOracleIsSteady(t *testing.T) {
	o := newOracle(t, testRules, hrSchema(t), stateB.Replace(hrSchema(t)))
	found := &notes{TB: t}
	o.TB = found
	const drifts, diesInA, diesInB, tells, describes = 1, 2, 5, 8, 10
	o.run("hr", 12, func(state, i int) probe {
		if i == diesInA && state == 0 || i == diesInB && state == 1 {
			backendServer(t).Kill()
		}
		p := probe{sql: "INSERT INTO log (msg) SELECT name FROM employee", after: afterwards, prepared: i%2 == 1}
		switch {
		case i == tells && state == 1:
			p.sql = "INSERT INTO log (msg) SELECT 'x'"
		case i == drifts || i == tells+1:
			p.sql = "INSERT INTO employee (id, name, ssn) SELECT id + 90, name, 'x' FROM employee"
		case i == describes:
			p = probe{sql: "SELECT * FROM information_schema.TABLES"}
		}
		return p
	})
	t.Log(o.counts)
	if len(found.errors) != 1 || !strings.HasPrefix(found.errors[0], "statement 8 can tell") || o.counts[died] != 2 || o.counts["statements"] != 12 {
		t.Errorf("want one leak, of statement 8, and two deaths: %v\n%s", o.counts, strings.Join(found.errors, "\n"))
	}
}

// notes keeps errors instead of failing.
type notes struct {
	testing.TB
	errors []string
}

// Errorf notes an error.
func (n *notes) Errorf(format string, args ...any) {
	n.errors = append(n.errors, fmt.Sprintf(format, args...))
}
