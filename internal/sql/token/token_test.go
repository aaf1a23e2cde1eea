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
		{name: "two minus signs", sql: "a--1", err: token.ErrDash},
		{name: "two minus signs and a control byte", sql: "a --\x01 b", err: token.ErrDash},
		{name: "two minus signs and a no-break space", sql: "a --\u00a0b", err: token.ErrDash},
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

func TestForward(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT 1":                 "SELECT 1",
		"SELECT/**/1":              "SELECT 1",
		"SELECT '/**/' -- x\n, 2#": "SELECT '/**/'  \n, 2 ",
	} {
		var text token.Text
		if err := text.Scan([]byte(sql), token.Mode{}); err != nil {
			t.Fatal(err)
		}
		if got := string(text.Forward()); got != want {
			t.Errorf("%q is forwarded as %q, want %q", sql, got, want)
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

func TestUnwrap(t *testing.T) {
	for sql, want := range map[string]string{
		"/*!40101 SET NAMES utf8 */":      " SET NAMES utf8 ",
		" /*!40101 SET NAMES utf8 */ ; ":  " SET NAMES utf8 ",
		"/*!50700 SET a=1 */":             "", // MariaDB leaves it out
		"/*!39999 SET a=1 */":             "",
		"/*!401011 SET a=1 */":            "", // six digits
		"/*!40101SET a=1 */":              "",
		"/*! SET a=1 */":                  "",
		"/*!40101 SET a=1 /* */":          "",
		"/*!40101 SET a=1 */ /*!40101 */": "",
		"/*M!40101 SET a=1 */":            "",
		"SELECT 1":                        "",
		"/*!40101 */":                     " ",
	} {
		if want == "" {
			want = sql
		}
		if got := string(token.Unwrap([]byte(sql))); got != want {
			t.Errorf("%q becomes %q, want %q", sql, got, want)
		}
	}
}

// FuzzScan checks what holds for every statement that is accepted: the tokens
// are in order and cover all that is not blank or comment, and the text that is
// forwarded splits into the same tokens.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		"SELECT `a`.b, 'c\\'', \"d\", 0x1F, 1.5e3, @x := @@y FROM t -- c\n", "/*!40101 SET NAMES utf8 */", "a /*M! b */", "'\\", "größe \xff", "x'4a' b'1' \\N .5",
	} {
		f.Add([]byte(s), byte(0))
	}
	f.Fuzz(func(t *testing.T, sql []byte, m byte) {
		mode := token.Mode{NoBackslash: m&1 != 0, ANSIQuotes: m&2 != 0, SingleByte: m&4 != 0}
		var a, b token.Text
		if a.Scan(token.Unwrap(sql), mode) != nil {
			return
		}
		at := 0
		for i, tok := range a.Tokens {
			if tok.Start < at || tok.End <= tok.Start || tok.End > len(a.SQL) {
				t.Fatalf("token %d is %v after %d", i, tok, at)
			}
			at = tok.End
		}
		if !mode.SingleByte && !utf8.Valid(a.SQL) || bytes.IndexByte(a.Forward(), 0) >= 0 {
			t.Fatal("accepted what no server can read")
		}
		if err := b.Scan(a.Forward(), mode); err != nil {
			t.Fatalf("%q is forwarded as %q, which is refused: %v", sql, a.Forward(), err)
		}
		if shape(&a) != shape(&b) || len(b.Forward()) != len(b.SQL) {
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
