package lineage

import (
	"strings"

	"github.com/veildb/veildb/internal/sql/token"
)

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

// prefixed judges the settings of SET STATEMENT ... FOR and returns the statement
// that is to run with them, nil if they may not be set.
func (c chat) prefixed() *token.Text {
	for i := 2; ; i++ {
		next, ok := c.setsVariable(i)
		if !ok || !statementVariables[c.v.Sets[len(c.v.Sets)-1]] {
			return nil
		}
		if i = next; c.IsWord(i, "FOR") {
			c.v.Sets = nil // for as long as the statement runs
			return &token.Text{SQL: c.SQL, Tokens: c.Tokens[i+1:]}
		}
		if !c.IsSymbol(i, ",") {
			return nil
		}
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
	if i >= len(c.Tokens) || !readableCharsets[c.plain(i)] && !c.IsWord(i, "DEFAULT") {
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
// word that is none of a function or column, a product of numbers, a variable that may
// be read, or for sql_mode, which the gate asks for after it was set, a concatenation of
// strings and itself.
func (c chat) constant(i int, variable string) (int, bool) {
	switch variable {
	case "sql_mode":
		if c.IsSymbol(i, "@") && c.IsName(i+1) {
			return i + 2, true
		}
		return c.list(i, nil)
	case "sql_auto_is_null": // IS NULL would find the last number
		return i + 1, c.IsSymbol(i-1, "=") && i < len(c.Tokens) && (string(c.Bytes(i)) == "0" || c.IsWord(i, "OFF") || c.IsWord(i, "FALSE"))
	case "session_track_system_variables":
		return c.list(i, readableVariables)
	}
	if c.IsSymbol(i, "-") || c.IsSymbol(i, "+") {
		i++
	}
	charset := strings.HasPrefix(variable, "character_set_") || variable == "collation_connection"
	if end := c.product(i); variable != "" && !charset && end > i+1 {
		return end, true
	}
	switch {
	case i >= len(c.Tokens), c.IsSymbol(i+1, "("), c.IsSymbol(i+1, "."):
		return i, false
	case c.IsSymbol(i, "@@") && !charset && c.readable(i):
		if c.IsSymbol(i+2, ".") { // after SESSION or GLOBAL
			i += 2
		}
		return i + 2, true
	case c.IsSymbol(i, "@") && (!charset || asked[variable]) && c.IsName(i+1):
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

// asked are character sets that the gate asks the server for after they were set: it
// need not know what they are set to.
var asked = words(`character_set_client character_set_results`)

// product returns the token after a product of numbers that begins at token i.
func (c chat) product(i int) int {
	for ; i < len(c.Tokens) && c.Tokens[i].Kind == token.Number; i += 2 {
		if !c.IsSymbol(i+1, "*") {
			return i + 1
		}
	}
	return i
}

// readable reports whether @@ at token i is followed by a variable that may be
// read.
func (c chat) readable(i int) bool {
	i++
	if (c.IsWord(i, "SESSION") || c.IsWord(i, "GLOBAL") || c.IsWord(i, "LOCAL")) && c.IsSymbol(i+1, ".") {
		i += 2
	}
	if !c.IsName(i) || c.IsSymbol(i+1, ".") {
		return false
	}
	name := strings.ToLower(c.Name(i))
	return readableVariables[name] && (!lastNumbers[name] || len(c.account.numbered) == 0)
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
