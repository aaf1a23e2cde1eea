package gate

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// tcp is the socket of a client.
func (c *rawClient) tcp() *net.TCPConn { return c.NetConn().(*tap).Conn.(*net.TCPConn) }

// running is how many statements like one are at work on the server.
func running(t *testing.T, root *rawClient, like string) (n int) {
	t.Helper()
	if err := queryStrings(root.Conn, "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE '"+like+"' AND ID <> CONNECTION_ID()", func([]string) { n++ }); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestClientLeaves: a session whose client goes while its statement is at work
// ends, and the statement too, at once if the service account may end it.
func TestClientLeaves(t *testing.T) {
	g := startGate(t, nil)
	root := rootOn(t, g)
	root.must("GRANT PROCESS, CONNECTION ADMIN ON *.* TO veil@'%'")
	defer root.must("REVOKE PROCESS, CONNECTION ADMIN ON *.* FROM veil@'%'")
	var long, sum string // a join that nobody waits for the end of
	for i := range 40 {
		long, sum = fmt.Sprintf("%s, dept t%d", long, i), fmt.Sprintf("%s + t%d.id", sum, i)
	}
	long += " WHERE 0" + sum + " = -1"
	for name, leave := range map[string]func(*rawClient){
		"closed": func(c *rawClient) { c.Close() },
		"reset":  func(c *rawClient) { c.tcp().SetLinger(0); c.Close() },
	} {
		for _, user := range []string{"boss", "app"} {
			t.Run(name+"/"+user, func(t *testing.T) {
				at := dialRaw(t, g.addr, user, "hr", 0)
				at.WriteCommand([]byte("\x03SELECT COUNT(*) FROM dept " + name + long))
				at.Flush()
				await(t, "the statement is at work", func() bool { return running(t, root, "%"+name+"%") == 1 })
				leave(at)
				await(t, "the session ends", func() bool { return g.srv.Stats().Open == 0 })
				await(t, "the statement ends", func() bool { return running(t, root, "%"+name+"%") == 0 })
				await(t, "it is told", func() bool {
					g.mu.Lock()
					defer g.mu.Unlock()
					for _, e := range g.events {
						if e.Kind == "logout" && e.User == user && strings.Contains(e.Reason, "client left") {
							return true
						}
					}
					return false
				})
			})
		}
	}
}

// TestKillsOnlyItsOwn: a connection of the same number that comes from elsewhere is
// left alone.
func TestKillsOnlyItsOwn(t *testing.T) {
	g := startGate(t, nil)
	root := rootOn(t, g)
	root.must("GRANT PROCESS, CONNECTION ADMIN ON *.* TO veil@'%'")
	defer root.must("REVOKE PROCESS, CONNECTION ADMIN ON *.* FROM veil@'%'")
	other := dialRaw(t, backendServer(t).Addr(), "boss", "hr", 0)
	id, err := strconv.ParseUint(string(rows(t, other, "text", "SELECT CONNECTION_ID()").rows[0][0]), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	g.backend.kill(uint32(id), &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1})
	if err := wire.RunQuery(other.Conn, "SELECT 1", nil); err != nil {
		t.Fatalf("a stranger was killed: %v", err)
	}
	g.backend.kill(uint32(id), other.NetConn().LocalAddr())
	if err := wire.RunQuery(other.Conn, "SELECT 1", nil); err == nil {
		t.Error("it goes on")
	}
}

// TestHalfClosed: a client that sends all it has and closes its side gets its
// answers, and a result that takes it long to read.
func TestHalfClosed(t *testing.T) {
	g := startGate(t, nil)
	rootOn(t, g)
	for _, user := range []string{"boss", "app"} {
		t.Run(user, func(t *testing.T) {
			at := dialRaw(t, g.addr, user, "hr", 0)
			var in []byte
			for _, sql := range []string{"SELECT 'first'", "SELECT SLEEP(0.3)", "SELECT 'third'"} {
				in = append(append(in, byte(len(sql)+1), 0, 0, 0, byte(wire.ComQuery)), sql...)
			}
			at.NetConn().Write(in)
			at.tcp().CloseWrite()
			got, err := io.ReadAll(at.NetConn())
			if err != nil || !bytes.Contains(got, []byte("\x05first")) || !bytes.Contains(got, []byte("\x05third")) {
				t.Errorf("got %q, %v", got, err)
			}

			at = dialRaw(t, g.addr, user, "hr", 0)
			sql := "SELECT REPEAT('x', 30000000) FROM dept LIMIT 1"
			at.NetConn().Write(append([]byte{byte(len(sql) + 1), 0, 0, 0, byte(wire.ComQuery)}, sql...))
			at.NetConn().SetReadDeadline(time.Now().Add(5 * time.Minute))
			begun, err := io.CopyN(io.Discard, at.NetConn(), 1000) // the server is done with it
			if err != nil {
				t.Fatal(err)
			}
			at.tcp().CloseWrite()
			time.Sleep(2 * leftFor) // it may take its time; nothing depends on how long
			n, err := io.Copy(io.Discard, at.NetConn())
			if n += begun; err != nil || n < 30000000 {
				t.Errorf("got %d bytes, %v", n, err)
			}
		})
	}
}

// TestServerEndsIdle: what a server says when it ends an idle connection comes
// through, and the end of the connection, without a command.
func TestServerEndsIdle(t *testing.T) {
	g := startGate(t, nil)
	root := rootOn(t, g)
	says := func(addr, user string) string {
		at := dialRaw(t, addr, user, "hr", 0)
		id := ""
		if err := queryStrings(at.Conn, "SELECT CONNECTION_ID()", func(v []string) { id = v[0] }); err != nil {
			t.Fatal(err)
		}
		root.must("KILL CONNECTION " + id)
		at.NetConn().SetReadDeadline(time.Now().Add(time.Minute))
		got, err := io.ReadAll(at.NetConn())
		if err != nil {
			t.Errorf("%s: the connection does not end: %v", user, err)
		}
		return string(got)
	}
	want := says(backendServer(t).Addr(), "boss")
	for _, user := range []string{"boss", "app"} {
		if got := says(g.addr, user); got != want {
			t.Errorf("%s: got %q, directly %q", user, got, want)
		}
	}
}
