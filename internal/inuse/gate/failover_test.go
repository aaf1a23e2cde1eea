package gate

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/bench/target/targettest"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// await waits until cond holds, which it must do before a generous limit.
func await(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// secondServer starts a server with the accounts of the tests and a schema hr of
// its own, that says which server it is.
func secondServer(t *testing.T, report func(bool, error)) (*target.Server, *forwarder, *Backend) {
	t.Helper()
	s := targettest.Start(t, target.MariaDB, map[string]string{"innodb_flush_log_at_trx_commit": "1"})
	root := dialRaw(t, s.Addr(), "root", "", 0)
	for _, sql := range []string{
		"CREATE USER boss@'%', app@'%'", "CREATE USER veil@'%' IDENTIFIED BY 'service'",
		"GRANT SELECT, SHOW VIEW, TRIGGER ON *.* TO veil@'%'",
		"CREATE DATABASE hr", "CREATE TABLE hr.which (id INT PRIMARY KEY, server VARCHAR(20))", "INSERT INTO hr.which VALUES (1, 'second')",
		"GRANT ALL ON hr.* TO boss@'%', app@'%'",
	} {
		root.must(sql)
	}
	f := forward(t, s)
	b := &Backend{Network: "tcp", Address: f.addr, User: "veil", Password: []byte("service"), Report: report}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return s, f, b
}

// A forwarder passes connections to an address of its own on to a server that may
// be at another port after it was restarted.
type forwarder struct {
	addr string
	to   atomic.Pointer[string]
}

// follow notes where the server is.
func (f *forwarder) follow(s *target.Server) {
	addr := s.Addr()
	f.to.Store(&addr)
}

func forward(t testing.TB, server *target.Server) *forwarder {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	f := &forwarder{addr: ln.Addr().String()}
	f.follow(server)
	pass := func(to, from net.Conn) {
		io.Copy(to, from)
		to.Close()
		from.Close()
	}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("tcp", *f.to.Load())
			if err != nil {
				c.Close()
				continue
			}
			go pass(s, c)
			go pass(c, s)
		}
	}()
	return f
}

// which asks through a new connection which server answers, "" if none does.
func which(t *testing.T, addr string) string {
	c, _, err := tryRaw(addr, "app", "hr", wire.Credential{})
	if err != nil {
		return ""
	}
	defer c.Close()
	name := ""
	if err := wire.RunQuery(c, "SELECT server FROM which", func(_ []wire.Column, v [][]byte) error {
		name = string(v[0])
		return nil
	}); err != nil {
		return ""
	}
	return name
}

// TestFailover kills a server: sessions on it end, new ones go to the other, and
// to the first again once it is back.
func TestFailover(t *testing.T) {
	root := rootOn(t, nil)
	root.must("CREATE TABLE hr.which (id INT PRIMARY KEY, server VARCHAR(20))")
	root.must("INSERT INTO hr.which VALUES (1, 'first')")
	changes := make(chan bool, 100)
	report := func(up bool, cause error) {
		if up != (cause == nil) {
			t.Errorf("up %v, cause %v", up, cause)
		}
		changes <- up
	}
	second, way, preferred := secondServer(t, report)
	g := startGate(t, func(c *Config) { c.Backends = []*Backend{preferred, c.Backends[0]} })
	await(t, "both up", func() bool { return preferred.healthy() && g.backend.healthy() })
	if got := which(t, g.addr); got != "second" {
		t.Fatalf("the preferred server is not asked but %q", got)
	}
	at := dialRaw(t, g.addr, "app", "hr", 0)
	at.must("START TRANSACTION")
	at.must("UPDATE which SET server = 'lost'")
	second.Kill()
	var tr transcript
	if err := at.query(&tr, "COMMIT"); err == nil && tr.errors == 0 {
		t.Error("a transaction was committed on a server that is gone")
	}
	// A new connection gets the other server whether the gate knows already or not.
	if got := which(t, g.addr); got != "first" {
		t.Errorf("after the kill %q answers", got)
	}
	await(t, "down", func() bool { return !preferred.healthy() })
	if st := g.srv.Stats(); st.Backends[0].Up || !st.Backends[1].Up {
		t.Errorf("stats %+v", st.Backends)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := second.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	way.follow(second)
	await(t, "up again", func() bool { return preferred.healthy() })
	if got := which(t, g.addr); got != "second" {
		t.Errorf("after the restart %q answers", got)
	}
	for _, want := range []bool{true, false, true} {
		select {
		case got := <-changes:
			if got != want {
				t.Errorf("reported %v, want %v", got, want)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("not reported: %v", want)
		}
	}
}

// TestSilentBackend: a server that takes connections and says nothing, or greets
// with an error, is passed over.
func TestSilentBackend(t *testing.T) {
	rootOn(t, nil)
	for _, says := range []string{"", "\x17\x00\x00\x00\xff\x10\x04Too many connections"} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
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
				if says == "" {
					c.Close()
					continue
				}
				c.Write([]byte(says))
				defer c.Close()
			}
		}()
		bad := &Backend{Network: "tcp", Address: ln.Addr().String(), User: "veil", Password: []byte("service")}
		g := startGate(t, func(c *Config) { c.Backends = []*Backend{bad, c.Backends[0]} })
		rows(t, dialRaw(t, g.addr, "app", "hr", 0), "text", "SELECT name FROM dept")
		// It alone: the client hears what the server said.
		g = startGate(t, func(c *Config) { c.Backends = []*Backend{bad} })
		if _, _, err := tryRaw(g.addr, "app", "hr", wire.Credential{}); !errors.Is(err, wire.ErrDenied) {
			t.Errorf("%q: %v", says, err)
		}
		if got := firstPacket(t, g.addr); strings.Contains(got, "#") {
			t.Errorf("%q: a state before the greeting: %q", says, got)
		}
	}
}

// TestDrainUnderLoad stops a gate while clients are at work: each transaction is
// either committed or its client knows that it is not.
func TestDrainUnderLoad(t *testing.T) {
	g := startGate(t, nil)
	root := rootOn(t, g)
	root.must("CREATE TABLE hr.ids (id INT PRIMARY KEY)")
	g.backend.changed()
	const clients = 8
	committed := make(chan int, 100000)
	running := make(chan struct{}, clients)
	done := make(chan struct{}, clients)
	for k := range clients {
		at := dialRaw(t, g.addr, "app", "hr", 0)
		go func() {
			defer func() { done <- struct{}{} }()
			for i := 0; ; i++ {
				id := i*clients + k
				for _, sql := range []string{"START TRANSACTION", "INSERT INTO ids VALUES (" + itoa(id) + ")", "COMMIT"} {
					if err := wire.RunQuery(at.Conn, sql, nil); err != nil {
						// An idle session may be ended; one in a transaction may not.
						if sql != "START TRANSACTION" {
							t.Errorf("%s: %v", sql, err)
						}
						return
					}
				}
				committed <- id
				if i == 0 {
					running <- struct{}{}
				}
			}
		}()
	}
	for range clients {
		<-running
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	g.srv.Shutdown(ctx)
	if ctx.Err() != nil {
		t.Error("the gate did not come to an end")
	}
	for range clients {
		<-done
	}
	if n := g.srv.Stats().Open; n != 0 {
		t.Errorf("%d connections are open", n)
	}
	want := map[string]bool{}
	for range len(committed) {
		want[itoa(<-committed)] = true
	}
	got := 0
	if err := wire.RunQuery(root.Conn, "SELECT id FROM hr.ids", func(_ []wire.Column, v [][]byte) error {
		got++
		if !want[string(v[0])] {
			t.Errorf("%s is in the table, and its client does not know", v[0])
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if got != len(want) {
		t.Errorf("%d rows, %d committed", got, len(want))
	}
	if _, _, err := tryRaw(g.addr, "app", "hr", wire.Credential{}); err == nil {
		t.Error("a stopped gate takes connections")
	}
}
