package gate

import (
	"math/rand/v2"
	"regexp"
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
}

func (m *mutator) pick(s ...string) string { return s[m.IntN(len(s))] }

// unsteady statements give something else each time, or take long.
var unsteady = regexp.MustCompile(`(?i)sleep|benchmark|now\(|curdate|curtime|current_|sysdate|utc_|unix_timestamp|uuid|rand\(|connection_id|localtime|nextval|lastval|row_count`)

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
	gen := generator{rand.New(rand.NewPCG(5, 6+*seed))}
	for range len(pool) {
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
CREATE TABLE hr.secret (ssn VARCHAR(11), name VARCHAR(40), twice VARCHAR(30) AS (CONCAT(name, name)));
INSERT INTO hr.secret (ssn, name) VALUES ('open', 'Ann'), ('plain', 'Ben')`

var mutationTables = []string{"employee", "dept", "log", "hr.employee", "`employee`", "v_ssn", "v_mix", "v_ok", "v_deep", "secret", "hr.dept", "EMPLOYEE"}

var mutationColumns = []string{"ssn", "name", "salary", "notes", "id", "budget", "dept_id", "hired", "msg", "n", "twice", "`ssn`", "SSN", "employee.ssn", "e.name", "e.ssn", "hr.employee.salary", "d.budget", "d.name", "x.y", "*", "e.*"}

// statement makes a statement.
func (m *mutator) statement() string {
	for {
		s := m.pool[m.IntN(len(m.pool))]
		for range 1 + m.IntN(2) {
			s = m.mutate(s)
		}
		if m.IntN(16) == 0 {
			return s
		}
		mode := token.Mode{MariaDB: true, Version: 101119}
		if m.text.Scan([]byte(s), mode) != nil {
			continue
		}
		if m.text.Trim(); len(m.text.Tokens) > 0 {
			if _, err := sqlast.Parse(&m.text, mode); err == nil {
				return s
			}
		}
	}
}

func (m *mutator) mutate(s string) string {
	bare := strings.TrimRight(s, "; \n")
	switch m.IntN(12) {
	case 0:
		return m.pick("SELECT * FROM ("+bare+") q", "SELECT q.* FROM ("+bare+") AS q", "WITH q AS ("+bare+") SELECT * FROM q", "SELECT ("+bare+")", "("+bare+")", "SELECT name FROM dept WHERE EXISTS ("+bare+")",
			"WITH RECURSIVE q AS ("+bare+" UNION SELECT * FROM q) SELECT * FROM q", "SELECT name, ("+bare+") FROM dept", "SELECT x FROM ("+bare+") q(x)", "SELECT COUNT(*) FROM ("+bare+") q", "INSERT INTO log (msg) "+bare, "INSERT INTO secret (name) "+bare,
			"SELECT name FROM dept WHERE name IN ("+bare+")", "SELECT d.name, q.* FROM dept d JOIN ("+bare+") q", "SELECT name FROM dept ORDER BY ("+bare+")")
	case 1:
		return bare + m.pick(" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT ", " UNION DISTINCT ") + strings.TrimRight(m.pool[m.IntN(len(m.pool))], "; \n")
	case 2:
		return bare + m.pick(" ORDER BY id LIMIT 1", " ORDER BY 1", " ORDER BY name", " GROUP BY name", " HAVING ssn > ''", " FOR UPDATE", " LOCK IN SHARE MODE", " WHERE ssn > '5'", " AND salary > 70000", " WHERE id = 1", " ORDER BY ssn", " GROUP BY ssn", " PROCEDURE ANALYSE()", " RETURNING *", " RETURNING name, ssn", ";")
	}
	if m.text.Scan([]byte(s), token.Mode{MariaDB: true, Version: 101119}) != nil || len(m.text.Tokens) < 2 {
		return s
	}
	return m.tokens([...]int{0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8}[m.IntN(13)])
}

// tokens changes the statement that has been scanned.
func (m *mutator) tokens(kind int) string {
	t := &m.text
	at := m.IntN(len(t.Tokens))
	tok := t.Tokens[at]
	before, word, after := string(t.SQL[:tok.Start]), string(t.SQL[tok.Start:tok.End]), string(t.SQL[tok.End:])
	names := map[string]bool{"ssn": true, "name": true, "salary": true, "notes": true, "id": true, "budget": true, "dept_id": true}
	// What follows looks for a fitting place first.
	for range 8 {
		if lower := strings.ToLower(word); kind >= 3 || kind == 0 && names[lower] || kind == 1 && (lower == "employee" || lower == "dept" || lower == "log") || kind == 2 && names[lower] {
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
			"("+x+", 1) = ('a', 1)", x+" AS "+y, x+" "+strings.Trim(y, "`*."), "DEFAULT("+x+")", "VALUES("+x+")", "ELT(1, "+x+")", "LAG("+x+") OVER (ORDER BY id)") + after
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
		if other.Scan([]byte(m.pool[m.IntN(len(m.pool))]), token.Mode{MariaDB: true, Version: 101119}) != nil || len(other.Tokens) == 0 {
			return string(t.SQL)
		}
		i := m.IntN(len(other.Tokens))
		j := i + 1 + m.IntN(min(6, len(other.Tokens)-i))
		return before + " " + string(other.SQL[other.Tokens[i].Start:other.Tokens[j-1].End]) + " " + m.pick(after, word+after)
	default:
		at = m.IntN(len(t.Tokens))
		return before + string(t.Bytes(at)) + after
	}
}

// afterwards are the statements that show what a write left.
var afterwards = []string{"SELECT * FROM log", "SELECT * FROM secret", "SELECT id, name, hired, dept_id, bonus FROM employee", "SELECT id, name FROM dept", "SELECT LAST_INSERT_ID(), @a"}

// TestMutations looks for leaks in statements made of those of the corpora. The
// rules allow no conditions on protected columns, so that nothing at all may
// tell the two states apart.
func TestMutations(t *testing.T) {
	pool := mutationPool(t)
	schema := strings.TrimRight(hrSchema(t), "; \n") + ";" + mutationViews
	o := newOracle(t, inferenceOf("strict"), schema, stateB.Replace(schema))
	var gens [2]*mutator
	for i := range gens {
		gens[i] = &mutator{Rand: rand.New(rand.NewPCG(3, 4+*seed)), pool: pool}
	}
	n := max(*statements/2, *statements-10000)
	o.run("hr", n, func(state, i int) probe {
		p := probe{sql: gens[state].statement()}
		w := strings.ToUpper(strings.TrimLeft(p.sql, " (\n"))
		if !strings.HasPrefix(w, "SELECT") || strings.Contains(w, "@") || strings.Contains(w, "LAST_INSERT_ID") {
			p.after = afterwards
		}
		return p
	})
	t.Logf("%v; refusals %v", o.counts, o.g.srv.Stats().RefusedBy)
	if o.counts["ciphertext"]+o.counts["plain"] < n/8 {
		t.Error("too few statements were accepted to test anything")
	}
}
