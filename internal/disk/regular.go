package disk

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotRegular is matched by the error of OpenRegular for a directory, a
// pipe, a socket or a device.
var ErrNotRegular = errors.New("not a regular file")

// OpenRegular opens the regular file path for reading. Anything else is
// refused with an error matching ErrNotRegular, and without waiting: an open
// of a pipe that nobody writes to would wait for ever.
func OpenRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
