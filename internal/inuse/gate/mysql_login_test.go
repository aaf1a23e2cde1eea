//go:build mysqlserver

package gate

import (
	"crypto/tls"
	"database/sql"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/veildb/veildb/internal/inuse/sidecar/sidecartest"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// logInWith logs in with the Go driver and returns whom the server takes it for.
func logInWith(addr, user, password string, secure bool) (account string, err error) {
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.Passwd, c.Logger = "tcp", addr, user, password, &mysql.NopLogger{}
	if secure {
		c.TLS = &tls.Config{InsecureSkipVerify: true}
	}
	conn, err := mysql.NewConnector(c)
	if err != nil {
		return "", err
	}
	db := sql.OpenDB(conn)
	defer db.Close()
	err = db.QueryRow("SELECT CURRENT_USER()").Scan(&account)
	return account, err
}

// TestMySQLLogins: the accounts of MySQL log in with TLS on both sides and on none;
// on one only if the server remembers the account, for otherwise one side would send
// what the other does not take.
func TestMySQLLogins(t *testing.T) {
	server, _ := sidecartest.WriteTLS(t, t.TempDir())
	root := dialRaw(t, backendServer(t).Addr(), "root", "", 0)
	for _, sql := range []string{
		"CREATE USER caching@'%' IDENTIFIED BY 'pw'", "CREATE USER sha@'%' IDENTIFIED WITH sha256_password BY 'pw'",
		"CREATE USER secure@'%' IDENTIFIED BY 'pw' REQUIRE SSL",
		"GRANT ALL ON hr.* TO caching@'%', sha@'%', secure@'%'",
	} {
		root.must(sql)
	}
	t.Cleanup(func() { root.must("DROP USER caching@'%', sha@'%', secure@'%'") })
	// The driver does not show what it is told when it asks caching_sha2_password for a key.
	const lacksServer, lacksClient, untold = "needs its password sent to the backend", "connect with TLS", "unexpected resp"
	for _, c := range []struct {
		user           string
		client, server bool // on TLS
		remembered     bool
		refusal        string
	}{
		{"caching", false, false, false, ""}, {"caching", true, true, false, ""},
		{"caching", true, false, false, lacksServer}, {"caching", false, true, false, untold},
		{"caching", true, false, true, ""}, {"caching", false, true, true, ""}, {"caching", false, false, true, ""}, {"caching", true, true, true, ""},
		{"sha", false, false, false, ""}, {"sha", true, true, false, ""}, {"sha", true, false, false, lacksServer}, {"sha", false, true, false, lacksClient},
		{"secure", true, true, false, ""}, {"secure", true, false, true, "Access denied"}, {"secure", false, true, true, ""},
	} {
		t.Run(fmt.Sprintf("%s/client=%v/server=%v/remembered=%v", c.user, c.client, c.server, c.remembered), func(t *testing.T) {
			g := startGate(t, func(cfg *Config) {
				cfg.ClientTLS = server
				if c.server {
					cfg.Backends[0].TLS = &tls.Config{InsecureSkipVerify: true}
				}
			})
			root.must("FLUSH PRIVILEGES") // forgets
			remember(t, backendServer(t).Addr(), "veil", "service")
			if c.remembered {
				remember(t, backendServer(t).Addr(), c.user, "pw")
			}
			if _, err := logInWith(g.addr, c.user, "wrong", c.client); err == nil {
				t.Error("a wrong password is taken")
			}
			account, err := logInWith(g.addr, c.user, "pw", c.client)
			if c.refusal != "" {
				if err == nil || !strings.Contains(err.Error(), c.refusal) {
					t.Errorf("%v, want a refusal: %s", err, c.refusal)
				}
			} else if err != nil || account != c.user+"@%" {
				t.Errorf("logged in as %q: %v", account, err)
			}
		})
	}
}

// TestMySQLCapabilities: what would blind the gate is not offered, though this server
// has it all.
func TestMySQLCapabilities(t *testing.T) {
	g := startGate(t, nil)
	const blinding = wire.Compress | wire.CompressZstd | wire.OptionalMetadata | wire.QueryAttributes | wire.MultiFactorAuth
	for addr, want := range map[string]wire.Capabilities{backendServer(t).Addr(): blinding, g.addr: 0} {
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		c := wire.NewBackend(nc, wire.Limits{})
		p, err := c.ReadPacket()
		if err != nil {
			t.Fatal(err)
		}
		greeting, err := wire.DecodeGreeting(p)
		if err != nil {
			t.Fatal(err)
		}
		if greeting.Capabilities&blinding != want {
			t.Errorf("%x of %x is offered, want %x", greeting.Capabilities&blinding, blinding, want)
		}
	}
}

// TestMySQLFactors: an account that needs a second factor is refused, for only the
// exchange of the first can be relayed.
func TestMySQLFactors(t *testing.T) {
	server, _ := sidecartest.WriteTLS(t, t.TempDir())
	g := startGate(t, func(c *Config) {
		c.ClientTLS = server
		c.Backends[0].TLS = &tls.Config{InsecureSkipVerify: true}
	})
	root := dialRaw(t, backendServer(t).Addr(), "root", "", 0)
	root.must("INSTALL PLUGIN auth_socket SONAME 'auth_socket.so'")
	root.must("CREATE USER factors@'%' IDENTIFIED BY 'pw' AND IDENTIFIED WITH auth_socket AS 'nobody'")
	t.Cleanup(func() {
		root.must("DROP USER factors@'%'")
		root.must("UNINSTALL PLUGIN auth_socket")
	})
	if account, err := logInWith(g.addr, "factors", "pw", true); err == nil {
		t.Errorf("logged in as %q with one factor", account)
	}
	if _, err := logInWith(g.addr, "boss", "", true); err != nil {
		t.Error(err)
	}
}
