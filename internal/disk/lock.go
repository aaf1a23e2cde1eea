package disk

import (
	"errors"
	"fmt"
	"os"
)

// ErrBusy is matched by the error of Lock when the lock is held elsewhere.
var ErrBusy = errors.New("in use by another process")

// A FileLock is an exclusive advisory lock. It dies with the process.
type FileLock struct{ f *os.File }

// Lock takes the exclusive lock of the file path, which it creates with mode
// 0600 if needed, and does not wait: if another open file description holds
// the lock, in this process or another, the error matches ErrBusy. The file's
// content is not touched.
func Lock(path string) (*FileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return LockFile(f)
}

// LockFile is Lock for an open file, which it takes over, also on error.
func LockFile(f *os.File) (*FileLock, error) {
	if err := flock(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return &FileLock{f}, nil
}

// IsLocked reports whether somebody holds the lock of the open file f. To look does
// not keep anybody from taking it.
func IsLocked(f *os.File) (bool, error) {
	err := flockShared(f)
	if err == nil {
		funlock(f)
	} else if errors.Is(err, ErrBusy) {
		return true, nil
	}
	return false, err
}

// Close releases the lock. The file stays: removing it would let two processes
// hold locks of two files with one name.
func (l *FileLock) Close() error {
	// To close it is not enough: a process that is being started has it open, too,
	// until it runs its program.
	funlock(l.f)
	return l.f.Close()
}

// Lock waits for the exclusive advisory lock of the open file, against other
// open files of the same name in any process, and returns its release.
func (f osFile) Lock() (unlock func(), err error) {
	if err := flockWait(f.File); err != nil {
		return nil, err
	}
	return func() { funlock(f.File) }, nil
}
