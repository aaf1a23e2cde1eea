package lineage

import (
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/token"
)

// A chat is a statement seen as tokens alone: those of sessions are few and are
// known by their exact form.
type chat struct {
	*analysis
	*token.Text
	v *Verdict
}

// chatter judges the statements that are known by their tokens: transactions,
// SET, SHOW and USE. It reports whether t is one.
func (a *analysis) chatter(t *token.Text, v *Verdict) bool {
	c := chat{a, t, v}
	if len(t.Tokens) == 0 {
		a.refuse(refuseClass)
		return true
	}
	var ok bool
	switch {
	case t.IsWord(0, "SET"):
		v.Class = ClassSet
		ok = c.sets()
		if !ok {
			a.refuse(refuseSet)
		}
		return true
	case t.IsWord(0, "SHOW"), t.IsWord(0, "DESC") && !c.explains(), t.IsWord(0, "DESCRIBE") && !c.explains():
		v.Class = ClassShow
		if !c.shows() {
			a.refuse(refuseShow)
		}
		return true
	case t.IsWord(0, "USE"):
		v.Class = ClassUse
		if len(t.Tokens) != 2 || !t.IsName(1) || systemSchema(strings.ToLower(t.Name(1))) {
			a.refuse(refuseTable)
			return true
		}
		v.Database = t.Name(1)
		return true
	}
	for _, form := range transactions {
		if c.matches(form) {
			v.Class = ClassTransaction
			return true
		}
	}
	return false
}

// explains reports whether DESCRIBE is followed by a statement.
func (c chat) explains() bool {
	return c.IsWord(1, "SELECT") || c.IsWord(1, "WITH") || c.IsSymbol(1, "(")
}

func systemSchema(name string) bool {
	switch name {
	case schema.InformationSchema, "performance_schema", "mysql", "sys":
		return true
	}
	return false
}

// transactions are the forms of transaction statements; * is a name.
var transactions = forms(`
BEGIN | BEGIN WORK | COMMIT | COMMIT WORK | ROLLBACK | ROLLBACK WORK
START TRANSACTION | START TRANSACTION READ ONLY | START TRANSACTION READ WRITE | START TRANSACTION WITH CONSISTENT SNAPSHOT
SAVEPOINT * | ROLLBACK TO * | ROLLBACK TO SAVEPOINT * | ROLLBACK WORK TO * | ROLLBACK WORK TO SAVEPOINT * | RELEASE SAVEPOINT *
`)

func forms(s string) (out [][]string) {
	for _, f := range strings.FieldsFunc(s, func(c rune) bool { return c == '|' || c == '\n' }) {
		if words := strings.Fields(f); len(words) > 0 {
			out = append(out, words)
		}
	}
	return out
}

// matches reports whether the statement is the words of form, where * is any
// name, ' any string and # any number.
func (c chat) matches(form []string) bool {
	if len(form) != len(c.Tokens) {
		return false
	}
	for i, w := range form {
		ok := false
		switch w {
		case "*":
			ok = c.IsName(i)
		case "'":
			ok = c.Tokens[i].Kind == token.String
		case "#":
			ok = c.Tokens[i].Kind == token.Number
		default:
			ok = c.IsWord(i, w) || c.IsSymbol(i, w)
		}
		if !ok {
			return false
		}
	}
	return true
}

// skip returns the first token from i that is none of the words.
func (c chat) skip(i int, words ...string) int {
	for again := true; again; {
		again = false
		for _, w := range words {
			if c.IsWord(i, w) {
				i, again = i+1, true
			}
		}
	}
	return i
}

// sets judges SET: listed session variables and user variables, to constants, and
// character sets.
func (c chat) sets() bool {
	if c.setsIsolation() {
		return true
	}
	for i := 1; ; {
		next, ok := c.setsCharset(i)
		if !ok {
			next, ok = c.setsVariable(i)
		}
		if !ok {
			return false
		}
		if next == len(c.Tokens) {
			return true
		}
		if !c.IsSymbol(next, ",") {
			return false
		}
		i = next + 1
	}
}

// setsCharset reports whether NAMES or CHARACTER SET and a readable character
// set begin at token i, and returns the token after it.
func (c chat) setsCharset(i int) (next int, ok bool) {
	names := c.IsWord(i, "NAMES")
	switch {
	case names, c.IsWord(i, "CHARSET"):
		i++
	case (c.IsWord(i, "CHARACTER") || c.IsWord(i, "CHAR")) && c.IsWord(i+1, "SET"):
		i += 2
	default:
		return i, false
	}
	if i >= len(c.Tokens) || !readableCharsets[c.plain(i)] {
		return i, false
	}
	i++
	if names && c.IsWord(i, "COLLATE") && i+1 < len(c.Tokens) {
		charset, _, _ := strings.Cut(c.plain(i+1), "_")
		if !readableCharsets[charset] {
			return i, false
		}
		i += 2
	}
	c.v.Sets = append(c.v.Sets, "names")
	return i, true
}

// plain is token i, a word or a simple string, folded.
func (c chat) plain(i int) string {
	b := c.Bytes(i)
	if c.Tokens[i].Kind == token.String {
		b = b[1 : len(b)-1]
	}
	return strings.ToLower(string(b))
}

func (c chat) setsIsolation() bool {
	i := c.skip(1, "SESSION", "LOCAL")
	if !c.IsWord(i, "TRANSACTION") || i > 2 {
		return false
	}
	for i++; i < len(c.Tokens); i++ {
		if c.Tokens[i].Kind != token.Word && !c.IsSymbol(i, ",") {
			return false
		}
	}
	c.v.Sets = append(c.v.Sets, "transaction")
	return true
}

// setsVariable judges one assignment that begins at token i and returns the
// token after it.
func (c chat) setsVariable(i int) (int, bool) {
	var name string
	switch {
	case c.IsSymbol(i, "@"):
		if !c.IsName(i + 1) {
			return i, false
		}
		c.v.Sets = append(c.v.Sets, "@")
		i += 2
	case c.IsSymbol(i, "@@"):
		if i++; (c.IsWord(i, "SESSION") || c.IsWord(i, "LOCAL")) && c.IsSymbol(i+1, ".") {
			i += 2
		}
		fallthrough
	default:
		if i == 1 || c.IsSymbol(i-1, ",") {
			i = c.skip(i, "SESSION", "LOCAL")
		}
		if !c.IsName(i) || !settableVariables[strings.ToLower(c.Name(i))] {
			return i, false
		}
		name = strings.ToLower(c.Name(i))
		c.v.Sets = append(c.v.Sets, name)
		i++
	}
	if !c.IsSymbol(i, "=") && !c.IsSymbol(i, ":=") {
		return i, false
	}
	return c.constant(i+1, name)
}

// constant judges the value of a variable: a literal, perhaps with a sign, a
// word that is none of a function or column, a variable that may be read, or for
// sql_mode a concatenation of strings and itself.
func (c chat) constant(i int, variable string) (int, bool) {
	switch variable {
	case "sql_mode":
		return c.list(i, nil)
	case "session_track_system_variables":
		return c.list(i, readableVariables)
	}
	if c.IsSymbol(i, "-") || c.IsSymbol(i, "+") {
		i++
	}
	charset := strings.HasPrefix(variable, "character_set_") || variable == "collation_connection"
	switch {
	case i >= len(c.Tokens), c.IsSymbol(i+1, "("), c.IsSymbol(i+1, "."):
		return i, false
	case c.IsSymbol(i, "@@") && !charset && c.readable(i):
		return i + 2, true
	case c.IsSymbol(i, "@") && !charset && c.IsName(i+1):
		return i + 2, true
	case c.Tokens[i].Kind == token.String, c.Tokens[i].Kind == token.Number, c.IsSymbol(i, "?") && !charset:
	case c.Tokens[i].Kind == token.Word && (variable != "" || c.IsWord(i, "NULL") || c.IsWord(i, "TRUE") || c.IsWord(i, "FALSE")):
	default:
		return i, false
	}
	if charset && !(variable == "character_set_results" && c.IsWord(i, "NULL")) {
		name, _, _ := strings.Cut(c.plain(i), "_")
		// NULL stands for results as they are stored, with metadata in UTF-8.
		if !readableCharsets[name] && !(variable == "character_set_results" && c.IsWord(i, "NULL")) {
			return i, false
		}
	}
	return i + 1, true
}

// readable reports whether @@ at token i is followed by a variable that may be
// read.
func (c chat) readable(i int) bool {
	i++
	if (c.IsWord(i, "SESSION") || c.IsWord(i, "GLOBAL") || c.IsWord(i, "LOCAL")) && c.IsSymbol(i+1, ".") {
		i += 2
	}
	return c.IsName(i) && !c.IsSymbol(i+1, ".") && readableVariables[strings.ToLower(c.Name(i))]
}

// list judges the value of a variable that is a list of words: strings and
// variables that may be read, concatenated or with replacements. Strings consist
// of the words listed, unless listed is nil.
func (c chat) list(i int, listed map[string]bool) (int, bool) {
	if c.IsSymbol(i-1, "=") && c.IsSymbol(i, "(") && c.IsWord(i+1, "SELECT") { // of such a list, and nothing else
		end, ok := c.list(i+2, listed)
		for j := i + 2; ok && j < end; j++ {
			ok = c.Tokens[j].Kind != token.Word || c.IsSymbol(j-1, "@@") || c.IsSymbol(j-1, ".") && c.IsSymbol(j-3, "@@") || c.IsWord(j, "CONCAT") || c.IsWord(j, "REPLACE")
		}
		return end + 1, ok && c.IsSymbol(end, ")")
	}
	depth, start := 0, i
	for ; i < len(c.Tokens); i++ {
		switch {
		case c.IsSymbol(i, "("):
			if !c.IsWord(i-1, "CONCAT") && !c.IsWord(i-1, "REPLACE") {
				return i, false
			}
			depth++
		case c.IsSymbol(i, ")") && depth == 0:
			return i, i > start
		case c.IsSymbol(i, ")"):
			depth--
		case c.IsSymbol(i, ",") && depth == 0:
			return i, i > start
		case c.IsSymbol(i, "@@") && c.readable(i):
		case c.Tokens[i].Kind == token.String && !c.listed(i, listed):
			return i, false
		case c.IsSymbol(i, ","), c.IsSymbol(i, "."), c.Tokens[i].Kind == token.String, c.Tokens[i].Kind == token.Word:
		default:
			return i, false
		}
	}
	return i, i > start && depth == 0
}

// listed reports whether string token i consists of listed words.
func (c chat) listed(i int, words map[string]bool) bool {
	for _, w := range strings.Split(c.plain(i), ",") {
		if w = strings.TrimSpace(w); words != nil && w != "" && !words[w] {
			return false
		}
	}
	return true
}

// shows are the forms of SHOW that show nothing but descriptions. * is a name,
// ' a string.
var shows = forms(`
SHOW DATABASES | SHOW SCHEMAS | SHOW DATABASES LIKE ' | SHOW TABLES | SHOW TABLES LIKE ' | SHOW FULL TABLES | SHOW FULL TABLES LIKE '
SHOW FULL TABLES WHERE * = ' | SHOW FULL TABLES FROM * WHERE * = ' | SHOW FULL TABLES IN * WHERE * = ' | SHOW FULL TABLES IN *
SHOW COLLATION WHERE * = ' | SHOW CHARACTER SET WHERE * = ' | SHOW CHARACTER SET LIKE ' | SHOW CHARSET WHERE * = ' | SHOW CHARSET LIKE '
SHOW TABLES FROM * | SHOW TABLES IN * | SHOW FULL TABLES FROM * | SHOW TABLES FROM * LIKE ' | SHOW FULL TABLES FROM * LIKE '
SHOW COLLATION | SHOW COLLATION LIKE ' | SHOW CHARACTER SET | SHOW CHARSET | SHOW ENGINES | SHOW STORAGE ENGINES | SHOW PRIVILEGES
`)

// describes are the forms that are followed by a table, and perhaps FROM and a
// database.
var describes = forms(`
SHOW COLUMNS FROM | SHOW FULL COLUMNS FROM | SHOW FIELDS FROM | SHOW FULL FIELDS FROM | SHOW COLUMNS IN | SHOW FULL COLUMNS IN
SHOW KEYS FROM | SHOW INDEX FROM | SHOW INDEXES FROM | SHOW KEYS IN | SHOW INDEX IN | SHOW CREATE TABLE | DESC | DESCRIBE
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
	if c.IsWord(rest, "LIKE") && rest+1 < len(c.Tokens) && c.Tokens[rest+1].Kind == token.String {
		rest += 2
	}
	if c.IsWord(rest, "WHERE") && c.IsName(rest+1) && c.IsSymbol(rest+2, "=") && rest+3 < len(c.Tokens) && c.Tokens[rest+3].Kind == token.String {
		rest += 4
	}
	return rest == len(c.Tokens) && c.catalog.Table(name) != nil
}
