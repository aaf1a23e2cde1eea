package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/veildb/veildb/internal/inuse/encdb"
)

// A gate hands its listener over to a successor through a unix socket:
//
//	successor                     gate
//	connects
//	                              sends a byte and the listener's descriptor
//	sends 'g' once it can serve
//	                              stops accepting, gives its addresses up
//	                              sends the master keys that it keeps
//	                              closes the connection, lets its sessions end
//	accepts
//
// The socket is for the gate's own user. A successor that goes before it sends 'g' changes nothing. Clients that connect
// meanwhile wait in the listener's queue.
const handoverGo = 'g'

// handoverTimeout bounds a gate's wait for its successor to be ready.
const handoverTimeout = time.Minute

// A predecessor is a gate that this one takes over from.
type predecessor struct{ conn *net.UnixConn }

// takeOver asks the gate at path for its listener. Both results are nil if there
// is no gate.
func takeOver(path string) (net.Listener, *predecessor, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Net: "unix", Name: path})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("take over: %w", err)
	}
	ln, err := receiveListener(conn)
	if err != nil {
		conn.Close()
		return nil, nil, fmt.Errorf("take over: %w", err)
	}
	return ln, &predecessor{conn}, nil
}

func receiveListener(conn *net.UnixConn) (net.Listener, error) {
	conn.SetDeadline(time.Now().Add(handoverTimeout))
	rights := make([]byte, syscall.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil {
		return nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.New("the other gate sent no listener")
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.New("the other gate sent no listener")
	}
	syscall.CloseOnExec(fds[0])
	f := os.NewFile(uintptr(fds[0]), "listener")
	defer f.Close()
	return net.FileListener(f)
}

// release tells the gate to stop and waits until it has. It returns the keys that
// the gate kept, as encdb.Keeper.Export gives them; the caller wipes them. A nil
// predecessor does nothing.
func (p *predecessor) release() (keys []byte, err error) {
	if p == nil {
		return nil, nil
	}
	defer p.conn.Close()
	p.conn.SetDeadline(time.Now().Add(handoverTimeout))
	if _, err := p.conn.Write([]byte{handoverGo}); err != nil {
		return nil, fmt.Errorf("take over: %w", err)
	}
	keys = make([]byte, encdb.MaxKeeperState) // never moved, so that no copy stays
	n, err := io.ReadFull(p.conn, keys)
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		clear(keys)
		return nil, fmt.Errorf("take over: the other gate did not stop: %w", err)
	}
	return keys[:n], nil
}

// A handover waits for a successor of this gate.
type handover struct {
	path string
	ln   *net.UnixListener
	give net.Listener
	stop func()        // called once, when a successor is ready
	keys func() []byte // of the gate, wiped once sent

	mu        sync.Mutex
	successor *net.UnixConn // that waits until this gate has stopped
}

// offerHandover listens at path for a successor, to which it gives the listener
// and then the keys. Only the gate's own user can connect.
func offerHandover(path string, give net.Listener, stop func(), keys func() []byte) (*handover, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("offer hand-over: %w", err)
	}
	old := syscall.Umask(0o177)
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: path})
	syscall.Umask(old)
	if err != nil {
		return nil, fmt.Errorf("offer hand-over: %w", err)
	}
	h := &handover{path: path, ln: ln, give: give, stop: stop, keys: keys}
	go h.serve()
	return h, nil
}

func (h *handover) serve() {
	for {
		conn, err := h.ln.AcceptUnix()
		if err != nil {
			return
		}
		if h.offer(conn) == nil {
			h.mu.Lock()
			h.successor = conn
			h.mu.Unlock()
			h.stop()
			return
		}
		conn.Close()
	}
}

// offer sends the listener and waits until the successor is ready.
func (h *handover) offer(conn *net.UnixConn) error {
	conn.SetDeadline(time.Now().Add(handoverTimeout))
	raw, err := h.give.(syscall.Conn).SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	if err := raw.Control(func(fd uintptr) {
		_, _, sent = conn.WriteMsgUnix([]byte{0}, syscall.UnixRights(int(fd)), nil)
	}); err != nil {
		return err
	}
	if sent != nil {
		return sent
	}
	answer := make([]byte, 1)
	if _, err := io.ReadFull(conn, answer); err != nil || answer[0] != handoverGo {
		return errors.New("the successor is not ready")
	}
	if u, ok := h.give.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // the successor's now
	}
	return nil
}

// done tells the successor, if there is one, that this gate accepts no more and
// has given its addresses up; and takes no other. A nil handover does nothing.
func (h *handover) done() {
	if h == nil {
		return
	}
	h.ln.Close() // removes the socket
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.successor != nil {
		keys := h.keys()
		defer clear(keys)
		h.successor.SetDeadline(time.Now().Add(handoverTimeout))
		h.successor.Write(keys) // a successor without them lacks little
		h.successor.Close()
	}
}

// gateListeners are what a gate listens on, and whom it has it from.
func (o *gateOptions) gateListeners() (net.Listener, *predecessor, error) {
	if o.handover != "" {
		if ln, before, err := takeOver(o.handover); ln != nil || err != nil {
			return ln, before, err
		}
	}
	ln, err := gateListener(o.listen)
	return ln, nil, err
}
