package wire_test

import (
	"crypto/x509"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/veildb/veildb/internal/inuse/wire"
)

func TestLoginAccounts(t *testing.T) {
	r := startRelay(t, &relay{})
	for _, tc := range []struct {
		name, user, password, database string
		plugin                         string // "": denied
	}{
		{"native", "native", "pw-native", "veildb", wire.PluginNative},
		{"native without database", "native", "pw-native", "", wire.PluginNative},
		{"native wrong password", "native", "pw-wrong", "", ""},
		{"native unknown database", "native", "pw-native", "nowhere", ""},
		{"empty password", "nopw", "", "", wire.PluginNative},
		{"unknown user", "nobody", "x", "", ""},
		{"ed25519", "ed", "pw-ed", "veildb", wire.PluginEd25519},
		{"ed25519 wrong password", "ed", "pw-native", "", ""},
		{"first plugin of two", "two", "pw-ed", "", wire.PluginEd25519},
	} {
		t.Run(tc.name, func(t *testing.T) {
			db, err := sql.Open("mysql", tc.user+":"+tc.password+"@tcp("+r.addr()+")/"+tc.database)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			var got string
			loginErr, err := again(r, func() error { return db.QueryRow("SELECT USER()").Scan(&got) })
			if tc.plugin == "" {
				if err == nil || !errors.Is(loginErr, wire.ErrDenied) {
					t.Fatalf("driver says %v, relay says %v; want a denied login", err, loginErr)
				}
				return
			}
			if err != nil || loginErr != nil {
				t.Fatalf("driver says %v, relay says %v", err, loginErr)
			}
			s := r.lastSession()
			if s.User != tc.user || s.Database != tc.database || s.Plugin != tc.plugin {
				t.Errorf("session is %q in %q by %s; want %q in %q by %s", s.User, s.Database, s.Plugin, tc.user, tc.database, tc.plugin)
			}
		})
	}
}

// again logs in by f, and again if the driver fails as it does, directly too, on
// one ed25519 challenge in 256: it takes a last byte of zero for the
// challenge's end.
func again(r *relay, f func() error) (relayed, driver error) {
	for range 5 {
		if driver = f(); !errors.Is(driver, mysql.ErrMalformPkt) {
			break
		}
		<-r.loginErr
	}
	return <-r.loginErr, driver
}

func (r *relay) lastSession() *wire.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessions[len(r.sessions)-1]
}

// TestTLS logs in over every combination of TLS on the two sides.
func TestTLS(t *testing.T) {
	if err := mysql.RegisterTLSConfig("test", clientTLS(t)); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name           string
		cfg            wire.LoginConfig
		param          string
		client, server bool // TLS expected
		denied         error
	}{
		{"neither", wire.LoginConfig{}, "", false, false, nil},
		{"client", wire.LoginConfig{ClientTLS: serverTLS(t)}, "?tls=test", true, false, nil},
		{"server", wire.LoginConfig{ServerTLS: clientTLS(t)}, "", false, true, nil},
		{"both", wire.LoginConfig{ClientTLS: serverTLS(t), ServerTLS: clientTLS(t), RequireTLS: true}, "?tls=test", true, true, nil},
		{"offered, not taken", wire.LoginConfig{ClientTLS: serverTLS(t)}, "", false, false, nil},
		{"required, not taken", wire.LoginConfig{ClientTLS: serverTLS(t), RequireTLS: true}, "", false, false, wire.ErrInsecure},
	} {
		for _, user := range []string{"native:pw-native", "ed:pw-ed"} {
			t.Run(tc.name+"/"+user, func(t *testing.T) {
				r := startRelay(t, &relay{cfg: tc.cfg})
				db, err := sql.Open("mysql", user+"@tcp("+r.addr()+")/veildb"+tc.param)
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				var name, cipher string
				loginErr, err := again(r, func() error { return db.QueryRow("SHOW STATUS LIKE 'Ssl_cipher'").Scan(&name, &cipher) })
				if !errors.Is(loginErr, tc.denied) || (err == nil) != (tc.denied == nil) {
					t.Fatalf("driver says %v, relay says %v; want %v", err, loginErr, tc.denied)
				}
				if tc.denied == nil && (cipher != "") != tc.server {
					t.Errorf("the server's cipher is %q", cipher)
				}
			})
		}
	}
}

// TestUntrustedServer: a backend whose certificate is not the pinned one gets
// no password, and the client an error.
func TestUntrustedServer(t *testing.T) {
	cfg := clientTLS(t)
	cfg.RootCAs = x509.NewCertPool()
	r := startRelay(t, &relay{cfg: wire.LoginConfig{ServerTLS: cfg}})
	db, err := sql.Open("mysql", "native:pw-native@tcp("+r.addr()+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Ping()
	var me *mysql.MySQLError
	if !errors.As(err, &me) || me.Number != wire.CodeUnknown {
		t.Errorf("driver says %v, want an error packet", err)
	}
	if err := <-r.loginErr; !strings.Contains(err.Error(), "start TLS") {
		t.Errorf("relay says %v", err)
	}
}

func TestAdmit(t *testing.T) {
	no := errors.New("not today")
	r := startRelay(t, &relay{cfg: wire.LoginConfig{Admit: func(req *wire.LoginRequest) error {
		if req.User != "native" {
			return no
		}
		req.Attrs = wire.AppendAttr(nil, "seen_by", "relay")
		return nil
	}}})
	if _, err := tryDial(r.addr(), &wire.Credential{User: "nopw"}); !errors.Is(err, wire.ErrDenied) {
		t.Errorf("login of another user: %v", err)
	}
	if err := <-r.loginErr; !errors.Is(err, no) {
		t.Errorf("relay says %v", err)
	}
	dial(t, r.addr(), &wire.Credential{User: "native", Password: []byte("pw-native"), Attrs: wire.AppendAttr(nil, "a", "b")})
	if err := <-r.loginErr; err != nil {
		t.Fatal(err)
	}
	n := 0
	wire.EachAttr(r.lastSession().Attrs, func(name, value []byte) {
		if n++; string(name) != "seen_by" || string(value) != "relay" {
			t.Errorf("attribute %s=%s", name, value)
		}
	})
	if n != 1 {
		t.Errorf("%d attributes, want 1", n)
	}
}

// TestSocketBackend: over a unix socket the server takes the relay for the
// client, so this must be asked for.
func TestSocketBackend(t *testing.T) {
	srv := server(t)
	r := startRelay(t, &relay{network: "unix", backend: srv.Socket()})
	if _, err := tryDial(r.addr(), &wire.Credential{User: "native", Password: []byte("pw-native")}); err == nil {
		t.Error("login through a unix socket backend")
	}
	if err := <-r.loginErr; !errors.Is(err, wire.ErrInsecure) {
		t.Errorf("relay says %v", err)
	}
	r = startRelay(t, &relay{network: "unix", backend: srv.Socket(), cfg: wire.LoginConfig{AllowSocket: true}})
	dial(t, r.addr(), &wire.Credential{User: "native", Password: []byte("pw-native")})
}

func TestChangeUser(t *testing.T) {
	r := startRelay(t, &relay{})
	for _, tc := range []struct {
		name, user, password string
		ok                   bool
	}{
		{"native", "native", "pw-native", true},
		{"empty password", "nopw", "", true},
		{"wrong password", "native", "x", false},
		{"unknown user", "nobody", "x", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := dial(t, r.addr(), &wire.Credential{User: "nopw", Database: "veildb"})
			<-r.loginErr
			u := wire.ChangeUser{User: tc.user, Database: "mysql", Charset: 45, AuthPlugin: wire.PluginNative, Auth: []byte("stale answer, 20 b..")}
			c.WriteCommand(u.Append(nil, c.Caps))
			err := wire.LoginRounds(c, []byte(tc.password), wire.PluginNative)
			if (err == nil) != tc.ok {
				t.Fatalf("change of user: %v", err)
			}
			if !tc.ok {
				return
			}
			err = wire.RunQuery(c, "SELECT USER(), DATABASE()", func(_ []wire.Column, v [][]byte) error {
				if !strings.HasPrefix(string(v[0]), tc.user+"@") || string(v[1]) != "mysql" {
					t.Errorf("now %q", v)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if s := r.lastSession(); s.User != tc.user || s.Database != "mysql" {
				t.Errorf("session says %s in %s", s.User, s.Database)
			}
		})
	}
}
