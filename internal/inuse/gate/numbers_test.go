package gate

import (
	"strings"
	"testing"
)

// TestNumbersOfRows: where the number of a row is protected, the next one, which
// tells the highest there is, comes in plain from nowhere.
func TestNumbersOfRows(t *testing.T) {
	const schema = "CREATE TABLE hr.acct (no INT AUTO_INCREMENT PRIMARY KEY, pub VARCHAR(20)); INSERT INTO hr.acct VALUES (91357.25, 'a'), (68420.50, 'b');"
	const rules = "  - {name: numbers, databases: [hr], tables: [acct], columns: [\"no\"]}\n"
	runOwn(t, [][]string{
		{"SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_NAME = 'acct'"},
		{"SELECT TABLE_NAME FROM information_schema.TABLES WHERE AUTO_INCREMENT > 80000"},
		{"SELECT TABLE_NAME, AUTO_INCREMENT, TABLE_ROWS FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'hr'"},
		{"SHOW FULL TABLES WHERE Tables_in_hr = 'acct'"},
		{"SHOW CREATE TABLE acct"},
		{"SHOW CREATE TABLE `hr`.`ACCT`"},
		{"SHOW CREATE TABLE hr.acct"},
		{"INSERT INTO acct (pub) VALUES ('z')"},
		{"INSERT INTO acct (pub) VALUES ('z')", "SELECT LAST_INSERT_ID()"},
		{"INSERT INTO acct (pub) VALUES ('z')", "SELECT @@identity, @@session.last_insert_id"},
		{"INSERT INTO acct (pub) VALUES ('z')", "INSERT INTO log (msg) SELECT LAST_INSERT_ID()", "SELECT msg FROM log"},
		{"INSERT INTO acct (pub) VALUES ('z')", "SELECT LAST_INSERT_ID() > 80000"},
		{"INSERT INTO acct (pub) VALUES ('z')", "SELECT LAST_INSERT_ID() INTO @x", "SELECT @x"},
		{"INSERT INTO acct (pub) VALUES ('z')", "SET @x = @@identity", "SELECT @x"},
		{"INSERT INTO acct (pub) VALUES ('z')", "SET @x = @@last_insert_id", "SELECT @x"},
		{"INSERT INTO acct (pub) VALUES ('z')", "SET join_buffer_size = @@identity", "SELECT @@join_buffer_size"},
		{"INSERT INTO acct (pub) VALUES ('z')", "SET SESSION max_sort_length = @@last_insert_id", "SELECT @@max_sort_length"},
		{"INSERT INTO acct (pub) VALUES ('z')", "SET STATEMENT join_buffer_size = @@identity FOR SELECT @@join_buffer_size"},
		{"INSERT INTO acct (pub) VALUES ('z')", "SET sql_auto_is_null = 1", "SELECT pub FROM acct WHERE no IS NULL"},
		{"INSERT INTO acct (pub) VALUES ('z')", "SHOW VARIABLES LIKE 'last_insert_id'"},
		{"INSERT INTO acct (pub) VALUES ('z')", "SELECT name FROM dept LIMIT 1", "SELECT pub FROM acct WHERE no = LAST_INSERT_ID()"},
		{"INSERT INTO log (msg) VALUES ('z')"},
		{"REPLACE INTO acct (pub) VALUES ('z')"},
		{"INSERT INTO acct (pub) SELECT name FROM dept"},
		{"INSERT INTO acct (pub) VALUES ('z'), ('y') ON DUPLICATE KEY UPDATE pub = 'x'", "SELECT LAST_INSERT_ID() + 0"},
		{"UPDATE acct SET pub = 'x'", "SELECT ROW_COUNT()"},
	}, schema, rules)
}

// TestTimesOfTables: when a table with protected columns was changed is encrypted,
// for it tells whether a write found what it wrote.
func TestTimesOfTables(t *testing.T) {
	o := newOracle(t, testRules, hrSchema(t), hrSchema(t))
	o.load(0)
	for _, c := range []struct{ sql, want string }{
		{"SHOW TABLE STATUS LIKE 'employee'", "Update_time marked=true"},
		{"SHOW TABLE STATUS WHERE Name = 'employee'", "Update_time marked=true"},
		{"SHOW TABLE STATUS WHERE Update_time > '2020-01-01'", "refused by the gate"},
		{"SHOW TABLE STATUS WHERE `update_time` IS NULL", "refused by the gate"},
		{"SELECT TABLE_NAME, UPDATE_TIME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'hr'", "UPDATE_TIME marked=true"},
		{"SELECT MAX(UPDATE_TIME) AS m FROM information_schema.TABLES", "m marked=true"},
		{"SELECT TABLE_NAME FROM information_schema.TABLES WHERE UPDATE_TIME > NOW() - INTERVAL 1 SECOND", "refused by the gate"},
	} {
		if got := o.caseOf([]string{c.sql}).String(); !strings.Contains(got, c.want) {
			t.Errorf("%s: want %q in\n%s", c.sql, c.want, got)
		}
	}
}
