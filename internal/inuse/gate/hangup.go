package gate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/veildb/veildb/internal/inuse/wire"
)

var errLost = errors.New("the server has ended the connection")

// leaving is what is known of a client that has ended its side of the connection
// while a statement is at work.
type leaving struct {
	turn int64 // when it was looked at last
	sent uint64
	now  atomic.Bool // the session has ended for that
}

// leftFor is how long a statement may go on, without an answer, for a client that
// has ended its side of the connection.
const leftFor = time.Second

// clientLeft ends the session if a statement is at work for nobody. A server notices
// such clients only when it answers, or in SLEEP() and GET_LOCK(): there it takes
// one that has ended its side, and has sent nothing else, for gone. So does a gate,
// with statements of which the client has got nothing for a second; what was sent
// ahead and answered sooner is answered.
func (ss *session) clientLeft(h wire.Hangup) (again time.Duration) {
	turn := ss.turn.Load()
	if turn%2 == 1 && (h.Gone || h.Quiet && turn == ss.left.turn && h.Sent == ss.left.sent) {
		ss.left.now.Store(true)
		go func() {
			ss.close()
			ss.backend.kill(ss.number, ss.server.NetConn().LocalAddr())
		}()
		return 0
	}
	ss.left.turn, ss.left.sent = turn, h.Sent
	return leftFor
}

// serverLeft wakes a session that waits for a command: its client should not learn
// of it from the next one, of which it would not know whether it was done.
func (ss *session) serverLeft(wire.Hangup) (again time.Duration) {
	ss.lost.Store(true)
	if !ss.busy() {
		ss.client.SetReadDeadline(time.Now())
	}
	return 50 * time.Millisecond // it may have been about to wait
}

// farewell passes on what a server says that ends an idle connection.
func (ss *session) farewell() error {
	ss.server.SetReadDeadline(time.Now().Add(time.Second))
	ss.server.ResetSequence()
	if _, first, err := ss.server.Next(); err != nil || first != wire.HeaderErr {
		return errLost
	}
	ss.client.ResetSequence()
	if err := ss.server.CopyTo(ss.client); err != nil {
		return err
	}
	return errors.Join(ss.client.Flush(), errLost)
}

// killTimeout bounds the attempt to end a statement nobody waits for.
const killTimeout = 10 * time.Second

// kill ends a connection of a session to the server, if the service account may: it
// needs PROCESS, to see that the connection is the one meant, and CONNECTION ADMIN.
// If it may not, the statement goes on until the server notices, as without a gate.
func (b *Backend) kill(number uint32, local net.Addr) {
	ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
	defer cancel()
	c, err := b.Connect(ctx)
	if err != nil {
		return
	}
	defer c.Close()
	c.SetReadDeadline(time.Now().Add(killTimeout))
	meant := false
	err = queryStrings(c, fmt.Sprintf("SELECT HOST FROM information_schema.PROCESSLIST WHERE ID = %d", number), func(v []string) {
		meant = hostIs(v[0], local)
	})
	if err == nil && meant {
		wire.RunQuery(c, fmt.Sprintf("KILL CONNECTION %d", number), nil)
	}
}

// hostIs reports whether the server's name for where a connection comes from can be
// that of an address: behind one name there may be several servers, and each has
// connections of the same numbers.
func hostIs(host string, local net.Addr) bool {
	if local.Network() == "unix" {
		return host == "localhost"
	}
	_, port, err := net.SplitHostPort(local.String())
	return err == nil && strings.HasSuffix(host, ":"+port)
}
