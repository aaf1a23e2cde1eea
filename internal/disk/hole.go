package disk

import "io"

// ReadSparse reads as f.ReadAt does, but asks the disk for nothing, and leaves
// nothing in the system's cache, where f knows that all of p lies in a hole. It
// costs two system calls more, so p should be large.
func ReadSparse(f File, p []byte, off int64) (int, error) {
	h, ok := f.(interface {
		Hole(off, n int64) (bool, error)
	})
	if !ok {
		return f.ReadAt(p, off)
	}
	size, err := f.Size()
	if err != nil {
		return 0, err
	}
	// An error of asking is none of reading.
	if hole, err := h.Hole(off, int64(len(p))); err != nil || !hole {
		return f.ReadAt(p, off)
	}
	n := int(min(max(size-off, 0), int64(len(p))))
	clear(p[:n])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
