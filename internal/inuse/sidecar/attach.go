package sidecar

import (
	"context"
	"io"
	"net"
	"syscall"
)

// An Attachment is a session whose application is in this process: the
// application reads and writes the Attachment as if it were the connection to
// the server. Closing it ends the session and the server's connection.
//
// To both ends it looks like a unix socket, so a login may send its password
// over it as it is; how it goes on to the server is the session's matter.
type Attachment struct {
	net.Conn // the application's end
	session  *Session
	server   net.Conn
	done     chan struct{}
	err      error // of Serve; final before done is closed
}

// Attach serves server, just connected, to this process.
func (c *Config) Attach(server net.Conn) *Attachment {
	ours, relays := net.Pipe()
	a := &Attachment{Conn: end{ours}, server: server, done: make(chan struct{})}
	a.session = c.NewSession(end{relays}, server)
	go func() {
		defer close(a.done)
		a.err = a.session.Serve(context.Background())
	}()
	return a
}

// Close ends the session.
func (a *Attachment) Close() error {
	a.session.Close()
	return a.Conn.Close()
}

// Wait waits until the session has ended and returns the error it ended with.
func (a *Attachment) Wait() error {
	<-a.done
	return a.err
}

var _ syscall.Conn = (*Attachment)(nil)

// SyscallConn returns the server's socket: a driver that looks whether an idle
// connection is still alive looks at the far end.
func (a *Attachment) SyscallConn() (syscall.RawConn, error) {
	if c, ok := a.server.(syscall.Conn); ok {
		return c.SyscallConn()
	}
	return noSocket{}, nil
}

// end is one end of the pipe.
type end struct{ net.Conn }

var pipeAddr = &net.UnixAddr{Net: "unix", Name: "@veildb"}

func (end) LocalAddr() net.Addr  { return pipeAddr }
func (end) RemoteAddr() net.Addr { return pipeAddr }

// Read gives a closed pipe the error of a closed connection.
func (e end) Read(b []byte) (int, error) {
	n, err := e.Conn.Read(b)
	if err == io.ErrClosedPipe {
		err = net.ErrClosed
	}
	return n, err
}

// noSocket is a connection without one; nothing is known about it.
type noSocket struct{}

func (noSocket) Control(func(uintptr)) error    { return nil }
func (noSocket) Read(func(uintptr) bool) error  { return nil }
func (noSocket) Write(func(uintptr) bool) error { return nil }
