package sqlast

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/veildb/veildb/internal/sql/token"
)

// A rewriter writes the tokens of a statement for the parser. Forms the parser
// lacks are taken out whole and kept beside, or written as others in which
// values flow the same way. What is taken out is read to its last token, or the
// statement is refused.
type rewriter struct {
	t    *token.Text
	mode token.Mode
	out  []byte

	// pair holds for each opening parenthesis the one that closes it, up for
	// each token the parenthesis it is in, or -1.
	pair, up []int32

	insert    bool         // the statement is INSERT or REPLACE
	returning int          // first token of RETURNING's list, 0 for none
	into      []string     // variables of SELECT ... INTO
	tables    []*jsonTable // see placeholder
	lists     []aliasList  // of queries in FROM; see placeholder
	row       aliasList    // of the row of INSERT
	rightJoin bool         // RIGHT JOIN stands somewhere
}

// A jsonTable is a JSON_TABLE that was taken out.
type jsonTable struct {
	doc     string // for the parser, as a select list
	columns []JSONColumn
}

// An aliasList is an alias with names of columns: AS t (a, b).
type aliasList struct {
	alias   string
	columns []string
}

// placeholder begins the names of tables that stand for a jsonTable, and aliases
// that stand for an aliasList. No statement that has it in a name of its own is read.
const placeholder = "\ue000json"

// maxDepth is how deep parentheses and CASE may nest.
const maxDepth = 128

// rewrite writes tokens [i, end).
func (w *rewriter) rewrite(i, end int) error {
	for i < end {
		next, err := w.token(i, end)
		if err != nil {
			return err
		}
		i = next
	}
	return nil
}

// token writes what begins at token i and returns the token after it.
func (w *rewriter) token(i, end int) (int, error) {
	t := w.t
	switch t.Tokens[i].Kind {
	case token.Word:
		if t.IsSymbol(i-1, ".") || t.IsSymbol(i-1, "@") || t.IsSymbol(i-1, "@@") {
			break
		}
		if f := shims[shimKey(t.Bytes(i))]; f != nil {
			next, err := f(w, i, end)
			if err != nil || next > i {
				return next, err
			}
		}
	case token.Symbol:
		if t.IsSymbol(i, ";") {
			return i, unreadable("several statements")
		}
	}
	w.copy(i)
	return i + 1, nil
}

// copy writes token i as it means in the parser's default mode.
func (w *rewriter) copy(i int) {
	t := w.t
	tok := t.Tokens[i]
	b := t.Bytes(i)
	if i > 0 && t.Tokens[i-1].End != tok.Start {
		w.out = append(w.out, ' ')
	}
	switch tok.Kind {
	case token.Word:
		if !ascii(b) {
			w.name(string(b))
			return
		}
	case token.Quoted:
		if b[0] != '`' {
			w.name(t.Name(i))
			return
		}
	case token.String:
		if !w.continues(i) {
			w.text(b)
		}
		return
	}
	w.out = append(w.out, b...)
}

// continues reports whether token i is a string that continues one with a
// character set, _latin1'a' 'b'. The parser would take it for an alias.
func (w *rewriter) continues(i int) bool {
	first := i
	for first > 0 && w.t.Tokens[first-1].Kind == token.String {
		first--
	}
	if first == i || first == 0 || w.t.Tokens[first-1].Kind != token.Word || w.t.IsSymbol(first-2, ".") {
		return false
	}
	b := w.t.Bytes(first - 1)
	return b[0] == '_' || len(b) == 1 && b[0]|0x20 == 'n' && w.t.Tokens[first-1].End == w.t.Tokens[first].Start
}

// name writes a name in quotes.
func (w *rewriter) name(s string) {
	w.out = append(append(append(w.out, '`'), strings.ReplaceAll(s, "`", "``")...), '`')
}

// text writes a string literal.
func (w *rewriter) text(b []byte) {
	if !w.mode.NoBackslash && (!w.mode.SingleByte || ascii(b)) {
		w.out = append(w.out, b...)
		return
	}
	for _, c := range b {
		switch {
		case c == '\\' && w.mode.NoBackslash:
			w.out = append(w.out, '\\', '\\')
		case w.mode.SingleByte:
			w.out = utf8.AppendRune(w.out, rune(c))
		default:
			w.out = append(w.out, c)
		}
	}
}

// word writes words of our own.
func (w *rewriter) word(s string) {
	w.out = append(append(append(w.out, ' '), s...), ' ')
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// check refuses statements whose shape alone could hurt the parser.
func (w *rewriter) check() error {
	t := w.t
	depth, run, open := 0, 0, int32(-1)
	w.pair, w.up = w.pair[:0], w.up[:0]
	for i := range t.Tokens {
		w.pair, w.up = append(w.pair, -1), append(w.up, open)
		switch t.Tokens[i].Kind {
		case token.Symbol:
			switch c := t.SQL[t.Tokens[i].Start]; c {
			case '{':
				depth++
				run = 0
			case '}':
				depth--
			case '(':
				depth++
				run = 0
				open = int32(i)
			case ')':
				if depth--; open < 0 {
					return unreadable("parentheses")
				}
				w.pair[open], w.up[i] = int32(i), w.up[open]
				open = w.up[open]
			case '-', '+', '!', '~':
				run++
			default:
				run = 0
			}
		case token.Word:
			switch {
			case t.IsWord(i, "CASE"):
				depth++
			case t.IsWord(i, "END"):
				depth--
			case t.IsWord(i, "NOT"), t.IsWord(i, "BINARY"), t.IsWord(i, "EXPLAIN"):
				run++
				continue
			case t.IsWord(i, "RIGHT") && (t.IsWord(i+1, "JOIN") || t.IsWord(i+1, "OUTER")):
				w.rightJoin = true
			}
			run = 0
			if !ascii(t.Bytes(i)) && strings.Contains(string(t.Bytes(i)), placeholder) {
				return unreadable("name")
			}
		case token.Quoted:
			run = 0
			if b := string(t.Bytes(i)); strings.Contains(b, placeholder) || strings.Contains(b, "'tidb") {
				return unreadable("name")
			}
		default:
			run = 0
		}
		if depth > maxDepth || run > maxDepth {
			return unreadable("too deep")
		}
	}
	if open >= 0 {
		return unreadable("parentheses")
	}
	return nil
}

// closing returns the parenthesis that closes the one at i.
func (w *rewriter) closing(i, _ int) int { return int(w.pair[i]) }

// depth0 reports whether token i is outside all parentheses.
func (w *rewriter) depth0(i int) bool { return w.up[i] < 0 }

// table writes the name that stands for a jsonTable.
func (w *rewriter) table(j *jsonTable) {
	w.word("`" + placeholder + strconv.Itoa(len(w.tables)) + "`")
	w.tables = append(w.tables, j)
}
