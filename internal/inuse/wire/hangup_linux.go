package wire

import (
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A lookout waits for peers that hang up, with an epoll of its own: one that is
// asked for nothing else wakes nobody when data come.
type lookout struct {
	fd    int // of epoll
	epoll *os.File

	mu      sync.Mutex
	last    int32
	watches map[int32]*hangupWatch
}

// theLookout is that of the process, nil if there can be none.
var theLookout = sync.OnceValue(func() *lookout {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil
	}
	l := &lookout{fd: fd, epoll: os.NewFile(uintptr(fd), "epoll"), watches: map[int32]*hangupWatch{}}
	go l.run()
	return l
})

// run waits in the runtime's own poller, not in a thread.
func (l *lookout) run() {
	raw, err := l.epoll.SyscallConn()
	if err != nil {
		return
	}
	var events [64]unix.EpollEvent
	for {
		n := 0
		err := raw.Read(func(fd uintptr) bool {
			var err error
			n, err = unix.EpollWait(int(fd), events[:], 0)
			return n > 0 || err != nil && err != unix.EINTR
		})
		if err != nil {
			return
		}
		for _, e := range events[:max(n, 0)] {
			l.mu.Lock()
			w := l.watches[e.Fd]
			l.mu.Unlock()
			if w != nil {
				w.look()
			}
		}
	}
}

// A hangupWatch watches one connection.
type hangupWatch struct {
	socket syscall.RawConn
	secure bool // TLS
	f      func(Hangup) time.Duration

	mu      sync.Mutex // of what follows, and held in f
	timer   *time.Timer
	stopped bool
}

func (w *hangupWatch) begin() (stop func()) {
	l := theLookout()
	if l == nil {
		return func() {}
	}
	l.mu.Lock()
	for l.last++; l.watches[l.last] != nil; l.last++ {
	}
	id := l.last
	l.watches[id] = w
	l.mu.Unlock()
	w.socket.Control(func(fd uintptr) {
		unix.EpollCtl(l.fd, unix.EPOLL_CTL_ADD, int(fd), &unix.EpollEvent{Events: unix.EPOLLRDHUP | unix.EPOLLET, Fd: id})
	})
	return func() {
		w.socket.Control(func(fd uintptr) {
			unix.EpollCtl(l.fd, unix.EPOLL_CTL_DEL, int(fd), nil)
		})
		l.mu.Lock()
		delete(l.watches, id)
		l.mu.Unlock()
		w.end()
	}
}

func (w *hangupWatch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// look tells f, now and later.
func (w *hangupWatch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	if again := w.f(w.hangup()); again > 0 {
		w.timer = time.AfterFunc(again, w.look)
	}
}

// hangup looks at the socket without taking anything from it.
func (w *hangupWatch) hangup() (h Hangup) {
	err := w.socket.Control(func(fd uintptr) {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		if _, err := unix.Poll(poll, 0); err != nil {
			return
		}
		h.Gone = poll[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
		if poll[0].Revents&unix.POLLRDHUP == 0 {
			return
		}
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			return // a unix socket, which says it when the peer has gone
		}
		h.Sent = info.Bytes_acked
		var unread [64]byte
		n, _, err := unix.Recvfrom(int(fd), unread[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		h.Quiet = err == nil && info.Notsent_bytes == 0 && info.Unacked == 0 && (n == 0 || w.secure && farewell(unread[:n]))
	})
	if err != nil {
		h.Gone = true // closed on this side
	}
	return h
}
