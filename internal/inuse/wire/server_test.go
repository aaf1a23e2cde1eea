package wire_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/bench/target/targettest"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// mariadb is the one server all tests of this package share.
var mariadb struct {
	once sync.Once
	*target.Server
	stop func()
	dir  string // of its certificate
}

func server(t testing.TB) *target.Server {
	t.Helper()
	mariadb.once.Do(func() {
		dir, err := os.MkdirTemp("", "wire-test-")
		if err != nil {
			t.Fatal(err)
		}
		mariadb.dir = dir
		cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
		for name, b := range map[string][]byte{cert: certificate().certPEM, key: certificate().kPEM} {
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		mariadb.Server, mariadb.stop = targettest.New(t, target.MariaDB, map[string]string{
			"ssl_cert":           cert,
			"ssl_key":            key,
			"max_allowed_packet": "128M",
			"local_infile":       "ON",
			"plugin_load_add":    "auth_ed25519",
			"plugin_maturity":    "gamma",
		})
		setUp(t, mariadb.Addr())
	})
	if mariadb.Server == nil {
		t.Fatal("the server did not start in an earlier test")
	}
	return mariadb.Server
}

func TestMain(m *testing.M) {
	code := m.Run()
	if mariadb.stop != nil {
		mariadb.stop()
	}
	os.RemoveAll(mariadb.dir)
	os.Exit(code)
}

// setUp creates the accounts and tables the tests use.
func setUp(t testing.TB, addr string) {
	t.Helper()
	c := dial(t, addr, &wire.Credential{User: "root", Database: "veildb", Caps: wire.MultiStatements})
	for _, sql := range []string{
		"CREATE USER native@'%' IDENTIFIED BY 'pw-native'",
		"CREATE USER nopw@'%'",
		"CREATE USER ed@'%' IDENTIFIED VIA ed25519 USING PASSWORD('pw-ed')",
		"CREATE USER two@'%' IDENTIFIED VIA ed25519 USING PASSWORD('pw-ed') OR mysql_native_password USING PASSWORD('pw-native')",
		"GRANT ALL ON *.* TO native@'%', nopw@'%', ed@'%', two@'%'",
		`CREATE TABLE kinds (
			id INT PRIMARY KEY, ti TINYINT, tu TINYINT UNSIGNED, si SMALLINT, mi MEDIUMINT, bi BIGINT, bu BIGINT UNSIGNED,
			f FLOAT, d DOUBLE, de DECIMAL(20,4), da DATE, dt DATETIME(6), ts TIMESTAMP(3) NULL, tm TIME(2), y YEAR,
			bt BIT(12), c CHAR(5), v VARCHAR(300), vb VARBINARY(20), tx TEXT, bl BLOB, e ENUM('a','b'), s SET('x','y'), j JSON,
			u UUID, i6 INET6, g POINT)`,
		"INSERT INTO kinds (id) VALUES (1)",
		`INSERT INTO kinds VALUES (2, -128, 255, -32768, -8388608, -9223372036854775808, 18446744073709551615,
			1.5, -2.25e300, '-1234567890123456.7890', '2024-02-29', '2024-02-29 23:59:59.123456', '2024-02-29 01:02:03.004', '-838:59:58.99', 2155,
			b'101010101010', 'ch', REPEAT('v', 300), x'00ff', REPEAT('t', 70000), '', 'b', 'x,y', '{"a":1}',
			'123e4567-e89b-12d3-a456-426655440000', '2001:db8::ff00:42:8329', POINT(1,2))`,
		"INSERT INTO kinds (id, da, dt, tm, v) VALUES (3, '0000-00-00', '2024-01-01', '00:00:00', '')",
		"CREATE TABLE sink (a INT, b LONGBLOB)",
		"CREATE PROCEDURE two_results(OUT n INT) BEGIN SELECT 1 AS a; SELECT id, v FROM kinds ORDER BY id; SET n = 7; END",
		"CREATE PROCEDURE fails() BEGIN SELECT 1; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END",
	} {
		if err := wire.RunQuery(c, "SET STATEMENT sql_mode='' FOR "+sql, nil); err != nil {
			var se *wire.ServerError
			errors.As(err, &se)
			t.Fatalf("%s: %v %v", sql, err, se)
		}
	}
}

// dial logs in with this package's own client.
func dial(t testing.TB, addr string, cred *wire.Credential) *wire.Conn {
	t.Helper()
	c, err := tryDial(addr, cred)
	if err != nil {
		t.Fatalf("log in as %s: %v", cred.User, err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func tryDial(addr string, cred *wire.Credential) (*wire.Conn, error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	c := wire.NewBackend(nc, wire.Limits{Read: time.Minute, Load: 128 << 20})
	if _, err := wire.Login(context.Background(), c, cred); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// A relay is a relay in as few lines as this package allows.
type relay struct {
	tb      testing.TB
	ln      net.Listener
	backend string
	network string
	socket  string // listen here instead of on a port
	cfg     wire.LoginConfig
	lim     wire.Limits
	// loginTime bounds a login; 0: 20 s.
	loginTime time.Duration
	// rebuild decodes every packet it can and sends what encoding gives.
	rebuild bool

	wg       sync.WaitGroup
	mu       sync.Mutex
	sessions []*wire.Session
	errs     []error
	loginErr chan error
}

func startRelay(t testing.TB, r *relay) *relay {
	t.Helper()
	r.tb, r.loginErr = t, make(chan error, 100)
	if r.network == "" {
		r.network, r.backend = "tcp", server(t).Addr()
	}
	if r.loginTime == 0 {
		r.loginTime = time.Minute
	}
	if r.lim.Read == 0 {
		r.lim.Read = time.Minute
	}
	var err error
	if r.socket != "" {
		r.ln, err = net.Listen("unix", r.socket)
	} else {
		r.ln, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	r.wg.Add(1)
	go r.accept()
	t.Cleanup(func() {
		r.ln.Close()
		r.wg.Wait()
		for _, err := range r.errs {
			t.Errorf("relay: %v", err)
		}
	})
	return r
}

func (r *relay) addr() string { return r.ln.Addr().String() }

func (r *relay) accept() {
	defer r.wg.Done()
	for {
		nc, err := r.ln.Accept()
		if err != nil {
			return
		}
		r.wg.Add(1)
		go func() {
			defer r.wg.Done()
			defer nc.Close()
			if err := r.serve(nc); err != nil {
				r.mu.Lock()
				r.errs = append(r.errs, err)
				r.mu.Unlock()
			}
		}()
	}
}

func (r *relay) serve(nc net.Conn) error {
	bc, err := net.Dial(r.network, r.backend)
	if err != nil {
		return err
	}
	defer bc.Close()
	client, srv := wire.NewConn(nc, r.lim), wire.NewBackend(bc, r.lim)
	ctx, cancel := context.WithTimeout(context.Background(), r.loginTime)
	defer cancel()
	s, err := wire.RelayLogin(ctx, client, srv, &r.cfg)
	if err != nil {
		r.loginErr <- err
		return nil
	}
	r.mu.Lock()
	r.sessions = append(r.sessions, s)
	r.mu.Unlock()
	r.loginErr <- nil
	var resp wire.Response
	for {
		p, err := client.ReadCommand(time.Minute)
		if err != nil {
			return nil // the client went
		}
		cmd := wire.Command(p[0])
		if cmd == wire.ComChangeUser {
			if s, err = wire.RelayChangeUser(context.Background(), p, client, srv, s, &r.cfg); err != nil {
				return nil
			}
			r.mu.Lock()
			r.sessions = append(r.sessions, s)
			r.mu.Unlock()
			continue
		}
		if cmd.Shape() == wire.ShapeRefused {
			if err := client.WriteErr(wire.CodeUnknownCommand, "08S01", "Unknown command"); err != nil {
				return nil
			}
			continue
		}
		if cmd == wire.ComQuit {
			srv.WriteCommand(p)
			return srv.Flush()
		}
		if err := srv.WriteCommand(p); err != nil {
			return fmt.Errorf("%v: %w", cmd, err)
		}
		resp.Start(cmd, srv.Caps)
		if r.rebuild {
			err = r.rebuildResponse(&resp, srv, client)
		} else {
			err = wire.RelayResponse(&resp, srv, client)
		}
		if err != nil {
			return fmt.Errorf("%v: %w", cmd, err)
		}
	}
}

// rebuildResponse sends, for every packet, what decoding and encoding make of
// it, and complains if that is another.
func (r *relay) rebuildResponse(resp *wire.Response, srv, client *wire.Conn) error {
	var types []wire.Type
	var fields []wire.Field
	for !resp.Done() {
		kind, err := resp.Next(srv)
		if err != nil {
			return err
		}
		p, err := srv.Load()
		if err != nil {
			return err
		}
		var got []byte
		switch kind {
		case wire.KindColumns:
			types = types[:0]
			if got = wire.AppendColumnCount(nil, resp.Columns, srv.Caps); resp.Omitted {
				types, got[len(got)-1] = nil, 0
			}
		case wire.KindColumn, wire.KindParam:
			var c wire.Column
			if err := c.Decode(p, srv.Caps); err != nil {
				return err
			}
			if kind == wire.KindColumn {
				types = append(types, c.Type)
			}
			c = c.Clone()
			got = c.Append(nil, client.Caps)
		case wire.KindRow:
			if got, fields, err = rebuildRow(p, resp.Binary, types, fields); err != nil {
				return err
			}
		case wire.KindErr:
			e, err := wire.DecodeErr(p)
			if err != nil {
				return err
			}
			got = e.Append(nil)
		case wire.KindPrepared:
			got = resp.Prepared.Append(nil)
		case wire.KindOK, wire.KindRowsEnd, wire.KindDefsEnd:
			if p[0] == 0xfe && len(p) == 5 {
				e, err := wire.DecodeEOF(p)
				if err != nil {
					return err
				}
				got = e.Append(nil)
				break
			}
			ok, err := wire.DecodeOK(p, srv.Caps)
			if err != nil {
				return err
			}
			if err := wire.EachChange(ok.State, func(wire.Change) {}); err != nil {
				return err
			}
			got = ok.Append(nil, client.Caps)
		default:
			got = p
		}
		if !bytes.Equal(got, p) {
			return fmt.Errorf("packet of kind %d rebuilt\n got %x\nwant %x", kind, got, p)
		}
		if err := client.WritePacket(got); err != nil {
			return err
		}
		if kind == wire.KindInfile {
			if _, err := wire.RelayInfile(client, srv); err != nil {
				return err
			}
		}
	}
	return nil
}

func rebuildRow(p []byte, binary bool, types []wire.Type, fields []wire.Field) ([]byte, []wire.Field, error) {
	var err error
	if !binary {
		fields, err = wire.DecodeTextRow(p, len(types), fields)
	} else if types == nil {
		return p, fields, nil // COM_STMT_FETCH: the types came with the execution
	} else {
		fields, err = wire.DecodeBinaryRow(p, types, fields)
	}
	if err != nil {
		return nil, fields, err
	}
	values := make([][]byte, len(fields))
	cols := make([]int, len(fields))
	for i, f := range fields {
		values[i], cols[i] = f.Value(p), i
	}
	if binary {
		return wire.AppendBinaryRow(nil, types, values...), fields, nil
	}
	same, err := wire.ReplaceFields(nil, p, fields, cols, func(dst []byte, _ int, v []byte) ([]byte, error) {
		return append(dst, v...), nil
	})
	if err == nil && !bytes.Equal(same, p) {
		err = errors.New("row replaced by itself differs")
	}
	return wire.AppendTextRow(nil, values...), fields, err
}
