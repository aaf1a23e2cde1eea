package cli

import (
	"bytes"
	"context"
	"database/sql"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/inuse/sidecar/sidecartest"
	"github.com/veildb/veildb/veilsql"
)

// An address stands for several gates, one of which gets the connections.
type address struct {
	addr string

	mu    sync.Mutex
	to    string
	conns map[net.Conn]bool
}

func newAddress(t *testing.T, to string) *address {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a := &address{addr: ln.Addr().String(), to: to, conns: map[net.Conn]bool{}}
	t.Cleanup(func() { ln.Close(); a.fail("") })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go a.pass(c)
		}
	}()
	return a
}

func (a *address) pass(c net.Conn) {
	defer c.Close()
	a.mu.Lock()
	to := a.to
	a.mu.Unlock()
	up, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer up.Close()
	a.mu.Lock()
	current := a.to == to
	if current {
		a.conns[c] = true
	}
	a.mu.Unlock()
	if !current {
		return
	}
	go func() {
		io.Copy(up, c)
		up.Close()
	}()
	io.Copy(c, up)
}

// fail cuts all connections off and gives the next ones to another gate.
func (a *address) fail(to string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.to = to
	for c := range a.conns {
		c.Close()
	}
	clear(a.conns)
}

func runSidecar(t *testing.T, args ...string) (addr string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	var mu sync.Mutex
	var out, log bytes.Buffer
	go func() {
		defer close(done)
		Main(ctx, append([]string{"sidecar", "--listen", "127.0.0.1:0"}, args...), strings.NewReader(""), locked{&mu, &out}, locked{&mu, &log})
	}()
	t.Cleanup(func() { cancel(); <-done })
	waitFor(t, "the sidecar listens", func() bool {
		mu.Lock()
		defer mu.Unlock()
		if m := regexp.MustCompile(`listening on (\S+)`).FindStringSubmatch(out.String()); m != nil {
			addr = m[1]
		}
		return addr != ""
	})
	return addr
}

// cluster publishes rules in a table of a server; two gates that follow it are to
// be started with the options.
func cluster(t *testing.T) (s *target.Server, dir string, options []string) {
	s, dir, options = gateServer(t)
	rules := filepath.Join(dir, "rules.yaml")
	text := "version: 1\nregistrars: [security]\naccounts: {ciphertext: [app, security]}\n" +
		"rules: [{name: cards, databases: shop, tables: orders, columns: card}]\n"
	if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	for range 2 { // the second time the registry is there
		if code := Main(t.Context(), []string{"rule", "publish", rules, "--backend", "mysql://root@" + s.Addr() + "/"}, nil, io.Discard, &log); code != ExitOK {
			t.Fatal(log.String())
		}
	}
	db, err := sql.Open("mysql", "root@tcp("+s.Addr()+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{
		"INSERT INTO shop.orders VALUES (1, '4111-1111')", "CREATE USER security@'%'", "GRANT SELECT ON shop.* TO security@'%'",
		"GRANT INSERT ON veildb_gate.rules_meks TO veil@'%'",
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(q, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "mek"), []byte("30313233343536373839616263646566"), 0o600); err != nil {
		t.Fatal(err)
	}
	options = append(options, "--rules", "table:rules", "--tls-cert", filepath.Join(dir, "cert.pem"), "--tls-key", filepath.Join(dir, "key.pem"), "--grace", "1ms")
	return s, dir, options
}

// sharesKeys: --share-keys says what it lacks, and runs when it has that.
func sharesKeys(t *testing.T, s *target.Server, dir string, options []string) {
	t.Helper()
	ring := filepath.Join(dir, "shared.ring")
	if code := Main(t.Context(), []string{"key", "init", ring, "--provider", "file:" + ring + ".root"}, nil, io.Discard, io.Discard); code != ExitOK {
		t.Fatal("key init: code", code)
	}
	options = append(slices.Clone(options), "--listen", "127.0.0.1:0", "--share-keys")
	for _, tc := range []struct {
		add  []string
		code int
		says string
	}{
		{nil, ExitUsage, "add --key"},
		{[]string{"--key", ring, "--rules", filepath.Join(dir, "rules.yaml")}, ExitUsage, "--rules table:NAME"},
		{[]string{"--key", ring, "--registry", filepath.Join(dir, "own.meks")}, ExitUsage, "--rules table:NAME"},
		{[]string{"--key", ring, "--keep-keys", "0"}, ExitUsage, "--keep-keys a time"},
		{[]string{"--key", ring}, ExitMissing, "GRANT INSERT, DELETE ON veildb_gate.rules_kept"},
	} {
		var log bytes.Buffer
		args := append(append([]string{"gate", "serve"}, options...), tc.add...)
		if code := Main(t.Context(), args, nil, io.Discard, &log); code != tc.code || !strings.Contains(log.String(), tc.says) {
			t.Errorf("%q: code %d, want %d\n%s", tc.add, code, tc.code, &log)
		}
	}
	db, err := sql.Open("mysql", "root@tcp("+s.Addr()+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("GRANT INSERT, DELETE ON veildb_gate.rules_kept TO veil@'%'"); err != nil {
		t.Fatal(err)
	}
	g := runGate(t, append(options, "--key", ring, "--audit", filepath.Join(dir, "shared.jsonl"))...)
	g.addr(t)
	g.stop()
	g.ended(t)
}

// TestGateOfAClusterDies: a key that was registered at one gate is known to the
// other, and clients of a gate that dies go on at the other by themselves.
func TestGateOfAClusterDies(t *testing.T) {
	s, dir, options := cluster(t)
	_, trust := sidecartest.WriteTLS(t, dir)
	sharesKeys(t, s, dir, options)
	trust.ServerName = "127.0.0.1"
	first := runGate(t, append(options, "--listen", "127.0.0.1:0", "--audit", filepath.Join(dir, "1.jsonl"))...)
	second := runGate(t, append(options, "--listen", "127.0.0.1:0", "--audit", filepath.Join(dir, "2.jsonl"))...)
	at := newAddress(t, first.addr(t))
	mek := filepath.Join(dir, "mek")
	open := func(user, addr string) *sql.DB {
		c, err := veilsql.NewConnector(user+"@tcp("+addr+")/shop", veilsql.WithKeyFile(mek), veilsql.WithTLS(trust))
		if err != nil {
			t.Fatal(err)
		}
		db := sql.OpenDB(c)
		t.Cleanup(func() { db.Close() })
		return db
	}
	card := func(db *sql.DB) (v string, err error) {
		err = db.QueryRow("SELECT card FROM orders WHERE id = ?", 1).Scan(&v)
		return v, err
	}
	if v, err := card(open("app", second.addr(t))); err == nil {
		t.Fatalf("a key nobody registered reads %q", v)
	}
	if v, err := card(open("security", at.addr)); err != nil || v != "4111-1111" {
		t.Fatalf("%q, %v", v, err)
	}
	if v, err := card(open("app", second.addr(t))); err != nil || v != "4111-1111" {
		t.Errorf("the other gate does not know the key: %q, %v", v, err)
	}
	side := runSidecar(t, "--gate", at.addr, "--mek-file", mek, "--gate-ca", filepath.Join(dir, "cert.pem"))
	plain, err := sql.Open("mysql", "app@tcp("+side+")/shop")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	clients := map[string]*sql.DB{"veilsql": open("app", at.addr), "sidecar": plain}
	for name, db := range clients {
		if v, err := card(db); err != nil || v != "4111-1111" {
			t.Fatalf("%s: %q, %v", name, v, err)
		}
	}
	first.stop()
	first.ended(t)
	at.fail(second.addr(t))
	for name, db := range clients {
		// The sidecar may not have noticed yet that the gate is gone.
		waitFor(t, name+" reads at the other gate", func() bool {
			v, err := card(db)
			if err == nil && v != "4111-1111" {
				t.Fatalf("%s at the other gate: %q", name, v)
			}
			return err == nil
		})
	}
}
