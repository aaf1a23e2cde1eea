package sidecar

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// An Attachment is a session whose application is in this process: the
// application reads and writes the Attachment as if it were the connection to
// the server. Closing it ends the session and the server's connection. Read and
// Write are for one goroutine at a time, the other methods for any.
//
// A goroutine relays the login, through a pipe. After it the session has none:
// Write passes commands on, and Read opens what has come, in the caller's.
//
// To both ends it looks like a unix socket, so a login may send its password
// over it as it is; how it goes on to the server is the session's matter.
type Attachment struct {
	session *Session
	server  net.Conn
	pipe    net.Conn      // the application's end of it
	done    chan struct{} // closed when the login has ended
	err     error         // of the login; final before done is closed

	closed atomic.Bool
	mu     sync.Mutex // held by Read and Write after the login
	out    outlet
	failed error  // of Read, final
	partly []byte // begun fragment of the application
	more   bool   // the next fragment is of the same packet
}

// errPending means that a command came before the answer to the last was read.
var errPending = errors.New("command before the end of an answer")

// Attach serves server, just connected, to this process.
func (c *Config) Attach(server net.Conn) *Attachment {
	ours, relays := net.Pipe()
	a := &Attachment{pipe: ours, server: server, done: make(chan struct{})}
	a.out.Conn = relays
	a.session = c.NewSession(&a.out, server)
	go a.logIn()
	return a
}

func (a *Attachment) logIn() {
	s := a.session
	if a.err = s.begin(); a.err == nil {
		a.err = s.client.Flush()
	}
	if a.err != nil {
		s.finish()
	}
	a.out.Conn.Close()
	a.out.inline = a.err == nil
	close(a.done)
	if a.closed.Load() {
		a.wipe()
	}
}

// Close ends the session.
func (a *Attachment) Close() error {
	a.closed.Store(true)
	a.session.Close()
	a.pipe.Close()
	if a.ended() {
		a.wipe()
	}
	return nil
}

// wipe wipes the keys of a closed session. If a Read or Write is at work, it
// does so at its end.
func (a *Attachment) wipe() {
	if a.mu.TryLock() {
		a.session.forget()
		a.mu.Unlock()
	}
}

// Wait waits until the login has ended and returns the error it ended with.
func (a *Attachment) Wait() error {
	<-a.done
	return a.err
}

// ended reports whether the login has ended.
func (a *Attachment) ended() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// Read reads what the server would have said, had nothing been protected.
func (a *Attachment) Read(b []byte) (int, error) {
	if !a.ended() {
		if n, err := a.pipe.Read(b); err == nil || a.Wait() != nil || a.closed.Load() {
			return n, closedError(err)
		}
	}
	return a.exclusive(b, a.read)
}

// Write sends commands, and files the server has asked for.
func (a *Attachment) Write(b []byte) (int, error) {
	if !a.ended() {
		// The last packet of the login may be read before its end is known.
		if n, err := a.pipe.Write(b); err == nil || n > 0 || a.Wait() != nil || a.closed.Load() {
			return n, closedError(err)
		}
	}
	return a.exclusive(b, a.write)
}

// exclusive runs f if the session has not ended.
func (a *Attachment) exclusive(b []byte, f func([]byte) (int, error)) (n int, err error) {
	if a.err != nil {
		return 0, net.ErrClosed
	}
	a.mu.Lock()
	if err = net.ErrClosed; !a.closed.Load() {
		n, err = f(b)
	}
	a.mu.Unlock()
	if a.closed.Load() {
		a.wipe()
	}
	return n, err
}

// closedError gives a closed pipe the error of a closed connection.
func closedError(err error) error {
	if err == io.ErrClosedPipe {
		return net.ErrClosed
	}
	return err
}

func (a *Attachment) read(b []byte) (int, error) {
	s, o := a.session, &a.out
	switch {
	case o.waiting():
		return o.take(b), nil
	case a.failed != nil:
		return 0, a.failed
	case s.answer.done() || s.answer.infile:
		return s.server.NetConn().Read(b) // an end, or an error before it
	}
	o.to, o.n = b, 0
	a.failed = a.steps()
	o.to = nil
	if o.n > 0 || len(b) == 0 {
		return o.n, nil
	}
	return 0, a.failed
}

// steps passes on what of an answer has come, and waits for something to.
func (a *Attachment) steps() error {
	s := a.session
	if s.answer.fresh {
		if err := s.skipHead(); err != nil {
			return err
		}
	}
	for !s.answer.done() && !s.answer.infile {
		if s.server.Buffered() == 0 {
			if err := s.client.Flush(); err != nil {
				return err
			}
			if a.out.n > 0 {
				return nil
			}
		}
		if err := s.step(); err != nil {
			s.client.Flush()
			return err
		}
	}
	if s.answer.refused {
		// What is left must not lie in the socket: a driver would find it there.
		if err := errors.Join(s.settle(), s.server.Flush()); err != nil {
			return err
		}
	}
	return s.client.Flush()
}

func (a *Attachment) write(b []byte) (int, error) {
	if len(a.partly) > 0 || a.session.answer.infile {
		return a.writeParts(b)
	}
	if size, ok := fragment(b); ok && size == len(b) && size < maxHeld && !a.more {
		return a.writeCommand(b)
	}
	whole := 0
	for {
		size, ok := fragment(b[whole:])
		if !ok {
			break
		}
		if err := a.begin(b[whole : whole+size]); err != nil {
			return 0, err
		}
		whole += size
	}
	if err := a.session.server.Flush(); err != nil {
		return 0, err
	}
	if n, err := a.session.server.NetConn().Write(b[:whole]); err != nil {
		return n, err
	}
	a.partly = append(a.partly, b[whole:]...)
	return len(b), nil
}

// maxHeld is the longest command, in bytes, that waits for the Read of its answer.
const maxHeld = 8 << 10

// writeCommand is write for a command in one fragment: it goes out when its answer
// is asked for, if there will be one.
func (a *Attachment) writeCommand(f []byte) (int, error) {
	if err := a.begin(f); err != nil {
		return 0, err
	}
	s := a.session
	if err := s.server.WriteFramedCommand(f, f[3]+1); err != nil {
		return 0, err
	}
	if s.answer.done() {
		return len(f), s.server.Flush()
	}
	return len(f), nil
}

// writeParts is write for a file, and for fragments that come in parts.
func (a *Attachment) writeParts(b []byte) (int, error) {
	a.partly = append(a.partly, b...)
	rest := a.partly
	for {
		size, ok := fragment(rest)
		if !ok {
			break
		}
		f := rest[:size]
		rest = rest[size:]
		if err := a.sendPart(f); err != nil {
			return 0, err
		}
	}
	a.partly = append(keep(a.partly), rest...)
	return len(b), a.session.server.Flush()
}

func (a *Attachment) sendPart(f []byte) error {
	s := a.session
	if !s.answer.infile {
		if err := a.begin(f); err != nil {
			return err
		}
		return s.server.WriteFramed(f, f[3]+1)
	}
	s.client.SetSequence(f[3] + 1)
	s.answer.infile = len(f) > headerSize // an empty packet ends the file
	return s.server.WritePacket(f[headerSize:])
}

// Sizes of the framing.
const (
	headerSize  = 4
	maxFragment = 1<<24 - 1
)

// fragment returns the size of the first fragment in b, if all of it is there.
func fragment(b []byte) (size int, ok bool) {
	if len(b) < headerSize {
		return 0, false
	}
	size = headerSize + (int(b[0]) | int(b[1])<<8 | int(b[2])<<16)
	return size, size <= len(b)
}

// begin makes ready for a fragment f that is to be sent, and if a command begins
// with it, for the answer.
func (a *Attachment) begin(f []byte) error {
	s := a.session
	payload, next := f[headerSize:], f[3]+1
	if !a.more {
		if err := a.command(payload); err != nil {
			return fmt.Errorf("write command: %w", err)
		}
	}
	a.more = len(payload) == maxFragment
	s.client.SetSequence(next)
	s.server.SetSequence(next)
	return nil
}

func (a *Attachment) command(p []byte) error {
	s := a.session
	switch {
	case a.failed != nil:
		return a.failed
	case !s.answer.done() || a.out.waiting():
		return errPending
	case len(p) == 0:
		return wire.ErrMalformed
	}
	cmd := wire.Command(p[0])
	if shape := cmd.Shape(); shape == wire.ShapeRefused || shape == wire.ShapeLogin {
		return wire.ErrUnsupported
	}
	if err := s.settle(); err != nil { // forgets the rows of a cursor
		return err
	}
	id, err := s.statement(cmd, p)
	if err != nil {
		return err
	}
	s.expect(cmd, id)
	return nil
}

// LocalAddr is that of a unix socket.
func (a *Attachment) LocalAddr() net.Addr { return pipeAddr }

// RemoteAddr is that of a unix socket.
func (a *Attachment) RemoteAddr() net.Addr { return pipeAddr }

// to is the connection that the application waits for.
func (a *Attachment) to() net.Conn {
	if a.ended() {
		return a.server
	}
	return a.pipe
}

// SetDeadline bounds Read and Write. One that is set before the end of the
// login is for the login.
func (a *Attachment) SetDeadline(t time.Time) error { return a.to().SetDeadline(t) }

// SetReadDeadline bounds Read.
func (a *Attachment) SetReadDeadline(t time.Time) error { return a.to().SetReadDeadline(t) }

// SetWriteDeadline bounds Write.
func (a *Attachment) SetWriteDeadline(t time.Time) error { return a.to().SetWriteDeadline(t) }

var (
	_ net.Conn     = (*Attachment)(nil)
	_ syscall.Conn = (*Attachment)(nil)
)

// SyscallConn returns the server's socket: a driver that looks whether an idle
// connection is still alive looks at the far end.
func (a *Attachment) SyscallConn() (syscall.RawConn, error) {
	if c, ok := a.server.(syscall.Conn); ok {
		return c.SyscallConn()
	}
	return noSocket{}, nil
}
