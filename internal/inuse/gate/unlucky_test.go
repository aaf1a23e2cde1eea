package gate

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// setRules makes rules those of the tests with other accounts.
func (g *testGate) setRules(t *testing.T, old, new string) {
	t.Helper()
	g.source.Write(t.Context(), nil, []byte(strings.Replace(testRules, old, new, 1)))
	if _, err := g.rules.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// fetch asks for n rows of a cursor.
func (c *rawClient) fetch(tr *transcript, id, n uint32) error {
	p := binary.LittleEndian.AppendUint32([]byte{byte(wire.ComStmtFetch)}, id)
	return c.do(tr, binary.LittleEndian.AppendUint32(p, n))
}

// TestSettingsStaySeen: no setting keeps the gate from seeing how the server reads
// the session's statements.
func TestSettingsStaySeen(t *testing.T) {
	g := startGate(t, nil)
	rootOn(t, g)
	for _, blind := range []string{"SET sql_select_limit=0", "SET sql_select_limit=0, max_join_size=1", "SET max_statement_time=0.000001"} {
		at := dialRaw(t, g.addr, "app", "hr", 0)
		var tr transcript
		for _, sql := range []string{blind, "SET sql_mode='ANSI_QUOTES'", `SELECT CONCAT("ssn", '') AS x FROM employee LIMIT 10`, "USE pub", "USE hr", "SELECT CONCAT(ssn, '') AS x FROM employee LIMIT 10"} {
			if err := at.query(&tr, sql); err != nil {
				t.Fatalf("%s: %s: %v", blind, sql, err)
			}
		}
		if strings.Contains(tr.String(), "721-07-4426") {
			t.Errorf("%s: a value came in plain: %s", blind, &tr)
		}
	}
}

// TestNamesOfAccounts: rules count for an account whatever character set its client
// has, and for both names of one that the server takes for another, also when they
// change.
func TestNamesOfAccounts(t *testing.T) {
	g := startGate(t, nil)
	root := rootOn(t, g)
	root.must("CREATE OR REPLACE USER 'ärzte'@'%', ''@'%'")
	root.must("GRANT ALL ON hr.* TO 'ärzte'@'%'")
	root.must("GRANT ALL ON hr.* TO ''@'%'")
	t.Cleanup(func() { root.must("DROP USER 'ärzte'@'%', ''@'%'") })
	ssn := func(c *rawClient) string {
		return string(rows(t, c, "text", "SELECT ssn FROM employee WHERE id = 1").rows[0][0])
	}

	g.setRules(t, "full: [boss]\n  ciphertext: [", `full: [boss, "*"]`+"\n  ciphertext: [ärzte, ")
	for _, c := range []struct {
		name, user string
		collation  byte
	}{{"utf8mb4", "ärzte", 45}, {"latin1", "\xe4rzte", 8}} {
		conn, tap, err := tryRaw(g.addr, c.user, "hr", wire.Credential{Charset: c.collation})
		if err != nil {
			t.Fatal(c.name, err)
		}
		defer conn.Close()
		if v := ssn(&rawClient{TB: t, Conn: conn, tap: tap}); !isCell([]byte(v)) {
			t.Errorf("%s: got %q", c.name, v)
		}
	}

	g.setRules(t, "full: [boss]", `full: [boss, "*"]`)
	ghost := dialRaw(t, g.addr, "ghost", "hr", 0)
	if v := ssn(ghost); v != "721-07-4426" {
		t.Errorf("got %q", v)
	}
	g.setRules(t, "full: [boss]\n  ciphertext: [", `full: [boss, "*"]`+"\n  ciphertext: [ghost, ")
	if v := ssn(ghost); !isCell([]byte(v)) {
		t.Errorf("restricted by the name it gave: got %q", v)
	}
}

// TestCursorAndRules: rules that change while a cursor is open count for the rows
// that are still to come, or nothing comes.
func TestCursorAndRules(t *testing.T) {
	g := startGate(t, nil)
	rootOn(t, g)
	at := dialRaw(t, g.addr, "app", "hr", 0)
	open := func(sql string) *transcript {
		tr := new(transcript)
		if err := at.prepare(tr, sql); err != nil {
			t.Fatal(err)
		}
		id := tr.prep.ID
		if err := at.execute(tr, id, 1); err != nil || tr.errors > 0 {
			t.Fatal(err, tr.String())
		}
		tr.prep.ID = id
		return tr
	}
	names, ids := open("SELECT name FROM employee ORDER BY id"), open("SELECT id FROM employee ORDER BY id")
	raw := func(tr *transcript) []byte {
		at.tap.mu.Lock()
		at.tap.got = nil
		at.tap.mu.Unlock()
		if err := at.fetch(tr, tr.prep.ID, 1); err != nil {
			t.Fatal(err)
		}
		return at.tap.got
	}
	if got := raw(names); !bytes.Contains(got, []byte("Alice Moreau")) {
		t.Fatalf("got %q", got)
	}
	g.setRules(t, "columns: [ssn,", "columns: [name, ssn,")
	if got := raw(names); !bytes.Contains(got, []byte("refused by the gate")) {
		t.Errorf("of a column that is protected now: got %q", got)
	}
	if got := raw(ids); bytes.Contains(got, []byte("refused")) {
		t.Errorf("of another: got %q", got)
	}
	if got := rows(t, at, "binary", "SELECT name FROM employee WHERE id = 1").rows[0][0]; !isCell(got) {
		t.Errorf("got %q", got)
	}
}
