package sidecar_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/sidecar"
	"github.com/veildb/veildb/internal/inuse/sidecar/sidecartest"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// mariadb is the one server all tests of this package share.
var mariadb struct {
	once sync.Once
	*target.Server
	stop           func()
	server, client *tls.Config
}

func backend(t testing.TB) string {
	t.Helper()
	mariadb.once.Do(func() {
		mariadb.server, mariadb.client = sidecartest.TLS(t)
		mariadb.client.ServerName = "127.0.0.1"
		mariadb.Server, mariadb.stop = sidecartest.Setup(t)
	})
	if mariadb.Server == nil {
		t.Fatal("the server did not start in an earlier test")
	}
	return mariadb.Addr()
}

func TestMain(m *testing.M) {
	code := m.Run()
	if mariadb.stop != nil {
		mariadb.stop()
	}
	os.Exit(code)
}

func gate(t testing.TB, g *sidecartest.Gate) *sidecartest.Gate {
	t.Helper()
	g.Backend = backend(t)
	g.TLS = mariadb.server
	if g.Columns == nil {
		g.Columns = sidecartest.Columns
	}
	return sidecartest.Start(t, g)
}

func mek(context.Context) (*secret.Bytes, error) { return secret.From([]byte("0123456789abcdef")) }

// A running is a sidecar that runs.
type running struct {
	addr   string
	cancel context.CancelFunc
	done   chan error
}

// start starts a sidecar before a gate.
func start(t testing.TB, gate string, change func(*sidecar.Config, *sidecar.Server)) *running {
	t.Helper()
	cfg := &sidecar.Config{Key: mek, TLS: mariadb.client, LoginTime: time.Minute}
	s := &sidecar.Server{Config: cfg, Grace: time.Minute}
	s.Dial = func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", gate) }
	if change != nil {
		change(cfg, s)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{addr: ln.Addr().String(), cancel: cancel, done: make(chan error, 1)}
	go func() { r.done <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-r.done; err != nil {
			t.Errorf("sidecar: %v", err)
		}
		r.done <- nil
	})
	return r
}

var app = wire.Credential{User: sidecartest.User, Password: []byte(sidecartest.Password), Database: sidecartest.Database}

// dial logs in with this project's own client.
func dial(t testing.TB, addr string, caps wire.Capabilities) *wire.Conn {
	t.Helper()
	c, err := tryDial(addr, caps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func tryDial(addr string, caps wire.Capabilities) (*wire.Conn, error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	c := wire.NewBackend(nc, wire.Limits{Read: time.Minute, Load: 128 << 20})
	cred := app
	cred.Caps = caps
	if _, err := wire.Login(context.Background(), c, &cred); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// command returns the packets of the answer to a command.
func command(t testing.TB, c *wire.Conn, p []byte) (packets [][]byte) {
	t.Helper()
	if err := c.WriteCommand(p); err != nil {
		t.Fatal(err)
	}
	var resp wire.Response
	resp.Start(wire.Command(p[0]), c.Caps)
	for !resp.Done() {
		if _, err := resp.Next(c); err != nil {
			t.Fatalf("%v: %v", wire.Command(p[0]), err)
		}
		got, err := c.Load()
		if err != nil {
			t.Fatal(err)
		}
		packets = append(packets, bytes.Clone(got))
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	return packets
}

func sql(text string) []byte { return append([]byte{byte(wire.ComQuery)}, text...) }

// TestPacketsAreTheServers sends the same commands to the server and to a
// sidecar before an all-protecting gate: where the two agreed on Layout65 every
// packet must be the same.
func TestPacketsAreTheServers(t *testing.T) {
	g := gate(t, &sidecartest.Gate{})
	r := start(t, g.Addr, nil)
	const multi = wire.MultiStatements | wire.PSMultiResults | wire.MultiResults
	for name, caps := range map[string]wire.Capabilities{
		"EOF": multi, "no EOF": multi | wire.DeprecateEOF,
		"MariaDB": multi | wire.DeprecateEOF | wire.MariaDBExtendedMetadata | wire.SessionTrack,
	} {
		t.Run(name, func(t *testing.T) {
			direct, through := dial(t, backend(t), caps), dial(t, r.addr, caps)
			if name == "MariaDB" && !through.Caps.Has(wire.MariaDBExtendedMetadata) {
				t.Fatal("no extended metadata")
			}
			same := func(p []byte) { t.Helper(); compare(t, p, command(t, through, p), command(t, direct, p)) }
			same(append([]byte{byte(wire.ComFieldList)}, "people\x00%"...))
			for _, q := range []string{
				"SELECT * FROM kinds ORDER BY id", "SELECT k.*, 1+1, NULL, p.* FROM kinds k, people p ORDER BY k.id, p.id",
				"SELECT name AS salary, salary AS name FROM people x ORDER BY id", "SELECT * FROM people WHERE 1 = 0",
				"SELECT 1; SELECT name FROM people; SET @a = 1; SELECT de FROM kinds; SELECT nosuch", "CALL both_tables()",
				"SELECT * FROM nosuch", "DO 1", "SHOW TABLES", "UPDATE people SET city = 'York' WHERE id = 2",
				"SELECT name FROM people WHERE id = (SELECT id FROM people)",
			} {
				same(sql(q))
			}
			same([]byte{byte(wire.ComPing)})
			same(append([]byte{byte(wire.ComInitDB)}, "mysql"...))
			same(append([]byte{byte(wire.ComInitDB)}, "veildb"...))
			same(append([]byte{byte(wire.ComFieldList)}, "kinds\x00%"...))
			prepared(t, direct, through)
			same([]byte{byte(wire.ComResetConnection)})
			same(sql("SELECT name FROM people"))
		})
	}
}

func compare(t *testing.T, p []byte, got, want [][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%q: %d packets, want %d", p[1:], len(got), len(want))
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("%q: packet %d is\n%.200q, want\n%.200q", p[1:], i, got[i], want[i])
		}
	}
}

// prepared runs prepared statements, with cursors and without. The statements
// of the two connections may have different numbers.
func prepared(t *testing.T, direct, through *wire.Conn) {
	t.Helper()
	type ids struct{ direct, through uint32 }
	prepare := func(q string) ids {
		t.Helper()
		p := append([]byte{byte(wire.ComStmtPrepare)}, q...)
		want, got := command(t, direct, p), command(t, through, p)
		w, werr := wire.DecodePrepared(want[0])
		g, gerr := wire.DecodePrepared(got[0])
		if werr != nil || gerr != nil || w.Columns != g.Columns || w.Params != g.Params {
			t.Fatalf("%s: %+v %v, want %+v %v", q, g, gerr, w, werr)
		}
		compare(t, p, got[1:], want[1:])
		return ids{w.ID, g.ID}
	}
	stmt := func(cmd wire.Command, id uint32, more ...byte) []byte {
		return append([]byte{byte(cmd), byte(id), byte(id >> 8), byte(id >> 16), byte(id >> 24)}, more...)
	}
	same := func(cmd wire.Command, id ids, more ...byte) {
		t.Helper()
		p := stmt(cmd, id.through, more...)
		compare(t, p, command(t, through, p), command(t, direct, stmt(cmd, id.direct, more...)))
	}
	execute := func(id ids, flags, more byte) {
		t.Helper()
		e := wire.Execute{Flags: flags, Iterations: 1, NewTypes: true, Params: []wire.Param{
			{ParamType: wire.ParamType{Type: wire.TypeTiny}, Value: []byte{more}},
		}}
		same(wire.ComStmtExecute, id, e.Append(nil, 0)[5:]...)
	}
	id := prepare("SELECT * FROM kinds WHERE id > ? ORDER BY id")
	other := prepare("SELECT id FROM kinds WHERE id > ? ORDER BY id")
	for range 2 {
		execute(id, 0, 0)
		execute(id, 0, 9)
		execute(id, wire.CursorReadOnly, 0)
		execute(other, wire.CursorReadOnly, 0) // two cursors at once
		for range 2 {
			same(wire.ComStmtFetch, id, 1, 0, 0, 0)
			same(wire.ComStmtFetch, other, 1, 0, 0, 0)
		}
		same(wire.ComStmtFetch, id, 9, 0, 0, 0)
	}
	same(wire.ComStmtReset, id)
	last := prepare("SELECT name, salary + 1 FROM people")
	execute(ids{wire.LastPrepared, wire.LastPrepared}, wire.CursorReadOnly, 0)
	same(wire.ComStmtFetch, last, 9, 0, 0, 0)
	command(t, direct, stmt(wire.ComStmtClose, id.direct))
	command(t, through, stmt(wire.ComStmtClose, id.through))
	command(t, direct, stmt(wire.ComStmtClose, last.direct))
	command(t, through, stmt(wire.ComStmtClose, last.through))
	execute(other, 0, 1)
}

// TestMariaDBClient compares what the command line shows of types and values.
func TestMariaDBClient(t *testing.T) {
	g := gate(t, &sidecartest.Gate{})
	r := start(t, g.Addr, nil)
	vendor := start(t, gate(t, &sidecartest.Gate{Stranger: true}).Addr, nil)
	run := func(addr string, args ...string) string {
		t.Helper()
		host, port, _ := net.SplitHostPort(addr)
		cmd := exec.Command("mariadb", append([]string{"--no-defaults", "--protocol=tcp", "-h" + host, "-P" + port, "-u" + sidecartest.User, "-p" + sidecartest.Password, sidecartest.Database}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %s", err, out)
		}
		return string(out)
	}
	const query = "SELECT * FROM kinds ORDER BY id; SELECT COUNT(*) FROM people; SELECT * FROM people"
	if got, want := run(r.addr, "--column-type-info", "-t", "-e", query), run(backend(t), "--column-type-info", "-t", "-e", query); got != want {
		t.Errorf("got\n%.2000s\nwant\n%.2000s", got, want)
	}
	const noFloats = "SELECT id, ti, tu, iu, bi, bu, de, da, dt, dt6, tm, y, c, v, tx, e, s, j FROM kinds ORDER BY id; SELECT * FROM people"
	if got, want := run(vendor.addr, "-B", "-e", noFloats), run(backend(t), "-B", "-e", noFloats); got != want {
		t.Errorf("Layout64: got\n%.2000s\nwant\n%.2000s", got, want)
	}
	file := filepath.Join(t.TempDir(), "rows")
	if err := os.WriteFile(file, []byte(strings.Repeat("9\tNine\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	load := "CREATE OR REPLACE TABLE loaded (id INT, name VARCHAR(9)); LOAD DATA LOCAL INFILE '" + file + "' INTO TABLE loaded; SELECT COUNT(*) FROM loaded"
	if got := run(r.addr, "--local-infile=1", "-NBe", load); got != "1000\n" {
		t.Errorf("load data: %q", got)
	}
}

// TestChangeUser hands the key over anew: the server has forgotten it.
func TestChangeUser(t *testing.T) {
	g := gate(t, &sidecartest.Gate{})
	r := start(t, g.Addr, nil)
	nc, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	c := wire.NewBackend(nc, wire.Limits{Read: time.Minute})
	defer c.Close()
	cred := app
	greeting, err := wire.Login(context.Background(), c, &cred)
	if err != nil {
		t.Fatal(err)
	}
	want := command(t, c, sql("SELECT name FROM people"))
	u := wire.ChangeUser{User: sidecartest.User, Database: "veildb", Charset: 45, AuthPlugin: wire.PluginNative, Auth: native(greeting.Scramble)}
	if err := c.WriteCommand(u.Append(nil, c.Caps)); err != nil {
		t.Fatal(err)
	}
	p, err := c.ReadPacket()
	if sw, serr := wire.DecodeAuthSwitch(p); err == nil && serr == nil {
		if err = c.WritePacket(native(sw.Data)); err == nil {
			p, err = c.ReadPacket()
		}
	}
	if err != nil || len(p) == 0 || p[0] != 0 {
		t.Fatalf("%q %v", p, err)
	}
	compare(t, []byte("?after change of user"), command(t, c, sql("SELECT name FROM people")), want)
	if n := len(g.Events()); n != 4 {
		t.Errorf("%d events", n)
	}
}

// native answers a challenge of mysql_native_password.
func native(challenge []byte) []byte {
	a := sha1.Sum([]byte(sidecartest.Password))
	b := sha1.Sum(a[:])
	m := sha1.Sum(append(bytes.Clone(challenge[:20]), b[:]...))
	for i := range m {
		m[i] ^= a[i]
	}
	return m[:]
}

func TestDrain(t *testing.T) {
	g := gate(t, &sidecartest.Gate{})
	r := start(t, g.Addr, nil)
	idle, busy, slow := dial(t, r.addr, 0), dial(t, r.addr, 0), dial(t, r.addr, 0)
	command(t, idle, sql("SELECT name FROM people"))
	command(t, busy, sql("BEGIN"))
	answered := make(chan error, 1)
	go func() { answered <- wire.RunQuery(slow, "SELECT name, SLEEP(0.3) FROM people", nil) }()
	const atWork = "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE '%SLEEP(0.3)%' AND ID <> CONNECTION_ID()"
	watch, n := dial(t, backend(t), 0), 0
	for n == 0 && len(answered) == 0 {
		if err := wire.RunQuery(watch, atWork, func([]wire.Column, [][]byte) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	r.cancel()
	if _, err := idle.ReadPacket(); !errors.Is(err, io.EOF) {
		t.Errorf("idle connection: %v", err)
	}
	if _, err := tryDial(r.addr, 0); err == nil {
		t.Error("a new connection was taken")
	}
	if err := <-answered; err != nil {
		t.Errorf("statement in flight: %v", err)
	}
	command(t, busy, sql("INSERT INTO people (name) VALUES ('drained')"))
	select {
	case <-r.done:
		t.Fatal("stopped in the middle of a transaction")
	case <-time.After(50 * time.Millisecond):
	}
	command(t, busy, sql("ROLLBACK"))
	if err := <-r.done; err != nil {
		t.Error(err)
	}
	r.done <- nil
}

func TestGraceEnds(t *testing.T) {
	g := gate(t, &sidecartest.Gate{})
	r := start(t, g.Addr, func(_ *sidecar.Config, s *sidecar.Server) { s.Grace = 50 * time.Millisecond })
	busy := dial(t, r.addr, 0)
	command(t, busy, sql("BEGIN"))
	r.cancel()
	select {
	case err := <-r.done:
		r.done <- err
	case <-time.After(time.Minute):
		t.Fatal("still there")
	}
	if _, err := busy.ReadPacket(); err == nil {
		t.Error("not cut off")
	}
}

func TestMostConnections(t *testing.T) {
	g := gate(t, &sidecartest.Gate{})
	r := start(t, g.Addr, func(_ *sidecar.Config, s *sidecar.Server) { s.Most = 2 })
	first, _ := dial(t, r.addr, 0), dial(t, r.addr, 0)
	third := make(chan error, 1)
	go func() {
		c, err := tryDial(r.addr, 0)
		if err == nil {
			c.Close()
		}
		third <- err
	}()
	select {
	case err := <-third:
		t.Fatalf("a third connection did not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	first.Close()
	if err := <-third; err != nil {
		t.Error(err)
	}
}

// TestRefusals: the program learns from the login why there is no connection.
func TestRefusals(t *testing.T) {
	g := gate(t, &sidecartest.Gate{})
	for _, tt := range []struct {
		name, addr, want string
		change           func(*sidecar.Config, *sidecar.Server)
	}{
		{"pin", g.Addr, "pinned", func(c *sidecar.Config, _ *sidecar.Server) { c.Pin = encdb.IdentityPin(make([]byte, 32)) }},
		{"not verified", g.Addr, "not verified", func(c *sidecar.Config, _ *sidecar.Server) { c.TLS = &tls.Config{InsecureSkipVerify: true} }},
		{"no protocol", backend(t), "not confidential", func(c *sidecar.Config, _ *sidecar.Server) { c.TLS = nil }},
		{"no protocol, nor a right to functions", startFake(t, func(c *wire.Conn, _ []byte) {
			c.WriteErr(1370, "42000", "execute command denied")
		}), "not confidential", func(c *sidecar.Config, _ *sidecar.Server) { c.TLS = nil }},
		{"no key", g.Addr, "no key today", func(c *sidecar.Config, _ *sidecar.Server) {
			c.Key = func(context.Context) (*secret.Bytes, error) { return nil, errors.New("no key today") }
		}},
		{"no server", "127.0.0.1:1", "cannot be reached", nil},
		{"certificate", g.Addr, "could not be completed", func(c *sidecar.Config, _ *sidecar.Server) { c.TLS = &tls.Config{ServerName: "other"} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, tt.addr, tt.change)
			nc, err := net.Dial("tcp", r.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			var seen bytes.Buffer
			c := wire.NewBackend(&spy{nc, &seen}, wire.Limits{Read: time.Minute})
			cred := app
			if _, err := wire.Login(context.Background(), c, &cred); !errors.Is(err, wire.ErrDenied) {
				t.Errorf("login: %v", err)
			}
			if !strings.Contains(seen.String(), tt.want) {
				t.Errorf("the client was told %q", seen.String())
			}
		})
	}
}

// spy keeps what it reads.
type spy struct {
	net.Conn
	seen *bytes.Buffer
}

func (s *spy) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	s.seen.Write(b[:n])
	return n, err
}

// TestNoKeyNoCells: a protected column without a key exchange is an error, in
// statements that run and in those that are only prepared.
func TestNoKeyNoCells(t *testing.T) {
	// A server that has marked columns but not the protocol.
	fake := startFake(t, func(c *wire.Conn, p []byte) {
		q := string(p[1:])
		if strings.Contains(q, "encdb_process_message") {
			c.WriteErr(1305, "42000", "FUNCTION does not exist")
			return
		}
		col := wire.Column{Catalog: []byte("def"), Name: []byte("a"), Type: wire.TypeVarString, Filler: [2]byte{0, encdb.CipherMark}}
		if wire.Command(p[0]) == wire.ComStmtPrepare {
			c.WritePacket(wire.Prepared{ID: 7, Columns: 1}.Append(nil))
		} else {
			c.WritePacket([]byte{1})
		}
		c.WritePacket(col.Append(nil, c.Caps))
		c.WritePacket(wire.EOF{}.Append(nil))
		if wire.Command(p[0]) == wire.ComQuery {
			c.WritePacket(wire.AppendTextRow(nil, []byte("ciphertext")))
			c.WritePacket(wire.EOF{}.Append(nil))
		}
	})
	r := start(t, fake, func(c *sidecar.Config, _ *sidecar.Server) { c.TLS, c.Plain = nil, true })
	c := dial(t, r.addr, 0)
	for _, p := range [][]byte{sql("SELECT a"), append([]byte{byte(wire.ComStmtPrepare)}, "SELECT a"...)} {
		got := command(t, c, p)
		e, err := wire.DecodeErr(got[len(got)-1])
		if err != nil || string(e.State) != sidecar.StateCell || len(got) != 1 {
			t.Errorf("%v: %d packets, %v, state %s", wire.Command(p[0]), len(got), err, e.State)
		}
	}
}

// TestLyingDefinitions: a definition of another type or sign than the cells say
// is an error, not another value.
func TestLyingDefinitions(t *testing.T) {
	for name, lie := range map[string]func(*wire.Column){
		"signed":   func(c *wire.Column) { c.Flags &^= wire.FlagUnsigned },
		"type":     func(c *wire.Column) { c.Filler[0] = encdb.TypeShort },
		"name":     func(c *wire.Column) { c.OrgName = []byte("city") },
		"database": func(c *wire.Column) { c.Schema = []byte("other") },
	} {
		g := gate(t, &sidecartest.Gate{Lie: lie})
		c := dial(t, start(t, g.Addr, nil).addr, 0)
		got := command(t, c, sql("SELECT salary FROM people WHERE id = 1"))
		if e, err := wire.DecodeErr(got[len(got)-1]); err != nil || string(e.State) != sidecar.StateCell {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// startFake starts a server that lets everybody in and answers by f.
func startFake(t *testing.T, f func(c *wire.Conn, p []byte)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			go serveFake(wire.NewConn(nc, wire.Limits{Read: time.Minute}), f)
		}
	}()
	return ln.Addr().String()
}

func serveFake(c *wire.Conn, f func(*wire.Conn, []byte)) {
	defer c.Close()
	greeting := &wire.Greeting{
		ServerVersion: "8.0.36", ConnectionID: 1, Scramble: bytes.Repeat([]byte("s"), 20), Charset: 45, AuthPlugin: wire.PluginNative,
		Capabilities: wire.LongPassword | wire.Protocol41 | wire.SecureConnection | wire.PluginAuth | wire.ConnectWithDB | wire.Transactions,
	}
	c.WritePacket(greeting.Append(nil))
	p, err := c.ReadPacket()
	if err != nil {
		return
	}
	req, err := wire.DecodeLoginRequest(p)
	if err != nil {
		return
	}
	c.Caps = req.Capabilities
	c.WritePacket(wire.OK{}.Append(nil, c.Caps))
	for {
		p, err := c.ReadCommand(0)
		if err != nil || wire.Command(p[0]) == wire.ComQuit {
			return
		}
		if wire.Command(p[0]).Shape() != wire.ShapeNothing {
			f(c, p)
		}
	}
}

// TestServerDies in the middle of a row.
func TestServerDies(t *testing.T) {
	fake := startFake(t, func(c *wire.Conn, p []byte) {
		if strings.Contains(string(p), "encdb_process_message") {
			c.WriteErr(1305, "42000", "FUNCTION does not exist")
			return
		}
		c.WritePacket([]byte{1})
		c.WritePacket((&wire.Column{Catalog: []byte("def"), Name: []byte("a"), Type: wire.TypeVarString}).Append(nil, c.Caps))
		c.WritePacket(wire.EOF{}.Append(nil))
		c.Flush()
		c.NetConn().Write([]byte{200, 0, 0, 4, 'x'})
		c.Close()
	})
	r := start(t, fake, func(c *sidecar.Config, _ *sidecar.Server) { c.TLS, c.Plain = nil, true })
	c := dial(t, r.addr, 0)
	if err := wire.RunQuery(c, "SELECT a", nil); err == nil {
		t.Error("half a row was taken for a result")
	}
}

func TestSysbench(t *testing.T) {
	g := gate(t, &sidecartest.Gate{Columns: []string{"sbtest1.c", "sbtest1.k", "sbtest1.pad"}})
	r := start(t, g.Addr, nil)
	host, port, _ := net.SplitHostPort(r.addr)
	for _, mode := range []string{"disable", "auto"} {
		for _, step := range []string{"prepare", "run", "cleanup"} {
			cmd := exec.Command("sysbench", "oltp_read_write", "--mysql-host="+host, "--mysql-port="+port, "--mysql-user="+sidecartest.User,
				"--mysql-password="+sidecartest.Password, "--mysql-db=veildb", "--tables=1", "--table-size=200", "--threads=4", "--events=40", "--time=0", "--db-ps-mode="+mode, step)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("sysbench %s: %v\n%s", step, err, out)
			}
			if step == "run" && !strings.Contains(string(out), "total number of events:              40") {
				t.Errorf("sysbench:\n%s", out)
			}
		}
	}
}
