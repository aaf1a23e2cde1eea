package volume

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/disk"
)

// Whoever may change a volume's directory can put a link or a pipe in the place
// of one of its files. Nobody is led elsewhere by that, or kept waiting.

// OpenOwn opens path, a file that a volume keeps beside its tree, with flag as
// os.OpenFile does; a new file has mode 0600. What is no regular file is
// ErrCorrupt.
func OpenOwn(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) {
		return nil, notRegular(path)
	}
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = notRegular(path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func notRegular(path string) error { return fmt.Errorf("%w: %s is no regular file", ErrCorrupt, path) }

// readOwn reads the file path of a volume, up to most bytes and one more.
func readOwn(path string, most int64) ([]byte, error) {
	f, err := OpenOwn(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

// lock takes the lock path of a volume.
func lock(path string) (io.Closer, error) {
	switch fi, err := os.Lstat(path); {
	case err == nil && !fi.Mode().IsRegular():
		return nil, notRegular(path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	l, err := disk.Lock(path)
	if err != nil {
		return nil, err // not a nil *FileLock in an interface
	}
	return l, nil
}

// lockStill takes the lock path of a volume as lock does, also on a file system
// that cannot be changed, but does not make it.
func lockStill(path string) (io.Closer, error) {
	f, err := OpenOwn(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	l, err := disk.LockFile(f)
	if err != nil {
		return nil, err // not a nil *FileLock in an interface
	}
	return l, nil
}

// IsHeld reports whether a process holds the volume at path. Nobody is kept from
// taking it meanwhile.
func IsHeld(path string) (bool, error) {
	f, err := OpenOwn(filepath.Join(path, privateName, lockName), os.O_RDONLY)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return disk.IsLocked(f)
}

// noteHolder makes text the content of the lock path, which the caller holds.
func noteHolder(path, text string) error {
	f, err := OpenOwn(path, os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Truncate(int64(len(text))), f.Close())
}
