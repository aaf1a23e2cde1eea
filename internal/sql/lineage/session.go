package lineage

import (
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
		if len(t.SQL) > 0 { // there were comments: what another server would run
			v.Instead = "/* */"
		}
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
	case t.IsWord(0, "SHOW"), t.IsWord(0, "HELP"), c.describing():
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
	if t.IsWord(0, "LOCK") || t.IsWord(0, "UNLOCK") {
		v.Class = ClassTransaction
		if !c.locks() {
			a.refuse(refuseTable)
		}
		return true
	}
	if c.matches(killQuery) {
		return true
	}
	if c.analyzes() {
		v.Class = ClassShow
		return true
	}
	if t := c.indexes(); t != nil {
		v.Class, v.Writes = ClassDefine, append(v.Writes, t.TableName)
		return true
	}
	if c.ends() {
		v.Class = ClassTransaction
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

// ends reports whether the statement is COMMIT or ROLLBACK of the transaction. RELEASE
// would end the session.
func (c chat) ends() bool {
	if !c.IsWord(0, "COMMIT") && !c.IsWord(0, "ROLLBACK") {
		return false
	}
	i := 1
	if c.IsWord(i, "WORK") {
		i++
	}
	if c.IsWord(i, "AND") {
		if i++; c.IsWord(i, "NO") {
			i++
		}
		if !c.IsWord(i, "CHAIN") {
			return false
		}
		i++
	}
	if c.IsWord(i, "NO") && c.IsWord(i+1, "RELEASE") {
		i += 2
	}
	return i == len(c.Tokens)
}

// killQuery ends a statement of another session; whose may be is the server's to
// say.
var killQuery = forms("KILL QUERY #")[0]

// analyzes reports whether the statement is ANALYZE TABLE of tables that are known, or
// CHECK TABLE or OPTIMIZE TABLE of such without labels.
func (c chat) analyzes() bool {
	i := c.skip(1, "NO_WRITE_TO_BINLOG", "LOCAL")
	clean := c.IsWord(0, "CHECK") || c.IsWord(0, "OPTIMIZE") // its answer may tell of rows
	if !c.IsWord(0, "ANALYZE") && !clean || !c.IsWord(i, "TABLE") && !c.IsWord(i, "TABLES") {
		return false
	}
	for {
		name, next := c.tableName(i + 1)
		if next == 0 {
			return false
		}
		if t := c.catalog.Table(name); t == nil || t.Kind != schema.Base || clean && c.account.labels[t] != nil {
			return false
		}
		if i = next; i == len(c.Tokens) {
			return true
		}
		if !c.IsSymbol(i, ",") {
			return false
		}
	}
}

// tableName reads the name of a table, perhaps with its database, at token i and
// returns the token after it, 0 if there is none.
func (c chat) tableName(i int) (name schema.TableName, next int) {
	if !c.IsName(i) {
		return name, 0
	}
	if c.IsSymbol(i+1, ".") && c.IsName(i+2) {
		return schema.TableName{Database: c.Name(i), Table: c.Name(i + 2)}, i + 3
	}
	return schema.TableName{Database: c.session.Database, Table: c.Name(i)}, i + 1
}

// indexes returns the table of a statement that is CREATE INDEX of columns of a table
// without labels, nil for others.
func (c chat) indexes() *schema.Table {
	i := c.skip(1, "UNIQUE")
	if !c.IsWord(0, "CREATE") || !c.IsWord(i, "INDEX") || !c.IsName(i+1) || !c.IsWord(i+2, "ON") {
		return nil
	}
	name, i := c.tableName(i + 3)
	t := c.catalog.Table(name)
	if i == 0 || t == nil || t.Kind != schema.Base || c.account.labels[t] != nil || !c.IsSymbol(i, "(") {
		return nil
	}
	for ; c.IsName(i + 1); i++ {
		if i = c.skip(i+2, "ASC", "DESC"); c.IsSymbol(i, ")") && i+1 == len(c.Tokens) {
			return t
		}
		if !c.IsSymbol(i, ",") {
			return nil
		}
		i--
	}
	return nil
}

// locks judges LOCK TABLES of tables that are known, and UNLOCK TABLES.
func (c chat) locks() bool {
	if !c.IsWord(1, "TABLES") && !c.IsWord(1, "TABLE") {
		return false
	}
	if c.IsWord(0, "UNLOCK") {
		return len(c.Tokens) == 2
	}
	for i := 1; ; {
		name, next := c.tableName(i + 1)
		if next == 0 || c.catalog.Table(name) == nil {
			return false
		}
		if i = next; c.IsWord(i, "AS") {
			i++
		}
		if c.IsName(i) && !c.IsWord(i, "READ") && !c.IsWord(i, "WRITE") {
			i++ // an alias
		}
		switch {
		case c.IsWord(i, "READ") && c.IsWord(i+1, "LOCAL"):
			i += 2
		case c.IsWord(i, "READ"), c.IsWord(i, "WRITE"):
			i++
		default:
			return false
		}
		if i == len(c.Tokens) {
			return true
		}
		if !c.IsSymbol(i, ",") {
			return false
		}
	}
}

// describing reports whether the statement is DESCRIBE or EXPLAIN of a table, and
// not of a statement.
func (c chat) describing() bool {
	if c.IsWord(0, "EXPLAIN") {
		return c.IsName(1) && (len(c.Tokens) == 2 || c.IsSymbol(2, ".") && len(c.Tokens) == 4)
	}
	return (c.IsWord(0, "DESC") || c.IsWord(0, "DESCRIBE")) && c.IsName(1) && !c.IsSymbol(2, "=") && (c.Tokens[1].Kind == token.Quoted || !explained[c.plain(1)])
}

// explained are the words after DESCRIBE that begin, or precede, a statement.
var explained = words(`select with table values insert replace update delete analyze extended partitions format for`)

func systemSchema(name string) bool {
	switch name {
	case schema.InformationSchema, "performance_schema", "mysql", "sys":
		return true
	}
	return false
}

// transactions are the forms of transaction statements; * is a name.
var transactions = forms(`
BEGIN | BEGIN WORK
START TRANSACTION | START TRANSACTION READ ONLY | START TRANSACTION READ WRITE | START TRANSACTION WITH CONSISTENT SNAPSHOT
START TRANSACTION WITH CONSISTENT SNAPSHOT , READ ONLY | START TRANSACTION WITH CONSISTENT SNAPSHOT , READ WRITE
START TRANSACTION READ ONLY , WITH CONSISTENT SNAPSHOT | START TRANSACTION READ WRITE , WITH CONSISTENT SNAPSHOT
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
