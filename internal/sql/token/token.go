// Package token splits one SQL statement of the MySQL dialects into tokens, or
// refuses it.
//
// It is for programs that must see a statement as the server will. What two
// servers, or two settings of one, would read differently is refused instead
// of being decided: executable comments, invalid encoding, "--" without a
// blank after it, numbers that run into letters, bytes that begin no token.
// What is accepted splits the same way everywhere.
//
// Sources: MySQL reference manual, "Language Structure"; MariaDB knowledge
// base, "SQL Language Structure"; and the behaviour of MariaDB 10.11.
package token

import "errors"

// Errors of Scan; none carries any part of the statement. All match ErrRefused.
var (
	ErrRefused      = errors.New("statement cannot be read with certainty")
	ErrExecutable   = refusal("executable comment")
	ErrUnterminated = refusal("unterminated string, name or comment")
	ErrEncoding     = refusal("text is not valid in the connection's character set")
	ErrByte         = refusal("byte that begins no token")
	ErrNumber       = refusal("number that runs into another token")
	ErrDash         = refusal(`"--" without a blank after it`)
	ErrTooLong      = refusal("too many tokens")
)

type refused string

func refusal(s string) error           { return refused(s) }
func (r refused) Error() string        { return string(r) }
func (r refused) Is(target error) bool { return target == ErrRefused }

// MaxTokens is the most tokens of a statement.
const MaxTokens = 1 << 20

// A Kind is what a token is.
type Kind byte

// The kinds.
const (
	Word   Kind = iota // keyword or name without quotes
	Quoted             // name in quotes
	String             // string literal, with its quotes
	Number             // number, hexadecimal, bit literal or \N
	Symbol             // one byte of an operator or punctuation; ":=" and "@@" are one token
)

// A Token is the bytes SQL[Start:End] of a Text.
type Token struct {
	Kind       Kind
	Start, End int
}

// A Mode is how the session's settings make the server read.
type Mode struct {
	NoBackslash bool // sql_mode NO_BACKSLASH_ESCAPES: \ is an ordinary character
	ANSIQuotes  bool // sql_mode ANSI_QUOTES: "x" is a name
	// SingleByte: the client's character set is latin1, ascii or binary.
	// Otherwise it is utf8 or utf8mb4; no other can be read.
	SingleByte bool
}

// A Text is a statement and its tokens. Its memory is reused by Scan.
type Text struct {
	SQL    []byte // as given to Scan, which keeps a view
	Tokens []Token

	comments []Token // spans of comments
}

// Scan splits sql. It returns one of the errors above if it cannot.
func (t *Text) Scan(sql []byte, mode Mode) error {
	t.SQL, t.Tokens, t.comments = sql, t.Tokens[:0], t.comments[:0]
	s := scanner{t: t, b: sql, mode: mode}
	return s.run()
}

// Forward returns the statement with a blank in place of every comment, so
// that a server cannot read a comment as anything else. It is SQL itself if
// there is none.
func (t *Text) Forward() []byte {
	if len(t.comments) == 0 {
		return t.SQL
	}
	out := make([]byte, 0, len(t.SQL))
	at := 0
	for _, c := range t.comments {
		out = append(append(out, t.SQL[at:c.Start]...), ' ')
		at = c.End
	}
	return append(out, t.SQL[at:]...)
}

// Bytes returns token i as it is written.
func (t *Text) Bytes(i int) []byte { return t.SQL[t.Tokens[i].Start:t.Tokens[i].End] }

// IsWord reports whether there is a token i that is the keyword w, which is
// given in upper case.
func (t *Text) IsWord(i int, w string) bool {
	if i < 0 || i >= len(t.Tokens) || t.Tokens[i].Kind != Word {
		return false
	}
	b := t.Bytes(i)
	if len(b) != len(w) {
		return false
	}
	for j := range b {
		if upper(b[j]) != w[j] {
			return false
		}
	}
	return true
}

// IsSymbol reports whether there is a token i that is the symbol s.
func (t *Text) IsSymbol(i int, s string) bool {
	return i >= 0 && i < len(t.Tokens) && t.Tokens[i].Kind == Symbol && string(t.Bytes(i)) == s
}

// IsName reports whether there is a token i that can be a name.
func (t *Text) IsName(i int) bool {
	return i >= 0 && i < len(t.Tokens) && (t.Tokens[i].Kind == Word || t.Tokens[i].Kind == Quoted)
}

// Name returns the name token i stands for, without its quotes.
func (t *Text) Name(i int) string {
	b := t.Bytes(i)
	if t.Tokens[i].Kind != Quoted {
		return string(b)
	}
	q := b[0]
	out := make([]byte, 0, len(b))
	for j := 1; j < len(b)-1; j++ {
		out = append(out, b[j])
		if b[j] == q {
			j++
		}
	}
	return string(out)
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// Unwrap returns the statement inside a comment that is a whole statement, as
// dump files and drivers send it: /*!40101 SET NAMES utf8 */. Versions below
// 50700 are in every server that speaks the protocol, so all of them run it.
// Anything else comes back as it is.
func Unwrap(sql []byte) []byte {
	b := trim(sql)
	if n := len(b); n > 0 && b[n-1] == ';' {
		b = trim(b[:n-1])
	}
	const open, digits = "/*!", 5
	if len(b) < len(open)+digits+3 || string(b[:len(open)]) != open || string(b[len(b)-2:]) != "*/" {
		return sql
	}
	version, body := b[len(open):len(open)+digits], b[len(open)+digits:len(b)-2]
	for _, c := range version {
		if !isDigit(c) {
			return sql
		}
	}
	if string(version) < "40000" || string(version) >= "50700" || !isSpace(body[0]) {
		return sql
	}
	for i := 1; i < len(body); i++ {
		if body[i-1] == '/' && body[i] == '*' || body[i-1] == '*' && body[i] == '/' {
			return sql
		}
	}
	return body
}

func trim(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}
