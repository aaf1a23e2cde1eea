package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/inuse/wire"
	"github.com/veildb/veildb/internal/sql/schema"
)

// sharedTable is a table of rules that root may write and veil may read.
func sharedTable(t *testing.T) (admin, reader *SharedTable) {
	t.Helper()
	addr := backendServer(t).Addr()
	root := dialRaw(t, addr, "root", "", 0)
	root.must("DROP DATABASE IF EXISTS " + SharedDatabase)
	t.Cleanup(func() { root.must("DROP DATABASE IF EXISTS " + SharedDatabase) })
	return &SharedTable{Name: "rules", Backends: []*Backend{{Network: "tcp", Address: addr, User: "root"}}},
		&SharedTable{Name: "rules", Backends: []*Backend{{Network: "tcp", Address: addr, User: "veil", Password: []byte("service")}}}
}

func TestSharedTable(t *testing.T) {
	admin, reader := sharedTable(t)
	if _, err := reader.Read(t.Context()); err == nil {
		t.Error("there is no table, and it was read")
	}
	text := testRules + "# é ' \\ \x22\n"
	v, err := admin.Publish(t.Context(), []byte(text))
	if err != nil || v != 1 {
		t.Fatal(v, err)
	}
	if v, err := admin.Publish(t.Context(), []byte(text)); err != nil || v != 1 {
		t.Errorf("the same again: version %d, %v", v, err)
	}
	got, err := reader.Read(t.Context())
	if err != nil || string(got) != text {
		t.Errorf("%v, read %q", err, got)
	}
	// The gate's own account may not write unless it is let.
	if err := reader.Write(t.Context(), got, []byte("x")); !errors.Is(err, ErrSharedTable) {
		t.Errorf("write without the privilege: %v", err)
	}
	if err := admin.Write(t.Context(), []byte("other"), []byte("x")); !errors.Is(err, policy.ErrConflict) {
		t.Errorf("write over something else: %v", err)
	}
	if err := admin.Write(t.Context(), got, []byte("second")); err != nil {
		t.Fatal(err)
	}
	if got, err = reader.Read(t.Context()); err != nil || string(got) != "second" {
		t.Errorf("%v, read %q", err, got)
	}
	// Two that write at once: one wins.
	won := make(chan error)
	for range 4 {
		go func() { won <- admin.Write(context.Background(), []byte("second"), []byte("third")) }()
	}
	wins := 0
	for range 4 {
		if err := <-won; err == nil {
			wins++
		} else if !errors.Is(err, policy.ErrConflict) {
			t.Error(err)
		}
	}
	if wins != 1 {
		t.Errorf("%d writers won", wins)
	}
	if got, err = reader.Read(t.Context()); err != nil || string(got) != "third" {
		t.Errorf("%v, read %q", err, got)
	}
	// An older version, as of a replica that is behind, does not come back.
	root := dialRaw(t, backendServer(t).Addr(), "root", "", 0)
	root.must("DELETE FROM " + SharedDatabase + ".rules WHERE version = 3")
	if _, err := reader.Read(t.Context()); !errors.Is(err, ErrSharedTable) {
		t.Errorf("an older version: %v", err)
	}
	root.must("TRUNCATE " + SharedDatabase + ".rules")
	if _, err := reader.Read(t.Context()); !errors.Is(err, ErrSharedTable) {
		t.Errorf("an empty table: %v", err)
	}
	reader.Backends[0].Password = nil
	if _, err := reader.Read(t.Context()); !errors.Is(err, ErrNoBackend) {
		t.Errorf("no server: %v", err)
	}
	for _, name := range []string{"", "a b", "a`", "a.b", strings.Repeat("x", 61)} {
		if CheckTableName(name) == nil {
			t.Errorf("%q may be the name of a table", name)
		}
	}
}

// TestSharedTableReaders: what one reader has seen meanwhile is no reason for another
// to refuse what it reads.
func TestSharedTableReaders(t *testing.T) {
	admin, reader := sharedTable(t)
	var readers sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for n := range 30 {
		if _, err := admin.Publish(t.Context(), fmt.Appendf(nil, "%d", n)); err != nil {
			t.Error(err)
		}
		if n > 0 {
			continue
		}
		for range 4 {
			readers.Go(func() {
				for ctx.Err() == nil {
					if _, err := reader.Read(t.Context()); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	stop()
	readers.Wait()
}

// TestSharedRules: two gates follow one table; wrong rules and a lost table leave
// what was, and are told.
func TestSharedRules(t *testing.T) {
	rootOn(t, nil)
	admin, _ := sharedTable(t)
	if _, err := admin.Publish(t.Context(), []byte(testRules)); err != nil {
		t.Fatal(err)
	}
	var gates []*testGate
	for range 2 {
		var store *policy.Store
		g := startGate(t, func(c *Config) {
			source := &SharedTable{Name: "rules", Backends: c.Backends}
			var err error
			if store, err = policy.NewStore(t.Context(), source, schema.MatchCase); err != nil {
				t.Fatal(err)
			}
			c.Rules = store
		})
		g.rules = store
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			store.Watch(ctx, 10*time.Millisecond, func(*policy.Version, error) {})
		}()
		t.Cleanup(func() { cancel(); <-done })
		gates = append(gates, g)
	}
	plain := func(g *testGate) bool {
		tr := rows(t, dialRaw(t, g.addr, "app", "hr", 0), "text", "SELECT name FROM dept WHERE id = 1")
		return !isCell(tr.rows[0][0])
	}
	for _, g := range gates {
		if !plain(g) {
			t.Fatal("an unprotected column is encrypted")
		}
	}
	if _, err := admin.Publish(t.Context(), []byte(strings.Replace(testRules, "columns: [budget]", "columns: [budget, name]", 1))); err != nil {
		t.Fatal(err)
	}
	for _, g := range gates {
		await(t, "the new rules", func() bool { return !plain(g) })
	}
	if _, err := admin.Publish(t.Context(), []byte("rules: 7")); err != nil {
		t.Fatal(err)
	}
	for _, g := range gates {
		await(t, "the alarm", func() bool { return errors.Is(g.srv.Stats().RulesTrouble, policy.ErrRule) })
		if plain(g) {
			t.Error("wrong rules were taken")
		}
	}
	root := dialRaw(t, backendServer(t).Addr(), "root", "", 0)
	root.must("DROP TABLE " + SharedDatabase + ".rules")
	for _, g := range gates {
		await(t, "the alarm", func() bool { err := g.srv.Stats().RulesTrouble; return err != nil && !errors.Is(err, policy.ErrRule) })
		if plain(g) {
			t.Error("without rules everything is plain")
		}
	}
	if _, err := admin.Publish(t.Context(), []byte(testRules)); err != nil {
		t.Fatal(err)
	}
	// The table begins anew: an older version is not taken without a restart.
	for _, g := range gates {
		await(t, "the alarm", func() bool { return errors.Is(g.srv.Stats().RulesTrouble, ErrSharedTable) })
	}
}

// TestSharedTablesAreHidden: a restricted account neither reads nor writes it; what
// describes it is no secret, and the server's to refuse.
func TestSharedTablesAreHidden(t *testing.T) {
	g := startGate(t, nil)
	root := rootOn(t, g)
	admin, _ := sharedTable(t)
	if _, err := admin.Publish(t.Context(), []byte(testRules)); err != nil {
		t.Fatal(err)
	}
	root.must("CREATE VIEW hr.peek AS SELECT document FROM " + SharedDatabase + ".rules")
	g.backend.changed()
	at := dialRaw(t, g.addr, "app", "hr", 0)
	for _, sql := range []string{
		"SELECT document FROM veildb_gate.rules", "SELECT * FROM `VEILDB_GATE`.rules", "USE veildb_gate",
		"INSERT INTO veildb_gate.rules VALUES (9, 'rules: []', NOW(), 'x')", "DELETE FROM veildb_gate.rules", "UPDATE veildb_gate.rules SET document = ''",
		"INSERT INTO peek VALUES ('x')", "SELECT (SELECT MAX(document) FROM veildb_gate.rules)",
	} {
		var tr transcript
		if err := at.query(&tr, sql); err != nil || tr.errors != 1 {
			t.Errorf("%s: %v %s", sql, err, &tr)
		}
	}
	var tr transcript
	if err := at.do(&tr, append([]byte{byte(wire.ComInitDB)}, SharedDatabase...)); err != nil || tr.errors != 1 {
		t.Errorf("COM_INIT_DB: %v %s", err, &tr)
	}
	if tr := rows(t, at, "text", "SELECT document FROM peek"); !isCell(tr.rows[0][0]) {
		t.Errorf("a view shows %s", tr)
	}
}
