package wire

import (
	"crypto/tls"
	"net"
	"syscall"
	"time"
)

// A Hangup says how a peer has ended its side of a connection.
type Hangup struct {
	// Gone: it takes nothing any more.
	Gone bool
	// Quiet: it has sent all it will, and all of that has been read; and has got
	// all it was sent. Over TCP nothing tells a peer that has gone from one that
	// still listens, until something more is sent.
	Quiet bool
	// Sent grows with what the peer has been sent, in bytes.
	Sent uint64
}

// OnHangup calls f when the peer of c ends its side of the connection, whatever the
// goroutine that has c waits for, and again after the time that f returns, if it is
// not 0, until stop is called. One goroutine of the process does so for all
// connections: f must be quick. It costs nothing while peers are there. On systems
// other than Linux, and for connections that are no sockets, nobody is watched.
//
// c must be past its login.
func OnHangup(c *Conn, f func(Hangup) (again time.Duration)) (stop func()) {
	w := &hangupWatch{socket: socketOf(c.nc), secure: c.tls != nil, f: f}
	if w.socket == nil {
		return func() {}
	}
	return w.begin()
}

// socketOf is the socket below a connection, nil if it has none.
func socketOf(nc net.Conn) syscall.RawConn {
	for {
		switch c := nc.(type) {
		case *tls.Conn:
			nc = c.NetConn()
			continue
		case *preread:
			nc = c.Conn
			continue
		case syscall.Conn:
			if raw, err := c.SyscallConn(); err == nil {
				return raw
			}
		}
		return nil
	}
}

// farewell reports whether all that a peer has left unread is the alert with which
// TLS ends: a record of two bytes, which TLS 1.3 encrypts with its type and a tag.
func farewell(unread []byte) bool {
	const header, alert, application = 5, 21, 23
	if len(unread) < header || len(unread) != header+int(unread[3])<<8+int(unread[4]) {
		return false
	}
	return unread[0] == alert || unread[0] == application && len(unread) == header+2+1+16
}
