package gate

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// A leakCase is a way to get at protected values.
type leakCase struct {
	ID         string   `json:"id"`
	Setup      string   `json:"setup"`
	Statements []string `json:"statements"`
	Hex        []string `json:"statements_hex"`
	Expected   string   `json:"expected"`
	Accept     []string `json:"accept"`
	Proof      string   `json:"proof"`
	As         string   `json:"as"`
	Kind       string   `json:"kind"`
	Dialect    []string `json:"dialect"`
	Wire       string   `json:"wire"`
	Channel    string   `json:"channel"`
	Extra      []string `json:"extra_rules"`
	CipherCols []int    `json:"cipher_cols"`
	ErrorsOK   bool     `json:"errors_ok"` // the server itself may refuse
	// Policy is the outcome by inference of the rules.
	Policy  map[string]string `json:"policy"`
	MinMode string            `json:"min_mode"`
	DB, SQL string
	Params  []any
	Encrypt []int
}

func readCases(t *testing.T, name string) (out []leakCase) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var c leakCase
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// secrets are the protected values of the schema hr, and what they become in
// the second state of the database.
var secrets = []string{
	"721-07-4426", "904-55-1183", "435-22-3267", "335-10-6642", "310-66-9041", "250-99-7714", "588-14-7702", "472-31-0058",
	"91357.25", "77231.75", "68420.50", "55310.25", "120999.75", "140250.50", "54210.00", "48999.00",
	"zebra-17 medical leave", "walrus-42 sabbatical year", "quartz-58 disciplinary", "onyx-11 commendation",
	"falcon-93 relocation", "heron-76 visa matter", "4400123.75", "3100456.25", "2750456.50", "1980333.50", "980789.25", "1210987.75",
}

var stateB = strings.NewReplacer(secrets...)

func schemaFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// hrSchema is the schema without what the tests arrange themselves.
func hrSchema(t *testing.T) string {
	var keep []string
	for _, s := range strings.Split(schemaFile(t, "schema_hr.sql"), ";\n") {
		if w := strings.ToUpper(strings.TrimSpace(s)); !strings.HasPrefix(w, "GRANT") && !strings.HasPrefix(w, "CREATE USER") && !strings.HasPrefix(w, "DROP USER") && !strings.HasPrefix(w, "CREATE OR REPLACE USER") {
			keep = append(keep, s)
		}
	}
	return strings.Join(keep, ";\n")
}

// A leakRun runs cases through a gate.
type leakRun struct {
	t    *testing.T
	g    *testGate
	root *rawClient
	base string // what the rules are without those of a case
	// state is the schema the database is in, "" if a case may have changed it.
	state    string
	prepared bool // use the binary protocol
	// inference of all rules.
	inference string
}

// statement runs one statement of a case.
func (lr *leakRun) statement(at *rawClient, tr *transcript, sql string) error {
	if !lr.prepared {
		return at.query(tr, sql)
	}
	before := tr.errors
	if err := at.prepare(tr, sql); err != nil || tr.errors > before {
		return err
	}
	return at.execute(tr, tr.prep.ID, 0)
}

func (lr *leakRun) reset(c *leakCase, schema string) {
	if lr.state != schema {
		remake(lr.t, lr.g, lr.root, schema)
	}
	lr.state = schema
	if c.changes() {
		lr.state = ""
	}
}

// changes reports whether a case may change the database.
func (c *leakCase) changes() bool {
	return c.Setup != "" || c.Kind == "protocol" || slices.ContainsFunc(c.Statements, func(s string) bool {
		w := strings.ToUpper(strings.TrimLeft(s, " ("))
		return !strings.HasPrefix(w, "SELECT") && !strings.HasPrefix(w, "WITH") && !strings.HasPrefix(w, "SHOW") && !strings.HasPrefix(w, "SET ")
	})
}

func (lr *leakRun) multi(sql string) string {
	var tr transcript
	if err := lr.root.query(&tr, sql); err != nil {
		lr.t.Fatal(err)
	}
	return tr.String()
}

// run runs a case against the database in the state of schema and returns what
// the restricted account saw.
func (lr *leakRun) run(c *leakCase, schema string) (tr transcript, raw []byte) {
	lr.reset(c, schema)
	if c.Setup != "" {
		lr.multi("USE hr; " + c.Setup)
	}
	text := lr.base
	for i, col := range c.Extra {
		p := strings.SplitN(col, ".", 3)
		text += fmt.Sprintf("  - {name: extra%d, databases: [%q], tables: [%q], columns: [%q]}\n", i, p[0], p[1], p[2])
	}
	lr.g.source.mu.Lock()
	lr.g.source.text = text
	lr.g.source.mu.Unlock()
	if _, err := lr.g.rules.Reload(lr.t.Context()); err != nil {
		lr.t.Fatal(err)
	}
	if lr.state == "" {
		lr.g.backend.changed()
	}
	cred := wire.Credential{Caps: wire.MultiStatements | wire.MultiResults}
	if c.Wire == "gbkhandshake" {
		cred.Charset = 28
	}
	conn, tap, err := tryRaw(lr.g.addr, c.As, "hr", cred)
	if err != nil {
		lr.t.Fatalf("%s: %v", c.ID, err)
	}
	defer conn.Close()
	at := &rawClient{TB: lr.t, Conn: conn, tap: tap}
	if c.Wire != "gbkhandshake" {
		at.provision(true)
	}
	if c.Kind == "protocol" {
		err = lr.protocol(c, at, &tr)
	} else {
		for i, s := range c.Statements {
			if len(c.Hex) > 0 {
				b, _ := hex.DecodeString(c.Hex[i])
				s = string(b)
			}
			tr.add("statement %d", i)
			if err = lr.statement(at, &tr, s); err != nil {
				break
			}
		}
	}
	if err != nil {
		tr.errors++
		tr.add("connection: %v", err)
	}
	return tr, tap.got
}

// protocol runs the cases that are commands and not statements.
func (lr *leakRun) protocol(c *leakCase, at *rawClient, tr *transcript) error {
	const direct = "SELECT ssn FROM employee WHERE id=1"
	u32 := func(cmd wire.Command, n uint32, more ...byte) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte{byte(cmd)}, n), more...)
	}
	steps := func(ps ...[]byte) error {
		for _, p := range ps {
			if err := at.do(tr, p); err != nil {
				return err
			}
		}
		return nil
	}
	query := func(sql string) []byte { return append([]byte{byte(wire.ComQuery)}, sql...) }
	prepared := func(sql string, next func(id uint32) error) error {
		if err := at.prepare(tr, sql); err != nil {
			return err
		}
		return next(tr.prep.ID)
	}
	switch c.Wire {
	case "stmt", "cursor", "reset", "closed", "cachemeta", "stmtcall", "reprepare", "bulk":
		sql := map[string]string{"cursor": "SELECT salary FROM employee WHERE id=1", "stmtcall": "CALL leak()", "reprepare": "SELECT name FROM v_ok WHERE id=1", "bulk": "INSERT INTO log(msg) VALUES(?)"}[c.Wire]
		if sql == "" {
			sql = direct
		}
		return prepared(sql, func(id uint32) error {
			switch c.Wire {
			case "cursor":
				if err := at.execute(tr, id, wire.CursorReadOnly); err != nil {
					return err
				}
				return steps(u32(wire.ComStmtFetch, id, 10, 0, 0, 0))
			case "reset":
				if err := steps([]byte{byte(wire.ComResetConnection)}); err != nil {
					return err
				}
			case "closed":
				if err := at.WriteCommand(u32(wire.ComStmtClose, id)); err != nil {
					return err
				}
			case "reprepare":
				lr.multi("CREATE OR REPLACE VIEW hr.v_ok AS SELECT id, ssn AS name FROM hr.employee")
				lr.g.backend.changed()
			case "bulk":
				return lr.unknown(at, tr, u32(wire.ComBulkExecute, id, 128, 0, 0xfd, 0, 0, 1, 'a', 0, 1, 'b'))
			}
			if err := at.execute(tr, id, 0); err != nil {
				return err
			}
			return at.execute(tr, id, 0)
		})
	case "longdata":
		return prepared("SELECT ?", func(id uint32) error {
			if err := at.WriteCommand(u32(wire.ComStmtSendLongData, id, append([]byte{0, 0}, "long-data"...)...)); err != nil {
				return err
			}
			return at.execute(tr, id, 0, textParam(""))
		})
	case "stmtid-1":
		return prepared("SELECT name FROM dept WHERE id=1", func(uint32) error {
			return prepared(direct, func(uint32) error { return at.execute(tr, wire.LastPrepared, 0) })
		})
	case "changeuser":
		u := wire.ChangeUser{User: "other", Database: "hr", Charset: 45, AuthPlugin: wire.PluginNative}
		if err := at.WriteCommand(u.Append(nil, at.Caps)); err != nil {
			return err
		}
		p, err := at.ReadPacket()
		if err == nil && p[0] == 0xfe { // the other plugin: no password
			if err = at.WritePacket(nil); err == nil {
				p, err = at.ReadPacket()
			}
		}
		if err != nil || p[0] != 0 {
			return fmt.Errorf("change user: %v", err)
		}
		return steps(query(direct))
	case "initdb":
		return steps(append([]byte{byte(wire.ComInitDB)}, "pub"...), query("SELECT ssn FROM employee"))
	case "initdb2":
		return steps(append([]byte{byte(wire.ComInitDB)}, "pub"...), append([]byte{byte(wire.ComInitDB)}, "hr"...), query(direct))
	case "setoption":
		return steps([]byte{byte(wire.ComSetOption), 0, 0}, query("SELECT 1; "+direct))
	case "pipeline":
		for _, p := range [][]byte{query("SELECT name FROM dept WHERE id=1"), query(direct)} {
			if err := at.WriteCommand(p); err != nil {
				return err
			}
		}
		if err := at.read(tr, wire.ComQuery); err != nil {
			return err
		}
		// The next answer counts from 1 again; another command makes it so here too.
		if err := at.WriteCommand([]byte{byte(wire.ComPing)}); err != nil {
			return err
		}
		if err := at.read(tr, wire.ComQuery); err != nil {
			return err
		}
		return nil
	case "prepmulti":
		return prepared("SELECT 1; SELECT ssn FROM employee", func(id uint32) error { return at.execute(tr, id, 0) })
	case "gbkhandshake":
		return steps(query("SELECT CONCAT('X\xbf\x5c', ssn, '') AS c FROM employee WHERE id=1 /*' ) AS c FROM dept -- */"))
	case "infile":
		return steps(query("LOAD DATA LOCAL INFILE '/etc/x' INTO TABLE log (msg)"))
	case "fieldlist":
		return lr.unknown(at, tr, append([]byte{byte(wire.ComFieldList)}, "employee\x00"...))
	case "regslave":
		return lr.unknown(at, tr, u32(wire.ComRegisterReplica, 77, make([]byte, 13)...))
	case "tabledump":
		return lr.unknown(at, tr, append([]byte{byte(wire.ComTableDump)}, "\x02hr\x08employee"...))
	case "binlogdump":
		return lr.unknown(at, tr, append(u32(wire.ComBinlogDump, 4, 0, 0, 77, 0, 0, 0), "x.000001"...))
	case "processinfo":
		return lr.unknown(at, tr, []byte{byte(wire.ComProcessInfo)})
	case "commulti":
		return lr.unknown(at, tr, append([]byte{byte(wire.ComMulti), 9, 0, 0}, query("SELECT 1")...))
	case "unknown":
		return lr.unknown(at, tr, []byte{0xf0, 'x'})
	case "bigpacket":
		return steps(query("SELECT /*" + strings.Repeat("x", 17<<20) + "*/ ssn FROM employee WHERE id=1"))
	case "track":
		return steps(query("SET NAMES latin1"), query("USE pub"), query("SET sql_mode='ANSI_QUOTES'"), query("SET session_track_system_variables='sql_mode'"))
	case "compress", "":
		if at.Caps.Has(wire.Compress) || at.Caps.Has(wire.QueryAttributes) {
			return fmt.Errorf("capabilities %x", at.Caps)
		}
		tr.errors++
		tr.add("negotiated away")
		return nil
	}
	lr.t.Fatalf("%s: no way to run %q", c.ID, c.Wire)
	return nil
}

// unknown sends a command and reads one packet: the answer must be an error.
func (lr *leakRun) unknown(at *rawClient, tr *transcript, p []byte) error {
	if err := at.WriteCommand(p); err != nil {
		return err
	}
	got, err := at.ReadPacket()
	if err != nil {
		return err
	}
	if got[0] != 0xff {
		lr.t.Errorf("command %#x was answered by %q", p[0], got)
	}
	tr.errors++
	tr.add("answer %q", got)
	return nil
}

// TestBypasses runs every known way around protection, in two states of the
// database that differ in protected values alone. What the account sees in
// plain must be the same in both, and hold none of the values. Only conditions
// on protected columns (channel P and T) may tell the states apart.
func TestBypasses(t *testing.T) {
	g := startGate(t, nil)
	lr := &leakRun{t: t, g: g, root: dialRaw(t, backendServer(t).Addr(), "root", "", wire.MultiStatements|wire.MultiResults), base: testRules, inference: "guarded"}
	type seen struct {
		transcript
		raw []byte
	}
	schema, tally := hrSchema(t), map[string]int{}
	var cases []leakCase
	for _, c := range readCases(t, "bypass.jsonl") {
		if strings.HasPrefix(c.ID, os.Getenv("GATE_CASE")) {
			cases = append(cases, c)
		}
	}
	// States A and B, and both with prepared statements where that is cheap.
	var saw [4][]seen
	for i, state := range []string{schema, stateB.Replace(schema), schema, stateB.Replace(schema)} {
		lr.prepared = i >= 2
		for j := range cases {
			if lr.prepared && cases[j].changes() {
				saw[i] = append(saw[i], seen{transcript: transcript{errors: 1}})
				continue
			}
			tr, raw := lr.run(&cases[j], state)
			saw[i] = append(saw[i], seen{tr, raw})
		}
	}
	for j := range cases {
		lr.compare(&cases[j], &saw[0][j].transcript, &saw[1][j].transcript, saw[0][j].raw, saw[1][j].raw, tally)
		if cases[j].changes() {
			continue
		}
		lr.compare(&cases[j], &saw[2][j].transcript, &saw[3][j].transcript, saw[2][j].raw, saw[3][j].raw, map[string]int{})
	}
	t.Logf("guarded: %v", tally)
	// What conditions may do depends on the rules.
	for _, inference := range []string{"strict", "documented"} {
		lr.inference, lr.base, lr.prepared, tally = inference, inferenceOf(inference), false, map[string]int{}
		for i := range cases {
			c := &cases[i]
			if c.Policy == nil {
				continue
			}
			a, rawA := lr.run(c, schema)
			b, rawB := lr.run(c, stateB.Replace(schema))
			lr.compare(c, &a, &b, rawA, rawB, tally)
		}
		t.Logf("%s: %v", inference, tally)
	}
}

// inferenceOf are the rules with one inference for all.
func inferenceOf(inference string) string {
	return strings.ReplaceAll(testRules, "columns: [", "inference: "+inference+", columns: [")
}

// compare judges what a case got to see in the states A and B.
func (lr *leakRun) compare(c *leakCase, a, b *transcript, raw, rawB []byte, tally map[string]int) {
	if os.Getenv("GATE_CASE") != "" {
		lr.t.Logf("%s %q\n%s", c.ID, c.Statements, a)
	}
	for i, s := range secrets {
		if slices.ContainsFunc(c.Statements, func(st string) bool { return strings.Contains(st, s) }) {
			continue // the client knows it already
		}
		if bytes.Contains([][]byte{raw, rawB}[i%2], []byte(s)) {
			lr.t.Errorf("%s: value %q came in plain\n%q\n%s", c.ID, s, c.Statements, [2]*transcript{a, b}[i%2])
		}
	}
	if c.Expected != "ok-plain" && c.Proof != "" {
		if m, err := regexp.MatchString("(?s)"+c.Proof, descriptions.ReplaceAllString(a.plain(), "")); err != nil {
			lr.t.Fatal(err)
		} else if m && a.errors == 0 && c.Channel != "P" && !slices.Contains(c.Accept, "ok-plain") && !proofInStatement(c) {
			lr.t.Errorf("%s: the proof of a leak, %s, is in what came\n%q\n%s", c.ID, c.Proof, c.Statements, a)
		}
	}
	clock := strings.Contains(strings.Join(c.Statements, ""), "UNIX_TIMESTAMP()") && lr.prepared // in binary, differs by itself
	if x, y := a.plain(), b.plain(); x != y && !clock && c.Channel != "P" && c.Channel != "T" {
		lr.t.Errorf("%s: the two states can be told apart\n%q\nA: %s\nB: %s", c.ID, c.Statements, x, y)
	}
	outcome := c.outcome(a)
	tally[outcome]++
	if c.Policy != nil {
		// Refusing is always safe.
		if want := c.Policy[lr.inference]; want != outcome && outcome != "reject" && outcome != "cipher" {
			lr.t.Errorf("%s: %s under %s, want %s\n%q\n%s", c.ID, outcome, lr.inference, want, c.Statements, a)
		} else if want == "ok-plain" && outcome == "reject" {
			tally["allowed by the corpus, refused"]++
		}
		return
	}
	if testEngine == target.MySQL && c.foreign(a, outcome) {
		tally["of MariaDB's dialect"]++
		return
	}
	if !slices.Contains(c.Accept, outcome) && !(outcome == "reject" && c.ErrorsOK) {
		// A leak by warnings is none where there are none to be had.
		if c.Channel == "X" && outcome == "ok-plain" && !slices.Contains(c.Accept, "ok-plain") {
			tally["warnings withheld"]++
			return
		}
		lr.t.Errorf("%s: %s, want one of %v\n%q\n%s", c.ID, outcome, c.Accept, c.Statements, a)
	}
	if outcome == "cipher" {
		over := 0
		for i, marked := range a.marked {
			if marked && len(c.CipherCols) > 0 && !slices.Contains(c.CipherCols, i) {
				over++
			}
		}
		if over > 0 {
			lr.t.Logf("%s: more columns are encrypted than %v", c.ID, c.CipherCols)
			tally["over-encrypted"]++
		}
	}
}

// foreign reports whether MySQL reads a case otherwise than MariaDB, for which the
// corpus was written: it has comments of its own, or is no SQL there.
func (c *leakCase) foreign(tr *transcript, outcome string) bool {
	return outcome == "ok-plain" && strings.Contains(strings.Join(c.Statements, ""), "/*M!") ||
		outcome == "reject" && !strings.Contains(tr.String(), "refused by the gate")
}

// descriptions finds numbers in transcripts that come from no statement.
var descriptions = regexp.MustCompile(`(?m)^described as .*$`)

// outcome names what came of a case as the corpus does.
func (c *leakCase) outcome(tr *transcript) string {
	switch {
	case tr.errors > 0:
		return "reject"
	case strings.Contains(tr.String(), "<cell>") || strings.Contains(tr.String(), "marked=true"):
		return "cipher"
	}
	return "ok-plain"
}

// proofInStatement reports whether the proof would be found in the statement
// itself, so that seeing it says nothing.
func proofInStatement(c *leakCase) bool {
	m, err := regexp.MatchString("(?s)"+c.Proof, strings.Join(c.Statements, "\n"))
	return err == nil && m
}
