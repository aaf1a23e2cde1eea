package lineage

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/veildb/veildb/internal/sql/token"
)

// listings are the forms of SHOW that list descriptions: a database and a filter
// may follow.
var listings = forms(`
SHOW DATABASES | SHOW SCHEMAS | SHOW TABLES | SHOW FULL TABLES | SHOW OPEN TABLES | SHOW TABLE STATUS | SHOW TRIGGERS | SHOW EVENTS
SHOW COLLATION | SHOW CHARACTER SET | SHOW CHARSET | SHOW ENGINES | SHOW STORAGE ENGINES | SHOW PRIVILEGES | SHOW PLUGINS
SHOW FUNCTION STATUS | SHOW PROCEDURE STATUS | SHOW PACKAGE STATUS | SHOW PACKAGE BODY STATUS
`)

// shows are forms that show nothing but descriptions, whole. * is a name, ' a
// string.
var shows = forms(`
SHOW GRANTS | SHOW GRANTS FOR CURRENT_USER | SHOW GRANTS FOR CURRENT_USER ( ) | SHOW GRANTS FOR ' @ ' | SHOW GRANTS FOR * @ *
SHOW CREATE DATABASE * | SHOW CREATE SCHEMA * | SHOW CREATE DATABASE IF NOT EXISTS * | SHOW CREATE SCHEMA IF NOT EXISTS *
HELP '
`)

// objects are the forms that are followed by the name of an object that has a
// text, and perhaps its database before it. Texts are schema, not data.
var objects = forms(`
SHOW CREATE TRIGGER | SHOW CREATE EVENT | SHOW CREATE FUNCTION | SHOW CREATE PROCEDURE | SHOW CREATE PACKAGE | SHOW CREATE PACKAGE BODY
`)

// describes are the forms that are followed by a table, and perhaps a database and
// a filter.
var describes = forms(`
SHOW COLUMNS FROM | SHOW FULL COLUMNS FROM | SHOW FIELDS FROM | SHOW FULL FIELDS FROM | SHOW COLUMNS IN | SHOW FULL COLUMNS IN
SHOW FIELDS IN | SHOW FULL FIELDS IN | SHOW EXTENDED COLUMNS FROM | SHOW EXTENDED FULL COLUMNS FROM
SHOW KEYS FROM | SHOW INDEX FROM | SHOW INDEXES FROM | SHOW KEYS IN | SHOW INDEX IN | SHOW INDEXES IN
SHOW CREATE TABLE | SHOW CREATE VIEW | SHOW CREATE SEQUENCE | DESC | DESCRIBE | EXPLAIN
`)

// variables and statuses are the forms that are followed by a pattern of names.
var variables = forms(`
SHOW VARIABLES | SHOW SESSION VARIABLES | SHOW GLOBAL VARIABLES | SHOW LOCAL VARIABLES
`)

var statuses = forms(`SHOW STATUS | SHOW SESSION STATUS | SHOW GLOBAL STATUS | SHOW LOCAL STATUS`)

// telling are variables that hold what a statement before did.
var telling = strings.Fields(`warning_count error_count last_insert_id identity insert_id rand_seed1 rand_seed2 timestamp in_transaction
last_gtid gtid_binlog_pos gtid_binlog_state gtid_current_pos gtid_slave_pos gtid_executed gtid_owned gtid_purged
default_master_connection pseudo_thread_id pseudo_slave_mode pseudo_replica_mode statement_id`)

// plainStatuses begin the names of counters that do not tell what a session's
// statements found.
var plainStatuses = strings.Fields(`threads_ uptime connections ssl_ slave_ max_used_connections aborted_ open_ opened_ questions queries com_
wsrep_cluster_ wsrep_connected wsrep_local_state wsrep_local_index wsrep_provider_ wsrep_ready`)

// warnings are the forms that the gate answers itself, with nothing.
var warnings = forms(`
SHOW WARNINGS | SHOW ERRORS | SHOW WARNINGS LIMIT # | SHOW ERRORS LIMIT #
SHOW WARNINGS LIMIT # , # | SHOW ERRORS LIMIT # , # | SHOW WARNINGS LIMIT # OFFSET # | SHOW ERRORS LIMIT # OFFSET #
`)

// counts are what SHOW COUNT(*) counts, and what is sent in its place: there are
// as many as are shown.
var counts = map[string]string{
	"WARNINGS": "SELECT 0 AS `@@session.warning_count`",
	"ERRORS":   "SELECT 0 AS `@@session.error_count`",
}

var countForm = strings.Fields("SHOW COUNT")

func (c chat) shows() bool {
	for _, f := range shows {
		if c.matches(f) {
			return true
		}
	}
	for _, f := range listings {
		if c.lists(f) {
			return f[1] != "TABLE" || c.status()
		}
	}
	for _, f := range objects {
		if n := c.begins(f); n > 0 && c.IsName(n) {
			return n+1 == len(c.Tokens) || c.IsSymbol(n+1, ".") && c.IsName(n+2) && n+3 == len(c.Tokens)
		}
	}
	for _, f := range variables {
		if c.begins(f) > 0 {
			return c.variables(f)
		}
	}
	for _, f := range statuses {
		if c.begins(f) > 0 {
			return c.statuses(f)
		}
	}
	for _, f := range warnings {
		if c.matches(f) {
			c.v.Class = ClassWarnings
			return true
		}
	}
	if c.begins(countForm) > 0 && c.IsSymbol(2, "(") && c.IsSymbol(3, "*") && c.IsSymbol(4, ")") && len(c.Tokens) == 6 {
		c.v.Instead = counts[strings.ToUpper(c.plain(5))]
		return c.v.Instead != ""
	}
	for _, f := range describes {
		if c.describes(f) {
			return true
		}
	}
	return false
}

// status judges SHOW TABLE STATUS.
func (c chat) status() bool {
	if c.account.stamped {
		c.v.Hidden = []string{updateTime}
		for i := range c.Tokens {
			if c.IsName(i) && strings.EqualFold(c.Name(i), updateTime) {
				return false
			}
		}
	}
	return !c.account.summed && len(c.account.numbered) == 0
}

// updateTime is the column of SHOW TABLE STATUS that tells when a table was changed.
const updateTime = "Update_time"

// begins returns the token after the words of form, or 0.
func (c chat) begins(form []string) int {
	for i, w := range form {
		if !c.IsWord(i, w) {
			return 0
		}
	}
	return len(form)
}

// lists reports whether the statement is the words of form, perhaps with a
// database and a filter.
func (c chat) lists(form []string) bool {
	i := c.begins(form)
	if (c.IsWord(i, "FROM") || c.IsWord(i, "IN")) && c.IsName(i+1) {
		i += 2
	}
	return i > 0 && c.filter(i)
}

// filter reports whether the rest of the statement, from token i, is nothing, LIKE
// and a string, or a condition of what is listed and constants.
func (c chat) filter(i int) bool {
	if i == len(c.Tokens) {
		return true
	}
	if c.IsWord(i, "LIKE") {
		return i+2 == len(c.Tokens) && c.Tokens[i+1].Kind == token.String
	}
	if !c.IsWord(i, "WHERE") || i+1 == len(c.Tokens) {
		return false
	}
	depth := 0 // what ends early would end what encloses it in Instead
	for i++; i < len(c.Tokens) && depth >= 0; i++ {
		switch c.Tokens[i].Kind {
		case token.Word:
			if c.IsSymbol(i+1, "(") && !filterWords[c.plain(i)] || queryWords[c.plain(i)] {
				return false
			}
		case token.Quoted:
			if c.IsSymbol(i+1, "(") {
				return false
			}
		case token.Symbol:
			if !strings.Contains("=<>!(),", string(c.Bytes(i))) {
				return false
			}
			if c.IsSymbol(i, "(") {
				depth++
			} else if c.IsSymbol(i, ")") {
				depth--
			}
		}
	}
	return depth == 0
}

// queryWords are the words that begin a query, or a value that changes.
var queryWords = words(`select table values with next previous`)

// filterWords are the words of a filter that a parenthesis may follow.
var filterWords = words(`and or not in`)

// variables judges SHOW VARIABLES: those that tell are left out, or refused if
// they are asked for by name.
func (c chat) variables(form []string) bool {
	n := len(form)
	if patterns, ok := c.patterns(form); ok && !slices.ContainsFunc(patterns, tells) {
		return true
	} else if ok && slices.ContainsFunc(patterns, func(p string) bool { return tells(p) && !strings.Contains(p, "%") }) {
		return false
	}
	if !c.filter(n) || !c.plainly(n) {
		return false
	}
	where := "1"
	switch {
	case c.IsWord(n, "LIKE"):
		where = "Variable_name LIKE " + string(c.Bytes(n+1))
	case c.IsWord(n, "WHERE"):
		where = string(c.SQL[c.Tokens[n+1].Start:])
	}
	c.v.Instead = strings.Join(form, " ") + " WHERE (" + where + ") AND Variable_name NOT IN ('" + strings.Join(telling, "','") + "')"
	return true
}

// plainly reports whether there is nothing but ASCII from token i: other letters may
// be compared as if they were those of a name that is left out.
func (c chat) plainly(i int) bool {
	for ; i < len(c.Tokens); i++ {
		for _, b := range c.Bytes(i) {
			if b >= utf8.RuneSelf {
				return false
			}
		}
	}
	return true
}

// nameBytes are those of names of variables and patterns of them.
const nameBytes = "abcdefghijklmnopqrstuvwxyz0123456789_%.-"

// tells reports whether LIKE finds a variable that tells with a pattern.
func tells(pattern string) bool {
	return slices.ContainsFunc(telling, func(name string) bool { return like(pattern, name) })
}

// statuses judges SHOW STATUS: without a pattern, only those that do not tell are
// shown.
func (c chat) statuses(form []string) bool {
	if patterns, ok := c.patterns(form); ok && (len(patterns) > 1 || patterns[0] != "%") {
		for _, p := range patterns {
			if !slices.ContainsFunc(plainStatuses, func(name string) bool { return strings.HasPrefix(p, name) }) {
				return false
			}
		}
		return true
	} else if !ok && len(c.Tokens) != len(form) {
		return false
	}
	c.v.Instead = strings.Join(form, " ") + " WHERE Variable_name REGEXP '^(" + strings.Join(plainStatuses, "|") + ")'"
	return true
}

// patterns returns the patterns of names that follow the words of form and end
// the statement, folded and with their escapes of _ taken for plain ones. After
// WHERE these are: VARIABLE_NAME = 'a' OR VARIABLE_NAME LIKE 'b' OR
// VARIABLE_NAME IN ('c', 'd').
func (c chat) patterns(form []string) (out []string, ok bool) {
	i := c.begins(form)
	if i == 0 || i == len(c.Tokens) {
		return nil, false
	}
	add := func() bool {
		if i >= len(c.Tokens) || c.Tokens[i].Kind != token.String {
			return false
		}
		p := strings.ReplaceAll(strings.ReplaceAll(c.plain(i), `\_`, "_"), `\%`, "%")
		p = strings.TrimRight(p, " ")         // blanks at the end do not count for =
		if strings.Trim(p, nameBytes) != "" { // the others may not count at all
			return false
		}
		out = append(out, p)
		i++
		return true
	}
	if c.IsWord(i, "LIKE") {
		i++
		return out, add() && i == len(c.Tokens)
	}
	if !c.IsWord(i, "WHERE") {
		return nil, false
	}
	for i++; ; {
		if !c.IsName(i) || !strings.EqualFold(c.Name(i), "VARIABLE_NAME") {
			return nil, false
		}
		i++
		switch {
		case c.IsSymbol(i, "="), c.IsWord(i, "LIKE"):
			if i++; !add() {
				return nil, false
			}
		case c.IsWord(i, "IN") && c.IsSymbol(i+1, "("):
			for i++; c.IsSymbol(i, "(") || c.IsSymbol(i, ","); {
				if i++; !add() {
					return nil, false
				}
			}
			if !c.IsSymbol(i, ")") {
				return nil, false
			}
			i++
		default:
			return nil, false
		}
		if i == len(c.Tokens) {
			return out, true
		}
		if !c.IsWord(i, "OR") {
			return nil, false
		}
		i++
	}
}

// like reports whether LIKE finds name with pattern.
func like(pattern, name string) bool {
	i, j, star, from := 0, 0, -1, 0
	for j < len(name) {
		switch {
		case i < len(pattern) && pattern[i] == '%':
			star, from = i, j
			i++
		case i < len(pattern) && (pattern[i] == '_' || pattern[i] == name[j]):
			i, j = i+1, j+1
		case star >= 0: // let the last % take one more
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[i:], "%") == ""
}

// describes reports whether the statement is the words of form and a table. A
// view's text and defaults are schema, not data.
func (c chat) describes(form []string) bool {
	n := c.begins(form)
	if n == 0 || !c.IsName(n) {
		return false
	}
	rest := n + 1
	if c.IsSymbol(rest, ".") && c.IsName(rest+1) {
		rest += 2
	}
	if c.IsWord(1, "CREATE") && c.account.numbered[strings.ToLower(c.Name(rest-1))] {
		return false // it ends with the next number
	}
	if (c.IsWord(rest, "FROM") || c.IsWord(rest, "IN")) && c.IsName(rest+1) {
		rest += 2
	}
	if !c.IsWord(0, "SHOW") && rest+1 == len(c.Tokens) && (c.IsName(rest) || c.Tokens[rest].Kind == token.String) {
		rest++ // one column, or a pattern
	}
	return c.filter(rest)
}
