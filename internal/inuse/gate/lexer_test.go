package gate

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/sqlast"
	"github.com/veildb/veildb/internal/sql/token"
)

// statements is how many statements the tests that make their own run. See
// make test-lineage for the long run.
var statements = flag.Int("statements", 1500, "statements of each test that generates them")

// seed is added to the seeds of those tests.
var seed = flag.Uint64("seed", 0, "makes tests that generate statements make others")

// A literalWriter writes SELECTs of constants, with all that may stand between
// them.
type literalWriter struct {
	*rand.Rand
	mode token.Mode
}

func (w literalWriter) pick(s ...string) string { return s[w.IntN(len(s))] }

// blank is what separates tokens, or only seems to.
func (w literalWriter) blank() string {
	if w.IntN(2) == 0 {
		return w.pick(" ", " ", "\t", "\n", "\v", "\f", "\r", "  ", "/**/")
	}
	inside := w.pick("x", "'", `"`, "`", ", 1", "'a', ", "*", "/", " union select 2 ", "--", "#", "\\", "\n", ";", "é", "")
	version := w.pick("", "!", "!50000", "!50699", "!50700", "!80000", "!99999", "!100000", "!101100", "!101200", "!999999", "!1011001", "!123", "! 5", "M!", "M!50700", "M!100100", "M!999999", "T!", "+", "!050000")
	return w.pick("\u00a0", "/*"+inside+"*/", "/*"+version+" "+inside+"*/", "/*"+version+inside+"*/", "/**/", "/*/"+inside+"*/", "-- "+inside+"\n", "--\t\n", "#"+inside+"\n",
		"--"+w.pick("\x01", "\u00a0", "\n", "\r", "\x7f", "1", "a")+inside+"\n", "/*! /*"+inside+"*/ */", "/*!99999 /*"+inside+"*/ */")
}

func (w literalWriter) chars() string {
	var b strings.Builder
	for range w.IntN(5) {
		b.WriteString(w.pick("a", "B", " ", "%", "_", "é", "''", `""`, "``", `\\`, `\'`, `\"`, `\n`, `\0`, `\Z`, `\%`, `\_`, `\q`, "/*", "*/", "-- ", "#", "\n", "\xbf", "\xc3", "\U0001f600", `\`, "'", `"`, "\x1a"))
	}
	return b.String()
}

func (w literalWriter) item() string {
	s := w.chars()
	if w.IntN(3) > 0 {
		return w.pick("1", "20", "1.5", "0x41", "NULL", "'a'", "'"+s+"'", "'b'"+w.blank()+"'"+s+"'", "1 AS x", "-1", "1+1")
	}
	return w.pick("1", "0", "007", "1.50", ".5", "1.", "1e3", "1.5E-3", "1e", "0x41", "0X41", "0x4g", "0b01", "0b12", "0B1", "x'41'", "X'4'", "b'1'", "B'2'", `\N`, "1a", "1..2", "NULL", "N'a'", "n'b'", "_utf8mb4'c'", "_latin1 'd'",
		"'"+s+"'", "'"+s+"'", "'"+s+"'", `"`+s+`"`, "`"+s+"`", "'a'"+w.blank()+"'"+s+"'", "'a' AS b", "'a' 'b' c", "'a'b", "1 AS `"+s+"`", "-1", "--1", "+-1", "1-1", "1--1", "1 -- 1\n", "(1)", "('a')", "@a", "@@version_comment", "$1", "@'x'", "a.1b", "{d'2020-01-01'}", "1:2", "1;2", "1\x00", "1 \\", "1 */ 2", "?")
}

func (w literalWriter) statement() string {
	var b strings.Builder
	b.WriteString("SELECT" + w.blank() + w.item())
	for range w.IntN(4) {
		b.WriteString(w.pick("", w.blank()) + "," + w.pick("", w.blank()) + w.item())
	}
	b.WriteString(w.pick("", "", w.blank(), ";", "/*!", "-- x", "--", "/*"))
	sql := []byte(b.String())
	if w.IntN(8) == 0 {
		sql[len("SELECT ")+w.IntN(len(sql)-len("SELECT "))] = byte(w.IntN(256))
	}
	return string(sql)
}

// unescape is the value of a string token.
func unescape(b []byte, mode token.Mode) []byte {
	q, out := b[0], []byte{}
	for i := 1; i < len(b)-1; i++ {
		switch c := b[i]; {
		case c == q:
			i++
			out = append(out, q)
		case c == '\\' && !mode.NoBackslash:
			i++
			switch b[i] {
			case '0':
				out = append(out, 0)
			case 'b':
				out = append(out, '\b')
			case 'n':
				out = append(out, '\n')
			case 'r':
				out = append(out, '\r')
			case 't':
				out = append(out, '\t')
			case 'Z':
				out = append(out, 0x1a)
			case '%', '_':
				out = append(out, '\\', b[i])
			default:
				out = append(out, b[i])
			}
		default:
			out = append(out, c)
		}
	}
	return out
}

// foresee returns what the columns of a SELECT of constants hold, by its tokens;
// nil where it takes more than tokens to tell.
func foresee(text *token.Text, mode token.Mode) (values [][]byte) {
	depth, start := 0, 1
	for i := 1; i <= len(text.Tokens); i++ {
		switch {
		case text.IsSymbol(i, "("):
			depth++
		case text.IsSymbol(i, ")"):
			depth--
		}
		if i < len(text.Tokens) && (depth > 0 || !text.IsSymbol(i, ",")) {
			continue
		}
		var v []byte
		switch toks := text.Tokens[start:i]; {
		case len(toks) == 0:
		case len(toks) == 1 && toks[0].Kind == token.Number && strings.Trim(string(text.Bytes(start)), "0123456789") == "" && text.Bytes(start)[0] != '0':
			v = text.Bytes(start)
		case !slices.ContainsFunc(toks, func(k token.Token) bool { return k.Kind != token.String }):
			v = []byte{}
			for j := start; j < i; j++ {
				v = append(v, unescape(text.Bytes(j), mode)...)
			}
		}
		values = append(values, v)
		start = i + 1
	}
	return values
}

// TestLexer compares how SELECTs of constants are split here with what the
// server makes of them, in the modes in which it reads differently.
func TestLexer(t *testing.T) {
	server := dialRaw(t, backendServer(t).Addr(), "root", "", 0)
	server.tap.on = false
	product := schema.ParseServer(string(server.cell("SELECT VERSION()")))
	counts := map[string]int{}
	for _, c := range []struct {
		sqlMode, charset string
		mode             token.Mode
	}{
		{"", "utf8mb4", token.Mode{}},
		{"ANSI_QUOTES", "utf8mb4", token.Mode{ANSIQuotes: true}},
		{"NO_BACKSLASH_ESCAPES", "utf8mb4", token.Mode{NoBackslash: true}},
		{"ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT", "latin1", token.Mode{ANSIQuotes: true, NoBackslash: true, PipesAsConcat: true, SingleByte: true}},
		{"", "latin1", token.Mode{SingleByte: true}},
		{"IGNORE_SPACE", "utf8mb3", token.Mode{IgnoreSpace: true}},
	} {
		server.must("SET NAMES " + c.charset)
		server.must("SET sql_mode = '" + c.sqlMode + "'")
		c.mode.MariaDB, c.mode.Version = product.MariaDB, product.Version
		w := literalWriter{rand.New(rand.NewPCG(uint64(len(c.sqlMode)), 7+*seed)), c.mode}
		for range *statements {
			sql := w.statement()
			if why := compareLexers(t, server, sql, c.mode); why != "" {
				counts[why]++
			}
		}
	}
	t.Logf("%v", counts)
	if counts["equal"]+counts["values"] < *statements || counts["values"] < *statements/2 {
		t.Error("too few statements were accepted to test anything")
	}
}

// compareLexers compares one statement and says what came of it.
func compareLexers(t *testing.T, server *rawClient, sql string, mode token.Mode) string {
	t.Helper()
	var text token.Text
	if err := text.Scan([]byte(sql), mode); err != nil {
		return "refused here"
	}
	text.Trim()
	if slices.ContainsFunc(text.Tokens, func(k token.Token) bool { return string(text.SQL[k.Start:k.End]) == ";" }) {
		return "several"
	}
	canonical := string(text.SQL)
	var given, ours transcript
	if err := server.query(&given, sql); err != nil {
		t.Fatal(err)
	}
	if err := server.query(&ours, canonical); err != nil {
		t.Fatal(err)
	}
	if given.errors != ours.errors {
		t.Errorf("the server takes %q and %q differently:\n%s\n%s", sql, canonical, &given, &ours)
	}
	if given.errors > 0 || ours.errors > 0 {
		return "refused there"
	}
	if !slices.EqualFunc(given.rows, ours.rows, func(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }) {
		t.Errorf("the server answers %q and %q differently:\n%s\n%s", sql, canonical, &given, &ours)
	}
	if !text.IsWord(0, "SELECT") || strings.Contains(strings.ToLower(canonical), "union") {
		return "other"
	}
	want := foresee(&text, mode)
	if len(want) != len(given.columns) {
		t.Errorf("%q in %+v has %d columns, not %d", sql, mode, len(given.columns), len(want))
		return "different"
	}
	if why := compareParser(&text, mode, want); why != "" {
		t.Errorf("%q in %+v: %s", sql, mode, why)
	}
	known := "equal"
	for i, v := range want {
		if v == nil {
			continue
		}
		known = "values"
		if !bytes.Equal(given.rows[0][i], v) {
			t.Errorf("%q in %+v: column %d is %q, not %q", sql, mode, i, given.rows[0][i], v)
		}
	}
	return known
}

// latin1 decodes bytes that are one character each.
func latin1(b []byte) (out []rune) {
	for _, c := range b {
		out = append(out, rune(c))
	}
	return out
}

// compareParser says in what the parser reads a statement differently, "" for
// nothing. It may refuse it.
func compareParser(text *token.Text, mode token.Mode, want [][]byte) string {
	stmt, err := sqlast.Parse(text, mode)
	if err != nil {
		return ""
	}
	s, ok := stmt.(*sqlast.Select)
	if !ok {
		return fmt.Sprintf("parsed as %T", stmt)
	}
	if len(s.Items) != len(want) {
		return fmt.Sprintf("parsed as %d columns, not %d", len(s.Items), len(want))
	}
	for i, v := range want {
		c, ok := s.Items[i].Expr.(*sqlast.Constant)
		if v != nil && !ok {
			return fmt.Sprintf("column %d is parsed as %T", i, s.Items[i].Expr)
		}
		if v != nil && mode.SingleByte { // the parser is given UTF-8
			v = []byte(string(latin1(v)))
		}
		if v != nil && c.Kind == sqlast.String && c.Text != string(v) {
			return fmt.Sprintf("column %d is parsed as %q, not %q", i, c.Text, v)
		}
	}
	return ""
}
