package gate

import (
	"strings"

	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/token"
)

// sets judges SET: listed session variables and user variables, to constants,
// and character sets. What the server makes of them is read back before the next
// statement is judged; see session.sync.
func (r *reader) sets() *Refusal {
	t := &r.text
	if r.setsIsolation() {
		return nil
	}
	for i := 1; ; {
		next, ref := r.setsOne(i)
		if ref != nil {
			return ref
		}
		if next == len(t.Tokens) {
			return nil
		}
		if !t.IsSymbol(next, ",") {
			return refuseSet
		}
		i = next + 1
	}
}

// setsOne judges the item of a SET that begins at token i and returns the token
// after it.
func (r *reader) setsOne(i int) (int, *Refusal) {
	if next, ok := r.setsCharset(i); ok {
		return next, nil
	}
	return r.setsVariable(i)
}

// setsCharset reports whether NAMES or CHARACTER SET and a readable character
// set begin at token i, and returns the token after it.
func (r *reader) setsCharset(i int) (next int, ok bool) {
	t := &r.text
	names := t.IsWord(i, "NAMES")
	switch {
	case names, t.IsWord(i, "CHARSET"):
		i++
	case (t.IsWord(i, "CHARACTER") || t.IsWord(i, "CHAR")) && t.IsWord(i+1, "SET"):
		i += 2
	default:
		return i, false
	}
	if i >= len(t.Tokens) || !readableCharsets[r.plain(i)] {
		return i, false
	}
	i++
	if names && t.IsWord(i, "COLLATE") && i+1 < len(t.Tokens) {
		charset, _, _ := strings.Cut(r.plain(i+1), "_")
		if !readableCharsets[charset] {
			return i, false
		}
		i += 2
	}
	return i, true
}

// plain is token i, a word or a simple string, folded.
func (r *reader) plain(i int) string {
	b := r.text.Bytes(i)
	if r.text.Tokens[i].Kind == token.String {
		b = b[1 : len(b)-1]
	}
	return fold(string(b))
}

func (r *reader) setsIsolation() bool {
	t := &r.text
	i := r.skip(1, "SESSION", "LOCAL")
	if !t.IsWord(i, "TRANSACTION") || i > 2 {
		return false
	}
	for i++; i < len(t.Tokens); i++ {
		if t.Tokens[i].Kind != token.Word && !t.IsSymbol(i, ",") {
			return false
		}
	}
	return true
}

// setsVariable judges one assignment that begins at token i and returns the
// token after it.
func (r *reader) setsVariable(i int) (int, *Refusal) {
	t := &r.text
	var name string
	switch {
	case t.IsSymbol(i, "@"):
		if !t.IsName(i + 1) {
			return i, refuseSet
		}
		i += 2
	case t.IsSymbol(i, "@@"):
		if i++; (t.IsWord(i, "SESSION") || t.IsWord(i, "LOCAL")) && t.IsSymbol(i+1, ".") {
			i += 2
		}
		fallthrough
	default:
		if i == 1 || t.IsSymbol(i-1, ",") {
			i = r.skip(i, "SESSION", "LOCAL")
		}
		if !t.IsName(i) || !settableVariables[fold(t.Name(i))] {
			return i, refuseSet
		}
		name = fold(t.Name(i))
		i++
	}
	if !t.IsSymbol(i, "=") && !t.IsSymbol(i, ":=") {
		return i, refuseSet
	}
	return r.constant(i+1, name)
}

// constant judges the value of a variable: a literal, perhaps with a sign, a
// word that is none of a function or column, or for lists of words a
// concatenation of strings and system variables.
func (r *reader) constant(i int, variable string) (int, *Refusal) {
	t := &r.text
	switch variable {
	case "sql_mode":
		return r.listExpression(i, nil)
	case "session_track_system_variables":
		return r.listExpression(i, readableVariables)
	}
	if t.IsSymbol(i, "-") || t.IsSymbol(i, "+") {
		i++
	}
	switch {
	case i >= len(t.Tokens), t.IsSymbol(i+1, "("), t.IsSymbol(i+1, "."):
		return i, refuseSet
	case t.Tokens[i].Kind == token.String, t.Tokens[i].Kind == token.Number:
	case t.Tokens[i].Kind == token.Word && (variable != "" || t.IsWord(i, "NULL") || t.IsWord(i, "TRUE") || t.IsWord(i, "FALSE")):
	default:
		return i, refuseSet
	}
	if strings.HasPrefix(variable, "character_set_") && !readableCharsets[r.plain(i)] {
		// NULL stands for results as they are stored, with metadata in UTF-8.
		if variable != "character_set_results" || !t.IsWord(i, "NULL") {
			return i, refuseSet
		}
	}
	return i + 1, nil
}

// listExpression judges the value of a variable that is a list of words: strings
// and system variables, concatenated or with replacements. Strings must consist of
// the words listed, unless listed is nil.
func (r *reader) listExpression(i int, listed map[string]bool) (int, *Refusal) {
	t := &r.text
	depth := 0
	for ; i < len(t.Tokens); i++ {
		switch {
		case t.IsSymbol(i, "("):
			if !t.IsWord(i-1, "CONCAT") && !t.IsWord(i-1, "REPLACE") {
				return i, refuseSet
			}
			depth++
		case t.IsSymbol(i, ")"):
			depth--
		case t.IsSymbol(i, ",") && depth == 0:
			return i, nil
		case t.IsSymbol(i, "@@") && r.systemVariable(i) == nil:
		case t.Tokens[i].Kind == token.String && listed != nil:
			for _, w := range strings.Split(r.plain(i), ",") {
				if w != "" && !listed[w] {
					return i, refuseSet
				}
			}
		case t.IsSymbol(i, ","), t.IsSymbol(i, "."), t.Tokens[i].Kind == token.String, t.Tokens[i].Kind == token.Word:
		default:
			return i, refuseSet
		}
	}
	return i, nil
}

// shows are the forms of SHOW that show nothing but descriptions. * is a name,
// ' a string.
var shows = forms(`
SHOW DATABASES | SHOW SCHEMAS | SHOW DATABASES LIKE ' | SHOW TABLES | SHOW TABLES LIKE ' | SHOW FULL TABLES | SHOW FULL TABLES LIKE '
SHOW TABLES FROM * | SHOW TABLES IN * | SHOW FULL TABLES FROM * | SHOW TABLES FROM * LIKE ' | SHOW FULL TABLES FROM * LIKE '
SHOW VARIABLES LIKE ' | SHOW SESSION VARIABLES LIKE ' | SHOW GLOBAL VARIABLES LIKE '
SHOW STATUS LIKE ' | SHOW SESSION STATUS LIKE ' | SHOW GLOBAL STATUS LIKE '
SHOW COLLATION | SHOW COLLATION LIKE ' | SHOW CHARACTER SET | SHOW CHARSET | SHOW ENGINES | SHOW STORAGE ENGINES | SHOW PRIVILEGES
`)

// describes are the forms that are followed by a table, and perhaps FROM and a
// database.
var describes = forms(`
SHOW COLUMNS FROM | SHOW FULL COLUMNS FROM | SHOW FIELDS FROM | SHOW FULL FIELDS FROM | SHOW COLUMNS IN | SHOW FULL COLUMNS IN
SHOW KEYS FROM | SHOW INDEX FROM | SHOW INDEXES FROM | SHOW KEYS IN | SHOW INDEX IN | SHOW CREATE TABLE | DESC | DESCRIBE
`)

// warnings are the forms that the gate answers itself, with nothing.
var warnings = forms(`SHOW WARNINGS | SHOW ERRORS | SHOW WARNINGS LIMIT # | SHOW ERRORS LIMIT #`)

func forms(s string) (out [][]string) {
	for _, f := range strings.FieldsFunc(s, func(c rune) bool { return c == '|' || c == '\n' }) {
		if words := strings.Fields(f); len(words) > 0 {
			out = append(out, words)
		}
	}
	return out
}

func (r *reader) shows() *Refusal {
	for _, f := range shows {
		if r.matches(f) {
			return nil
		}
	}
	for _, f := range warnings {
		if r.matches(f) {
			r.v.class = classWarnings
			return nil
		}
	}
	for _, f := range describes {
		if r.describes(f) {
			return nil
		}
	}
	return refuseShow
}

// describes reports whether the statement is the words of form and a table the
// gate knows. A view's text and defaults are schema, not data.
func (r *reader) describes(form []string) bool {
	t := &r.text
	n := len(form)
	if n >= len(t.Tokens) || !t.IsName(n) {
		return false
	}
	for i, w := range form {
		if !t.IsWord(i, w) {
			return false
		}
	}
	rest := n + 1
	name := schema.TableName{Database: r.database, Table: t.Name(n)}
	if t.IsSymbol(rest, ".") && t.IsName(rest+1) {
		name = schema.TableName{Database: name.Table, Table: t.Name(rest + 1)}
		rest += 2
	}
	if (t.IsWord(rest, "FROM") || t.IsWord(rest, "IN")) && t.IsName(rest+1) {
		name.Database = t.Name(rest + 1)
		rest += 2
	}
	if t.IsWord(rest, "LIKE") && rest+1 < len(t.Tokens) && t.Tokens[rest+1].Kind == token.String {
		rest += 2
	}
	return rest == len(t.Tokens) && r.cat.Table(name) != nil
}
