package gate

import (
	"bytes"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// A spoiler passes connections on to a server and, once armed, spoils the first of
// what comes back and ends.
type spoiler struct {
	addr  string
	armed atomic.Pointer[func([]byte) []byte]
}

func spoil(t *testing.T, server string) *spoiler {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	s := &spoiler{addr: ln.Addr().String()}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", server)
			if err != nil {
				c.Close()
				continue
			}
			go func() {
				io.Copy(up, c)
				up.Close()
			}()
			go s.back(c, up)
		}
	}()
	return s
}

func (s *spoiler) back(c, up net.Conn) {
	defer c.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := up.Read(buf)
		if err != nil {
			return
		}
		if f := s.armed.Load(); f != nil {
			c.Write((*f)(buf[:n]))
			return
		}
		if _, err := c.Write(buf[:n]); err != nil {
			return
		}
	}
}

// TestHostileBackend: whatever a server sends that is no answer ends the session
// without a value, and only that session.
func TestHostileBackend(t *testing.T) {
	rootOn(t, nil)
	s := spoil(t, backendServer(t).Addr())
	b := &Backend{Network: "tcp", Address: s.addr, User: "veil", Password: []byte("service")}
	g := startGate(t, func(c *Config) { c.Backends = []*Backend{b} })
	if _, err := b.Catalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func([]byte) []byte{
		"goes":                      func([]byte) []byte { return nil },
		"half an answer":            func(p []byte) []byte { return p[:len(p)/2] },
		"another sequence":          func(p []byte) []byte { p[3] += 7; return p },
		"packets in another order":  func(p []byte) []byte { n := 4 + int(p[0]); return append(append([]byte{}, p[n:]...), p[:n]...) },
		"a length beyond the limit": func(p []byte) []byte { return append([]byte{0xff, 0xff, 0xff, 1}, p...) },
		"fewer columns than rows":   func(p []byte) []byte { p[4]--; return p },
		"more columns than sent":    func(p []byte) []byte { p[4] = 200; return p },
		"asks for a file":           func([]byte) []byte { return []byte("\x0c\x00\x00\x01\xfb/etc/passwd") },
		"an empty packet":           func([]byte) []byte { return []byte{0, 0, 0, 1} },
		"noise": func(p []byte) []byte {
			for i := range p {
				p[i] = byte(i*7 + 3)
			}
			return p
		},
	} {
		for _, user := range []string{"boss", "app"} {
			t.Run(name+"/"+user, func(t *testing.T) {
				defer s.armed.Store(nil)
				at := dialRaw(t, g.addr, user, "hr", wire.DeprecateEOF)
				var tr transcript
				if err := at.query(&tr, "SELECT name FROM dept"); err != nil {
					t.Fatal(err)
				}
				s.armed.Store(&f)
				at.WriteCommand([]byte("\x03SELECT id, ssn, salary FROM employee"))
				at.Flush()
				// The gate may take it for an answer that is complete.
				at.NetConn().(*tap).Conn.(*net.TCPConn).CloseWrite()
				got, _ := io.ReadAll(at.NetConn())
				if user == "app" && (contains(got, "721-07-4426") || contains(got, "91357")) {
					t.Errorf("a value came in plain: %q", got)
				}
				at.Close()
				await(t, "the session ends", func() bool { return g.srv.Stats().Open == 0 })
			})
		}
	}
	rows(t, dialRaw(t, g.addr, "app", "hr", 0), "text", "SELECT name FROM dept")
}

func contains(p []byte, s string) bool { return bytes.Contains(p, []byte(s)) }
