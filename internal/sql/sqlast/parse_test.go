package sqlast

import (
	"errors"
	"reflect"
	"testing"

	"github.com/veildb/veildb/internal/sql/token"
)

func parse(t testing.TB, sql string, mode token.Mode) (Stmt, error) {
	t.Helper()
	var text token.Text
	if err := text.Scan([]byte(sql), mode); err != nil {
		t.Fatalf("scan %s: %v", sql, err)
	}
	return Parse(&text, mode)
}

// readable are forms the parser beneath lacks, and a few others.
var readable = []string{
	"SELECT 1",
	"INSERT INTO log(msg) VALUES('x') RETURNING (SELECT ssn FROM employee WHERE id=1)",
	"DELETE FROM employee WHERE id=1 RETURNING *",
	"SELECT ssn FROM employee FOR SYSTEM_TIME AS OF NOW() - INTERVAL 1 DAY WHERE id=1",
	"SELECT ssn FROM employee FOR SYSTEM_TIME BETWEEN '2000-01-01' AND '2037-01-01' AS e WHERE id=1",
	"SELECT ssn FROM employee WHERE id=1 LIMIT ROWS EXAMINED 50",
	"SELECT ssn FROM employee WHERE id=1 LIMIT 1, 2 ROWS EXAMINED 50",
	"SELECT ssn FROM employee ORDER BY id OFFSET 1 ROW FETCH FIRST 2 ROWS ONLY",
	"SELECT ssn FROM employee ORDER BY id FETCH NEXT ROW WITH TIES",
	"VALUES (1,'x'), (2, (SELECT 3)) UNION ALL SELECT id, ssn FROM employee",
	"SELECT * FROM (VALUES (1,2),(3,4)) v",
	"SELECT jt.* FROM JSON_TABLE((SELECT JSON_ARRAYAGG(ssn) FROM employee),'$[*]' COLUMNS(o FOR ORDINALITY, v VARCHAR(20) PATH '$' DEFAULT 'x' ON EMPTY, NESTED PATH '$.a' COLUMNS (b INT PATH '$'))) jt",
	"SELECT MEDIAN(salary) OVER (PARTITION BY dept_id), PERCENTILE_DISC(1) WITHIN GROUP (ORDER BY salary DESC) OVER () FROM employee",
	"SELECT LAST_VALUE(1,ssn), LAST_VALUE(ssn) OVER (ORDER BY id) FROM employee",
	"SELECT JSON_ARRAYAGG(DISTINCT ssn ORDER BY ssn LIMIT 1), GROUP_CONCAT(DISTINCT ssn ORDER BY ssn LIMIT 1 OFFSET 3) FROM employee",
	"SELECT COLUMN_GET(COLUMN_CREATE('a',ssn AS CHAR, 'b', (SELECT 1 AS x)),'a' AS CHAR) AS v FROM employee",
	"SELECT CAST(CONCAT('::',ASCII(ssn)) AS INET6) AS v, CAST(1 AS VARCHAR(9)) FROM employee",
	"SELECT ssn, salary INTO @a, @b FROM employee WHERE id=1",
	"SELECT ssn FROM employee WHERE id=1 INTO @a",
	"SELECT 'a' 'b' ssn FROM employee WHERE id=1",
	"SELECT {fn CONCAT(ssn)}, {ghost ssn} FROM {oj employee LEFT JOIN dept ON 1}",
	"CREATE TABLE zz (a INT, b VARCHAR(11) DEFAULT '721-07-4426')",
	"CREATE TABLE t LIKE u",
	"CREATE TABLE t (a INT CHECK (a > 0), b INT REFERENCES u (c), CONSTRAINT k CHECK (a < b), FOREIGN KEY (b) REFERENCES u (c) ON DELETE CASCADE)",
	"INSERT INTO log(msg) WITH q AS (SELECT ssn z FROM employee) SELECT z FROM q",
	"((SELECT ssn FROM employee WHERE id=1) LIMIT 1)",
	"SELECT NEXT VALUE FOR s, NEXTVAL(s)",
	"EXPLAIN ANALYZE SELECT 1",
	"EXPLAIN FORMAT=TREE SELECT 1",
	"EXPLAIN EXTENDED SELECT 1",
	"TABLE employee ORDER BY ssn LIMIT 1",
	"SELECT a FROM (VALUES ROW(1, 2), ROW((SELECT ssn FROM employee), 3)) AS v (a, b)",
	"SELECT JSON_VALUE(d, '$.a' RETURNING DECIMAL(4,2) DEFAULT '0' ON EMPTY NULL ON ERROR) FROM t",
	"INSERT INTO t (a, b) VALUES (1, 2) AS n ON DUPLICATE KEY UPDATE a = n.b",
	"INSERT INTO t SET a = 1 AS n (x) ON DUPLICATE KEY UPDATE a = x + t.a",
	"INSERT INTO t SELECT 1 AS n ON DUPLICATE KEY UPDATE a = 1",
	"SELECT a FROM t WHERE x = BINARY 'y' AND b LIKE 'x%' ESCAPE '!'",
}

func TestReads(t *testing.T) {
	for _, sql := range readable {
		if _, err := parse(t, sql, token.Mode{MariaDB: true}); err != nil {
			t.Errorf("%s: %s", sql, err.(*Unreadable).Why)
		}
	}
}

// refused are forms that must not be read.
var refused = []string{
	"SELECT 1 FROM t PROCEDURE ANALYSE()",
	"SELECT ssn FROM employee INTO OUTFILE '/x'",
	"SELECT 1; SELECT 2",
	"SELECT 1 RETURNING 1",
	"DELETE FROM t RETURNING a RETURNING b",
	"DELETE FROM t RETURNING a, b FROM u",
	"DELETE FROM t RETURNING DISTINCT a",
	"SELECT JSON_TABLE(a, b)",
	"SELECT a FROM t FOR SYSTEM_TIME AS OF (SELECT ssn FROM employee)",
	"SELECT a FROM t AS OF TIMESTAMP '2020-01-01'",
	"SELECT a FROM t TABLESAMPLE BERNOULLI (10 PERCENT)",
	"CREATE TABLE t (a INT) ENGINE=MRG_MyISAM UNION=(mi)",
	"CREATE TABLE t LIKE u PARTITION BY HASH (a)",
	"CREATE TABLE t (a INT) PARTITION BY HASH (a)",
	"SELECT * FROM t ORDER_INDEX (a)",
	"SELECT * FROM t NO_ORDER_INDEX (a)",
	"EXPLAIN FORMAT=DOT SELECT 1",
	"EXPLAIN ANALYZE DELETE FROM t",
	"EXPLAIN FORMAT=JSON INTO @x SELECT 1",
	"SELECT (SELECT 1) AS t (a)",
	"INSERT INTO t SELECT 1 AS n (a) ON DUPLICATE KEY UPDATE a = 1",
	"INSERT INTO t VALUES (1) AS n AS m ON DUPLICATE KEY UPDATE a = 1",
	"INSERT INTO t VALUES (1) AS n (a, 1) ON DUPLICATE KEY UPDATE a = 1",
	"SELECT JSON_VALUE(d, '$.a' RETURNING CHAR(@a))",
	"ALTER TABLE t ADD COLUMN a INT",
	"SELECT `'tidb``.(dateliteral`('x')",
	"SELECT `\ue000json0`.a FROM `\ue000json0`",
}

func TestRefuses(t *testing.T) {
	for _, sql := range refused {
		if s, err := parse(t, sql, token.Mode{}); !errors.Is(err, ErrUnreadable) {
			t.Errorf("%s: read as %T, %v", sql, s, err)
		}
	}
}

// TestModes reads strings and names as the session's mode has them.
func TestModes(t *testing.T) {
	for _, tt := range []struct {
		name, sql string
		mode      token.Mode
		want      Expr
	}{
		{"backslash", `SELECT 'a\'b'`, token.Mode{}, &Constant{Kind: String, Text: "a'b"}},
		{"no backslash", `SELECT 'a\'`, token.Mode{NoBackslash: true}, &Constant{Kind: String, Text: `a\`}},
		{"double quotes", `SELECT "a"`, token.Mode{}, &Constant{Kind: String, Text: "a"}},
		{"ANSI quotes", `SELECT "a""b"`, token.Mode{ANSIQuotes: true}, &Column{Name: `a"b`}},
		{"backquotes", "SELECT `a``b`", token.Mode{}, &Column{Name: "a`b"}},
		{"single bytes", "SELECT 'a\xe9'", token.Mode{SingleByte: true}, &Constant{Kind: String, Text: "aé"}},
		{"character set, continued", "SELECT _latin1'a' 'b' 'c'", token.Mode{}, &Constant{Kind: String, Text: "a"}},
		{"national, continued", "SELECT n'a' 'b'", token.Mode{}, &Constant{Kind: String, Text: "a"}},
		{"pipes", "SELECT a || b", token.Mode{}, &Call{Name: "or", Operator: true, Args: []Expr{&Column{Name: "a"}, &Column{Name: "b"}}}},
		{"pipes that concatenate", "SELECT a || b", token.Mode{PipesAsConcat: true}, &Call{Name: "concat", Args: []Expr{&Column{Name: "a"}, &Column{Name: "b"}}}},
		{"letters", "SELECT größe", token.Mode{}, &Column{Name: "größe"}},
		{"keyword after dot", "SELECT t.select", token.Mode{}, &Column{Table: "t", Name: "select"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := parse(t, tt.sql, tt.mode)
			if err != nil {
				t.Fatal(err.(*Unreadable).Why)
			}
			if got := s.(*Select).Items[0].Expr; !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%#v, want %#v", got, tt.want)
			}
		})
	}
}
