package gate

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/inuse/wire"
)

func TestParseGrant(t *testing.T) {
	for _, c := range []struct {
		line  string
		held  []string
		roles []string
	}{
		{"GRANT USAGE ON *.* TO `app`@`%`", nil, nil},
		{"GRANT USAGE ON *.* TO `app`@`%` IDENTIFIED BY PASSWORD '*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29'", nil, nil},
		{"GRANT ALL PRIVILEGES ON `shop`.* TO `app`@`%` WITH GRANT OPTION", nil, nil},
		{"GRANT SELECT (`a`, `b on c`), UPDATE (`a`) ON `shop`.`t` TO `app`@`%`", nil, nil},
		{"GRANT SELECT ON `shop`.* TO ``@`%`", nil, nil},
		{"GRANT FILE ON *.* TO ``@`%` WITH GRANT OPTION", []string{"FILE ON *.*", "GRANT OPTION ON *.*"}, nil},
		{"GRANT `reader` TO ``@`%`", nil, []string{"reader"}},
		{"GRANT SELECT ON `mysql TO ``@x`.* TO `app`@`%`", []string{"a grant that cannot be read"}, nil},
		{"GRANT EXECUTE ON FUNCTION `shop`.`f` TO `app`@`%`", nil, nil},
		{"GRANT SHOW DATABASES, LOCK TABLES, CREATE TEMPORARY TABLES, EXECUTE ON *.* TO `app`@`%`", nil, nil},
		{"GRANT ALL PRIVILEGES ON *.* TO `app`@`%` WITH GRANT OPTION", []string{"ALL PRIVILEGES ON *.*", "GRANT OPTION ON *.*"}, nil},
		{"GRANT SELECT, FILE, SUPER ON *.* TO `app`@`%`", []string{"SELECT ON *.*", "FILE ON *.*", "SUPER ON *.*"}, nil},
		{"GRANT BACKUP_ADMIN,SYSTEM_VARIABLES_ADMIN ON *.* TO `app`@`%`", []string{"BACKUP_ADMIN ON *.*", "SYSTEM_VARIABLES_ADMIN ON *.*"}, nil},
		{"GRANT REPLICATION SLAVE ADMIN ON *.* TO app@'%'", []string{"REPLICATION SLAVE ADMIN ON *.*"}, nil},
		{"GRANT SELECT ON `mysql`.* TO `app`@`%`", []string{"SELECT ON `mysql`.*"}, nil},
		{"GRANT SELECT ON `MySQL`.`user` TO `app`@`%`", []string{"SELECT ON `MySQL`.`user`"}, nil},
		{"GRANT SELECT ON `%`.* TO `app`@`%`", []string{"SELECT ON `%`.*"}, nil},
		{"GRANT SELECT, INSERT ON `my%`.* TO `app`@`%`", []string{"SELECT, INSERT ON `my%`.*"}, nil},
		{"GRANT SELECT ON `m_sql`.* TO `app`@`%`", []string{"SELECT ON `m_sql`.*"}, nil},
		{"GRANT SELECT ON `m\\_sql`.* TO `app`@`%`", nil, nil},
		{"GRANT SELECT ON `veildb\\_gate`.* TO `app`@`%`", []string{"SELECT ON `veildb\\_gate`.*"}, nil},
		{"GRANT SELECT ON mysql.user TO app@'%'", []string{"SELECT ON `mysql`.`user`"}, nil},
		{"GRANT SELECT ON \"mysql\".* TO \"app\"@\"%\"", []string{"SELECT ON `mysql`.*"}, nil},
		{"GRANT PROXY ON ''@'%' TO 'root'@'localhost' WITH GRANT OPTION", []string{"PROXY"}, nil},
		{"GRANT `reader` TO `app`@`%`", nil, []string{"reader"}},
		{"GRANT `r1`@`%`,`r2`@`h` TO `app`@`%`", nil, []string{"r1\x00%", "r2\x00h"}},
		{"SET DEFAULT ROLE `reader` FOR `app`@`%`", nil, nil},
		{"REVOKE SELECT ON `mysql`.* FROM `app`@`%`", nil, nil},
		{"anything else", []string{"a grant that cannot be read"}, nil},
		{"GRANT", []string{"a grant that cannot be read"}, nil},
		{"GRANT SELECT ON", []string{"a grant that cannot be read"}, nil},
		{"GRANT SELECT ON `mysql", []string{"a grant that cannot be read"}, nil},
	} {
		g := parseGrant(c.line)
		if !slices.Equal(g.held, c.held) || !slices.Equal(g.roles, c.roles) {
			t.Errorf("%s: held %q, roles %q", c.line, g.held, g.roles)
		}
	}
}

func FuzzParseGrant(f *testing.F) {
	f.Add("GRANT SELECT (`a`), INSERT ON `db`.`t` TO `u`@`%` WITH GRANT OPTION")
	f.Add("GRANT `r`@`%` TO `u`@`%`")
	f.Fuzz(func(t *testing.T, line string) {
		g := parseGrant(line)
		if strings.HasPrefix(line, "GRANT FILE ON *.* TO ") && len(g.held) == 0 {
			t.Errorf("%q passes", line)
		}
	})
}

// TestPrivileges: a restricted account with privileges to read around the rules
// cannot log in, directly or by a role; an account that may see all can.
func TestPrivileges(t *testing.T) {
	g := startGate(t, func(c *Config) { c.TrustGrants = false })
	root := rootOn(t, g)
	root.must("CREATE OR REPLACE USER app2@'%', other@'%'")
	root.must("CREATE OR REPLACE ROLE harmless")
	root.must("CREATE OR REPLACE ROLE filer")
	t.Cleanup(func() {
		root.must("DROP ROLE harmless, filer")
		root.must("CREATE OR REPLACE USER other@'%'")
		root.must("GRANT ALL ON *.* TO other@'%'")
	})
	root.must("GRANT FILE ON *.* TO filer")
	root.must("GRANT SELECT ON hr.* TO harmless")
	login := func(user string) error {
		c, _, err := tryRaw(g.addr, user, "", wire.Credential{})
		if err == nil {
			c.Close()
		}
		return err
	}
	if err := login("boss"); err != nil {
		t.Errorf("an account that may see all: %v", err)
	}
	if err := login("app"); !errors.Is(err, wire.ErrDenied) {
		t.Errorf("an account with all privileges: %v", err)
	}
	for _, c := range []struct {
		grant string
		held  string
	}{
		{"GRANT ALL ON hr.* TO other@'%'", ""},
		{"GRANT harmless TO other@'%'", ""},
		{"GRANT PROCESS ON *.* TO other@'%'", "PROCESS ON *.*"},
		{"REVOKE PROCESS ON *.* FROM other@'%'", ""},
		{"GRANT SELECT ON mysql.help_topic TO other@'%'", "SELECT ON `mysql`.`help_topic`"},
		{"REVOKE SELECT ON mysql.help_topic FROM other@'%'", ""},
		{"GRANT filer TO harmless", ""},                            // which is not active, nor can it be
		{"SET DEFAULT ROLE harmless FOR other@'%'", "FILE ON *.*"}, // by a role of a role
	} {
		root.must(c.grant)
		err := login("other")
		if (err == nil) != (c.held == "") {
			t.Errorf("%s: %v", c.grant, err)
		}
		if c.held == "" {
			continue
		}
		// The client may know before the log does.
		var last Event
		for deadline := time.Now().Add(20 * time.Second); !strings.Contains(last.Reason, c.held) && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			g.mu.Lock()
			for _, e := range g.events {
				if e.Kind == "denied" {
					last = e
				}
			}
			g.mu.Unlock()
		}
		if last.Kind != "denied" || last.Rule != "privileges" || !strings.Contains(last.Reason, c.held) {
			t.Errorf("%s: event %+v", c.grant, last)
		}
	}
}

// TestPrivilegesLater: an account restricted after its login is examined then.
func TestPrivilegesLater(t *testing.T) {
	g := startGate(t, func(c *Config) { c.TrustGrants = false })
	rootOn(t, g)
	boss := dialRaw(t, g.addr, "boss", "hr", 0)
	rows(t, boss, "text", "SELECT name FROM dept")
	g.source.Write(t.Context(), nil, []byte(strings.Replace(testRules, "full: [boss]", "ciphertext: [boss]", 1)))
	if _, err := g.rules.Reload(t.Context()); err == nil {
		t.Fatal("two lists of one name were taken")
	}
	g.source.Write(t.Context(), nil, []byte(strings.Replace(testRules, "full: [boss]", "full: []", 1)))
	if _, err := g.rules.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	var tr transcript
	if err := boss.query(&tr, "SELECT name FROM dept"); err != nil || tr.errors != 1 || !strings.Contains(tr.String(), "ALL PRIVILEGES") {
		t.Errorf("%v %s", err, &tr)
	}
}

// TestPrivilegesOfEverybody: those of PUBLIC count at the login and for the check.
func TestPrivilegesOfEverybody(t *testing.T) {
	g := startGate(t, func(c *Config) { c.TrustGrants = false })
	root := rootOn(t, g)
	root.must("CREATE OR REPLACE USER plain@'%'")
	t.Cleanup(func() { root.must("DROP USER plain@'%'") })
	root.must("GRANT SELECT ON mysql.* TO PUBLIC")
	held, err := readGrants(root.Conn, "plain@'%'")
	_, _, denied := tryRaw(g.addr, "plain", "", wire.Credential{})
	root.must("REVOKE SELECT ON mysql.* FROM PUBLIC")
	if err != nil || !slices.Equal(held, []string{"SELECT ON `mysql`.*"}) {
		t.Errorf("got %q, %v", held, err)
	}
	if denied == nil {
		t.Error("the account is let in")
	}
	if held, err = readGrants(root.Conn, "plain@'%'"); err != nil || len(held) > 0 {
		t.Errorf("without: got %q, %v", held, err)
	}
}
