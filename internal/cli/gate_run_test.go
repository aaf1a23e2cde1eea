package cli

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"database/sql"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/bench/target/targettest"
	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// A gateRun is a "veildb gate serve" in this process.
type gateRun struct {
	stop func()
	done chan int // its exit code

	mu       sync.Mutex
	out, err bytes.Buffer
}

type locked struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func runGate(t *testing.T, args ...string) *gateRun {
	ctx, cancel := context.WithCancel(context.Background())
	g := &gateRun{stop: cancel, done: make(chan int, 1)}
	go func() {
		g.done <- Main(ctx, append([]string{"gate", "serve"}, args...), strings.NewReader(""), locked{&g.mu, &g.out}, locked{&g.mu, &g.err})
	}()
	t.Cleanup(cancel)
	return g
}

func (g *gateRun) logs() (out, err string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.out.String(), g.err.String()
}

// addr waits until the gate listens.
func (g *gateRun) addr(t *testing.T) (addr string) {
	t.Helper()
	waitFor(t, "the gate listens", func() bool {
		select {
		case code := <-g.done:
			_, log := g.logs()
			t.Fatalf("the gate ended with %d: %s", code, log)
		default:
		}
		out, _ := g.logs()
		m := regexp.MustCompile(`listening on (\S+)`).FindStringSubmatch(out)
		if m != nil {
			addr = m[1]
		}
		return m != nil
	})
	return addr
}

// ended waits for the exit code.
func (g *gateRun) ended(t *testing.T) int {
	t.Helper()
	select {
	case code := <-g.done:
		return code
	case <-time.After(time.Minute):
		_, log := g.logs()
		t.Fatalf("the gate goes on: %s", log)
	}
	return -1
}

func waitFor(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// gateServer is a MariaDB for gates, with files for them in dir.
func gateServer(t *testing.T) (s *target.Server, dir string, options []string) {
	t.Helper()
	s = targettest.Start(t, target.MariaDB, nil)
	db, err := sql.Open("mysql", "root@tcp("+s.Addr()+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{
		"CREATE DATABASE shop", "CREATE TABLE shop.orders (id INT PRIMARY KEY, card VARCHAR(25))",
		"CREATE USER app@'%'", "CREATE USER veil@'%' IDENTIFIED BY 'service'",
		"GRANT ALL ON shop.* TO app@'%'", "GRANT SELECT, SHOW VIEW, TRIGGER ON *.* TO veil@'%'",
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	dir = t.TempDir()
	for name, text := range map[string]string{
		"pw": "service\n",
		"rules.yaml": "version: 1\nregistrars: [app]\naccounts: {ciphertext: [app]}\n" +
			"rules: [{name: cards, databases: shop, tables: orders, columns: card}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s, dir, []string{
		"--backend", "mysql://veil@" + s.Addr() + "/", "--password-file", filepath.Join(dir, "pw"),
		"--rules", filepath.Join(dir, "rules.yaml"), "--audit", filepath.Join(dir, "audit.jsonl"),
	}
}

func loginAt(addr string) (*wire.Conn, error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	c := wire.NewBackend(nc, wire.Limits{Read: time.Minute})
	if _, err := wire.Login(context.Background(), c, &wire.Credential{User: "app", Database: "shop"}); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// TestGateHandover replaces a gate that clients use: none is refused, and the
// transaction under way is committed. A master key that a client has handed over
// is kept.
func TestGateHandover(t *testing.T) {
	_, dir, options := gateServer(t)
	metrics := freeAddr(t)
	options = append(options, "--allow-clear-keys", "--listen", "127.0.0.1:0", "--handover", filepath.Join(dir, "gate.sock"), "--metrics", metrics)
	first := runGate(t, options...)
	addr := first.addr(t)
	busy, err := loginAt(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for _, q := range []string{"START TRANSACTION", "INSERT INTO orders VALUES (1, '4111')"} {
		if err := wire.RunQuery(busy, q, nil); err != nil {
			t.Fatal(q, err)
		}
	}
	provisionAt(t, busy)
	// Clients come all the time.
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	came := make(chan struct{}, 1<<20)
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				c, err := loginAt(addr)
				if err != nil {
					t.Errorf("a client is refused: %v", err)
					return
				}
				c.Close()
				came <- struct{}{}
			}
		})
	}
	<-came
	second := runGate(t, options...)
	if got := second.addr(t); got != addr {
		t.Errorf("the second gate listens on %s, the first on %s", got, addr)
	}
	for range 20 {
		<-came
	}
	cancel()
	wg.Wait()
	select {
	case code := <-first.done:
		t.Fatalf("the first gate ended with %d, with a transaction open", code)
	default:
	}
	if err := wire.RunQuery(busy, "COMMIT", nil); err != nil {
		t.Errorf("commit: %v", err)
	}
	if code := first.ended(t); code != ExitOK {
		_, log := first.logs()
		t.Errorf("exit code %d: %s", code, log)
	}
	c, err := loginAt(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	count := ""
	if err := wire.RunQuery(c, "SELECT id, card FROM orders", func(defs []wire.Column, v [][]byte) error {
		count += string(v[0])
		if defs[1].Filler[1]&encdb.CipherMark == 0 {
			t.Error("the client has handed over its key, and cannot open cells any more")
		}
		return nil
	}); err != nil || count != "1" {
		t.Errorf("rows %q, %v", count, err)
	}
	checkHealth(t, metrics)
	checkRotation(t, addr, filepath.Join(dir, "audit.jsonl"))
	second.stop()
	if code := second.ended(t); code != ExitOK {
		t.Errorf("the second gate's exit code is %d", code)
	}
	if _, err := os.Stat(filepath.Join(dir, "gate.sock")); err == nil {
		t.Error("the socket is left behind")
	}
}

// provisionAt hands over a master key as existing clients do.
func provisionAt(t *testing.T, c *wire.Conn) {
	t.Helper()
	mek, err := secret.From([]byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	defer mek.Close()
	client, err := encdb.NewClient(encdb.ClientConfig{MEK: mek, Algorithm: encdb.AES128GCM, Only64: true})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ask := func(sql []byte) (answer []byte) {
		if err := wire.RunQuery(c, string(sql), func(_ []wire.Column, v [][]byte) error {
			answer = bytes.Clone(v[0])
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	key, err := client.Provision(ask(client.Hello()))
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Finish(ask(key)); err != nil {
		t.Fatal(err)
	}
}

// freeAddr is an address of this machine that nobody listens on, with a port that
// the system gives to nobody who does not ask for it.
func freeAddr(t *testing.T) string {
	t.Helper()
	for range 1000 {
		ln, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 10_000+mathrand.N(20_000)))
		if err == nil {
			defer ln.Close()
			return ln.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

func checkHealth(t *testing.T, metrics string) {
	t.Helper()
	resp, err := http.Get("http://" + metrics + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var h gateHealth
	if err := json.NewDecoder(resp.Body).Decode(&h); err != nil || resp.StatusCode != http.StatusOK || !h.OK || h.Draining || len(h.Backends) != 1 || !h.Backends[0].Up || h.Digest == "" {
		t.Errorf("health %d %+v, %v", resp.StatusCode, h, err)
	}
	resp, err = http.Get("http://" + metrics + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	for _, want := range []string{"veildb_gate_backend_up{backend=", "veildb_gate_rules_trouble 0", "veildb_gate_audit_failures_total 0", "veildb_gate_connections_total "} {
		if !strings.Contains(string(text), want) {
			t.Errorf("metrics lack %q:\n%s", want, text)
		}
	}
}

// checkRotation moves the audit log away and has it opened anew.
func checkRotation(t *testing.T, addr, audit string) {
	t.Helper()
	old, err := os.ReadFile(audit)
	if err != nil || !strings.Contains(string(old), `"kind":"login"`) {
		t.Fatalf("audit log: %v %s", err, old)
	}
	if err := os.Rename(audit, audit+".1"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "a new audit log", func() bool {
		c, err := loginAt(addr)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		text, _ := os.ReadFile(audit)
		return strings.Contains(string(text), `"kind":"login"`)
	})
}

// TestHandoverFails: a successor that goes changes nothing.
func TestHandoverFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	stopped := make(chan struct{})
	h, err := offerHandover(path, ln, func() { close(stopped) }, func() []byte { return []byte("keys") })
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, mode %v", err, info.Mode())
	}
	for range 3 {
		got, before, err := takeOver(path)
		if err != nil || got.Addr().String() != ln.Addr().String() {
			t.Fatal(got, err)
		}
		got.Close()
		before.conn.Close()
	}
	select {
	case <-stopped:
		t.Fatal("a successor that went has stopped the gate")
	default:
	}
	got, before, err := takeOver(path)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	released := make(chan error)
	go func() {
		keys, err := before.release()
		if string(keys) != "keys" {
			t.Errorf("keys %q", keys)
		}
		released <- err
	}()
	<-stopped
	ln.Close()
	h.done()
	if err := <-released; err != nil {
		t.Error(err)
	}
	if nc, err := net.Dial("tcp", got.Addr().String()); err != nil {
		t.Error(err)
	} else {
		nc.Close()
	}
	if ln, before, err := takeOver(path); ln != nil || before != nil || err != nil {
		t.Errorf("there is no gate, got %v, %v, %v", ln, before, err)
	}
}

// TestBackendTLS: what each mode takes for the server.
func TestBackendTLS(t *testing.T) {
	dir := t.TempDir()
	authority := func(name string) (string, tls.Certificate) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		tmpl := &x509.Certificate{
			SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"db.example"},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		}
		der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	}
	ca, pair := authority("right")
	wrong, _ := authority("wrong")
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				c.(*tls.Conn).Handshake()
				c.Read(make([]byte, 1))
			}()
		}
	}()
	for _, c := range []struct {
		mode, ca, host string
		ok             bool
	}{
		{"verify-full", ca, "db.example", true},
		{"verify", ca, "db.example", true},
		{"verify-full", ca, "127.0.0.1", false},
		{"verify-full", wrong, "db.example", false},
		{"verify-full", "", "db.example", false},
		{"verify-ca", ca, "127.0.0.1", true},
		{"verify-ca", wrong, "db.example", false},
		{"verify-ca", "", "db.example", false},
		{"skip-verify", "", "127.0.0.1", true},
	} {
		cfg, err := clientTLS("test", "--backend-tls", c.mode, c.ca, c.host)
		if err != nil {
			t.Fatal(err)
		}
		nc, err := tls.Dial("tcp", ln.Addr().String(), cfg)
		if err == nil {
			nc.Close()
		}
		if (err == nil) != c.ok {
			t.Errorf("%s with %s to %s: %v", c.mode, filepath.Base(c.ca), c.host, err)
		}
	}
	for _, c := range [][2]string{{"off", ca}, {"maybe", ""}, {"verify-full", filepath.Join(dir, "none")}} {
		if _, err := clientTLS("test", "--backend-tls", c[0], c[1], ""); err == nil {
			t.Errorf("%s with %q is taken", c[0], c[1])
		}
	}
	if cfg, err := clientTLS("test", "--backend-tls", "off", "", ""); cfg != nil || err != nil {
		t.Error(fmt.Sprint(cfg, err))
	}
}
