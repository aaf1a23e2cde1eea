package disk

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Hole reports whether nothing was ever written to [off, off+n): it lies in
// holes or in space allocated ahead. The error matches errors.ErrUnsupported
// where the file system cannot tell.
func (f osFile) Hole(off, n int64) (bool, error) {
	data, err := unix.Seek(int(f.Fd()), off, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO): // no data up to the end of the file
		return true, nil
	case errors.Is(err, unix.EINVAL):
		return false, errors.ErrUnsupported
	case err != nil:
		return false, err
	}
	return data >= off+n, nil
}
