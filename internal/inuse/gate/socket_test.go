package gate

import (
	"errors"
	"net"
	"os/user"
	"path/filepath"
	"testing"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// TestSocketBackend: a server at a unix socket, after one that is not there.
func TestSocketBackend(t *testing.T) {
	root := rootOn(t, nil)
	socket := func(path string) *Backend {
		return &Backend{Network: "unix", Address: path, User: "veil", Password: []byte("service")}
	}
	there := socket(backendServer(t).Socket())
	g := startGate(t, func(c *Config) {
		c.Backends = []*Backend{socket(filepath.Join(t.TempDir(), "none")), there}
	})
	if _, err := there.Catalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := dialRaw(t, g.addr, "app", "hr", 0)
	at.provision(true)
	if tr := rows(t, at, "text", "SELECT name, ssn FROM employee"); isCell(tr.rows[0][0]) || !isCell(tr.rows[0][1]) {
		t.Errorf("got %s", tr)
	}
	rows(t, dialRaw(t, g.addr, "boss", "hr", 0), "binary", "SELECT ssn FROM employee")

	// The server would let the gate's own user in as this account.
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	name := "`" + escapeName(me.Username) + "`@localhost"
	root.must("CREATE USER IF NOT EXISTS " + name)
	defer root.must("ALTER USER " + name + " IDENTIFIED VIA mysql_native_password")
	for _, how := range []string{"unix_socket", "mysql_native_password USING PASSWORD('x') OR unix_socket"} {
		root.must("ALTER USER " + name + " IDENTIFIED VIA " + how)
		nc, err := net.Dial("unix", backendServer(t).Socket())
		if err != nil {
			t.Fatal(err)
		}
		c := wire.NewBackend(nc, wire.Limits{})
		_, err = wire.Login(t.Context(), c, &wire.Credential{User: me.Username})
		c.Close()
		if err != nil {
			t.Fatalf("the server itself does not: %v", err)
		}
		if c, _, err := tryRaw(g.addr, me.Username, "", wire.Credential{}); err == nil {
			c.Close()
			t.Errorf("%s: whoever reaches the gate is let in", how)
		} else if !errors.Is(err, wire.ErrDenied) {
			t.Errorf("%s: %v", how, err)
		}
		if _, _, err := tryRaw(g.addr, me.Username, "", wire.Credential{Password: []byte("x")}); err == nil {
			t.Errorf("%s: let in with a password, of which the gate cannot know that it was asked for", how)
		}
	}
}

func TestBySocket(t *testing.T) {
	for created, want := range map[string]bool{
		"CREATE USER `app`@`%`": false,
		"CREATE USER `unix_socket`@`%` IDENTIFIED BY PASSWORD '*X'":                                         false,
		"CREATE USER `root`@`localhost` IDENTIFIED VIA mysql_native_password USING 'x' OR unix_socket":      true,
		"CREATE USER 'root'@'localhost' IDENTIFIED WITH 'auth_socket' REQUIRE NONE PASSWORD EXPIRE DEFAULT": true,
		"CREATE USER `a`@`%` IDENTIFIED VIA ed25519 USING 'x'":                                              false,
	} {
		if bySocket(created) != want {
			t.Errorf("%s: want %v", created, want)
		}
	}
	for s, want := range map[string][2]string{"a@b": {"a", "b"}, "a@b@c": {"a@b", "c"}, "@localhost": {"", "localhost"}, "": {"", ""}} {
		if got := cutAccount(s); got != want {
			t.Errorf("%q: %q", s, got)
		}
	}
}
