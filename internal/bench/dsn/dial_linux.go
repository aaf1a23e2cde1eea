package dsn

import (
	"context"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Dial connects as net.Dialer does, and returns a connection for a program that
// has little to do but wait for replies. A goroutine that reads from it waits in
// the kernel, as a C program's thread does, instead of being parked and woken
// by the scheduler, which costs more than the rest of a short query.
//
// It is read by one goroutine at a time, and written by one. A deadline that
// passes ends its direction for good: database drivers give the connection up
// then. While such connections are open, GOMAXPROCS is larger by their number,
// for each reader keeps its share.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	raw, err := nc.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &threadConn{local: nc.LocalAddr(), remote: nc.RemoteAddr(), buf: make([]byte, 16<<10)}
	// The copy is not known to the runtime's poller, which would otherwise be
	// woken by each reply.
	var fd uintptr
	var errno syscall.Errno
	err = raw.Control(func(of uintptr) {
		fd, _, errno = syscall.Syscall(syscall.SYS_FCNTL, of, syscall.F_DUPFD_CLOEXEC, 0)
	})
	if err == nil && errno != 0 {
		err = os.NewSyscallError("fcntl", errno)
	}
	if err != nil {
		return nil, c.failed("dial", err)
	}
	c.fd = int(fd)
	c.users.Store(1)
	shares.take(c)
	return c, nil
}

// A threadConn is what Dial returns.
type threadConn struct {
	fd            int // does not block: waiting is poll's
	local, remote net.Addr
	users         atomic.Int32 // calls under way, and one until Close; see closing
	readBy        deadline
	writeBy       deadline

	buf    []byte
	unread []byte // of buf
}

// closing is in users from Close on: nothing enters then, and who leaves last
// closes the file.
const closing = 1 << 30

func (c *threadConn) enter() bool {
	for {
		n := c.users.Load()
		if n&closing != 0 {
			return false
		}
		if c.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (c *threadConn) leave() {
	if c.users.Add(-1) == closing {
		syscall.Close(c.fd)
	}
}

// Read implements net.Conn.
func (c *threadConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(c.unread) == 0 {
		n, err := c.fill()
		if err != nil {
			return 0, err
		}
		c.unread = c.buf[:n]
	}
	n := copy(p, c.unread)
	c.unread = c.unread[n:]
	return n, nil
}

// fill waits for data and reads it into buf.
func (c *threadConn) fill() (int, error) {
	if !c.enter() {
		return 0, c.failed("read", net.ErrClosed)
	}
	defer c.leave()
	for {
		// A reader that blocked in read itself would on a Unix socket be woken
		// twice, the first time when the server takes the request.
		errno := poll(c.fd, pollIn)
		var n uintptr
		if errno == 0 {
			n, _, errno = syscall.RawSyscall(syscall.SYS_READ, uintptr(c.fd), uintptr(unsafe.Pointer(&c.buf[0])), uintptr(len(c.buf)))
		}
		switch {
		case errno == syscall.EINTR || errno == syscall.EAGAIN:
		case c.users.Load()&closing != 0:
			return 0, c.failed("read", net.ErrClosed)
		case c.readBy.passed.Load():
			return 0, c.failed("read", os.ErrDeadlineExceeded)
		case errno != 0:
			return 0, c.failed("read", os.NewSyscallError("read", errno))
		case n == 0:
			return 0, io.EOF
		default:
			return int(n), nil
		}
	}
}

// Write implements net.Conn.
func (c *threadConn) Write(p []byte) (int, error) {
	if !c.enter() {
		return 0, c.failed("write", net.ErrClosed)
	}
	defer c.leave()
	done := 0
	for done < len(p) {
		n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(c.fd), uintptr(unsafe.Pointer(&p[done])), uintptr(len(p)-done))
		switch {
		case errno == syscall.EAGAIN:
			poll(c.fd, pollOut)
		case errno == syscall.EINTR:
		case errno == 0:
			done += int(n)
		case c.users.Load()&closing != 0:
			return done, c.failed("write", net.ErrClosed)
		case c.writeBy.passed.Load():
			return done, c.failed("write", os.ErrDeadlineExceeded)
		default:
			return done, c.failed("write", os.NewSyscallError("write", errno))
		}
	}
	return done, nil
}

const pollIn, pollOut = 1, 4 // POLLIN, POLLOUT

// poll waits until fd is ready. The call is raw: while it lasts the runtime
// takes the goroutine for a running one, and does not look after its share of
// GOMAXPROCS every few microseconds. Collecting garbage does not wait for it:
// the signal that stops a goroutine ends the call with EINTR. Each call of this
// function is then a place to stop at, so it must not become part of a loop.
//
//go:noinline
func poll(fd int, events int16) syscall.Errno {
	p := struct {
		fd              int32
		events, revents int16
	}{int32(fd), events, 0}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, 0, 0, 0, 0)
	return errno
}

// Close implements net.Conn. It ends calls that wait.
func (c *threadConn) Close() error {
	if c.users.Or(closing)&closing != 0 {
		return c.failed("close", net.ErrClosed)
	}
	c.readBy.set(time.Time{}, nil)
	c.writeBy.set(time.Time{}, nil)
	syscall.Shutdown(c.fd, syscall.SHUT_RDWR)
	c.leave()
	shares.give(c)
	return nil
}

func (c *threadConn) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: c.remote.Network(), Source: c.local, Addr: c.remote, Err: err}
}

// LocalAddr implements net.Conn.
func (c *threadConn) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements net.Conn.
func (c *threadConn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements net.Conn.
func (c *threadConn) SetDeadline(t time.Time) error {
	c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn; see Dial.
func (c *threadConn) SetReadDeadline(t time.Time) error {
	c.readBy.set(t, func() { c.shutdown(syscall.SHUT_RD) })
	return nil
}

// SetWriteDeadline implements net.Conn; see Dial.
func (c *threadConn) SetWriteDeadline(t time.Time) error {
	c.writeBy.set(t, func() { c.shutdown(syscall.SHUT_WR) })
	return nil
}

func (c *threadConn) shutdown(how int) {
	if c.enter() {
		syscall.Shutdown(c.fd, how)
		c.leave()
	}
}

// A deadline is that of one direction.
type deadline struct {
	mu     sync.Mutex
	timer  *time.Timer
	passed atomic.Bool
}

// set has end called at t, once; the zero time takes that back.
func (d *deadline) set(t time.Time, end func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	if t.IsZero() {
		return
	}
	pass := func() {
		d.passed.Store(true)
		end()
	}
	if wait := time.Until(t); wait > 0 {
		d.timer = time.AfterFunc(wait, pass)
		return
	}
	pass()
}

// SyscallConn lets a driver look whether the connection is still there.
func (c *threadConn) SyscallConn() (syscall.RawConn, error) { return rawThreadConn{c}, nil }

type rawThreadConn struct{ c *threadConn }

// Control implements syscall.RawConn.
func (r rawThreadConn) Control(f func(fd uintptr)) error {
	if !r.c.enter() {
		return r.c.failed("control", net.ErrClosed)
	}
	defer r.c.leave()
	f(uintptr(r.c.fd))
	return nil
}

// Read implements syscall.RawConn.
func (r rawThreadConn) Read(f func(fd uintptr) bool) error { return r.until(pollIn, f) }

// Write implements syscall.RawConn.
func (r rawThreadConn) Write(f func(fd uintptr) bool) error { return r.until(pollOut, f) }

func (r rawThreadConn) until(events int16, f func(fd uintptr) bool) error {
	for done := false; !done; {
		if err := r.Control(func(fd uintptr) { done = f(fd) }); err != nil {
			return err
		}
		if !done {
			poll(r.c.fd, events)
		}
	}
	return nil
}

// HangUp ends all open connections of Dial, whoever uses them: calls that wait
// for a server return. It is for a load that is to end while statements wait.
func HangUp() {
	shares.mu.Lock()
	defer shares.mu.Unlock()
	for c := range shares.open {
		c.shutdown(syscall.SHUT_RDWR)
	}
}

// shares grows GOMAXPROCS by the number of open connections.
var shares = threadShares{open: map[*threadConn]struct{}{}}

type threadShares struct {
	mu   sync.Mutex
	open map[*threadConn]struct{}
	base int
}

func (s *threadShares) take(c *threadConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) == 0 {
		s.base = runtime.GOMAXPROCS(0)
	}
	s.open[c] = struct{}{}
	if n := len(s.open); runtime.GOMAXPROCS(0) < s.base+n {
		runtime.GOMAXPROCS(s.base + (n+7)&^7) // stops the world: not for each
	}
}

func (s *threadShares) give(c *threadConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.open, c); len(s.open) == 0 {
		runtime.GOMAXPROCS(s.base)
	}
}
