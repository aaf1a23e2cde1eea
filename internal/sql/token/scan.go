package token

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

type scanner struct {
	t    *Text
	b    []byte
	at   int
	mode Mode
	open bool // an executed comment has begun and not ended
}

func (s *scanner) peek(n int) byte {
	if s.at+n < len(s.b) {
		return s.b[s.at+n]
	}
	return 0
}

func (s *scanner) emit(k Kind, start int) {
	s.t.Tokens = append(s.t.Tokens, Token{k, start, s.at})
}

func (s *scanner) run() error {
	if bytes.IndexByte(s.b, 0) >= 0 {
		return ErrByte
	}
	if !s.mode.SingleByte && !utf8.Valid(s.b) {
		return ErrEncoding
	}
	for s.at < len(s.b) {
		if len(s.t.Tokens) >= MaxTokens {
			return ErrTooLong
		}
		if err := s.next(); err != nil {
			return err
		}
	}
	if s.open {
		return ErrUnterminated
	}
	return nil
}

// next reads white space, a comment or a token.
func (s *scanner) next() error {
	switch c := s.b[s.at]; {
	case isSpace(c):
		s.at++
	case c == '#':
		s.lineComment()
	case c == '-' && s.peek(1) == '-':
		return s.dashes()
	case c == '/' && s.peek(1) == '*':
		return s.comment()
	case c == '*' && s.peek(1) == '/':
		if !s.open {
			return ErrExecutable // the end of a comment nobody began
		}
		s.open = false
		s.blank(s.at, s.at+2)
	case c == '\'' || c == '"' && !s.mode.ANSIQuotes:
		return s.quoted(String, c, !s.mode.NoBackslash)
	case c == '`' || c == '"':
		return s.quoted(Quoted, c, false)
	case isDigit(c) || c == '.' && isDigit(s.peek(1)):
		return s.number()
	case (c == 'x' || c == 'X' || c == 'b' || c == 'B') && s.peek(1) == '\'':
		return s.digits(c)
	case isWordByte(c):
		return s.word()
	case c == '\\':
		if s.peek(1) != 'N' || isWordByte(s.peek(2)) {
			return ErrByte
		}
		s.at += 2
		s.emit(Number, s.at-2)
	default:
		return s.symbol()
	}
	return nil
}

// blank notes that bytes are to become a blank, and goes on after them.
func (s *scanner) blank(start, end int) {
	s.t.edits = append(s.t.edits, edit{start, end})
	s.at = end
}

// dashes reads "--": a comment if a blank or the end follows, and otherwise two
// operators, which a blank keeps apart for readers that are less exact.
func (s *scanner) dashes() error {
	switch c := s.peek(2); {
	case s.at+2 == len(s.b) || isSpace(c):
		s.lineComment()
	case c < ' ' || c == 0x7f:
		return ErrDash // a comment too, for some
	default:
		s.at++
		s.emit(Symbol, s.at-1)
		s.blank(s.at, s.at)
	}
	return nil
}

func (s *scanner) lineComment() {
	end := bytes.IndexByte(s.b[s.at:], '\n')
	if end < 0 {
		end = len(s.b) - s.at
	}
	s.blank(s.at, s.at+end)
}

// comment reads a comment that begins with "/*". Those within others are read
// differently by servers, and refused.
func (s *scanner) comment() error {
	body := s.at + 2
	mark := body
	if s.peek(2) == 'M' && s.peek(3) == '!' {
		mark++
	}
	if mark < len(s.b) && s.b[mark] == '!' {
		run, digits, err := s.executed(mark > body, s.b[mark+1:])
		if err != nil {
			return err
		}
		if body = mark + 1; run {
			s.open = true
			s.blank(s.at, body+digits)
			return nil
		}
	} else {
		mark = -1
	}
	n := bytes.Index(s.b[body:], []byte("*/"))
	if n < 0 {
		return ErrUnterminated
	}
	if mark >= 0 && bytes.Contains(s.b[body:body+n+1], []byte("/*")) {
		return ErrExecutable
	}
	s.blank(s.at, body+n+2)
	return nil
}

// Versions in a comment from which, and to which, MariaDB takes it as meant for
// MySQL.
const mysqlFrom, mysqlTo = 50700, 99999

// executed reports whether the server runs what is in a comment, whose text
// begins with rest, and how many digits of a version come first. own: it is one
// of MariaDB's own, /*M!.
func (s *scanner) executed(own bool, rest []byte) (run bool, digits int, err error) {
	version := 0
	for digits < len(rest) && digits < 7 && isDigit(rest[digits]) {
		if digits < 6 {
			version = version*10 + int(rest[digits]-'0')
		}
		digits++
	}
	switch {
	case s.mode.Version == 0 || s.open:
		return false, 0, ErrExecutable
	case own && !s.mode.MariaDB:
		return false, 0, nil
	case digits == 7 || digits == 6 && !s.mode.MariaDB:
		return false, 0, ErrExecutable
	case digits < 5: // belong to the text, which every version runs
		return true, 0, nil
	case version > s.mode.Version:
		return false, 0, nil
	}
	return !s.mode.MariaDB || own || version < mysqlFrom || version > mysqlTo, digits, nil
}

// quoted reads a string or a name up to its quote; two of them stand for one.
func (s *scanner) quoted(k Kind, q byte, backslash bool) error {
	start := s.at
	for s.at++; s.at < len(s.b); s.at++ {
		switch c := s.b[s.at]; {
		case k == Quoted && (c >= utf8.RuneSelf && s.mode.SingleByte || c >= beyondBMP):
			return ErrByte
		case c == '\\' && backslash:
			s.at++
		case c == q && s.peek(1) == q:
			s.at++
		case c == q:
			s.at++
			if k == Quoted && s.at-start == 2 {
				return ErrByte
			}
			s.emit(k, start)
			return nil
		}
	}
	return ErrUnterminated
}

// digits reads x'4a' or b'01'.
func (s *scanner) digits(kind byte) error {
	start := s.at
	for s.at += 2; s.at < len(s.b); s.at++ {
		c := s.b[s.at]
		if c == '\'' {
			s.at++
			s.emit(Number, start)
			return nil
		}
		if binary := kind == 'b' || kind == 'B'; binary && c != '0' && c != '1' || !isHex(c) {
			return ErrByte
		}
	}
	return ErrUnterminated
}

func (s *scanner) number() error {
	start := s.at
	if s.b[start] == '.' && s.afterName() {
		return ErrNumber
	}
	if c := s.peek(1); s.b[start] == '0' && (c == 'x' || c == 'b') { // X and B begin a name
		for s.at += 2; c == 'x' && isHex(s.peek(0)) || s.peek(0) == '0' || s.peek(0) == '1'; s.at++ {
		}
		if s.at == start+2 {
			return ErrNumber
		}
	} else {
		s.skipDigits()
		if s.peek(0) == '.' {
			s.at++
			s.skipDigits()
		}
		if upper(s.peek(0)) == 'E' {
			s.at++
			if s.peek(0) == '+' || s.peek(0) == '-' {
				s.at++
			}
			if !isDigit(s.peek(0)) {
				return ErrNumber
			}
			s.skipDigits()
		}
	}
	if c := s.peek(0); isWordByte(c) || c == '.' {
		return ErrNumber
	}
	s.emit(Number, start)
	return nil
}

func (s *scanner) skipDigits() {
	for isDigit(s.peek(0)) {
		s.at++
	}
}

// afterName reports whether the last token can be a name.
func (s *scanner) afterName() bool {
	return s.t.IsName(len(s.t.Tokens) - 1)
}

func (s *scanner) word() error {
	start := s.at
	for s.at < len(s.b) && isWordByte(s.b[s.at]) {
		if s.b[s.at] < utf8.RuneSelf {
			s.at++
			continue
		}
		if s.mode.SingleByte {
			return ErrByte
		}
		r, n := utf8.DecodeRune(s.b[s.at:])
		if s.b[s.at] >= beyondBMP || !unicode.In(r, unicode.L, unicode.N, unicode.M) {
			return ErrByte
		}
		s.at += n
	}
	s.emit(Word, start)
	return nil
}

func (s *scanner) symbol() error {
	start := s.at
	switch c := s.b[s.at]; c {
	case '@', ':':
		s.at++
		if c == '@' && s.peek(0) == '@' || c == ':' && s.peek(0) == '=' {
			s.at++
		} else if c == ':' {
			return ErrByte
		}
	case '(', ')', ',', ';', '.', '*', '=', '<', '>', '!', '+', '-', '/', '%', '^', '~', '&', '|', '?', '{', '}':
		s.at++
	default:
		return ErrByte
	}
	s.emit(Symbol, start)
	return nil
}

// beyondBMP is the first byte of characters that names cannot have: servers keep
// names in three bytes a character.
const beyondBMP = 0xf0

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isHex(c byte) bool   { return isDigit(c) || 'A' <= upper(c) && upper(c) <= 'F' }

func isWordByte(c byte) bool {
	return isDigit(c) || 'A' <= upper(c) && upper(c) <= 'Z' || c == '_' || c == '$' || c >= utf8.RuneSelf
}
