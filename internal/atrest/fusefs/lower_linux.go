package fusefs

import (
	"io"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/disk"
)

// A lowerFile is an open file of the lower tree. Reading, writing and syncing
// are raw system calls, for the reason given in package fuse. A disk that keeps
// one of them waiting keeps the garbage collector waiting, too; there is little
// garbage.
type lowerFile struct{ fd int }

var _ disk.File = (*lowerFile)(nil)

// ReadAt implements io.ReaderAt.
func (f *lowerFile) ReadAt(p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) {
		n, errno := rawIO(unix.SYS_PREAD64, f.fd, p[done:], off+int64(done))
		switch {
		case errno == unix.EINTR:
		case errno != 0:
			return done, errno
		case n == 0:
			return done, io.EOF
		}
		done += n
	}
	return done, nil
}

// WriteAt implements io.WriterAt.
func (f *lowerFile) WriteAt(p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) {
		n, errno := rawIO(unix.SYS_PWRITE64, f.fd, p[done:], off+int64(done))
		switch {
		case errno == unix.EINTR:
		case errno != 0:
			return done, errno
		case n == 0:
			return done, io.ErrShortWrite
		}
		done += n
	}
	return done, nil
}

func rawIO(call uintptr, fd int, p []byte, off int64) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), uintptr(off), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// Truncate implements disk.File.
func (f *lowerFile) Truncate(size int64) error {
	return again(func() error { return unix.Ftruncate(f.fd, size) })
}

// Sync implements disk.File.
func (f *lowerFile) Sync() error {
	if errno := f.sync(false); errno != 0 {
		return errno
	}
	return nil
}

// sync is fsync(2) or, with dataOnly, fdatasync(2).
func (f *lowerFile) sync(dataOnly bool) unix.Errno {
	call := uintptr(unix.SYS_FSYNC)
	if dataOnly {
		call = unix.SYS_FDATASYNC
	}
	for {
		if _, _, errno := unix.RawSyscall(call, uintptr(f.fd), 0, 0); errno != unix.EINTR {
			return errno
		}
	}
}

// Size implements disk.File. It does not ask fstat(2): once somebody has seen a
// file's time of change, the kernel makes the next one exact, moves the clock of
// all other files on with it, and inodes that would have stayed as they are for
// some milliseconds are written by each fdatasync.
func (f *lowerFile) Size() (int64, error) { return unix.Seek(f.fd, 0, unix.SEEK_END) }

// Close implements disk.File.
func (f *lowerFile) Close() error { return unix.Close(f.fd) }

// Hole implements volume.HoleFinder.
func (f *lowerFile) Hole(off, n int64) (bool, error) {
	data, err := unix.Seek(f.fd, off, unix.SEEK_DATA)
	switch err {
	case nil:
		return data >= off+n, nil
	case unix.ENXIO: // no data up to the end of the file
		return true, nil
	case unix.EINVAL:
		return false, unix.ENOTSUP
	}
	return false, err
}

// again repeats a call that a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}
