package fusefs

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// Space that is allocated ahead or given back is zeros below, and a block of
// zeros below is content of zeros (see package volume): only the parts of
// blocks at the ends of a range have to be written. The kernel lets nobody else
// change a file's size or space meanwhile.

// allocate is fallocate(2) on the content of f.
func (fs *fileSystem) allocate(f *file, mode uint32, off, length int64) error {
	const known = unix.FALLOC_FL_KEEP_SIZE | unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_ZERO_RANGE
	if off < 0 || length <= 0 || off+length < 0 || off+length > maxSize {
		return unix.EFBIG
	}
	end := off + length
	keep := mode&unix.FALLOC_FL_KEEP_SIZE != 0
	switch {
	case mode&^known != 0:
		return unix.EOPNOTSUPP
	case mode&unix.FALLOC_FL_PUNCH_HOLE != 0:
		return fs.zero(f, off, end, unix.FALLOC_FL_PUNCH_HOLE)
	case mode&unix.FALLOC_FL_ZERO_RANGE != 0:
		if err := fs.reserve(f, off, end); err != nil {
			return err
		}
		if err := fs.zero(f, off, end, unix.FALLOC_FL_ZERO_RANGE); err != nil || keep {
			return err
		}
		return grow(f, end)
	}
	if err := fs.reserve(f, off, end); err != nil || keep {
		return err
	}
	return grow(f, end)
}

// maxSize leaves room for the header below the largest offset there is.
const maxSize = 1<<63 - 1 - 2*volume.HeaderSize

// reserve has the lower file system reserve the space of [off, end).
func (fs *fileSystem) reserve(f *file, off, end int64) error {
	return again(func() error {
		return unix.Fallocate(f.lower.fd, unix.FALLOC_FL_KEEP_SIZE, fs.base+off, end-off)
	})
}

// grow makes f at least size long.
func grow(f *file, size int64) error {
	old, err := f.content.Size()
	if err != nil || old >= size {
		return err
	}
	return f.content.Truncate(size)
}

// zero makes content [off, end) zeros, as far as the file reaches: whole blocks
// by the lower file system with how, the rest by writing.
func (fs *fileSystem) zero(f *file, off, end int64, how uint32) error {
	size, err := f.content.Size()
	if err != nil {
		return err
	}
	if end > size {
		// What lies past the end below holds no content.
		whole := int64(volume.BlockSize)
		if from := max(off, (size+2*whole-1)&^(whole-1)); from < end && how == unix.FALLOC_FL_PUNCH_HOLE {
			fs.lowerZero(f, from, end, how)
		}
		end = size
	}
	if off >= end {
		return nil
	}
	const block = volume.BlockSize
	first, last := (off+block-1)&^(block-1), end&^(block-1)
	if fs.base == 0 {
		first, last = off, end
	}
	if first >= last {
		_, err := f.content.WriteAt(make([]byte, end-off), off)
		return err
	}
	if err := fs.lowerZero(f, first, last, how); err != nil {
		return err
	}
	if off < first {
		if _, err := f.content.WriteAt(make([]byte, first-off), off); err != nil {
			return err
		}
	}
	if last < end {
		_, err = f.content.WriteAt(make([]byte, end-last), last)
	}
	return err
}

// lowerZero zeroes [off, end), whole blocks, below. Not every file system can
// zero in place; all that matter can punch.
func (fs *fileSystem) lowerZero(f *file, off, end int64, how uint32) error {
	call := func(how uint32) error {
		return f.content.Changing(off, end, func() error {
			return again(func() error {
				return unix.Fallocate(f.lower.fd, how|unix.FALLOC_FL_KEEP_SIZE, fs.base+off, end-off)
			})
		})
	}
	err := call(how)
	if how == unix.FALLOC_FL_ZERO_RANGE && errors.Is(err, unix.EOPNOTSUPP) {
		if err = call(unix.FALLOC_FL_PUNCH_HOLE); err == nil {
			err = fs.reserve(f, off, end)
		}
	}
	return err
}

// seek is lseek(2) for SEEK_DATA and SEEK_HOLE.
func (fs *fileSystem) seek(f *file, off int64, whence int) (int64, error) {
	if whence != unix.SEEK_DATA && whence != unix.SEEK_HOLE {
		return 0, unix.EINVAL
	}
	size, err := f.content.Size()
	if err != nil {
		return 0, err
	}
	if off < 0 || off >= size {
		return 0, unix.ENXIO
	}
	at, err := unix.Seek(f.lower.fd, fs.base+off, whence)
	switch {
	case err != nil:
		return 0, err
	case whence == unix.SEEK_DATA && at-fs.base >= size:
		return 0, unix.ENXIO
	}
	return min(at-fs.base, size), nil
}
