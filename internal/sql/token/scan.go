package token

import (
	"unicode"
	"unicode/utf8"
)

type scanner struct {
	t    *Text
	b    []byte
	at   int
	mode Mode
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
		if s.at+2 < len(s.b) && !isSpace(s.b[s.at+2]) {
			return ErrDash
		}
		s.lineComment()
	case c == '/' && s.peek(1) == '*':
		return s.comment()
	case c == '*' && s.peek(1) == '/':
		return ErrExecutable // the end of a comment nobody began
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

func (s *scanner) lineComment() {
	start := s.at
	for s.at < len(s.b) && s.b[s.at] != '\n' {
		s.at++
	}
	s.t.comments = append(s.t.comments, Token{0, start, s.at})
}

func (s *scanner) comment() error {
	start := s.at
	if s.peek(2) == '!' || s.peek(2) == 'M' && s.peek(3) == '!' {
		return ErrExecutable
	}
	for s.at += 2; s.at+1 < len(s.b); s.at++ {
		if s.b[s.at] == '*' && s.b[s.at+1] == '/' {
			s.at += 2
			s.t.comments = append(s.t.comments, Token{0, start, s.at})
			return nil
		}
	}
	return ErrUnterminated
}

// quoted reads a string or a name up to its quote; two of them stand for one.
func (s *scanner) quoted(k Kind, q byte, backslash bool) error {
	start := s.at
	for s.at++; s.at < len(s.b); s.at++ {
		switch c := s.b[s.at]; {
		case c == 0, k == Quoted && c >= utf8.RuneSelf && s.mode.SingleByte:
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
	if c := upper(s.peek(1)); s.b[start] == '0' && (c == 'X' || c == 'B') {
		for s.at += 2; isHex(s.peek(0)); s.at++ {
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
		if !unicode.In(r, unicode.L, unicode.N, unicode.M) {
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

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isHex(c byte) bool   { return isDigit(c) || 'A' <= upper(c) && upper(c) <= 'F' }

func isWordByte(c byte) bool {
	return isDigit(c) || 'A' <= upper(c) && upper(c) <= 'Z' || c == '_' || c == '$' || c >= utf8.RuneSelf
}
