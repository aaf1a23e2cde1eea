package gate

import (
	"bytes"
	"errors"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/inuse/wire"
)

func itoa(n int) string { return strconv.Itoa(n) }

// TestConnectionLimits: too many in all, of an account or from an address.
func TestConnectionLimits(t *testing.T) {
	rootOn(t, nil)
	for _, c := range []struct {
		name   string
		change func(*Config)
		boss   bool // another account may still log in
	}{
		{"in all", func(c *Config) { c.MaxConns = 2 }, false},
		{"of an account", func(c *Config) { c.MaxPerAccount = 2 }, true},
		{"from an address", func(c *Config) { c.MaxPerHost = 2 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := startGate(t, c.change)
			first := dialRaw(t, g.addr, "app", "hr", 0)
			dialRaw(t, g.addr, "app", "hr", 0)
			if _, _, err := tryRaw(g.addr, "app", "hr", wire.Credential{}); !errors.Is(err, wire.ErrDenied) {
				t.Errorf("a third connection: %v", err)
			}
			if got := firstPacket(t, g.addr); !c.boss && got != "\xff\x10\x04Too many connections" {
				t.Errorf("it is told %q", got)
			}
			if _, _, err := tryRaw(g.addr, "boss", "hr", wire.Credential{}); (err == nil) != c.boss {
				t.Errorf("another account: %v", err)
			}
			first.WriteCommand([]byte{byte(wire.ComQuit)})
			first.Flush()
			await(t, "room again", func() bool {
				conn, _, err := tryRaw(g.addr, "app", "hr", wire.Credential{})
				if err == nil {
					conn.Close()
				}
				return err == nil
			})
		})
	}
}

// firstPacket returns what a new connection is told first.
func firstPacket(t *testing.T, addr string) string {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	p, err := wire.NewBackend(nc, wire.Limits{Read: time.Minute}).ReadPacket()
	if err != nil {
		t.Fatal(err)
	}
	return string(p)
}

// TestStatementLimit: a statement that is too long is answered.
func TestStatementLimit(t *testing.T) {
	g := startGate(t, func(c *Config) { c.MaxStatement = 1 << 20 })
	rootOn(t, g)
	for _, user := range []string{"boss", "app"} {
		at := dialRaw(t, g.addr, user, "hr", 0)
		var tr transcript
		if err := at.query(&tr, "SELECT '"+string(bytes.Repeat([]byte("x"), 1<<20-100))+"'"); err != nil || tr.errors > 0 {
			t.Errorf("%s: shorter: %v", user, err)
		}
		err := at.query(&tr, "SELECT '"+string(bytes.Repeat([]byte("x"), 1<<20))+"'")
		if err != nil || tr.errors != 1 || !bytes.Contains([]byte(tr.String()), []byte("1153")) {
			t.Errorf("%s: %v, %d errors", user, err, tr.errors)
		}
	}
}

// TestStalledClients: who does not go on with what he began is left.
func TestStalledClients(t *testing.T) {
	g := startGate(t, func(c *Config) {
		c.LoginTimeout, c.Stall, c.Idle = 5*time.Second, 100*time.Millisecond, 200*time.Millisecond
	})
	rootOn(t, g)
	var open []net.Conn
	dial := func() net.Conn {
		nc, err := net.Dial("tcp", g.addr)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, nc)
		return nc
	}
	defer func() {
		for _, nc := range open {
			nc.Close()
		}
	}()
	dial()                                   // says nothing
	dial().Write([]byte{100, 0, 0, 1, 0x85}) // begins a login
	login := func(user string) (c net.Conn) {
		t.Helper()
		await(t, "a login in time", func() bool {
			conn, _, err := tryRaw(g.addr, user, "hr", wire.Credential{})
			if err == nil {
				c = conn.NetConn()
				open = append(open, c)
			}
			return err == nil
		})
		return c
	}
	login("app").Write([]byte{100, 0, 0, 0, 3})                                              // begins a command
	login("app")                                                                             // is idle
	login("boss").Write(append([]byte{31, 0, 0, 0, 3}, "SELECT REPEAT('x', 64000000)  "...)) // does not take what it asked for
	await(t, "all are left", func() bool { return g.srv.Stats().Open == 0 })
}

// fds counts open files of the process.
func fds(t testing.TB) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// churn opens n connections, width at a time, and drops each in another way.
func churn(t testing.TB, addr string, n, width int) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range width {
		wg.Go(func() {
			for i := range next {
				nc, err := net.Dial("tcp", addr)
				if err != nil {
					t.Error(err)
					continue
				}
				switch i % 5 {
				case 0: // at once
				case 1: // after the greeting
					nc.SetReadDeadline(time.Now().Add(time.Minute))
					nc.Read(make([]byte, 1))
				case 2: // with a reset, in the midst of a login
					nc.Write([]byte{100, 0, 0, 1, 0x85, 0xa2})
					nc.(*net.TCPConn).SetLinger(0)
				case 3: // logged in
					c := wire.NewBackend(nc, wire.Limits{Read: time.Minute})
					wire.Login(t.Context(), c, &wire.Credential{User: "app", Database: "hr"})
				case 4: // with a statement at work
					c := wire.NewBackend(nc, wire.Limits{Read: time.Minute})
					if _, err := wire.Login(t.Context(), c, &wire.Credential{User: "app", Database: "hr"}); err == nil {
						c.WriteCommand([]byte("\x03SELECT name FROM employee"))
						c.Flush()
					}
				}
				nc.Close()
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// TestChurn: connections opened and dropped leave nothing behind.
func TestChurn(t *testing.T) {
	g := startGate(t, nil)
	rootOn(t, g)
	churn(t, g.addr, 50, 10) // whatever is made once
	settled := func() bool { return g.srv.Stats().Open == 0 }
	await(t, "sessions end", settled)
	files, routines := fds(t), runtime.NumGoroutine()
	n, width := 500, 50
	if *soak > 0 {
		n, width = 10000, 300
	}
	churn(t, g.addr, n, width)
	await(t, "sessions end", settled)
	await(t, "files are closed and goroutines end", func() bool {
		return fds(t) <= files+2 && runtime.NumGoroutine() <= routines+2
	})
	rows(t, dialRaw(t, g.addr, "app", "hr", 0), "text", "SELECT name FROM dept")
}
