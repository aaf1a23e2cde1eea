package token_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/veildb/veildb/internal/sql/token"
)

var kinds = [...]string{token.Word: "w", token.Quoted: "q", token.String: "s", token.Number: "n", token.Symbol: ""}

// shape shows tokens one after another, with their kinds.
func shape(t *token.Text) string {
	var out []string
	for i, tok := range t.Tokens {
		out = append(out, kinds[tok.Kind]+string(t.Bytes(i)))
	}
	return strings.Join(out, " ")
}

func TestScan(t *testing.T) {
	maria, mysql8 := token.Mode{MariaDB: true, Version: 101119}, token.Mode{Version: 80036}
	ansi, noBackslash, single := token.Mode{ANSIQuotes: true}, token.Mode{NoBackslash: true}, token.Mode{SingleByte: true}
	for _, c := range []struct {
		name, sql string
		mode      token.Mode
		want      string
		err       error
	}{
		{name: "words and symbols", sql: "SELECT a.b,c_1 FROM t$", want: "wSELECT wa . wb , wc_1 wFROM wt$"},
		{name: "all white space", sql: "\ta\v\f\r\nb ", want: "wa wb"},
		{name: "strings", sql: `'it''s' "a\"b" 'c\\'`, want: `s'it''s' s"a\"b" s'c\\'`},
		{name: "no backslash", sql: `'\', b`, mode: noBackslash, want: `s'\' , wb`},
		{name: "backslash hides the quote", sql: `'\', b`, err: token.ErrUnterminated},
		{name: "ANSI quotes", sql: `"a""b"`, mode: ansi, want: `q"a""b"`},
		{name: "names in quotes", sql: "`a``b`.`c d`", want: "q`a``b` . q`c d`"},
		{name: "empty name", sql: "``", err: token.ErrByte},
		{name: "numbers", sql: `1 1.5 .5 1e3 1.5E-3 0x4A 0b01 x'4a' b'01' \N`, want: `n1 n1.5 n.5 n1e3 n1.5E-3 n0x4A n0b01 nx'4a' nb'01' n\N`},
		{name: "number into word", sql: "1a", err: token.ErrNumber},
		{name: "exponent without digits", sql: "1e", err: token.ErrNumber},
		{name: "two points", sql: "1..2", err: token.ErrNumber},
		{name: "number after name", sql: "t.5", err: token.ErrNumber},
		{name: "hexadecimal that is none", sql: "x'4g'", err: token.ErrByte},
		{name: "introducers", sql: "_utf8mb4'a' N'b'", want: "w_utf8mb4 s'a' wN s'b'"},
		{name: "comments", sql: "a/* b */c -- d\ne # f\ng --", want: "wa wc we wg"},
		{name: "other systems' comments are comments", sql: "a /*T! b */ /*+ c */", want: "wa"},
		{name: "executable", sql: "a /*! b */", err: token.ErrExecutable},
		{name: "executable in MariaDB", sql: "a /*M!100100 b */", err: token.ErrExecutable},
		{name: "end of a comment", sql: "a */ b", err: token.ErrExecutable},
		{name: "unterminated comment", sql: "a /* b", err: token.ErrUnterminated},
		{name: "comment that only looks ended", sql: "a /*/ b", err: token.ErrUnterminated},
		{name: "two minus signs", sql: "a--1---b", want: "wa - - n1 - - - wb"},
		{name: "two minus signs and a control byte", sql: "a --\x01 b", err: token.ErrDash},
		{name: "two minus signs and a no-break space", sql: "a --\u00a0b", err: token.ErrByte},
		{name: "comment with an executable one in it", sql: "a /*!99999 /* b */ c */", mode: maria, err: token.ErrExecutable},
		{name: "executable one in another", sql: "a /*! b /*! c */ d */", mode: maria, err: token.ErrExecutable},
		{name: "comment in an executed one", sql: "a /*! b /* c */ d # */\n */ e", mode: maria, want: "wa wb wd we"},
		{name: "executed one without an end", sql: "a /*! b", mode: maria, err: token.ErrUnterminated},
		{name: "executed one with an end in a string", sql: "a /*! '*/' */ b", mode: maria, want: "wa s'*/' wb"},
		{name: "seven digits", sql: "a /*!1011001 b */", mode: maria, err: token.ErrExecutable},
		{name: "six digits in MySQL", sql: "a /*!080000 b */", mode: mysql8, err: token.ErrExecutable},
		{name: "zero byte after a backslash", sql: "'\\\x00'", err: token.ErrByte},
		{name: "capital X is no number", sql: "0X41", err: token.ErrNumber},
		{name: "digits that are not binary", sql: "0b12", err: token.ErrNumber},
		{name: "character beyond three bytes in a name", sql: "`\U0001f600`", err: token.ErrByte},
		{name: "letter beyond three bytes", sql: "\U0001d41a", err: token.ErrByte},
		{name: "character beyond three bytes in a string", sql: "'\U0001f600'", want: "s'\U0001f600'"},
		{name: "letters beyond ASCII", sql: "größe", want: "wgröße"},
		{name: "no-break space", sql: "a\u00a0b", err: token.ErrByte},
		{name: "invalid UTF-8", sql: "'\xbf\x5c'", err: token.ErrEncoding},
		{name: "single byte in a string", sql: "'\xbf\x5c\x5c'", mode: single, want: "s'\xbf\x5c\x5c'"},
		{name: "single byte in a name", sql: "`\xbf`", mode: single, err: token.ErrByte},
		{name: "single byte in a word", sql: "a\xbf", mode: single, err: token.ErrByte},
		{name: "zero byte", sql: "a\x00", err: token.ErrByte},
		{name: "zero byte in a string", sql: "'\x00'", err: token.ErrByte},
		{name: "variables", sql: "@a:=@@session.b", want: "@ wa := @@ wsession . wb"},
		{name: "colon", sql: ":a", err: token.ErrByte},
		{name: "backslash", sql: `\x`, err: token.ErrByte},
	} {
		t.Run(c.name, func(t *testing.T) {
			var text token.Text
			err := text.Scan([]byte(c.sql), c.mode)
			if !errors.Is(err, c.err) || (err != nil) != (c.err != nil) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if err != nil {
				if !errors.Is(err, token.ErrRefused) {
					t.Errorf("%v does not match ErrRefused", err)
				}
				return
			}
			if got := shape(&text); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestCanonical(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT 1":                 "SELECT 1",
		"SELECT/**/1":              "SELECT 1",
		"SELECT '/**/' -- x\n, 2#": "SELECT '/**/'  \n, 2 ",
		"SELECT 5--2 /*x*/ , a":    "SELECT 5- -2   , a",
		"a; ":                      "a",
	} {
		var text token.Text
		if err := text.Scan([]byte(sql), token.Mode{}); err != nil {
			t.Fatal(err)
		}
		if text.Trim(); string(text.SQL) != want {
			t.Errorf("%q becomes %q, want %q", sql, text.SQL, want)
		}
	}
}

// TestExecuted: what servers do with the comments they may execute; for MariaDB
// 10.11 as observed.
func TestExecuted(t *testing.T) {
	maria, mysql8 := token.Mode{MariaDB: true, Version: 101119}, token.Mode{Version: 80036}
	for _, c := range []struct {
		sql          string
		maria, mysql bool
	}{
		{"/*! 1 */", true, true},
		{"/*!40101 1 */", true, true},
		{"/*!50699 1 */", true, true},
		{"/*!50700 1 */", false, true},
		{"/*!80036 1 */", false, true},
		{"/*!80037 1 */", false, false},
		{"/*!99999 1 */", false, false},
		{"/*M! 1 */", true, false},
		{"/*M!80000 1 */", true, false},
		{"/*M!101119 1 */", true, false},
		{"/*M!101120 1 */", false, false},
		{"/*T! 1 */", false, false},
		{"/*+ 1 */", false, false},
	} {
		for _, m := range []struct {
			mode token.Mode
			want bool
		}{{maria, c.maria}, {mysql8, c.mysql}} {
			var text token.Text
			if err := text.Scan([]byte(c.sql), m.mode); err != nil {
				t.Fatal(c.sql, err)
			}
			if got := len(text.Tokens) == 1; got != m.want {
				t.Errorf("%s in %+v: executed is %v", c.sql, m.mode, got)
			}
		}
	}
	for sql, want := range map[string]string{"/*!101100 1 */": "n1", "/*!101200 1 */": "", "/*!1234 */": "n1234", "/*!40101SET*/ x": "wSET wx"} {
		var text token.Text
		if err := text.Scan([]byte(sql), maria); err != nil || shape(&text) != want {
			t.Errorf("%s becomes %q, %v; want %q", sql, shape(&text), err, want)
		}
	}
}

func TestName(t *testing.T) {
	var text token.Text
	if err := text.Scan([]byte("a `b``c`"), token.Mode{}); err != nil {
		t.Fatal(err)
	}
	if text.Name(0) != "a" || text.Name(1) != "b`c" {
		t.Errorf("names %q and %q", text.Name(0), text.Name(1))
	}
}

// FuzzScan checks what holds for every statement that is accepted: the tokens
// are in order and cover all that is not blank, and the canonical text is its
// own canonical text, whatever the product.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		"SELECT `a`.b, 'c\\'', \"d\", 0x1F, 1.5e3, @x := @@y FROM t -- c\n", "/*!40101 SET NAMES utf8 */", "a /*M! b */", "'\\", "größe \xff", "x'4a' b'1' \\N .5", "5--2 /*!50700 x */ /*/**/",
	} {
		f.Add([]byte(s), byte(0))
	}
	f.Fuzz(func(t *testing.T, sql []byte, m byte) {
		mode := token.Mode{NoBackslash: m&1 != 0, ANSIQuotes: m&2 != 0, SingleByte: m&4 != 0, MariaDB: m&8 != 0}
		if m&16 != 0 {
			mode.Version = 101119
		}
		var a, b token.Text
		if a.Scan(sql, mode) != nil {
			return
		}
		at := 0
		for i, tok := range a.Tokens {
			if tok.Start < at || tok.End <= tok.Start || tok.End > len(a.SQL) || len(bytes.TrimSpace(a.SQL[at:tok.Start])) > 0 {
				t.Fatalf("token %d is %v after %d", i, tok, at)
			}
			at = tok.End
		}
		if len(bytes.TrimSpace(a.SQL[at:])) > 0 || !mode.SingleByte && !utf8.Valid(a.SQL) || bytes.IndexByte(a.SQL, 0) >= 0 {
			t.Fatal("accepted what no server can read")
		}
		mode.MariaDB, mode.Version = !mode.MariaDB, 0
		if err := b.Scan(a.SQL, mode); err != nil {
			t.Fatalf("%q becomes %q, which is refused: %v", sql, a.SQL, err)
		}
		if shape(&a) != shape(&b) || !bytes.Equal(a.SQL, b.SQL) {
			t.Fatalf("%q and %q differ", shape(&a), shape(&b))
		}
	})
}

func BenchmarkScan(b *testing.B) {
	sql := []byte("SELECT c_first, c_middle, c_last, c_phone, c_balance FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? FOR UPDATE")
	var text token.Text
	b.SetBytes(int64(len(sql)))
	b.ReportAllocs()
	for b.Loop() {
		if err := text.Scan(sql, token.Mode{}); err != nil {
			b.Fatal(err)
		}
	}
}
