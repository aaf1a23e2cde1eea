package convert

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// pageSize is the granularity in which holes are kept: those of common file
// systems are multiples of it.
const pageSize = 4096

// holes tells data from holes in a file whose content begins at base.
type holes struct {
	f    *os.File
	base int64
	none bool // all is data
}

// next returns the first range of data in [off, end), in whole pages of
// content; start == stop if there is none.
func (h holes) next(off, end int64) (start, stop int64, err error) {
	if h.none {
		return off, end, nil
	}
	start, err = unix.Seek(int(h.f.Fd()), h.base+off, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO):
		return end, end, nil
	case errors.Is(err, unix.EINVAL): // cannot tell: all is data
		return off, end, nil
	case err != nil:
		return 0, 0, &os.PathError{Op: "seek", Path: h.f.Name(), Err: err}
	}
	stop, err = unix.Seek(int(h.f.Fd()), start, unix.SEEK_HOLE)
	if err != nil {
		return 0, 0, &os.PathError{Op: "seek", Path: h.f.Name(), Err: err}
	}
	start = max(off, (start-h.base)&^(pageSize-1))
	stop = min(end, (stop-h.base+pageSize-1)&^(pageSize-1))
	if start >= end {
		return end, end, nil
	}
	return start, stop, nil
}
