package gate

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/sql/sqlast"
	"github.com/veildb/veildb/internal/sql/token"
)

// A mutator makes new statements of the corpora's.
type mutator struct {
	*rand.Rand
	pool []string
	text token.Text
	// Of the statement at hand: how it is read, and what arranges that.
	mode   token.Mode
	before string
}

// sessions are the settings that statements are read in.
var sessions = []struct {
	set  string
	mode token.Mode
}{
	{"SET sql_mode = 'ANSI_QUOTES'", token.Mode{ANSIQuotes: true}},
	{"SET sql_mode = 'NO_BACKSLASH_ESCAPES'", token.Mode{NoBackslash: true}},
	{"SET sql_mode = 'PIPES_AS_CONCAT,IGNORE_SPACE'", token.Mode{PipesAsConcat: true, IgnoreSpace: true}},
	{"SET sql_mode = 'HIGH_NOT_PRECEDENCE'", token.Mode{HighNot: true}},
	{"SET sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES'", token.Mode{ANSIQuotes: true, PipesAsConcat: true, IgnoreSpace: true, NoBackslash: true}},
	{"SET sql_mode = 'ORACLE'", token.Mode{}},
	{"SET NAMES latin1", token.Mode{SingleByte: true}},
	{"SET NAMES binary", token.Mode{SingleByte: true}},
	{"SET character_set_results = NULL", token.Mode{}},
	{"SET character_set_client = latin1, sql_mode = 'NO_BACKSLASH_ESCAPES'", token.Mode{SingleByte: true, NoBackslash: true}},
}

// settle chooses the settings of a statement.
func (m *mutator) settle() {
	m.mode, m.before = token.Mode{}, ""
	if m.IntN(4) == 0 {
		s := sessions[m.IntN(len(sessions))]
		m.mode, m.before = s.mode, s.set
	}
	m.mode.MariaDB, m.mode.Version = true, 101119
}

func (m *mutator) pick(s ...string) string { return s[m.IntN(len(s))] }

// unsteady statements give something else each time, or take long.
var unsteady = regexp.MustCompile(`(?i)sleep|benchmark|now\(|curdate|curtime|current_|sysdate|utc_|unix_timestamp|uuid|rand\(|connection_id|localtime|nextval|lastval|row_count`)

// choosing finds the views that choose rows by protected values, which tells of
// them whatever the rules say.
var choosing = regexp.MustCompile(`(?i)\bv_(chk|having|exists|int|lim)\b`)

// mutationPool are the statements of the corpora about the schema hr that can be
// undone.
func mutationPool(t *testing.T) (pool []string) {
	for _, name := range []string{"bypass.jsonl", "benign.jsonl"} {
		for _, c := range readCases(t, name) {
			all := c.Statements
			if c.SQL != "" && c.DB == "hr" {
				all = []string{c.SQL}
			}
			for _, s := range all {
				w, _, _ := strings.Cut(strings.ToUpper(strings.TrimLeft(s, " (\n")), " ")
				switch w {
				case "SELECT", "WITH", "INSERT", "REPLACE", "UPDATE", "DELETE", "VALUES", "TABLE", "DO":
					if len(s) < 600 && !unsteady.MatchString(s) {
						pool = append(pool, s)
					}
				}
			}
		}
	}
	for _, c := range ownCases(t) {
		for _, s := range c {
			switch w, _, _ := strings.Cut(strings.ToUpper(strings.TrimLeft(s, " (")), " "); w {
			case "SELECT", "WITH", "INSERT", "REPLACE", "UPDATE", "DELETE", "VALUES", "TABLE", "DO":
				if !unsteady.MatchString(s) && !choosing.MatchString(s) {
					pool = append(pool, s)
				}
			}
		}
	}
	gen := generator{rand.New(rand.NewPCG(5, 6+*seed))}
	for range len(pool) / 2 {
		pool = append(pool, gen.statement())
	}
	return pool
}

// mutationViews are put beside the schema, so that names lead to more places.
const mutationViews = `
CREATE VIEW hr.v_ssn AS SELECT id, ssn AS name, dept_id FROM hr.employee;
CREATE VIEW hr.v_mix AS SELECT e.id, e.name, d.name AS ssn, d.budget, CONCAT(e.name, e.salary) AS notes FROM hr.employee e JOIN hr.dept d ON d.id = e.dept_id;
CREATE VIEW hr.v_ok AS SELECT id, name, hired FROM hr.employee;
CREATE VIEW hr.v_deep AS SELECT id, name AS n FROM hr.v_ssn;
CREATE OR REPLACE TABLE hr.median AS SELECT id, name FROM hr.dept;
CREATE OR REPLACE TABLE hr.json_arrayagg AS SELECT id, name FROM hr.dept;
CREATE OR REPLACE TABLE hr.max AS SELECT id, name FROM hr.dept;
CREATE TABLE hr.secret (ssn VARCHAR(11), name VARCHAR(40), twice VARCHAR(30) AS (CONCAT(name, name)));
INSERT INTO hr.secret (ssn, name) VALUES ('open', 'Ann'), ('plain', 'Ben')`

var mutationTables = []string{"median", "json_arrayagg", "g", "ver", "part", "js", "parent", "child", "v_hide", "v_sum", "v_both", "v_cte", "v_sub", "v_nest", "v_all", "`e.ssn`", "pub.employee", "seq_1_to_3", "plainly", "employee", "dept", "log", "hr.employee", "`employee`", "v_ssn", "v_mix", "v_ok", "v_deep", "secret", "hr.dept", "EMPLOYEE"}

var mutationColumns = []string{"masked", "sum", "told", "open", "label", "total", "x", "s", "who", "doc", "pub", "code", "\"ssn\"", "seq", "innocent", "ssn", "name", "salary", "notes", "id", "budget", "dept_id", "hired", "msg", "n", "twice", "`ssn`", "SSN", "employee.ssn", "e.name", "e.ssn", "hr.employee.salary", "d.budget", "d.name", "x.y", "*", "e.*"}

// statement makes a statement.
func (m *mutator) statement() string {
	m.settle()
	for {
		s := m.pool[m.IntN(len(m.pool))]
		for range 1 + m.IntN(3) {
			s = m.mutate(s)
		}
		if m.IntN(16) == 0 {
			return s
		}
		if m.text.Scan([]byte(s), m.mode) != nil {
			continue
		}
		if m.text.Trim(); len(m.text.Tokens) > 0 {
			if _, err := sqlast.Parse(&m.text, m.mode); err == nil {
				return s
			}
		}
	}
}

func (m *mutator) mutate(s string) string {
	bare := strings.TrimRight(s, "; \n")
	x, y := m.pick(mutationColumns...), m.pick(mutationColumns...)
	switch m.IntN(15) {
	case 12: // a column or a condition more
		if at := strings.Index(strings.ToUpper(bare), "SELECT "); at >= 0 && m.IntN(2) == 0 {
			return bare[:at+7] + m.pick(x+", ", "e.*, ", "(SELECT "+x+"), ", "@a, ", "EXISTS (SELECT 1 FROM employee WHERE "+x+" = "+y+"), ", "COUNT(*) OVER (PARTITION BY "+x+"), ", x+" <=> "+y+", ") + bare[at+7:]
		}
		if at := strings.Index(strings.ToUpper(bare), " WHERE "); at >= 0 {
			return bare[:at+7] + m.pick(x+" = "+y+" OR ", x+" IS NULL AND ", "NOT "+x+" AND ", "EXISTS (SELECT "+x+") AND ", "("+x+", 1) IN (SELECT "+y+", 1 FROM employee) OR ") + bare[at+7:]
		}
		return bare
	case 13: // a table more
		if at := strings.Index(strings.ToUpper(bare), " FROM "); at >= 0 {
			return bare[:at+6] + m.pick("JSON_TABLE(JSON_ARRAY(1, 2), '$[*]' COLUMNS (x INT PATH '$', o FOR ORDINALITY)) j, ", "seq_1_to_3, ", "(SELECT "+x+" FROM employee) q, ", "(VALUES (1, 2)) v, ", m.pick(mutationTables...)+" x, ", m.pick(mutationTables...)+" NATURAL JOIN ",
				m.pick(mutationTables...)+" LEFT JOIN ", "pub.employee p, ") + bare[at+6:]
		}
		return bare
	case 14:
		if w := m.pick("median", "json_arrayagg", "last_value", "max", "column_get", "json_table", "offset", "values"); m.IntN(3) == 0 {
			return m.pick("WITH "+w+" (name) AS ("+bare+") SELECT name FROM "+w, "WITH "+w+" (id, name) AS ("+bare+") SELECT name FROM "+w+", dept", "SELECT "+w+" (name) FROM dept",
				"SELECT name, (SELECT name FROM ("+bare+") "+w+" LIMIT 1) FROM dept", "SELECT id, (SELECT ssn FROM ("+bare+") q LIMIT 1) FROM pub.employee", "INSERT INTO "+w+" (name) "+bare)
		}
		return m.embed(bare)
	case 0:
		return m.pick("SELECT * FROM ("+bare+") q", "SELECT q.* FROM ("+bare+") AS q", "WITH q AS ("+bare+") SELECT * FROM q", "SELECT ("+bare+")", "("+bare+")", "SELECT name FROM dept WHERE EXISTS ("+bare+")",
			"WITH RECURSIVE q AS ("+bare+" UNION SELECT * FROM q) SELECT * FROM q", "SELECT name, ("+bare+") FROM dept", "SELECT x FROM ("+bare+") q(x)", "SELECT COUNT(*) FROM ("+bare+") q", "INSERT INTO log (msg) "+bare, "INSERT INTO secret (name) "+bare,
			"SELECT name FROM dept WHERE name IN ("+bare+")", "SELECT d.name, q.* FROM dept d JOIN ("+bare+") q", "SELECT name FROM dept ORDER BY ("+bare+")")
	case 1:
		return bare + m.pick(" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT ", " UNION DISTINCT ") + strings.TrimRight(m.pool[m.IntN(len(m.pool))], "; \n")
	case 2:
		return bare + m.pick(" ORDER BY id", " ORDER BY 1", " ORDER BY name", " GROUP BY name", " HAVING ssn > ''", " FOR UPDATE", " LOCK IN SHARE MODE", " WHERE ssn > '5'", " AND salary > 70000", " WHERE id = 1", " ORDER BY ssn", " GROUP BY ssn", " ORDER BY +2", " ORDER BY - -1, name", " ORDER BY (3) DESC", " GROUP BY +1", " ORDER BY TRUE", " PROCEDURE ANALYSE()", " RETURNING *", " RETURNING name, ssn", ";")
	}
	if m.text.Scan([]byte(s), m.mode) != nil || len(m.text.Tokens) < 2 {
		return s
	}
	return m.tokens([...]int{0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 9}[m.IntN(15)])
}

// embed makes a statement of another kind that has query in it.
func (m *mutator) embed(query string) string {
	quoted := strings.NewReplacer("'", "''", `\`, `\\`).Replace(query)
	return m.pick("CREATE TEMPORARY TABLE tt AS "+query, "CREATE TEMPORARY TABLE tt ("+query+")", "INSERT INTO plainly (id, a) "+query, "INSERT INTO employee (id, name, ssn) "+query, "REPLACE INTO log "+query, "UPDATE log SET msg = ("+query+")",
		"UPDATE dept d, ("+query+") q SET d.name = 'x'", "UPDATE plainly SET b = 'q' WHERE id IN ("+query+")", "DELETE FROM log WHERE id IN ("+query+")", "DELETE d FROM dept d JOIN ("+query+") q", "SET @a = ("+query+")", "SELECT @a := ("+query+")", query+" INTO @a",
		"DO ("+query+")", "EXPLAIN "+query, "ANALYZE "+query, "EXECUTE IMMEDIATE '"+quoted+"'", "PREPARE s FROM '"+quoted+"'", "SELECT (("+query+") IS NULL)", "INSERT INTO log (msg) VALUES (("+query+")) RETURNING *",
		"INSERT INTO log (id, msg) VALUES (1, 'x') ON DUPLICATE KEY UPDATE msg = ("+query+")", "SELECT CASE WHEN ("+query+") THEN 1 ELSE 2 END", "SET STATEMENT max_statement_time = 5 FOR "+query,
		"SELECT * FROM JSON_TABLE(("+query+"), '$[*]' COLUMNS (x TEXT PATH '$')) j", "WITH employee AS ("+query+") SELECT * FROM employee", "SELECT * FROM dept, LATERAL ("+query+") q")
}

// literals are what a string is replaced by.
var literals = []string{"'a'", `"ssn"`, `'\'`, `'\', ssn, '`, `'\\'`, `"''"`, "x'414c'", "0x41", "b'1'", "'x' 'y'", "'a' -- '\n", "'/*' , ssn , '*/'", `'\'' , ssn, '\''`, "`ssn`", `'a' "b"`}

// tokens changes the statement that has been scanned.
func (m *mutator) tokens(kind int) string {
	t := &m.text
	at := m.IntN(len(t.Tokens))
	tok := t.Tokens[at]
	before, word, after := string(t.SQL[:tok.Start]), string(t.SQL[tok.Start:tok.End]), string(t.SQL[tok.End:])
	names := map[string]bool{"ssn": true, "name": true, "salary": true, "notes": true, "id": true, "budget": true, "dept_id": true}
	// What follows looks for a fitting place first.
	for range 8 {
		if lower := strings.ToLower(word); kind >= 3 && (kind < 9 || tok.Kind == token.String) || kind == 0 && names[lower] || kind == 1 && (lower == "employee" || lower == "dept" || lower == "log") || kind == 2 && names[lower] {
			break
		}
		at = m.IntN(len(t.Tokens))
		tok = t.Tokens[at]
		before, word, after = string(t.SQL[:tok.Start]), string(t.SQL[tok.Start:tok.End]), string(t.SQL[tok.End:])
	}
	switch kind {
	case 0: // an expression in place of a column
		x, y := word, m.pick(mutationColumns...)
		return before + m.pick("CONCAT("+x+",'')", "("+x+")", "(SELECT "+x+")", "IF("+x+" > '5', "+x+", name)", "CASE WHEN "+y+" > '5' THEN "+x+" ELSE 1 END", "COALESCE("+x+", "+y+")", "MAX("+x+")", "MIN("+x+") OVER (PARTITION BY "+y+")",
			"LEFT("+x+", 3)", "HEX("+x+")", "LENGTH("+x+")", x+" IS NULL", x+" = "+y, "COUNT(DISTINCT "+x+")", "COUNT("+x+", "+y+")", "ROW_NUMBER() OVER (ORDER BY "+x+")", "GROUP_CONCAT("+x+" ORDER BY "+y+")", "{fn UCASE("+x+")}",
			"(SELECT "+x+" FROM employee LIMIT 1)", "(SELECT MAX("+y+") FROM employee q WHERE q.id = id)", "JSON_OBJECT('a', "+x+")", x+" COLLATE utf8mb4_bin", "CAST("+x+" AS CHAR)", "NULLIF(1, "+x+" > '5')", "@a := "+x, "LAST_INSERT_ID("+x+")",
			"("+x+", 1) = ('a', 1)", x+" AS "+y, x+m.pick(" AS ", " ")+m.pick("''", "' name'", "`\\tssn`", `'\0name'`, `"\nid"`, "'name '", "' '"), x+" "+strings.Trim(y, "`*."), "DEFAULT("+x+")", "VALUES("+x+")", "ELT(1, "+x+")", "LAG("+x+") OVER (ORDER BY id)") + after
	case 1:
		return before + m.pick(mutationTables...) + m.pick("", " e", " AS dept", " AS `d`", " x", " e JOIN dept d", " e NATURAL JOIN dept", " e JOIN dept d USING (id)", " e RIGHT JOIN dept d USING (name)", " LEFT JOIN dept d ON d.id = dept_id", ", dept d", " FOR SYSTEM_TIME ALL", " PARTITION (p0)", " USE INDEX (uq_ssn)") + after
	case 2:
		return before + m.pick(mutationColumns...) + after
	case 3:
		return before + m.pick("/**/", "/*!", "/*!50000 ", "/*!80000 ", "/*M! ", "*/", "-- \n", "#\n", "/*T! */", "/*!99999 , ssn */", "/*M!100100 , ssn */", "/*!50700 */", " ") + word + m.pick("", "", "*/", " */") + after
	case 4:
		if m.IntN(2) == 0 {
			return before + strings.ToUpper(word) + after
		}
		return before + strings.ToLower(word) + after
	case 5:
		return before + after
	case 6:
		return before + word + " " + word + after
	case 7: // a piece of another
		var other token.Text
		if other.Scan([]byte(m.pool[m.IntN(len(m.pool))]), m.mode) != nil || len(other.Tokens) == 0 {
			return string(t.SQL)
		}
		i := m.IntN(len(other.Tokens))
		j := i + 1 + m.IntN(min(6, len(other.Tokens)-i))
		return before + " " + string(other.SQL[other.Tokens[i].Start:other.Tokens[j-1].End]) + " " + m.pick(after, word+after)
	case 9: // another literal
		return before + m.pick("_latin1", "_utf8mb4 ", "_binary", "N", "n", "_gbk", "BINARY ", "") + m.pick(word, m.pick(literals...)) + m.pick("", "", " COLLATE utf8mb4_bin", " 'z'", " || ssn", " name") + after
	default:
		at = m.IntN(len(t.Tokens))
		return before + string(t.Bytes(at)) + after
	}
}

// afterwards are the statements that show what a write left.
var afterwards = []string{"SELECT * FROM log", "SELECT * FROM secret", "SELECT id, name, hired, dept_id, bonus FROM employee", "SELECT id, name FROM dept", "SELECT * FROM plainly", "SELECT id, open FROM g", "SELECT id FROM child", "SELECT * FROM tt",
	"DROP TEMPORARY TABLE IF EXISTS tt", "SELECT LAST_INSERT_ID(), @a"}

// TestMutations looks for leaks in statements made of those of the corpora: under
// rules that allow no conditions on protected columns nothing at all may tell the
// two states apart, and under others nothing may if no guess is right.
func TestMutations(t *testing.T) {
	pool := mutationPool(t)
	schema := strings.TrimRight(hrSchema(t), "; \n") + ";" + schemaFile(t, "schema_own.sql") + mutationViews
	for k, inference := range []string{"strict", "guarded"} {
		rules := strings.ReplaceAll(testRules+ownRules, "columns: [", "inference: "+inference+", columns: [")
		o := newOracle(t, rules, schema, stateB.Replace(schema))
		o.g.srv.cfg.MaxGuesses = 1 << 40
		pool = slices.DeleteFunc(pool, func(s string) bool {
			// Writes to a column with a unique key are guesses.
			return guess.MatchString(s) && (inference == "guarded" || !strings.HasPrefix(strings.ToUpper(s), "SELECT"))
		})
		var gens [2]*mutator
		for i := range gens {
			gens[i] = &mutator{Rand: rand.New(rand.NewPCG(3+uint64(k), 4+*seed)), pool: pool}
		}
		n := max(*statements/4, (*statements-10000)/2)
		o.run("hr", n, func(state, i int) probe {
			g := gens[state]
			p := probe{sql: g.statement(), before: g.before, prepared: g.IntN(4) == 0}
			w := strings.ToUpper(strings.TrimLeft(p.sql, " (\n"))
			if !strings.HasPrefix(w, "SELECT") || strings.Contains(w, "@") || strings.Contains(w, "LAST_INSERT_ID") {
				p.after = afterwards
			}
			return p
		})
		t.Logf("%s: %v; refusals %v", inference, o.counts, o.g.srv.Stats().RefusedBy)
		if o.counts["ciphertext"]+o.counts["plain"] < n/12 {
			t.Error("too few statements were accepted to test anything")
		}
	}
}

// guess finds protected values, and parts of them.
var guess = regexp.MustCompile(`\d\d-\d|\d{5}|zebra|quartz|falcon|'721'|'435'|'310'|'588'`)
