//go:build amd64 || arm64

package fuse

import (
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// canInterrupt says that the runtime's signals can end a system call.
const canInterrupt = true

// sigaction is the kernel's structure on these architectures.
type sigaction struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

const saRestart = 0x10000000

// reads counts who needs interrupted reads.
var reads struct {
	sync.Mutex
	users int
}

// interruptReads makes SIGURG, with which the runtime stops threads, end system
// calls instead of restarting them, until the returned function is called. The
// handler stays the runtime's. It holds for the whole program: the standard
// library repeats calls that were interrupted.
func interruptReads() (stop func(), err error) {
	reads.Lock()
	defer reads.Unlock()
	if reads.users == 0 {
		if err := setRestart(false); err != nil {
			return nil, err
		}
	}
	reads.users++
	return func() {
		reads.Lock()
		defer reads.Unlock()
		if reads.users--; reads.users == 0 {
			setRestart(true) // the same call worked before
		}
	}, nil
}

func setRestart(restart bool) error {
	var sa sigaction
	if err := rtSigaction(nil, &sa); err != nil {
		return err
	}
	sa.flags &^= saRestart
	if restart {
		sa.flags |= saRestart
	}
	return rtSigaction(&sa, nil)
}

func rtSigaction(set, old *sigaction) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGURG),
		uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), unsafe.Sizeof(set.mask), 0, 0)
	if errno != 0 {
		return fmt.Errorf("prepare signal: %w", errno)
	}
	return nil
}
