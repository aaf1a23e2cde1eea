package lineage

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/bench/target/targettest"
	"github.com/veildb/veildb/internal/sql/schema"
)

// The databases a and b are alike but for the columns s and n, which are
// protected. Columns share names so that joins have something to make one.
var tables = []struct {
	name, columns string
	rows          [2]string // of a and of b
}{
	{"t1", "id INT PRIMARY KEY, a INT, b VARCHAR(9), s VARCHAR(20), n INT", [2]string{
		"(1,1,'x','secret-one',41),(2,2,'y','secret-two',42),(3,NULL,'x',NULL,43),(4,2,NULL,'secret-four',NULL)",
		"(1,1,'x','hidden-a',70),(2,2,'y','hidden-bb',17),(3,NULL,'x',NULL,29),(4,2,NULL,'hidden-ccc',NULL)"}},
	{"t2", "c INT, id INT PRIMARY KEY, b VARCHAR(9) NOT NULL, n DECIMAL(9,2)", [2]string{
		"(5,1,'x',1.5),(6,2,'z',2.5),(7,3,'y',NULL)", "(5,1,'x',91.5),(6,2,'z',-2.25),(7,3,'y',NULL)"}},
	{"t3", "a INT, d DATE, c INT, hid INT INVISIBLE DEFAULT 9, id INT PRIMARY KEY", [2]string{
		"(1,'2020-01-01',5,1),(2,'2021-02-03',6,2),(9,NULL,7,5)", "(1,'2020-01-01',5,1),(2,'2021-02-03',6,2),(9,NULL,7,5)"}},
	{"w", "s TEXT, k INT", [2]string{"('secret-one',1),('more',2)", "('hidden-x',1),('less',2)"}},
}

var views = map[string]string{
	"v1": "SELECT id, s AS z, b FROM t1",
	"v2": "SELECT id, CONCAT(b, '-', a) AS a, CONCAT(s, n) AS q FROM t1",
	"v3": "SELECT t1.id AS id, t2.b AS b, t2.n AS n, t3.c FROM t1 LEFT JOIN t2 USING (id) JOIN t3 ON t3.id = t1.id",
}

// A twin is a server with both databases.
type twin struct {
	t      *testing.T
	server *target.Server
	a, b   *sql.Conn
	cat    *schema.Catalog
}

func startTwin(t *testing.T) *twin {
	tw := &twin{t: t, cat: schema.NewCatalog(schema.Server{MariaDB: true, Version: 101119}, schema.MatchCase)}
	tw.server = targettest.Start(t, target.MariaDB, nil)
	tw.connect()
	tw.read()
	return tw
}

// revive starts the server again.
func (tw *twin) revive() {
	tw.server.Kill() // should it still be dying
	if err := tw.server.Restart(context.Background()); err != nil {
		tw.t.Fatal(err)
	}
	tw.connect()
}

// connect makes the databases and opens connections, also after the server has
// died of a query, which MariaDB does of some.
func (tw *twin) connect() {
	tw.make("a", 0)
	tw.make("b", 1)
	tw.a, tw.b = tw.open("a"), tw.open("b")
}

func (tw *twin) open(name string) *sql.Conn {
	db, err := sql.Open("mysql", "root@tcp("+tw.server.Addr()+")/"+name+"?sql_mode='STRICT_TRANS_TABLES,ONLY_FULL_GROUP_BY'&max_statement_time=1&clientFoundRows=true&readTimeout=20s")
	if err != nil {
		tw.t.Fatal(err)
	}
	db.SetMaxIdleConns(-1) // Close of conn ends it
	conn, err := db.Conn(context.Background())
	if err != nil {
		tw.t.Fatal(err)
	}
	tw.t.Cleanup(func() { db.Close() })
	return conn
}

func (tw *twin) make(name string, which int) {
	conn := tw.open("")
	defer conn.Close()
	script := []string{"CREATE OR REPLACE DATABASE " + name, "USE " + name}
	for _, tab := range tables {
		script = append(script, "CREATE TABLE "+tab.name+" ("+tab.columns+")", "INSERT INTO "+tab.name+" VALUES "+tab.rows[which])
	}
	for _, v := range []string{"v1", "v2", "v3"} {
		script = append(script, "CREATE VIEW "+v+" AS "+views[v])
	}
	for _, s := range script {
		if _, err := conn.ExecContext(context.Background(), s); err != nil {
			tw.t.Fatalf("%s: %v", s, err)
		}
	}
}

// read makes the catalog of a.
func (tw *twin) read() {
	rows, err := tw.a.QueryContext(context.Background(), `SELECT t.TABLE_NAME, t.TABLE_TYPE, c.COLUMN_NAME, c.COLUMN_TYPE, c.IS_NULLABLE, c.EXTRA, IFNULL(v.VIEW_DEFINITION,'')
		FROM information_schema.TABLES t JOIN information_schema.COLUMNS c USING (TABLE_SCHEMA, TABLE_NAME) LEFT JOIN information_schema.VIEWS v USING (TABLE_SCHEMA, TABLE_NAME)
		WHERE TABLE_SCHEMA = 'a' ORDER BY 1, c.ORDINAL_POSITION`)
	if err != nil {
		tw.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name, kind, col, typ, null, extra, def string
		if err := rows.Scan(&name, &kind, &col, &typ, &null, &extra, &def); err != nil {
			tw.t.Fatal(err)
		}
		tab := tw.cat.Table(schema.TableName{Database: "a", Table: name})
		if tab == nil {
			tab = &schema.Table{TableName: schema.TableName{Database: "a", Table: name}, Engine: "InnoDB", Definition: def}
			if kind == "VIEW" {
				tab.Kind, tab.Engine = schema.View, ""
			}
			tw.cat.Add(tab)
		}
		tab.Columns = append(tab.Columns, schema.TableColumn{Name: col, Type: typ, Nullable: null == "YES", Invisible: strings.Contains(extra, "INVISIBLE")})
	}
	if err := rows.Err(); err != nil {
		tw.t.Fatal(err)
	}
}

func twinRules(how Inference) Rules {
	r := Rules{List: []Rule{{Name: "(derived)", Inference: how}, {Name: "main", Inference: how}}}
	r.Column = func(c schema.Column) Labels {
		if strings.HasPrefix(c.Table, "v") || c.Column != "s" && c.Column != "n" {
			return nil
		}
		return Labels{1}
	}
	return r
}

// A result is what a server answers.
type result struct {
	names []string
	rows  [][]sql.NullString
}

func query(conn *sql.Conn, text string) (*result, error) {
	rows, err := conn.QueryContext(context.Background(), text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	r := &result{}
	if r.names, err = rows.Columns(); err != nil {
		return nil, err
	}
	for rows.Next() {
		row, to := make([]sql.NullString, len(r.names)), make([]any, len(r.names))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		r.rows = append(r.rows, row)
	}
	return r, rows.Err()
}

// plain is what is seen of a result when some columns are ciphertext: of those,
// which values are NULL. The order of rows is not promised and left out.
func (r *result) plain(encrypted []int) string {
	var lines []string
	for _, row := range r.rows {
		var line []string
		for i, v := range row {
			switch {
			case !v.Valid:
				line = append(line, "NULL")
			case slices.Contains(encrypted, i):
				line = append(line, "<cell>")
			default:
				line = append(line, strconv.Quote(v.String))
			}
		}
		lines = append(lines, strings.Join(line, " "))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// checkTwins judges a query and runs it in both databases. What is not refused
// must have the columns the verdict names, and look the same.
func (tw *twin) check(x *Account, text string) (ran string) {
	v := x.judge(text, Session{Database: "a"})
	ra, err := query(tw.a, text)
	var known *mysql.MySQLError
	switch {
	case err != nil && !errors.As(err, &known):
		tw.revive()
		return "the server died"
	case err != nil:
		return "invalid"
	case v.Refusal != nil:
		return "refused: " + v.Refusal.Rule
	}
	rb, err := query(tw.b, text)
	if err != nil {
		return "an error in one"
	}
	if len(v.Outputs) != len(ra.names) {
		tw.t.Errorf("%d columns, the server has %d: %v\n%s", len(v.Outputs), len(ra.names), ra.names, text)
		return "bad"
	}
	for i, o := range v.Outputs {
		if o.Name != "" && o.Name != ra.names[i] {
			tw.t.Errorf("column %d is %q, the server says %q: %v\n%s", i, o.Name, ra.names[i], ra.names, text)
			return "bad"
		}
	}
	if a, b := ra.plain(v.Encrypted()), rb.plain(v.Encrypted()); a != b {
		tw.t.Errorf("told apart, encrypted %v:\n%s\nA:\n%s\nB:\n%s", v.Encrypted(), text, a, b)
		return "bad"
	}
	return "same"
}

var (
	queries = flag.Int("queries", 800, "random queries of TestNonInterference")
	seed    = flag.Uint64("seed", 1, "what they are drawn from")
)

// TestNonInterference runs random queries in two databases that differ in
// protected values alone: nothing that is seen may differ. The constants in them
// are no protected values, so that no guess is right.
func TestNonInterference(t *testing.T) {
	tw := startTwin(t)
	for name, how := range map[string]Inference{"strict": Strict, "guarded": Guarded} {
		x := New(tw.cat, twinRules(how))
		tally := map[string]int{}
		for i := range *queries {
			g := &generator{r: rand.New(rand.NewPCG(*seed, uint64(i)))}
			if i%4 == 3 {
				tally["write, "+tw.write(x, g.write(2))]++
			} else {
				tally[tw.check(x, g.top(3))]++
			}
		}
		t.Log(name, tally)
		if tally["same"] < *queries/10 || tally["write, same"] < *queries/100 {
			t.Errorf("too few statements were compared")
		}
	}
}

// write runs a statement that writes in both databases and compares what is in
// them after.
func (tw *twin) write(x *Account, text string) string {
	v := x.judge(text, Session{Database: "a"})
	if v.Refusal != nil {
		return "refused"
	}
	var seen [2]string
	for i, conn := range []*sql.Conn{tw.a, tw.b} {
		var why string
		if seen[i], why = tw.wrote(x, conn, text); why != "" {
			return why
		}
	}
	if seen[0] == seen[1] {
		return "same"
	}
	if strings.HasPrefix(text, "UPDATE") && strings.Contains(text, " OVER (") && tw.differs(x, text, seen) {
		tw.t.Logf("told apart from itself: %s", text)
		return "order of rows"
	}
	tw.t.Errorf("told apart by what was written:\n%s\nA:\n%s\nB:\n%s", text, seen[0], seen[1])
	return "bad"
}

// differs reports whether a statement that was seen to write this in one database
// and that in the other writes something else in the same. A window over equal rows
// has them in any order, by where the server's memory is, and of several rows that
// are joined to one the last is written.
func (tw *twin) differs(x *Account, text string, was [2]string) bool {
	for i := range 60 {
		conn := tw.open([]string{"a", "b"}[i%2])
		defer conn.Close() // after all, for each to have memory of its own
		if _, err := conn.ExecContext(context.Background(), fmt.Sprint("SET @fill = REPEAT('x', ", 1<<(i%16), "), sort_buffer_size = ", 32768*(1+i%8))); err != nil {
			tw.t.Fatal(err)
		}
		seen, why := tw.wrote(x, conn, text)
		if why != "" {
			return false
		}
		if seen != was[i%2] {
			return true
		}
	}
	return false
}

// wrote runs a statement that writes in one database and returns what is seen
// after, or why nothing is. It is undone.
func (tw *twin) wrote(x *Account, conn *sql.Conn, text string) (seen, why string) {
	tx, err := conn.BeginTx(context.Background(), nil)
	if err != nil {
		tw.revive()
		return "", "the server died"
	}
	res, err := tx.Exec(text)
	if err == nil {
		n, _ := res.RowsAffected()
		seen = fmt.Sprint(n, " rows\n")
		for _, tab := range tables {
			r, err := query(conn, "SELECT * FROM "+tab.name)
			if err != nil {
				tw.t.Fatal(err)
			}
			seen += r.plain(x.judge("SELECT * FROM "+tab.name, Session{Database: "a"}).Encrypted()) + "\n"
		}
	}
	if tx.Rollback() != nil {
		tw.revive()
		return "", "the server died"
	}
	if err != nil {
		return "", "invalid"
	}
	return seen, ""
}
