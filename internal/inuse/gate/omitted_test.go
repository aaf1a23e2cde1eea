package gate

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// TestOmitted: the server leaves out the definitions of what runs again, and so does
// the gate, unless a client has to be told of others.
func TestOmitted(t *testing.T) {
	g := startGate(t, nil)
	rootOn(t, g)
	for _, caps := range []wire.Capabilities{wire.MariaDBCacheMetadata, wire.MariaDBCacheMetadata | wire.DeprecateEOF} {
		at := dialRaw(t, g.addr, "app", "hr", caps)
		var tr transcript
		if err := at.prepare(&tr, "SELECT id, ssn, NULL AS n FROM employee WHERE id = ?"); err != nil || tr.errors > 0 {
			t.Fatal(err, tr.String())
		}
		id := tr.prep.ID
		for _, tt := range []struct {
			step   string
			again  bool // no definitions
			marked bool
			flags  byte
		}{
			{"a client without a key", true, false, 0},
			{"once more", true, false, 0},
			{"with a key", false, true, 0},
			{"with a key again", true, true, 0},
			{"a cursor", true, true, wire.CursorReadOnly},
			{"after a cursor, which the server describes in another way", false, true, 0},
			{"as before it", true, true, 0},
		} {
			if tt.step == "with a key" {
				at.provision(true)
			}
			var got transcript
			if err := at.execute(&got, id, tt.flags, textParam("1")); err != nil || got.errors > 0 {
				t.Fatal(tt.step, err, got.String())
			}
			if again := strings.Contains(got.String(), "as before"); again != tt.again && tt.flags == 0 {
				t.Errorf("%s: definitions left out: %t", tt.step, again)
			}
			if tt.flags != 0 {
				if err := at.fetch(&got, id, 9); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if len(got.rows) != 1 || got.marked[1] != tt.marked || tt.marked && !isCell(got.rows[0][1]) || strings.Contains(got.String(), "721-07-4426") {
				t.Errorf("%s: %s", tt.step, &got)
			}
		}
		// The gate's own statements have a count of columns too.
		if err := at.query(&tr, "SHOW WARNINGS"); err != nil || tr.errors > 0 {
			t.Error(err, &tr)
		}
		var wide transcript
		if err := at.prepare(&wide, "SELECT ssn"+strings.Repeat(", id", 700)+" FROM employee WHERE id = 1"); err != nil || wide.errors > 0 {
			t.Fatal(err, wide.String())
		}
		for range 3 {
			var got transcript
			if err := at.execute(&got, wide.prep.ID, 0); err != nil || len(got.rows) != 1 || !isCell(got.rows[0][0]) || isCell(got.rows[0][700]) {
				t.Fatalf("many columns: %v, %.200s", err, &got)
			}
		}
	}
}

// TestLoose: where the server may leave definitions out, nothing is in plain beside
// protected columns at or after a column whose type the client chooses.
func TestLoose(t *testing.T) {
	g := startGate(t, nil)
	rootOn(t, g)
	for _, tt := range []struct {
		sql  string
		want []bool // encrypted
	}{
		{"SELECT id, ssn, name FROM employee WHERE id = ?", []bool{false, true, false}},
		{"SELECT id, ?, name, ssn FROM employee WHERE id = 1", []bool{false, true, true, true}},
		{"SELECT ssn, ?, id FROM employee WHERE id = 1", []bool{true, true, true}},
		{"SELECT COUNT(*), MIN(ssn) FROM employee WHERE id < ?", []bool{false, true}},
		{"SELECT TRIM(LEADING 'x' FROM name), ?, ssn FROM employee WHERE id = 1", []bool{true, true, true}},
		{"SELECT d.x, d.ssn FROM (SELECT ? AS x, ssn FROM employee WHERE id = 1) AS d", []bool{true, true}},
		{"SELECT ?, id, name FROM employee WHERE id = 1", []bool{false, false, false}},
	} {
		for _, caps := range []wire.Capabilities{wire.DeprecateEOF, wire.DeprecateEOF | wire.MariaDBCacheMetadata} {
			at := dialRaw(t, g.addr, "app", "hr", caps)
			at.provision(true)
			var tr transcript
			if err := at.prepare(&tr, tt.sql); err != nil {
				t.Fatal(err)
			}
			if tr.errors > 0 {
				t.Errorf("%s: %s", tt.sql, &tr)
				continue
			}
			want := tt.want
			if !caps.Has(wire.MariaDBCacheMetadata) {
				want = slices.Clone(tt.want)
				for i, c := range tr.columns {
					want[i] = want[i] && !bytes.Equal(c.Name, []byte("id")) && strings.Contains(string(c.Name), "ssn")
				}
			}
			for i, param := range []string{"1", strings.Repeat("1", 300)} {
				var params []wire.Param
				if tr.prep.Params > 0 {
					params = []wire.Param{textParam(param)}
				}
				var got transcript
				if err := at.execute(&got, tr.prep.ID, 0, params...); err != nil {
					t.Fatal(tt.sql, err)
				}
				for j := range want {
					if got.marked[j] != want[j] {
						t.Errorf("%s, capabilities %x: column %d encrypted %t", tt.sql, uint64(caps), j, got.marked[j])
					}
				}
				if i == 0 && (len(got.rows) != 1 || isCell(got.rows[0][0]) != want[0]) {
					t.Errorf("%s: %s", tt.sql, &got)
				}
			}
		}
	}
}

// TestOmittedUnknown: no row passes whose definitions the server has never sent, or
// that has other columns than they were.
func TestOmittedUnknown(t *testing.T) {
	const caps = wire.Protocol41 | wire.MariaDBCacheMetadata
	row := func(count byte) []byte {
		var buf bytes.Buffer
		w := wire.NewConn(&sink{&canned{}, &buf}, wire.Limits{})
		w.SetSequence(1)
		w.WritePacket([]byte{count, 0})
		w.WritePacket(wire.EOF{}.Append(nil))
		w.WritePacket(wire.AppendBinaryRow(nil, slices.Repeat([]wire.Type{wire.TypeVarString}, int(count)), slices.Repeat([][]byte{[]byte("secret")}, int(count))...))
		w.WritePacket(wire.EOF{}.Append(nil))
		w.Flush()
		return buf.Bytes()
	}
	for _, tt := range []struct {
		name  string
		count byte
		keep  func(*stmt)
		err   error
	}{
		{"known", 10, func(*stmt) {}, nil},
		{"never sent", 10, func(st *stmt) { st.shape = nil }, errUnjudged},
		{"fewer columns", 9, func(*stmt) {}, errNumber},
		{"of another statement", 10, func(st *stmt) { st.shape = longShape }, errUnjudged},
	} {
		ss, server, execute := cannedSession(t, 0, 3)
		// What was prepared before had no count of columns; now it has.
		ss.client.Caps, ss.server.Caps = caps, caps
		prepared := cannedResult(0, true)
		server.answer = prepared
		if err := ss.command(append([]byte{byte(wire.ComStmtPrepare)}, "SELECT * FROM t"...)); err != nil {
			t.Fatal(err)
		}
		tt.keep(ss.stmts.Get(1))
		server.answer = row(tt.count)
		ss.client.SetSequence(1)
		err := ss.command(execute)
		if !errors.Is(err, tt.err) || err == nil != (tt.err == nil) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.err)
		}
		if rows := ss.answer.rows; tt.err != nil && rows > 0 {
			t.Errorf("%s: %d rows passed", tt.name, rows)
		}
	}
}
