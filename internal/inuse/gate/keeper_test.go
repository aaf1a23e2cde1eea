package gate

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// keepingGate is a gate that keeps the master keys of all its accounts.
func keepingGate(t *testing.T) (*testGate, *encdb.Registry) {
	t.Helper()
	registry, err := encdb.OpenRegistry(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return startGate(t, func(c *Config) {
		c.KeepKeys = time.Hour
		c.EncDB.Registry, c.EncDB.MayRegister = registry, func(encdb.Account) bool { return true }
	}), registry
}

const keptQuery = "SELECT ssn FROM employee WHERE id = 1"

// reads reports whether the client, which has handed over no key, gets cells that
// the key of another opens, marked as such. Those it cannot open are not marked.
func (c *rawClient) reads(owner *rawClient, protocol string) bool {
	c.Helper()
	tr := rows(c.TB.(*testing.T), c, protocol, keptQuery)
	if !isCell(tr.rows[0][0]) {
		c.Fatalf("%q is no cell", tr.rows[0][0])
	}
	column := encdb.NewColumn("hr", "employee", "ssn", byte(wire.TypeVarString), false, 0)
	_, plain, err := owner.open.Open(nil, column, protocol != "text", tr.rows[0][0])
	if opened := err == nil && string(plain) == "721-07-4426"; opened != tr.marked[0] {
		c.Errorf("%s: marked %v, but %q, %v", protocol, tr.marked[0], plain, err)
	}
	return err == nil
}

// TestKeptKeys: a client hands its key over once, and the connections of its account
// have cells it can open, but no others.
func TestKeptKeys(t *testing.T) {
	g, _ := keepingGate(t)
	rootOn(t, g)
	early := dialRaw(t, g.addr, "app", "hr", 0)
	owner := dialRaw(t, g.addr, "app", "hr", 0)
	late, blocked := dialRaw(t, g.addr, "app", "hr", 0), dialRaw(t, g.addr, "guest", "hr", 0)
	if tr := rows(t, early, "text", keptQuery); tr.marked[0] || !isCell(tr.rows[0][0]) {
		t.Errorf("nobody has handed over a key: %s", tr)
	}
	owner.provision(true)
	for _, protocol := range []string{"text", "binary", "cursor"} {
		for name, c := range map[string]*rawClient{"early": early, "late": late, "reconnected": dialRaw(t, g.addr, "app", "hr", 0)} {
			if !c.reads(owner, protocol) {
				t.Errorf("%s, %s: cells that the account's key does not open", name, protocol)
			}
		}
		for user, c := range map[string]*rawClient{"guest": blocked, "other": dialRaw(t, g.addr, "other", "hr", 0)} {
			if c.reads(owner, protocol) {
				t.Errorf("%s, %s: cells under the key of another account", user, protocol)
			}
		}
	}
	var tr transcript
	if err := late.do(&tr, []byte{byte(wire.ComResetConnection)}); err != nil || !late.reads(owner, "text") {
		t.Errorf("after a reset the key is lost: %v", err)
	}
	if n := g.srv.Stats().KeptKeys; n != 1 {
		t.Errorf("%d keys are kept, want 1", n)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	told := 0
	for _, e := range g.events {
		if e.Class == "kept key" {
			told++
			if e.Kind != "protocol" || e.User != "app" || !strings.Contains(e.Reason, "master key 1") {
				t.Errorf("event %+v", e)
			}
		}
	}
	if told != 5 { // early, late, three reconnected
		t.Errorf("%d connections are in the log as having a kept key, want 5", told)
	}
}

// TestKeptKeysEnd: rules, retirement and the gate's end take kept keys away.
func TestKeptKeysEnd(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *testGate, *encdb.Registry){
		"retired": func(t *testing.T, _ *testGate, r *encdb.Registry) {
			if err := r.Retire(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
		},
		"account blocked": func(t *testing.T, g *testGate, _ *encdb.Registry) {
			g.source.Write(t.Context(), nil, []byte(strings.Replace(testRules, "[app, ", "[", 1)))
			if _, err := g.rules.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"account full": func(t *testing.T, g *testGate, _ *encdb.Registry) {
			g.source.Write(t.Context(), nil, []byte(strings.Replace(strings.Replace(testRules, "[app, ", "[", 1), "[boss]", "[boss, app]", 1)))
			if _, err := g.rules.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"drained": func(t *testing.T, g *testGate, _ *encdb.Registry) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			g.srv.Shutdown(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, registry := keepingGate(t)
			rootOn(t, g)
			dialRaw(t, g.addr, "app", "hr", 0).provision(true)
			if n := g.srv.Stats().KeptKeys; n != 1 {
				t.Fatalf("%d keys are kept, want 1", n)
			}
			end(t, g, registry)
			for g.srv.Stats().KeptKeys > 0 {
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
}

// TestKeptKeyChangeUser: the key goes with the account, not with the connection.
func TestKeptKeyChangeUser(t *testing.T) {
	g, _ := keepingGate(t)
	rootOn(t, g)
	owner := dialRaw(t, g.addr, "app", "hr", 0)
	owner.provision(true)
	c := dialRaw(t, g.addr, "app", "hr", 0)
	want := []bool{true, false, true}
	var got []bool
	for i, user := range []string{"app", "other", "app"} {
		if i > 0 {
			l := packetLog{t: t, c: c.Conn}
			l.changeUser(user, "hr")
		}
		got = append(got, c.reads(owner, "text"))
	}
	if !slices.Equal(got, want) {
		t.Errorf("cells open %v, want %v", got, want)
	}
}

// TestSharedKeys: a client that handed its key over at one gate reads at another
// after that has gone, and the table is of no use to those who only read it.
func TestSharedKeys(t *testing.T) {
	addr := backendServer(t).Addr()
	root := dialRaw(t, addr, "root", "", 0)
	root.must("DROP DATABASE IF EXISTS " + SharedDatabase)
	t.Cleanup(func() {
		root.must("GRANT INSERT, DELETE ON " + SharedDatabase + ".rules_kept TO veil@'%'") // or there may be nothing to revoke
		root.must("REVOKE INSERT, DELETE ON " + SharedDatabase + ".rules_kept FROM veil@'%'")
		root.must("DROP DATABASE IF EXISTS " + SharedDatabase)
	})
	administrator := []*Backend{{Network: "tcp", Address: addr, User: "root"}}
	gates := []*Backend{{Network: "tcp", Address: addr, User: "veil", Password: []byte("service")}}
	table := &KeptTable{Name: KeptTableName("rules"), Backends: gates}
	if err := table.Check(t.Context()); !errors.Is(err, ErrSharedTable) {
		t.Errorf("there is no table: %v", err)
	}
	for range 2 {
		if err := (&KeptTable{Name: table.Name, Backends: administrator}).Found(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Check(t.Context()); !errors.Is(err, ErrSharedTable) {
		t.Errorf("the account may not write the table: %v", err)
	}
	root.must("GRANT INSERT, DELETE ON " + SharedDatabase + "." + table.Name + " TO veil@'%'")
	if err := table.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	registry, err := encdb.OpenRegistry(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	start := func() *testGate {
		return startGate(t, func(c *Config) {
			c.KeepKeys = time.Hour
			c.EncDB.Registry, c.EncDB.MayRegister = registry, func(encdb.Account) bool { return true }
			c.SharedKeys, err = encdb.NewSharing(table, make([]byte, 32), func(err error) { t.Error(err) })
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	first := start()
	rootOn(t, first)
	second := start() // after the tables were made, or it might have looked half way
	owner := dialRaw(t, first.addr, "app", "hr", 0)
	owner.provision(true)
	first.srv.Shutdown(t.Context())
	for _, protocol := range []string{"text", "binary", "cursor"} {
		if !dialRaw(t, second.addr, "app", "hr", 0).reads(owner, protocol) {
			t.Errorf("%s: cells that the account's key does not open", protocol)
		}
		if dialRaw(t, second.addr, "other", "hr", 0).reads(owner, protocol) {
			t.Errorf("%s: cells under the key of another account", protocol)
		}
	}
	// Rows go with time, and when the key is retired.
	stored := func() (n int) {
		tr := rows(t, root, "text", "SELECT COUNT(*) FROM "+SharedDatabase+"."+table.Name)
		n, _ = strconv.Atoi(string(tr.rows[0][0]))
		return n
	}
	root.must("INSERT INTO " + SharedDatabase + "." + table.Name + " VALUES (REPEAT('x', 32), 'old', NOW() - INTERVAL 1 DAY)")
	if n := stored(); n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
	dialRaw(t, second.addr, "app", "hr", 0).provision(true)
	if n := stored(); n != 1 {
		t.Errorf("%d rows after another was saved, want 1", n)
	}
	if err := registry.Retire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	await(t, "the retired key has gone", func() bool { return stored() == 0 })
}
