package gate

import (
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/bench/target/targettest"
	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/inuse/wire"
	"github.com/veildb/veildb/internal/sql/schema"
)

// mariadb is the one server all tests of this package share.
var mariadb struct {
	once sync.Once
	*target.Server
	stop func()
}

var soak = flag.Duration("soak", 0, "how long TestSoak runs; TestChurn takes 10,000 connections then")

func TestMain(m *testing.M) {
	code := m.Run()
	if mariadb.stop != nil {
		mariadb.stop()
	}
	os.Exit(code)
}

// backendServer starts the server with the accounts of the tests: boss may see
// all, app gets ciphertext, guest is blocked, veil is the gate's own.
func backendServer(t testing.TB) *target.Server {
	t.Helper()
	mariadb.once.Do(func() {
		mariadb.Server, mariadb.stop = targettest.New(t, testEngine, map[string]string{
			"max_allowed_packet": "128M", "local_infile": "ON",
			"log_bin_trust_function_creators": "1", "performance_schema": "OFF",
		})
		c := dialRaw(t, mariadb.Addr(), "root", "", 0)
		for _, u := range []string{"boss", "app", "guest", "other"} {
			c.must("CREATE USER " + u + "@'%'")
			c.must("GRANT ALL ON *.* TO " + u + "@'%'")
		}
		c.must("CREATE USER veil@'%' IDENTIFIED BY 'service'")
		c.must("GRANT SELECT, SHOW VIEW, TRIGGER ON *.* TO veil@'%'")
		remember(t, mariadb.Addr(), "veil", "service")
	})
	if mariadb.Server == nil {
		t.Fatal("the server did not start in an earlier test")
	}
	return mariadb.Server
}

const testRules = `
version: 1
accounts:
  full: [boss]
  ciphertext: [app, other, root]
rules:
  - {name: hr-employee, databases: [hr], tables: [employee], columns: [ssn, salary, notes]}
  - {name: hr-dept, databases: [hr], tables: [dept], columns: [budget]}
  - {name: shop-users, databases: [shop], tables: [auth_user, users], columns: [email, password, phone]}
  - {name: shop-orders, databases: [shop], tables: [orders], columns: [card_number]}
  - {name: sbtest, databases: [sbtest], tables: [sbtest1], columns: [c]}
  - {name: tpcc, databases: [tpcc], tables: [customer], columns: [c_phone, c_balance, c_data]}
  - {name: tpch-c, databases: [tpch], tables: [customer], columns: [c_phone, c_acctbal]}
  - {name: tpch-s, databases: [tpch], tables: [supplier], columns: [s_phone, s_acctbal]}
`

type memorySource struct {
	mu   sync.Mutex
	text string
}

func (m *memorySource) Read(context.Context) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return []byte(m.text), nil
}

func (m *memorySource) Write(_ context.Context, _, text []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.text = string(text)
	return nil
}

// A testGate is a gate in front of the server.
type testGate struct {
	addr    string
	srv     *Server
	backend *Backend
	source  *memorySource
	rules   *policy.Store
	mu      sync.Mutex
	events  []Event
}

func startGate(t testing.TB, change func(*Config)) *testGate {
	t.Helper()
	s := backendServer(t)
	g := &testGate{source: &memorySource{text: testRules}}
	var err error
	if g.rules, err = policy.NewStore(context.Background(), g.source, schema.MatchCase); err != nil {
		t.Fatal(err)
	}
	g.backend = &Backend{Network: "tcp", Address: s.Addr(), User: "veil", Password: []byte("service")}
	cfg := Config{
		Backends: []*Backend{g.backend}, Rules: g.rules, EncDB: &encdb.Config{AllowClear: true}, TrustGrants: true,
		Audit: func(e Event) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.events = append(g.events, e)
		},
	}
	if change != nil {
		change(&cfg)
	}
	g.srv = New(cfg)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g.addr = ln.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { g.backend.Run(ctx) })
	wg.Go(func() {
		if err := g.srv.Serve(ctx, ln); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	t.Cleanup(func() {
		cancel()
		sctx, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		g.srv.Shutdown(sctx)
		wg.Wait()
	})
	return g
}

// A rawClient sends what it likes and keeps every byte it receives.
type rawClient struct {
	testing.TB
	*wire.Conn
	tap  *tap
	enc  *encdb.Client
	open *encdb.Opener
	// told are the definitions that came last for each statement; id is the one at
	// hand, 0 for none.
	told map[uint32]transcript
	id   uint32
}

type tap struct {
	net.Conn
	mu  sync.Mutex
	got []byte
	on  bool
}

func (r *tap) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.mu.Lock()
	if r.on {
		r.got = append(r.got, p[:n]...)
	}
	r.mu.Unlock()
	return n, err
}

func tryRaw(addr, user, db string, cred wire.Credential) (*wire.Conn, *tap, error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, nil, err
	}
	r := &tap{Conn: nc, on: true}
	c := wire.NewBackend(r, wire.Limits{Read: time.Minute, Load: 128 << 20})
	cred.User, cred.Database = user, db
	if _, err := wire.Login(context.Background(), c, &cred); err != nil {
		c.Close()
		return nil, nil, err
	}
	return c, r, nil
}

func dialRaw(t testing.TB, addr, user, db string, caps wire.Capabilities) *rawClient {
	t.Helper()
	c, tap, err := tryRaw(addr, user, db, wire.Credential{Caps: caps})
	if err != nil {
		t.Fatalf("log in as %s: %v", user, err)
	}
	t.Cleanup(func() { c.Close() })
	return &rawClient{TB: t, Conn: c, tap: tap}
}

func (c *rawClient) must(sql string) {
	c.Helper()
	if err := wire.RunQuery(c.Conn, sql, nil); err != nil {
		var se *wire.ServerError
		errors.As(err, &se)
		c.Fatalf("%s: %v %v", sql, err, se)
	}
}

// provision hands a master key over, as a client that can read cells does.
func (c *rawClient) provision(only64 bool) {
	c.Helper()
	key, err := secret.From([]byte("0123456789abcdef"))
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { key.Close() })
	if c.enc, err = encdb.NewClient(encdb.ClientConfig{MEK: key, Algorithm: encdb.AES128GCM, Only64: only64}); err != nil {
		c.Fatal(err)
	}
	cell := c.cell(string(c.enc.Hello()))
	st, err := c.enc.Provision(cell)
	if err != nil {
		c.Fatal(err)
	}
	if err := c.enc.Finish(c.cell(string(st))); err != nil {
		c.Fatal(err)
	}
	if c.open, err = c.enc.Opener(); err != nil {
		c.Fatal(err)
	}
}

func (c *rawClient) cell(sql string) (v []byte) {
	c.Helper()
	if err := wire.RunQuery(c.Conn, sql, func(_ []wire.Column, values [][]byte) error {
		v = append([]byte(nil), values[0]...)
		return nil
	}); err != nil {
		c.Fatalf("protocol statement: %v", err)
	}
	return v
}

// A transcript is an answer in words. Marked columns are shown as the cells
// they hold if they do hold some.
type transcript struct {
	text    []string
	errors  int
	columns []wire.Column // of the last result
	rows    [][][]byte    // of the last result
	marked  map[int]bool
	prep    wire.Prepared
}

func (tr *transcript) String() string { return strings.Join(tr.text, "\n") }

// plain is what the transcript shows in plain: without cells, the clock, and the
// ends of results.
func (tr *transcript) plain() string {
	var out []string
	for _, l := range tr.text {
		if l != "  <cell>" && !strings.HasPrefix(l, "end ") && !strings.HasPrefix(l, "statement ") {
			out = append(out, clock.ReplaceAllString(l, "<clock>"))
		}
	}
	return strings.Join(out, "\n")
}

var clock = regexp.MustCompile(`1[789]\d{8}`)

// isCell reports whether a value has the form of a cell.
func isCell(v []byte) bool {
	b, err := base64.StdEncoding.DecodeString(string(v))
	return err == nil && len(b) >= 41 && b[1] == encdb.Layout64
}

func (tr *transcript) add(format string, args ...any) {
	tr.text = append(tr.text, fmt.Sprintf(format, args...))
}

// read reads the answer to cmd into tr. columns are those of the rows of a
// cursor.
func (c *rawClient) read(tr *transcript, cmd wire.Command) error {
	if err := c.Flush(); err != nil {
		return err
	}
	var r wire.Response
	r.Start(cmd, c.Caps)
	for !r.Done() {
		kind, err := r.Next(c.Conn)
		if err != nil {
			return err
		}
		p, err := c.Load()
		if err != nil {
			return err
		}
		if err := c.packet(tr, &r, kind, p); err != nil {
			return err
		}
	}
	return nil
}

func (c *rawClient) packet(tr *transcript, r *wire.Response, kind wire.Kind, p []byte) error {
	switch kind {
	case wire.KindColumns, wire.KindPrepared:
		tr.columns, tr.rows, tr.marked, tr.prep = nil, nil, map[int]bool{}, r.Prepared
		if kind == wire.KindPrepared {
			c.id = r.Prepared.ID
		}
		if r.Omitted {
			tr.add("as before")
			tr.columns, tr.marked = c.told[c.id].columns, c.told[c.id].marked
			if len(tr.columns) != r.Columns {
				return fmt.Errorf("%d columns whose definitions are left out, which were %d", r.Columns, len(tr.columns))
			}
		}
	case wire.KindColumn:
		var col wire.Column
		if err := col.Decode(p, c.Caps); err != nil {
			return err
		}
		i := len(tr.columns)
		tr.columns = append(tr.columns, col.Clone())
		tr.marked[i] = col.Filler[1]&encdb.CipherMark != 0
		if c.id != 0 && len(tr.columns) == r.Columns {
			if c.told == nil {
				c.told = map[uint32]transcript{}
			}
			c.told[c.id] = transcript{columns: tr.columns, marked: tr.marked}
		}
		tr.add("column %s|%s|%s|%s marked=%v", col.Schema, col.OrgTable, col.OrgName, col.Name, tr.marked[i])
		tr.add("described as type=%d.%d length=%d flags=%x charset=%d", col.Type, col.Decimals, col.Length, col.Flags, col.Charset)
	case wire.KindRow:
		values, err := c.values(tr, r.Binary, p)
		if err != nil {
			return err
		}
		tr.rows = append(tr.rows, values)
		for i, v := range values {
			switch {
			case v == nil:
				tr.add("  NULL")
			case tr.marked[i] || isCell(v):
				tr.add("  <cell>")
			default:
				tr.add("  %q", v)
			}
		}
	case wire.KindErr:
		e, err := wire.DecodeErr(p)
		if err != nil {
			return err
		}
		tr.errors++
		tr.add("error %d %s", e.Code, e.Message)
	case wire.KindOK:
		if len(p) < 7 {
			break
		}
		ok, err := wire.DecodeOK(p, c.Caps)
		if err != nil {
			return err
		}
		tr.add("ok affected=%d insert=%d warnings=%d %q", ok.AffectedRows, ok.InsertID, ok.Warnings, ok.Info)
	case wire.KindInfile:
		tr.add("infile")
		return c.WritePacket(nil)
	case wire.KindRowsEnd:
		tr.add("end warnings=%d", r.Warnings)
	}
	return nil
}

func (c *rawClient) values(tr *transcript, binary bool, p []byte) ([][]byte, error) {
	p = append([]byte(nil), p...)
	var fields []wire.Field
	var err error
	if binary {
		types := make([]wire.Type, len(tr.columns))
		for i := range types {
			types[i] = tr.columns[i].Type
		}
		fields, err = wire.DecodeBinaryRow(p, types, nil)
	} else {
		fields, err = wire.DecodeTextRow(p, len(tr.columns), nil)
	}
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(fields))
	for i, f := range fields {
		out[i] = f.Value(p)
	}
	return out, nil
}

// do sends a command and reads its answer.
func (c *rawClient) do(tr *transcript, p []byte) error {
	c.id = 0
	if wire.Command(p[0]) == wire.ComStmtExecute {
		c.id, _ = wire.StmtID(p)
	}
	if err := c.WriteCommand(p); err != nil {
		return err
	}
	return c.read(tr, wire.Command(p[0]))
}

func (c *rawClient) query(tr *transcript, sql string) error {
	return c.do(tr, append([]byte{byte(wire.ComQuery)}, sql...))
}

func (c *rawClient) prepare(tr *transcript, sql string) error {
	return c.do(tr, append([]byte{byte(wire.ComStmtPrepare)}, sql...))
}

func (c *rawClient) execute(tr *transcript, id uint32, flags byte, params ...wire.Param) error {
	e := wire.Execute{ID: id, Flags: flags, Iterations: 1, NewTypes: len(params) > 0, Params: params}
	return c.do(tr, e.Append(nil, c.Caps))
}

func textParam(v string) wire.Param {
	return wire.Param{ParamType: wire.ParamType{Type: wire.TypeVarString}, Value: []byte(v)}
}
