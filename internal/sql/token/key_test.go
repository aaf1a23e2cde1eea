package token_test

import (
	"testing"

	"github.com/veildb/veildb/internal/sql/token"
)

func key(t testing.TB, sql string) string {
	t.Helper()
	var text token.Text
	if err := text.Scan([]byte(sql), token.Mode{}); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return string(text.AppendKey(nil))
}

func TestKey(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"numbers", "SELECT a FROM t WHERE id=1", "SELECT a FROM t WHERE id=23", true},
		{"blanks", "SELECT a  FROM t", "SELECT\na FROM t", true},
		{"strings", "SELECT a FROM t WHERE b IN ('x', 'yy')", "SELECT a FROM t WHERE b IN ('it''s', '')", true},
		{"ranges", "SELECT a FROM t WHERE b BETWEEN 1 AND 2 LIMIT 3", "SELECT a FROM t WHERE b BETWEEN 4 AND 5 LIMIT 6", true},
		{"rows", "INSERT INTO t VALUES (1,'a')", "INSERT INTO t VALUES (2,'b')", true},
		{"number of rows", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1),(2)", false},
		{"length of a list", "SELECT 1,2,ssn", "SELECT 1,2,3,ssn", false},
		{"string or number", "SELECT a FROM t WHERE id=1", "SELECT a FROM t WHERE id='1'", false},
		{"integer or decimal", "SELECT a FROM t WHERE id=1", "SELECT a FROM t WHERE id=1.0", false},
		{"decimal or float", "SELECT a FROM t WHERE id=1.5", "SELECT a FROM t WHERE id=1.5e1", false},
		{"hexadecimal", "SELECT a FROM t WHERE id=0x10", "SELECT a FROM t WHERE id=10", false},
		{"names", "SELECT a FROM t", "SELECT b FROM t", false},
		{"case of names", "SELECT a FROM t", "SELECT a FROM T", false},
		{"quoted names", "SELECT a FROM t", "SELECT `a` FROM t", false},
		{"name or string", "SELECT `a`", "SELECT 'a'", false},
		{"place in the order", "SELECT a, b FROM t ORDER BY 1", "SELECT a, b FROM t ORDER BY 2", false},
		{"later place in the order", "SELECT a, b FROM t ORDER BY a, 1", "SELECT a, b FROM t ORDER BY a, 2", false},
		{"place after a query", "SELECT a, b FROM t ORDER BY (SELECT 1 FROM u LIMIT 1), 1", "SELECT a, b FROM t ORDER BY (SELECT 1 FROM u LIMIT 1), 2", false},
		{"group", "SELECT a, b FROM t GROUP BY 1", "SELECT a, b FROM t GROUP BY 2", false},
		{"limit after order", "SELECT a FROM t ORDER BY a LIMIT 1", "SELECT a FROM t ORDER BY a LIMIT 2", true},
		{"order inside", "SELECT (SELECT a FROM t ORDER BY 1) FROM t WHERE b = 1", "SELECT (SELECT a FROM t ORDER BY 1) FROM t WHERE b = 2", true},
		{"order after order", "SELECT a, b FROM t GROUP BY a HAVING a > 1 ORDER BY 1", "SELECT a, b FROM t GROUP BY a HAVING a > 1 ORDER BY 2", false},
		{"pattern", "SELECT a FROM t WHERE a LIKE 'x%'", "SELECT a FROM t WHERE a LIKE '%x'", false},
		{"pattern in parentheses", "SELECT a FROM t WHERE a LIKE ('x%')", "SELECT a FROM t WHERE a LIKE ('%x')", false},
		{"alias", "SELECT a AS 'x'", "SELECT a AS 'y'", false},
		{"alias without AS", "SELECT a 'x'", "SELECT a 'y'", false},
		{"alias of a constant", "SELECT 1 'x'", "SELECT 1 'y'", false},
		{"variable", "SELECT @'x'", "SELECT @'y'", false},
		{"blank before a parenthesis", "SELECT count(*)", "SELECT count (*)", false},
		{"no value", `SELECT a = \N`, "SELECT a = 1", false},
	} {
		if got := key(t, c.a) == key(t, c.b); got != c.same {
			t.Errorf("%s: same is %v\n%q\n%q", c.name, got, key(t, c.a), key(t, c.b))
		}
	}
}

func BenchmarkKey(b *testing.B) {
	sql := []byte("SELECT c_first, c_middle, c_last, c_phone, c_balance FROM customer WHERE c_w_id = 1 AND c_d_id = 22 AND c_id = 333 FOR UPDATE")
	var text token.Text
	var dst []byte
	b.SetBytes(int64(len(sql)))
	b.ReportAllocs()
	for b.Loop() {
		if err := text.Scan(sql, token.Mode{}); err != nil {
			b.Fatal(err)
		}
		dst = text.AppendKey(dst[:0])
	}
}
