package wire_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// kindNames are for transcripts.
var kindNames = map[wire.Kind]string{
	wire.KindOK: "ok", wire.KindErr: "err", wire.KindColumns: "columns", wire.KindColumn: "column", wire.KindParam: "param",
	wire.KindDefsEnd: "defs-end", wire.KindRow: "row", wire.KindRowsEnd: "rows-end", wire.KindPrepared: "prepared",
	wire.KindInfile: "infile", wire.KindString: "string",
}

// A script runs commands on one connection and writes down every packet.
type script struct {
	t   *testing.T
	c   *wire.Conn
	out strings.Builder
	// last statement prepared
	stmt   wire.Prepared
	status wire.Status
}

// do sends a command and records its answer; infile is what a LOCAL INFILE
// request gets, packet by packet.
func (s *script) do(p []byte, infile ...string) {
	s.t.Helper()
	args := p[1:]
	if _, err := wire.StmtID(p); err == nil { // the server numbers statements of all connections
		args = args[4:]
	}
	fmt.Fprintf(&s.out, "> %v %.60q\n", wire.Command(p[0]), args)
	if err := s.c.WriteCommand(p); err != nil {
		s.t.Fatal(err)
	}
	if err := s.c.Flush(); err != nil {
		s.t.Fatal(err)
	}
	var r wire.Response
	r.Start(wire.Command(p[0]), s.c.Caps)
	for !r.Done() {
		kind, err := r.Next(s.c)
		if err != nil {
			s.t.Fatalf("%v: %v\nso far:\n%s", wire.Command(p[0]), err, s.out.String())
		}
		p, err := s.c.Load()
		if err != nil {
			s.t.Fatal(err)
		}
		shown := p
		switch kind {
		case wire.KindPrepared:
			s.stmt = r.Prepared
			s.stmt.ID = 0
			shown = s.stmt.Append(nil)
			s.stmt.ID = r.Prepared.ID
		case wire.KindErr:
			shown = bytes.ReplaceAll(p, fmt.Appendf(nil, "(%d)", s.stmt.ID), []byte("(ID)"))
		case wire.KindInfile:
			for _, f := range append(infile, "") {
				if err := s.c.WritePacket([]byte(f)); err != nil {
					s.t.Fatal(err)
				}
			}
		}
		fmt.Fprintf(&s.out, "< %s %x\n", kindNames[kind], shown)
	}
	s.status = r.Status
}

func (s *script) query(sql string, infile ...string) {
	s.t.Helper()
	s.do(append([]byte{byte(wire.ComQuery)}, sql...), infile...)
}

func (s *script) prepare(sql string) {
	s.t.Helper()
	s.do(append([]byte{byte(wire.ComStmtPrepare)}, sql...))
}

func (s *script) execute(flags byte, params ...wire.Param) {
	s.t.Helper()
	e := wire.Execute{ID: s.stmt.ID, Flags: flags, Iterations: 1, NewTypes: true, Params: params}
	s.do(e.Append(nil, s.c.Caps))
}

func (s *script) stmtCommand(cmd wire.Command, more ...byte) {
	s.t.Helper()
	s.do(append(binary.LittleEndian.AppendUint32([]byte{byte(cmd)}, s.stmt.ID), more...))
}

func text(v string) wire.Param {
	return wire.Param{ParamType: wire.ParamType{Type: wire.TypeVarString}, Value: []byte(v)}
}

// everything is a session that uses all a server answers in.
func everything(s *script) {
	for _, sql := range []string{
		"SELECT * FROM kinds ORDER BY id",
		"SELECT 1, NULL, '' , REPEAT('x', 66000)",
		"SELECT id FROM kinds WHERE 0",
		"DO 0", "SELECT nonsense", "SET NAMES latin1", "SET NAMES utf8mb4", "USE veildb", "SET @a = 1",
		"BEGIN", "INSERT INTO sink VALUES (1, 'x'), (2, NULL)", "UPDATE sink SET a = 3", "ROLLBACK",
		"INSERT INTO kinds (id) VALUES (1)",
		"SELECT 1/0", "SHOW WARNINGS",
		"SELECT 1; SELECT nonsense; SELECT 2",
		"SELECT 1; DO 0; SELECT id, v FROM kinds ORDER BY id; UPDATE kinds SET ti = ti WHERE id = 1",
		"CALL two_results(@n)", "SELECT @n", "CALL fails()", "SHOW CREATE TABLE kinds", "EXPLAIN SELECT * FROM kinds",
		"CREATE TEMPORARY TABLE tmp (a INT)", "DROP TEMPORARY TABLE tmp",
	} {
		s.query(sql)
	}
	s.query("LOAD DATA LOCAL INFILE 'some file' INTO TABLE sink (a, b)", "1\tone\n2\tt", "wo\n")
	s.query("LOAD DATA LOCAL INFILE 'empty' INTO TABLE sink (a, b)")
	s.query("LOAD DATA LOCAL INFILE 'x' INTO TABLE nowhere", "1\n")
	s.query("SELECT a, b FROM sink ORDER BY a")
	s.query("DELETE FROM sink")

	s.do([]byte{byte(wire.ComPing)})
	s.do(append([]byte{byte(wire.ComInitDB)}, "mysql"...))
	s.do(append([]byte{byte(wire.ComInitDB)}, "nowhere"...))
	s.do(append([]byte{byte(wire.ComInitDB)}, "veildb"...))
	s.do(append([]byte{byte(wire.ComFieldList)}, "kinds\x00%"...))
	s.do(append([]byte{byte(wire.ComFieldList)}, "nowhere\x00"...))
	s.do([]byte{byte(wire.ComSetOption), 1, 0})
	s.query("SELECT 1; SELECT 2")
	s.do([]byte{byte(wire.ComSetOption), 0, 0})
	s.do([]byte{byte(wire.ComProcessKill), 0xff, 0xff, 0xff, 0x7f})
	s.do([]byte{byte(wire.ComDebug)})

	s.statements()

	s.do([]byte{byte(wire.ComResetConnection)})
	s.query("SELECT @n")
}

func (s *script) statements() {
	s.prepare("SELECT nonsense")
	s.prepare("DO 0")
	s.execute(0)
	s.stmtCommand(wire.ComStmtClose)
	s.prepare("SELECT * FROM kinds WHERE id < ? ORDER BY id")
	s.execute(0, text("10"))
	s.execute(0, text("0"))
	for _, comment := range []string{"'again'", "''"} {
		s.query("ALTER TABLE kinds COMMENT " + comment)
		s.execute(0, text("10"))
	}
	s.execute(0, text("10"))
	s.stmtCommand(wire.ComStmtReset)
	s.execute(wire.CursorReadOnly, text("10"))
	if !s.status.Has(wire.StatusCursorExists) {
		s.t.Fatal("no cursor was opened")
	}
	s.stmtCommand(wire.ComStmtFetch, 1, 0, 0, 0)
	s.stmtCommand(wire.ComStmtFetch, 1, 0, 0, 0)
	s.stmtCommand(wire.ComStmtFetch, 100, 0, 0, 0)
	s.stmtCommand(wire.ComStmtFetch, 1, 0, 0, 0)
	s.stmtCommand(wire.ComStmtClose)
	s.stmtCommand(wire.ComStmtFetch, 1, 0, 0, 0) // no such statement
	s.prepare("INSERT INTO sink VALUES (?, ?)")
	s.execute(0, text("1"), wire.Param{ParamType: wire.ParamType{Type: wire.TypeVarString}, Null: true})
	s.stmtCommand(wire.ComStmtSendLongData, append([]byte{1, 0}, "long "...)...)
	s.stmtCommand(wire.ComStmtSendLongData, append([]byte{1, 0}, "data"...)...)
	s.execute(0, text("2"), wire.Param{ParamType: wire.ParamType{Type: wire.TypeBlob}, Long: true})
	s.stmtCommand(wire.ComStmtClose)
	s.query("SELECT * FROM sink ORDER BY a")
	s.query("DELETE FROM sink")
	s.prepare("CALL two_results(?)")
	s.execute(0, text("1"))
	s.execute(0, text("1"))
	s.stmtCommand(wire.ComStmtClose)
	for range 2 {
		s.query("PREPARE p FROM 'SELECT id FROM kinds WHERE id = ?'")
		s.query("EXECUTE p USING @a")
		s.query("EXECUTE p USING @a")
	}
}

// TestSameBytes runs the same session directly and through relays: every packet
// must be the same, also if the relay decodes and encodes each.
func TestSameBytes(t *testing.T) {
	base := wire.LocalFiles | wire.MultiStatements | wire.ConnectAttrs
	for _, tc := range []struct {
		name string
		caps wire.Capabilities
	}{
		{"EOF", base},
		{"deprecate EOF", base | wire.DeprecateEOF},
		{"EOF, session track", base | wire.SessionTrack},
		{"deprecate EOF, session track, extended metadata", base | wire.DeprecateEOF | wire.SessionTrack | wire.MariaDBExtendedMetadata},
		{"MySQL client", base | wire.LongPassword | wire.FoundRows | wire.DeprecateEOF},
		{"cached metadata, EOF", base | wire.MariaDBCacheMetadata},
		{"cached metadata, deprecate EOF", base | wire.MariaDBCacheMetadata | wire.DeprecateEOF},
		{"masked capabilities", base | wire.SessionTrack | wire.MariaDBBulk},
	} {
		t.Run(tc.name, func(t *testing.T) {
			run := func(addr string) string {
				cred := &wire.Credential{User: "native", Password: []byte("pw-native"), Database: "veildb", Caps: tc.caps,
					Attrs: wire.AppendAttr(nil, "program_name", "test")}
				s := &script{t: t, c: dial(t, addr, cred)}
				everything(s)
				s.c.WriteCommand([]byte{byte(wire.ComQuit)})
				s.c.Flush()
				return s.out.String()
			}
			direct := run(server(t).Addr())
			diff(t, "relay", run(startRelay(t, &relay{}).addr()), direct)
			diff(t, "rebuilding relay", run(startRelay(t, &relay{rebuild: true}).addr()), direct)
			diff(t, "relay with a small buffer", run(startRelay(t, &relay{lim: wire.Limits{Buffer: 1024}}).addr()), direct)
		})
	}
}

func diff(t *testing.T, what, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range w {
		if i >= len(g) || g[i] != w[i] {
			have := "nothing"
			if i < len(g) {
				have = g[i]
			}
			t.Errorf("%s: line %d\n got %.300s\nwant %.300s", what, i, have, w[i])
			return
		}
	}
	if len(g) > len(w) {
		t.Errorf("%s: %d lines more than direct, first %.300s", what, len(g)-len(w), g[len(w)])
	}
}
