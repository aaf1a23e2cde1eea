package lineage

import (
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/token"
)

// shows are the forms of SHOW that show nothing but descriptions. * is a name,
// ' a string.
var shows = forms(`
SHOW DATABASES | SHOW SCHEMAS | SHOW DATABASES LIKE ' | SHOW TABLES | SHOW TABLES LIKE ' | SHOW FULL TABLES | SHOW FULL TABLES LIKE '
SHOW FULL TABLES WHERE * = ' | SHOW FULL TABLES FROM * WHERE * = ' | SHOW FULL TABLES IN * WHERE * = ' | SHOW FULL TABLES IN *
SHOW COLLATION WHERE * = ' | SHOW CHARACTER SET WHERE * = ' | SHOW CHARACTER SET LIKE ' | SHOW CHARSET WHERE * = ' | SHOW CHARSET LIKE '
SHOW TABLES FROM * | SHOW TABLES IN * | SHOW FULL TABLES FROM * | SHOW TABLES FROM * LIKE ' | SHOW FULL TABLES FROM * LIKE '
SHOW COLLATION | SHOW COLLATION LIKE ' | SHOW CHARACTER SET | SHOW CHARSET | SHOW ENGINES | SHOW STORAGE ENGINES | SHOW PRIVILEGES
SHOW GRANTS | SHOW GRANTS FOR CURRENT_USER | SHOW GRANTS FOR CURRENT_USER ( ) | SHOW PLUGINS | SHOW CREATE DATABASE * | SHOW CREATE SCHEMA *
SHOW FUNCTION STATUS WHERE * = ' | SHOW PROCEDURE STATUS WHERE * = ' | SHOW FUNCTION STATUS LIKE ' | SHOW PROCEDURE STATUS LIKE '
`)

// describes are the forms that are followed by a table, and perhaps FROM and a
// database.
var describes = forms(`
SHOW COLUMNS FROM | SHOW FULL COLUMNS FROM | SHOW FIELDS FROM | SHOW FULL FIELDS FROM | SHOW COLUMNS IN | SHOW FULL COLUMNS IN
SHOW KEYS FROM | SHOW INDEX FROM | SHOW INDEXES FROM | SHOW KEYS IN | SHOW INDEX IN | SHOW CREATE TABLE | SHOW CREATE VIEW | DESC | DESCRIBE
`)

// variables and statuses are the forms that are followed by a pattern of names.
var variables = forms(`
SHOW VARIABLES LIKE | SHOW SESSION VARIABLES LIKE | SHOW GLOBAL VARIABLES LIKE | SHOW LOCAL VARIABLES LIKE
SHOW VARIABLES WHERE | SHOW SESSION VARIABLES WHERE | SHOW GLOBAL VARIABLES WHERE
`)

var statuses = forms(`SHOW STATUS LIKE | SHOW SESSION STATUS LIKE | SHOW GLOBAL STATUS LIKE`)

// telling are variables that hold what a statement before did.
var telling = strings.Fields(`warning_count error_count last_insert_id identity insert_id rand_seed1 rand_seed2 timestamp in_transaction
last_gtid default_master_connection pseudo_thread_id pseudo_slave_mode`)

// plainStatuses begin the names of counters that do not tell what a session's
// statements found.
var plainStatuses = strings.Fields(`threads_ uptime connections ssl_ wsrep_ slave_ max_used_connections aborted_ open_ opened_`)

// warnings are the forms that the gate answers itself, with nothing.
var warnings = forms(`
SHOW WARNINGS | SHOW ERRORS | SHOW WARNINGS LIMIT # | SHOW ERRORS LIMIT #
SHOW WARNINGS LIMIT # , # | SHOW ERRORS LIMIT # , #
`)

func (c chat) shows() bool {
	for _, f := range shows {
		if c.matches(f) {
			return true
		}
	}
	for _, f := range variables {
		if patterns, ok := c.patterns(f); ok {
			return !slices.ContainsFunc(patterns, func(p string) bool {
				return slices.ContainsFunc(telling, func(name string) bool { return like(p, name) })
			})
		}
	}
	for _, f := range statuses {
		if p, ok := c.patterns(f); ok {
			return slices.ContainsFunc(plainStatuses, func(name string) bool { return strings.HasPrefix(p[0], name) })
		}
	}
	for _, f := range warnings {
		if c.matches(f) {
			c.v.Class = ClassWarnings
			return true
		}
	}
	for _, f := range describes {
		if c.describes(f) {
			return true
		}
	}
	return false
}

// patterns returns the patterns of names that follow the words of form and end
// the statement, folded and with their escapes of _ taken for plain ones. After
// WHERE these are: VARIABLE_NAME = 'a' OR VARIABLE_NAME LIKE 'b' OR
// VARIABLE_NAME IN ('c', 'd').
func (c chat) patterns(form []string) (out []string, ok bool) {
	i := len(form)
	if len(c.Tokens) <= i {
		return nil, false
	}
	for j, w := range form {
		if !c.IsWord(j, w) {
			return nil, false
		}
	}
	add := func() bool {
		if i >= len(c.Tokens) || c.Tokens[i].Kind != token.String {
			return false
		}
		out = append(out, strings.ReplaceAll(c.plain(i), `\`, ""))
		i++
		return true
	}
	if form[len(form)-1] == "LIKE" {
		return out, add() && i == len(c.Tokens)
	}
	for {
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

// describes reports whether the statement is the words of form and a table that
// is known. A view's text and defaults are schema, not data.
func (c chat) describes(form []string) bool {
	n := len(form)
	if n >= len(c.Tokens) || !c.IsName(n) {
		return false
	}
	for i, w := range form {
		if !c.IsWord(i, w) {
			return false
		}
	}
	rest := n + 1
	name := schema.TableName{Database: c.session.Database, Table: c.Name(n)}
	if c.IsSymbol(rest, ".") && c.IsName(rest+1) {
		name = schema.TableName{Database: name.Table, Table: c.Name(rest + 1)}
		rest += 2
	}
	if (c.IsWord(rest, "FROM") || c.IsWord(rest, "IN")) && c.IsName(rest+1) {
		name.Database = c.Name(rest + 1)
		rest += 2
	}
	if (c.IsWord(0, "DESC") || c.IsWord(0, "DESCRIBE")) && rest+1 == len(c.Tokens) && (c.IsName(rest) || c.Tokens[rest].Kind == token.String) {
		rest++ // one column, or a pattern
	}
	if c.IsWord(rest, "LIKE") && rest+1 < len(c.Tokens) && c.Tokens[rest+1].Kind == token.String {
		rest += 2
	}
	if c.IsWord(rest, "WHERE") && c.IsName(rest+1) && c.IsSymbol(rest+2, "=") && rest+3 < len(c.Tokens) && c.Tokens[rest+3].Kind == token.String {
		rest += 4
	}
	return rest == len(c.Tokens) && c.catalog.Table(name) != nil
}
