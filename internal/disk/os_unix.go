//go:build unix

package disk

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// lookTries is how often flock tries while others only look, a millisecond each.
const lookTries = 10_000

// flock takes the exclusive lock. Who has it shared only looks, see IsLocked, and
// will be gone in a moment.
func flock(f *os.File) error {
	for range lookTries {
		err := flockNow(f, syscall.LOCK_EX)
		if !errors.Is(err, ErrBusy) {
			return err
		}
		if err := flockShared(f); err != nil {
			return err
		}
		funlock(f)
		time.Sleep(time.Millisecond)
	}
	return ErrBusy
}

func flockShared(f *os.File) error { return flockNow(f, syscall.LOCK_SH) }

func flockNow(f *os.File, how int) error {
	err := flockHow(f, how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrBusy
	}
	return err
}

func flockWait(f *os.File) error { return flockHow(f, syscall.LOCK_EX) }
func funlock(f *os.File)         { flockHow(f, syscall.LOCK_UN) }

func flockHow(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
