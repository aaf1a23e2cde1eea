// Package token splits SQL of the MySQL dialects into tokens and writes it
// down in one form that all readers split alike, or refuses it.
//
// It is for programs that must see a statement as the server will, and hand
// both the server and a parser the same bytes: the canonical text. That has no
// comments. Those a server executes are replaced by what is in them if this
// server does, which its product and version decide, and dropped if not. What
// else two readers could split differently is refused: invalid encoding,
// numbers that run into letters, bytes that begin no token.
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
	ErrDash         = refusal(`"--" before a control character`)
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

// A Mode is how a session's server reads: its product, and settings.
type Mode struct {
	NoBackslash   bool // sql_mode NO_BACKSLASH_ESCAPES: \ is an ordinary character
	ANSIQuotes    bool // sql_mode ANSI_QUOTES: "x" is a name
	PipesAsConcat bool // sql_mode PIPES_AS_CONCAT; splits nothing differently
	IgnoreSpace   bool // sql_mode IGNORE_SPACE; likewise
	HighNot       bool // sql_mode HIGH_NOT_PRECEDENCE; likewise
	// SingleByte: the client's character set is latin1, ascii or binary.
	// Otherwise it is utf8 or utf8mb4; no other can be read.
	SingleByte bool
	// MariaDB and Version, such as 101103 for 10.11.3, decide which comments
	// are executed. With Version 0 those are refused.
	MariaDB bool
	Version int
}

// A Text is a statement and its tokens. Its memory is reused by Scan.
type Text struct {
	SQL    []byte // the canonical text; what was given to Scan if that is canonical
	Tokens []Token

	edits []edit
	buf   []byte // SQL, if it is not what was given
}

// An edit puts a blank in place of bytes of the text, or between two.
type edit struct{ start, end int }

// Scan splits sql, which may be kept as the Text's SQL. It returns one of the
// errors above if it cannot.
func (t *Text) Scan(sql []byte, mode Mode) error {
	t.SQL, t.Tokens, t.edits = sql, t.Tokens[:0], t.edits[:0]
	s := scanner{t: t, b: sql, mode: mode}
	if err := s.run(); err != nil {
		return err
	}
	if len(t.edits) > 0 {
		t.rewrite()
	}
	return nil
}

// rewrite makes the edits.
func (t *Text) rewrite() {
	out, at, next := t.buf[:0], 0, 0
	for _, e := range t.edits {
		for shift := len(out) - at; next < len(t.Tokens) && t.Tokens[next].Start < e.start; next++ {
			t.Tokens[next].Start += shift
			t.Tokens[next].End += shift
		}
		out = append(append(out, t.SQL[at:e.start]...), ' ')
		at = e.end
	}
	for shift := len(out) - at; next < len(t.Tokens); next++ {
		t.Tokens[next].Start += shift
		t.Tokens[next].End += shift
	}
	t.buf = append(out, t.SQL[at:]...)
	t.SQL = t.buf
}

// Trim drops a semicolon that ends the statement.
func (t *Text) Trim() {
	if n := len(t.Tokens); n > 0 && t.IsSymbol(n-1, ";") {
		t.SQL = t.SQL[:t.Tokens[n-1].Start]
		t.Tokens = t.Tokens[:n-1]
	}
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
