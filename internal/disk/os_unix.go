//go:build unix

package disk

import (
	"errors"
	"os"
	"syscall"
)

func flock(f *os.File) error {
	err := flockHow(f, syscall.LOCK_EX|syscall.LOCK_NB)
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
