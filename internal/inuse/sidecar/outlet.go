package sidecar

import (
	"io"
	"net"
)

// An outlet is the connection from a session to an application in this process:
// the pipe during the login, then the memory the application reads into.
type outlet struct {
	net.Conn // the session's end of the pipe
	inline   bool

	to   []byte // of the Read at work
	n    int    // bytes in it
	rest []byte // what did not fit
	at   int    // bytes of rest that have been taken
}

var pipeAddr = &net.UnixAddr{Net: "unix", Name: "@veildb"}

func (*outlet) LocalAddr() net.Addr  { return pipeAddr }
func (*outlet) RemoteAddr() net.Addr { return pipeAddr }

func (o *outlet) Read(b []byte) (int, error) {
	n, err := o.Conn.Read(b)
	return n, closedError(err)
}

func (o *outlet) Write(p []byte) (int, error) {
	if !o.inline {
		return o.Conn.Write(p)
	}
	n := 0
	if len(o.rest) == 0 {
		n = copy(o.to[o.n:], p)
		o.n += n
	}
	if n < len(p) {
		o.rest = append(o.rest, p[n:]...)
	}
	return len(p), nil
}

// waiting reports whether there is something to take.
func (o *outlet) waiting() bool { return o.at < len(o.rest) }

// take takes what did not fit.
func (o *outlet) take(b []byte) int {
	n := copy(b, o.rest[o.at:])
	if o.at += n; o.at == len(o.rest) {
		o.rest, o.at = o.rest[:0], 0
		if cap(o.rest) > keepBuffer {
			o.rest = nil
		}
	}
	return n
}

// noSocket is a connection without one; nothing is known about it.
type noSocket struct{}

func (noSocket) Control(func(uintptr)) error    { return nil }
func (noSocket) Read(func(uintptr) bool) error  { return nil }
func (noSocket) Write(func(uintptr) bool) error { return nil }

var _ io.ReadWriter = (*outlet)(nil)
