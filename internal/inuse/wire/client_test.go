package wire_test

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/inuse/wire"
)

func TestOwnLogin(t *testing.T) {
	withTLS := clientTLS(t)
	full := &mysql8{plugin: wire.PluginCaching, greets: wire.PluginCaching, password: "pw", tls: serverTLS(t)}
	remembered := &mysql8{plugin: wire.PluginCaching, greets: wire.PluginNative, password: "pw", cached: true}
	for _, tc := range []struct {
		name string
		addr string
		cred wire.Credential
		want error
	}{
		{"native", server(t).Addr(), wire.Credential{User: "native", Password: []byte("pw-native")}, nil},
		{"native over TLS", server(t).Addr(), wire.Credential{User: "native", Password: []byte("pw-native"), TLS: withTLS}, nil},
		{"wrong password", server(t).Addr(), wire.Credential{User: "native", Password: []byte("x")}, wire.ErrDenied},
		{"ed25519", server(t).Addr(), wire.Credential{User: "ed", Password: []byte("pw-ed")}, wire.ErrUnsupported},
		{"caching", full.start(t), wire.Credential{User: "u", Password: []byte("pw"), TLS: withTLS}, nil},
		{"caching without TLS", full.ln.Addr().String(), wire.Credential{User: "u", Password: []byte("pw")}, wire.ErrInsecure},
		{"caching, wrong password", full.ln.Addr().String(), wire.Credential{User: "u", Password: []byte("x"), TLS: withTLS}, wire.ErrDenied},
		{"caching, remembered", remembered.start(t), wire.Credential{User: "u", Password: []byte("pw")}, nil},
		{"TLS where there is none", remembered.ln.Addr().String(), wire.Credential{User: "u", TLS: withTLS}, wire.ErrInsecure},
	} {
		c, err := tryDial(tc.addr, &tc.cred)
		if !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
		if err == nil {
			if (tc.cred.TLS != nil) != (c.TLS() != nil) {
				t.Errorf("%s: TLS state %v", tc.name, c.TLS())
			}
			c.Close()
		}
	}
}

func TestRunQuery(t *testing.T) {
	c := dial(t, server(t).Addr(), &wire.Credential{User: "nopw", Database: "veildb", Caps: wire.MultiStatements | wire.LocalFiles})
	for _, tc := range []struct{ name, sql, want string }{
		{"rows", "SELECT id, v FROM kinds WHERE id IN (1, 3) ORDER BY id", "id=1 v=NULL; id=3 v=; "},
		{"several results", "SELECT 1 AS a; DO 0; SELECT 2 AS b", "a=1; b=2; "},
		{"a file is not given", "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE sink (b)", ""},
		{"no file", "SELECT COUNT(*) AS n FROM sink", "n=0; "},
	} {
		var got strings.Builder
		err := wire.RunQuery(c, tc.sql, func(cols []wire.Column, vals [][]byte) error {
			for i, v := range vals {
				if i > 0 {
					got.WriteByte(' ')
				}
				got.WriteString(string(cols[i].Name) + "=")
				if v == nil {
					got.WriteString("NULL")
				}
				got.Write(v)
			}
			got.WriteString("; ")
			return nil
		})
		if err != nil || got.String() != tc.want {
			t.Errorf("%s: got %q, %v; want %q", tc.name, got.String(), err, tc.want)
		}
	}
	var se *wire.ServerError
	if err := wire.RunQuery(c, "SELECT 1; SELECT no_such", nil); !errors.As(err, &se) || se.Code != 1054 || se.State != "42S22" || strings.Contains(err.Error(), "no_such") {
		t.Errorf("server's error: %v", err)
	}
	stop := errors.New("stop")
	n := 0
	if err := wire.RunQuery(c, "SELECT seq FROM seq_1_to_10", func([]wire.Column, [][]byte) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		t.Errorf("error of the caller after %d rows: %v", n, err)
	}
}

// TestDropResponse leaves the connection at the next command.
func TestDropResponse(t *testing.T) {
	c := dial(t, server(t).Addr(), &wire.Credential{User: "nopw", Database: "veildb", Caps: wire.MultiStatements | wire.LocalFiles})
	var r wire.Response
	for _, sql := range []string{"SELECT * FROM kinds; SELECT REPEAT('x', 100000)", "LOAD DATA LOCAL INFILE 'x' INTO TABLE sink (b)", "SELECT no_such"} {
		c.WriteCommand(wire.AppendQuery(nil, nil, []byte(sql), 0))
		r.Start(wire.ComQuery, c.Caps)
		if _, err := r.Next(c); err != nil {
			t.Fatal(err)
		}
		if sql[0] == 'L' {
			c.WritePacket(nil) // the request was the packet just read
		}
		if err := wire.DropResponse(&r, c); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if err := wire.RunQuery(c, "DO 0", nil); err != nil {
			t.Fatalf("after %s: %v", sql, err)
		}
	}
}

// TestChangeUserCaching changes to an account whose password the server wants
// in full, through every mix of connections.
func TestChangeUserCaching(t *testing.T) {
	for _, tc := range []struct {
		name           string
		client, server bool // TLS
		plugin         string
		policy         wire.PasswordPolicy
		ok             bool
	}{
		{"TLS on both", true, true, wire.PluginCaching, wire.PasswordPolicy{}, true},
		{"TLS on the client's, pinned key", true, false, wire.PluginCaching, wire.PasswordPolicy{ServerKey: &serverKey().PublicKey}, true},
		{"TLS on the client's, no policy", true, false, wire.PluginCaching, wire.PasswordPolicy{}, false},
		{"begins in the clear", true, true, "mysql_clear_password", wire.PasswordPolicy{}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := &mysql8{plugin: wire.PluginCaching, greets: wire.PluginCaching, password: "pw", cached: true}
			r := &relay{network: "tcp", cfg: wire.LoginConfig{Passwords: tc.policy}}
			cred := &wire.Credential{User: "u", Password: []byte("pw")}
			if tc.server {
				m.tls, r.cfg.ServerTLS = serverTLS(t), clientTLS(t)
			}
			if tc.client {
				r.cfg.ClientTLS, cred.TLS = serverTLS(t), clientTLS(t)
			}
			r.backend = m.start(t)
			c := dial(t, startRelay(t, r).addr(), cred)
			m.mu.Lock()
			m.cached = false
			m.mu.Unlock()
			u := wire.ChangeUser{User: "other", Charset: 45, AuthPlugin: tc.plugin, Auth: []byte("first answer")}
			c.WriteCommand(u.Append(nil, c.Caps))
			if err := wire.LoginRounds(c, []byte("pw"), tc.plugin); (err == nil) != tc.ok {
				t.Errorf("change of user: %v", err)
			}
		})
	}
}

// TestTooLargeStatement: a statement beyond Limits.Load can be skipped and refused.
func TestTooLargeStatement(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	go func() {
		c := wire.NewBackend(b, wire.Limits{Read: time.Minute})
		c.WriteCommand(append([]byte{byte(wire.ComQuery)}, make([]byte, 5000)...))
		c.Flush()
	}()
	c := wire.NewConn(a, wire.Limits{Load: 4096})
	if _, err := c.ReadCommand(time.Minute); !errors.Is(err, wire.ErrTooLarge) {
		t.Fatalf("got %v, want ErrTooLarge", err)
	}
	if err := c.Skip(); err != nil {
		t.Errorf("skipping it: %v", err)
	}
}
