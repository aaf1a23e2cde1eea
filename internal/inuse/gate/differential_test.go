package gate

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/bench/target/targettest"
	"github.com/veildb/veildb/internal/inuse/sidecar/sidecartest"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// A packetLog sends commands and keeps every packet of their answers.
type packetLog struct {
	t    *testing.T
	c    *wire.Conn
	log  [][]byte
	stmt uint32 // prepared last
}

// do sends a command and keeps its answer. infile is what the server gets when it
// asks for a file.
func (l *packetLog) do(cmd wire.Command, payload string, infile ...string) {
	l.t.Helper()
	p := append([]byte{byte(cmd)}, payload...)
	if err := l.c.WriteCommand(p); err != nil {
		l.t.Fatal(err)
	}
	if err := l.c.Flush(); err != nil {
		l.t.Fatal(err)
	}
	var r wire.Response
	r.Start(cmd, l.c.Caps)
	for !r.Done() {
		kind, err := r.Next(l.c)
		if err != nil {
			l.t.Fatalf("%v %.60q: %v", cmd, payload, err)
		}
		p, err := l.c.Load()
		if err != nil {
			l.t.Fatal(err)
		}
		p = bytes.Clone(p)
		switch kind {
		case wire.KindPrepared:
			l.stmt = r.Prepared.ID
			clear(p[1:5]) // the server counts the statements of all sessions
		case wire.KindErr:
			p = bytes.ReplaceAll(p, []byte(fmt.Sprintf("handler (%d)", l.stmt)), []byte("handler ()"))
		case wire.KindInfile:
			for _, part := range append(infile, "") {
				if err := l.c.WritePacket([]byte(part)); err != nil {
					l.t.Fatal(err)
				}
			}
		}
		l.log = append(l.log, append([]byte{byte(kind)}, p...))
	}
}

func (l *packetLog) query(sql string, infile ...string) {
	l.t.Helper()
	l.do(wire.ComQuery, sql, infile...)
}

func (l *packetLog) ofStmt(cmd wire.Command, rest ...byte) {
	l.t.Helper()
	l.do(cmd, string(append(binary.LittleEndian.AppendUint32(nil, l.stmt), rest...)))
}

func (l *packetLog) execute(flags byte, params ...wire.Param) {
	l.t.Helper()
	e := wire.Execute{ID: l.stmt, Flags: flags, Iterations: 1, NewTypes: len(params) > 0, Params: params}
	l.do(wire.ComStmtExecute, string(e.Append(nil, l.c.Caps)[1:]))
}

// differentialSchema is what everything needs.
var differentialSchema = []string{
	"DROP DATABASE IF EXISTS diff", "CREATE DATABASE diff",
	"CREATE TABLE diff.sink (a INT PRIMARY KEY, b LONGBLOB, ssn VARCHAR(20))",
	"INSERT INTO diff.sink VALUES (1, 'one', '721'), (2, NULL, '435'), (3, '', NULL)",
	"CREATE PROCEDURE diff.two(IN x INT, OUT n INT) BEGIN SELECT x AS a; SELECT a, ssn FROM diff.sink ORDER BY a; SET n = 7; END",
	"CREATE PROCEDURE diff.fails() BEGIN SELECT 1; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END",
}

// everything runs a statement stream that leaves the tables as they were; large
// adds packets of more than one fragment.
func everything(l *packetLog, large bool) {
	number := func(n byte) wire.Param {
		return wire.Param{ParamType: wire.ParamType{Type: wire.TypeLong}, Value: []byte{n, 0, 0, 0}}
	}
	for _, sql := range []string{
		"SELECT * FROM sink ORDER BY a", "SELECT nonsense", "INSERT INTO sink (a) VALUES (1)", "SELECT CAST(ssn AS DATE) FROM sink", "SHOW WARNINGS",
		"CALL two(3, @n)", "SELECT @n", "CALL fails()", "START TRANSACTION", "INSERT INTO sink VALUES (9, 'x', 'y')", "SAVEPOINT s", "DELETE FROM sink", "ROLLBACK TO s", "ROLLBACK",
		"SET NAMES latin1", "SELECT 'é', ssn FROM sink", "SET NAMES utf8mb4", "SET sql_mode = 'ANSI_QUOTES'", `SELECT "ssn" FROM sink`, "SET sql_mode = DEFAULT",
		"SELECT 1; SELECT 2; SELECT nonsense; SELECT 3", "CREATE TEMPORARY TABLE t SELECT ssn FROM sink", "SELECT * FROM t", "DESCRIBE sink", "EXPLAIN SELECT ssn FROM sink",
		"PREPARE p FROM 'SELECT ssn FROM sink WHERE a = ?'", "SET @a = 1", "EXECUTE p USING @a", "DEALLOCATE PREPARE p", "HANDLER sink OPEN", "HANDLER sink READ FIRST", "HANDLER sink CLOSE",
		"SELECT ssn FROM sink INTO @v",
	} {
		l.query(sql)
	}
	long := 100
	if large {
		long = 4 << 20
		l.query("SELECT REPEAT('x', 17000000)")
		l.query("SELECT LENGTH('" + strings.Repeat("y", 17<<20) + "')")
	}
	l.query("START TRANSACTION")
	l.query("LOAD DATA LOCAL INFILE 'x' INTO TABLE sink", "10\tten\t1-2\n11\telev", "en\t3-4\n1\ttwice\tx\n")
	l.query("LOAD DATA LOCAL INFILE 'x' INTO TABLE sink")
	l.query("SELECT * FROM sink")
	l.query("ROLLBACK")

	l.do(wire.ComStmtPrepare, "SELECT a, b, ssn FROM sink WHERE a > ? ORDER BY a")
	l.execute(0, number(1))
	l.execute(wire.CursorReadOnly, number(0))
	for range 4 {
		l.ofStmt(wire.ComStmtFetch, 1, 0, 0, 0)
	}
	l.ofStmt(wire.ComStmtReset)
	l.execute(0)
	l.execute(0, number(0))
	for _, comment := range []string{"'again'", "''"} {
		l.query("ALTER TABLE sink COMMENT " + comment)
		l.execute(0, number(0))
	}
	l.execute(0, number(0))
	l.ofStmt(wire.ComStmtClose)
	l.ofStmt(wire.ComStmtFetch, 1, 0, 0, 0)
	l.do(wire.ComStmtPrepare, "SELECT nonsense")
	l.do(wire.ComStmtPrepare, "CALL two(?, ?)")
	l.execute(0, number(5), number(0))
	l.execute(0, number(5), number(0))
	l.ofStmt(wire.ComStmtClose)
	l.query("START TRANSACTION")
	l.do(wire.ComStmtPrepare, "INSERT INTO sink VALUES (?, ?, 'x')")
	l.ofStmt(wire.ComStmtSendLongData, append([]byte{1, 0}, bytes.Repeat([]byte("long "), long)...)...)
	l.execute(0, number(20), wire.Param{ParamType: wire.ParamType{Type: wire.TypeBlob}, Long: true})
	l.ofStmt(wire.ComStmtClose)
	l.query("SELECT LENGTH(b) FROM sink WHERE a = 20")
	l.do(wire.ComStmtPrepare, "SELECT b FROM sink WHERE a = 20")
	l.execute(0)
	l.query("ROLLBACK")

	l.do(wire.ComPing, "")
	l.do(wire.ComInitDB, "mysql")
	l.do(wire.ComInitDB, "nowhere")
	l.do(wire.ComInitDB, "diff")
	l.do(wire.ComFieldList, "sink\x00%")
	l.do(wire.ComSetOption, "\x01\x00")
	l.query("SELECT 1; SELECT 2")
	l.do(wire.ComSetOption, "\x00\x00")
	l.query("SELECT 1; SELECT 2")
	l.do(wire.ComResetConnection, "")
	l.query("SELECT @v, DATABASE(), @@sql_mode")
	l.changeUser("boss", "diff")
	l.query("SELECT CURRENT_USER(), DATABASE(), @n")
}

// changeUser changes to an account without a password.
func (l *packetLog) changeUser(user, db string) {
	l.t.Helper()
	u := wire.ChangeUser{User: user, Database: db, Charset: 45, AuthPlugin: wire.PluginNative}
	if err := l.c.WriteCommand(u.Append(nil, l.c.Caps)); err != nil {
		l.t.Fatal(err)
	}
	for {
		p, err := l.c.ReadPacket()
		if err != nil {
			l.t.Fatal(err)
		}
		if p[0] != 0xfe {
			l.log = append(l.log, bytes.Clone(p))
			return
		}
		// A new challenge; no password answers with nothing.
		l.log = append(l.log, bytes.Clone(p[:min(len(p), 22)]))
		if err := l.c.WritePacket(nil); err != nil {
			l.t.Fatal(err)
		}
	}
}

func stream(t *testing.T, addr string, cred wire.Credential, large bool) [][]byte {
	t.Helper()
	c, _, err := tryRaw(addr, "boss", "diff", cred)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l := &packetLog{t: t, c: c}
	everything(l, large)
	return l.log
}

func samePackets(t *testing.T, what string, direct, through [][]byte) {
	t.Helper()
	for i := range direct {
		if i >= len(through) || !bytes.Equal(direct[i], through[i]) {
			var got []byte
			if i < len(through) {
				got = through[i]
			}
			t.Errorf("%s: packet %d is %.200q directly, %.200q through the gate", what, i, direct[i], got)
			return
		}
	}
	if len(through) != len(direct) {
		t.Errorf("%s: %d packets directly, %d through the gate", what, len(direct), len(through))
	}
}

// TestDifferential runs one stream of all kinds of commands directly and through
// the gate, as an account that may see all: every packet must be the same.
func TestDifferential(t *testing.T) {
	g := startGate(t, nil)
	root := dialRaw(t, backendServer(t).Addr(), "root", "", 0)
	for _, sql := range differentialSchema {
		root.must(sql)
	}
	t.Cleanup(func() { root.must("DROP DATABASE diff") })
	g.source.Write(t.Context(), nil, []byte(testRules+"  - {name: diff, databases: diff, tables: sink, columns: ssn}\n"))
	if _, err := g.rules.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	base := wire.LocalFiles | wire.MultiStatements
	for i, caps := range []wire.Capabilities{
		base, base | wire.DeprecateEOF, base | wire.DeprecateEOF | wire.SessionTrack, base | wire.LongPassword | wire.FoundRows | wire.DeprecateEOF,
		base | wire.DeprecateEOF | wire.MariaDBExtendedMetadata,
		base | wire.MariaDBCacheMetadata, base | wire.DeprecateEOF | wire.MariaDBCacheMetadata,
	} {
		cred := wire.Credential{Caps: caps}
		samePackets(t, fmt.Sprintf("capabilities %x", caps), stream(t, backendServer(t).Addr(), cred, i == 0), stream(t, g.addr, cred, i == 0))
	}
}

// TestDifferentialTLS is TestDifferential with TLS on both sides, the server's
// certificate verified, and accounts that require it.
func TestDifferentialTLS(t *testing.T) {
	dir := t.TempDir()
	server, trust := sidecartest.WriteTLS(t, dir)
	s := targettest.Start(t, target.MariaDB, map[string]string{
		"ssl_cert": filepath.Join(dir, "cert.pem"), "ssl_key": filepath.Join(dir, "key.pem"), "max_allowed_packet": "128M", "local_infile": "ON",
	})
	root := dialRaw(t, s.Addr(), "root", "", 0)
	for _, sql := range append(differentialSchema,
		"CREATE USER boss@'%' REQUIRE SSL", "GRANT ALL ON diff.* TO boss@'%'", "GRANT SELECT ON mysql.* TO boss@'%'",
		"CREATE USER veil@'%' IDENTIFIED BY 'service' REQUIRE SSL", "GRANT SELECT, SHOW VIEW, TRIGGER ON *.* TO veil@'%'") {
		root.must(sql)
	}
	named := func(name string) *tls.Config {
		c := trust.Clone()
		c.ServerName = name
		return c
	}
	client := named("127.0.0.1")
	gateFor := func(name string) (string, *Backend) {
		b := &Backend{Network: "tcp", Address: s.Addr(), User: "veil", Password: []byte("service"), TLS: named(name)}
		g := startGate(t, func(c *Config) {
			c.Backends, c.RequireTLS, c.ClientTLS = []*Backend{b}, true, server
		})
		return g.addr, b
	}
	addr, b := gateFor("127.0.0.1")
	if _, err := ReadCatalog(mustConnect(t, b)); err != nil {
		t.Fatal(err)
	}
	cred := wire.Credential{Caps: wire.LocalFiles | wire.MultiStatements | wire.DeprecateEOF, TLS: client}
	samePackets(t, "TLS", stream(t, s.Addr(), cred, false), stream(t, addr, cred, false))
	if _, _, err := tryRaw(addr, "boss", "", wire.Credential{}); err == nil {
		t.Error("a client without TLS was let in")
	}
	elsewhere, _ := gateFor("elsewhere")
	if _, _, err := tryRaw(elsewhere, "boss", "", wire.Credential{TLS: client}); err == nil {
		t.Error("a server of another name was taken")
	}
}

func mustConnect(t *testing.T, b *Backend) *wire.Conn {
	t.Helper()
	c, err := b.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
