package wire

import (
	"io"
	"net"
	"os"
	"syscall"
)

// An exchange sends a command and waits for the first of its answer. A Read would
// look for it at once, in vain, and wait then. Here the runtime's poller is told
// first that somebody waits; then the command goes out, so that what answers it
// wakes whoever waits, however soon it comes.
//
// What has come before is not noticed, so it is for a peer that speaks when it is
// spoken to.
type exchange struct {
	raw     syscall.RawConn
	turn    func(fd uintptr) bool // step
	out, in []byte
	sent    bool
	wrote   int
	n       int
	err     error
}

// newExchange returns nil if nc is no socket.
func newExchange(nc net.Conn) *exchange {
	switch nc.(type) {
	case *net.TCPConn, *net.UnixConn:
	default:
		return nil
	}
	raw, err := nc.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil
	}
	x := &exchange{raw: raw}
	x.turn = x.step
	return x
}

// run writes out and reads into in. If it wrote less than out, it has not waited.
func (x *exchange) run(out, in []byte) (wrote, n int, err error) {
	x.out, x.in, x.sent, x.wrote, x.n, x.err = out, in, false, 0, 0, nil
	err = x.raw.Read(x.turn)
	x.out, x.in = nil, nil
	if err == nil && x.err != nil {
		err = x.err
	}
	return x.wrote, x.n, err
}

// step is called when the poller has been told, and whenever there may be something
// to read. It reports whether that is all.
func (x *exchange) step(fd uintptr) bool {
	for {
		var n int
		var err error
		if !x.sent {
			n, err = syscall.Write(int(fd), x.out)
		} else {
			n, err = syscall.Read(int(fd), x.in)
		}
		n = max(n, 0)
		switch {
		case err == syscall.EINTR:
		case !x.sent:
			x.sent, x.wrote = true, n
			return n < len(x.out)
		case err == syscall.EAGAIN:
			return false
		case err != nil:
			x.err = &net.OpError{Op: "read", Net: "socket", Err: os.NewSyscallError("read", err)}
			return true
		default:
			if x.n = n; n == 0 {
				x.err = io.EOF
			}
			return true
		}
	}
}
