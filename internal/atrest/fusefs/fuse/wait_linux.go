package fuse

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// A waiter reads requests on one locked thread.
//
// A raw system call keeps the thread's P, so that the scheduler takes no notice
// of a wait of some microseconds: no futex calls, no other thread woken. But
// the garbage collector must be able to stop the thread. The runtime asks for
// that with SIGURG, again and again until it has its way. interruptReads makes
// the signal end the read with EINTR instead of restarting it, and the first
// function call after that stops as the runtime wants. As this also happens
// every 10 ms of waiting (to the scheduler a thread that computes without
// end), the next read is an ordinary system call, which gives the P away: an
// idle loop costs nothing.
type waiter struct {
	fd       int
	ordinary bool // the next read is
}

// read waits for a request and reads it into b.
func (w *waiter) read(b []byte) (int, unix.Errno) {
	p := uintptr(unsafe.Pointer(unsafe.SliceData(b))) // b is outside the heap
	var n uintptr
	var errno unix.Errno
	if canInterrupt && !w.ordinary {
		n, _, errno = unix.RawSyscall(unix.SYS_READ, uintptr(w.fd), p, uintptr(len(b)))
		w.ordinary = errno == unix.EINTR
	} else {
		n, _, errno = unix.Syscall(unix.SYS_READ, uintptr(w.fd), p, uintptr(len(b)))
		w.ordinary = errno != 0
	}
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// rawWrite writes b, which is outside the heap.
func rawWrite(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	return int(n), errno
}
