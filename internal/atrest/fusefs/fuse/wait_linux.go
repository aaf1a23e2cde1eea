package fuse

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// A waiter reads requests for one loop.
//
// A raw system call keeps the goroutine's P, so that the scheduler takes no
// notice of a wait of some microseconds: no futex calls, no other thread woken.
// But the garbage collector must be able to stop the goroutine. The runtime
// asks for that with SIGURG, again and again until it has its way.
// interruptReads makes the signal end the read with EINTR instead of restarting
// it, and the first function call after that stops as the runtime wants.
//
// This also happens every 10 ms, since to the scheduler a loop computes without
// end. If no request came meanwhile the next read is an ordinary system call,
// which gives the P away: an idle loop costs nothing.
type waiter struct {
	fd       int
	served   bool // since the last interruption
	ordinary bool // the next read is
}

// read waits for a request and reads it into b.
func (w *waiter) read(b []byte) (int, unix.Errno) {
	for {
		if n, errno := w.try(b); errno != unix.EINTR {
			return n, errno
		}
	}
}

// try is read, but a signal ends it.
func (w *waiter) try(b []byte) (int, unix.Errno) {
	p := uintptr(unsafe.Pointer(unsafe.SliceData(b))) // b is outside the heap
	var n uintptr
	var errno unix.Errno
	if canInterrupt && !w.ordinary {
		n, _, errno = unix.RawSyscall(unix.SYS_READ, uintptr(w.fd), p, uintptr(len(b)))
	} else {
		n, _, errno = unix.Syscall(unix.SYS_READ, uintptr(w.fd), p, uintptr(len(b)))
	}
	switch errno {
	case 0:
		w.served, w.ordinary = true, false
		return int(n), 0
	case unix.EINTR:
		w.ordinary = !w.served
		w.served = false
	}
	return 0, errno
}

// rawWrite writes b.
func rawWrite(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	return int(n), errno
}
