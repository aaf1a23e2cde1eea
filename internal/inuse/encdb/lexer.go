package encdb

import (
	"bytes"
	"encoding/hex"
)

// A lexer reads the few forms of SQL the protocol has; b is what is left.
type lexer struct {
	b           []byte
	noBackslash bool
}

// space skips white space and comments. A comment that the server would
// execute, and one without end, stays.
func (l *lexer) space() {
	for len(l.b) > 0 {
		switch c := l.b[0]; {
		case c == ' ' || c >= '\t' && c <= '\r':
			l.b = l.b[1:]
			continue
		case c == '#', bytes.HasPrefix(l.b, []byte("--")) && (len(l.b) == 2 || l.b[2] <= ' '):
			if n := bytes.IndexByte(l.b, '\n'); n >= 0 {
				l.b = l.b[n+1:]
			} else {
				l.b = nil
			}
			continue
		case bytes.HasPrefix(l.b, []byte("/*")) && !bytes.HasPrefix(l.b, []byte("/*!")) && !bytes.HasPrefix(l.b, []byte("/*M!")):
			if n := bytes.Index(l.b[2:], []byte("*/")); n >= 0 {
				l.b = l.b[2+n+2:]
				continue
			}
		}
		return
	}
}

func isName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

// word reads a name without quotes; it is empty if there is none.
func (l *lexer) word() []byte {
	l.space()
	n := 0
	for n < len(l.b) && isName(l.b[n]) {
		n++
	}
	w := l.b[:n]
	l.b = l.b[n:]
	return w
}

// name reads a name that may be in back quotes; none of the protocol's holds
// one. A quote without end takes the rest.
func (l *lexer) name() []byte {
	l.space()
	if len(l.b) == 0 || l.b[0] != '`' {
		return l.word()
	}
	n := bytes.IndexByte(l.b[1:], '`')
	if n < 0 {
		l.b = nil
		return nil
	}
	w := l.b[1 : 1+n]
	l.b = l.b[n+2:]
	return w
}

// symbol reads one character if it is c.
func (l *lexer) symbol(c byte) bool {
	l.space()
	if len(l.b) == 0 || l.b[0] != c {
		return false
	}
	l.b = l.b[1:]
	return true
}

// alias reads what may follow an expression.
func (l *lexer) alias() {
	before := l.b
	if equal(l.word(), "as") {
		before = l.b
	}
	l.b = before
	if l.space(); len(l.b) > 0 && (l.b[0] == '\'' || l.b[0] == '"') {
		l.quoted()
		return
	}
	l.name()
}

// end reads an optional ";" and reports whether nothing else is left.
func (l *lexer) end() bool {
	l.symbol(';')
	l.space()
	return len(l.b) == 0
}

// text reads a string: quoted pieces, which MySQL joins, or hexadecimal, with
// an optional character set (_utf8mb4) or N before it.
func (l *lexer) text() ([]byte, bool) {
	l.space()
	if len(l.b) > 0 && l.b[0] == '_' {
		l.word()
		l.space()
	}
	if len(l.b) > 1 && (l.b[0] == 'n' || l.b[0] == 'N') && l.b[1] == '\'' {
		l.b = l.b[1:]
	}
	if s, ok := l.hexadecimal(); ok {
		return s, true
	}
	s, ok := l.quoted()
	for ok {
		l.space()
		if len(l.b) == 0 || l.b[0] != '\'' && l.b[0] != '"' {
			break
		}
		var more []byte
		more, ok = l.quoted()
		s = append(s, more...)
	}
	return s, ok
}

// hexadecimal reads x'…' or 0x….
func (l *lexer) hexadecimal() ([]byte, bool) {
	b := l.b
	var digits []byte
	switch {
	case len(b) > 2 && (b[0] == 'x' || b[0] == 'X') && b[1] == '\'':
		n := bytes.IndexByte(b[2:], '\'')
		if n < 0 {
			return nil, false
		}
		digits, b = b[2:2+n], b[2+n+1:]
	case len(b) > 2 && b[0] == '0' && b[1] == 'x':
		n := 2
		for n < len(b) && isName(b[n]) {
			n++
		}
		digits, b = b[2:n], b[n:]
	}
	s, err := hex.AppendDecode(nil, digits)
	if err != nil || len(s) == 0 {
		return nil, false
	}
	l.b = b
	return s, true
}

// quoted reads one string in single or double quotes, in which the quote is
// written twice or, as other characters, after a backslash.
func (l *lexer) quoted() ([]byte, bool) {
	if len(l.b) == 0 || l.b[0] != '\'' && l.b[0] != '"' {
		return nil, false
	}
	quote := l.b[0]
	out := []byte{} // grows: there may be many short pieces
	for i := 1; i < len(l.b); i++ {
		switch c := l.b[i]; {
		case c == quote && i+1 < len(l.b) && l.b[i+1] == quote:
			out = append(out, quote)
			i++
		case c == quote:
			l.b = l.b[i+1:]
			return out, true
		case c == '\\' && !l.noBackslash:
			if i++; i == len(l.b) {
				return nil, false
			}
			out = append(out, unescape(l.b[i])...)
		default:
			out = append(out, c)
		}
	}
	return nil, false
}

// unescape returns what a backslash and c stand for.
func unescape(c byte) []byte {
	switch c {
	case '0':
		return []byte{0}
	case 'b':
		return []byte{'\b'}
	case 'n':
		return []byte{'\n'}
	case 'r':
		return []byte{'\r'}
	case 't':
		return []byte{'\t'}
	case 'Z':
		return []byte{0x1a}
	case '%', '_':
		return []byte{'\\', c}
	}
	return []byte{c}
}
