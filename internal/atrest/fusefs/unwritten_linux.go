package fusefs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/disk"
)

// unwritten is the content of a lower file without a header: zeros, as many as
// its length says. The header was lost with the power before the first sync, or
// with a sector of the disk, or the file was put there empty. It is left as it
// is until somebody opens it for writing, who has begin make it an encrypted
// file.
type unwritten struct {
	*lowerFile
	file atomic.Pointer[volume.File] // once begun
}

var _ content = (*unwritten)(nil)

// ReadAt implements content.
func (u *unwritten) ReadAt(p []byte, off int64) (int, error) {
	if v := u.file.Load(); v != nil {
		return v.ReadAt(p, off)
	}
	size, err := u.Size()
	if err != nil {
		return 0, err
	}
	n := int(max(min(int64(len(p)), size-off), 0))
	clear(p[:n])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Size implements content.
func (u *unwritten) Size() (int64, error) {
	if v := u.file.Load(); v != nil {
		return v.Size()
	}
	n, err := u.lowerFile.Size()
	return volume.ContentSize(n), err
}

// WriteAt implements content.
func (u *unwritten) WriteAt(p []byte, off int64) (int, error) {
	if v := u.file.Load(); v != nil {
		return v.WriteAt(p, off)
	}
	return 0, unix.EBADF
}

// WriteOver implements content.
func (u *unwritten) WriteOver(p []byte, off int64) (int, error) {
	if v := u.file.Load(); v != nil {
		return v.WriteOver(p, off)
	}
	return 0, unix.EBADF
}

// Truncate implements content.
func (u *unwritten) Truncate(size int64) error {
	if v := u.file.Load(); v != nil {
		return v.Truncate(size)
	}
	return unix.EBADF
}

// Changing implements content.
func (u *unwritten) Changing(off, end int64, change func() error) error {
	if v := u.file.Load(); v != nil {
		return v.Changing(off, end, change)
	}
	return unix.EBADF
}

// Close implements content.
func (u *unwritten) Close() error {
	if v := u.file.Load(); v != nil {
		return v.Close()
	}
	return u.lowerFile.Close()
}

// encrypted returns the encrypted file that c is, or nil.
func encrypted(c content) *volume.File {
	switch c := c.(type) {
	case *volume.File:
		return c
	case *unwritten:
		return c.file.Load()
	}
	return nil
}

// begin makes n's file u, if it is not begun, an encrypted file of as many
// zeros. What was behind a lost header is kept elsewhere first.
func (fs *fileSystem) begin(n *node, u *unwritten) error {
	if u.file.Load() != nil {
		return nil
	}
	size, err := u.Size()
	if err != nil {
		return err
	}
	if size > 0 {
		if err := fs.keepLost(n, u.lowerFile); err != nil {
			return err
		}
	}
	v, err := fs.createContent(u.lowerFile)
	if err != nil {
		return err
	}
	if size > 0 {
		if err := v.Truncate(size); err != nil {
			return err
		}
	}
	u.file.Store(v)
	return nil
}

// keepLost copies f, whose header is lost, to where opts says: with a header
// from a backup of the same file it can be read again.
func (fs *fileSystem) keepLost(n *node, f *lowerFile) error {
	if fs.opts.Lost == "" {
		return nil
	}
	to, err := keepCopy(fs.opts.Lost, fmt.Sprintf("%d-*", n.key.ino), f)
	if err != nil {
		return fmt.Errorf("keep what is behind a lost header: %w", err)
	}
	fs.tell(n, "write", fmt.Errorf("%w: what was behind it is kept as %s", volume.ErrHeaderLost, to))
	return nil
}

// keepCopy copies f durably into a new file in dir, which it makes if need be,
// and returns its path.
func keepCopy(dir, pattern string, f *lowerFile) (path string, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	to, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return "", err
	}
	defer func() {
		if err = errors.Join(err, to.Close()); err != nil {
			os.Remove(to.Name())
		}
	}()
	size, err := f.Size()
	if err != nil {
		return "", err
	}
	if err := copyData(to, f, size); err != nil {
		return "", err
	}
	if err := errors.Join(to.Truncate(size), to.Sync()); err != nil {
		return "", err
	}
	return to.Name(), disk.SyncDir(dir)
}

// copyData copies what f holds below size and leaves its holes out.
func copyData(to *os.File, f *lowerFile, size int64) error {
	for off := int64(0); off < size; {
		end := size
		data, err := unix.Seek(f.fd, off, unix.SEEK_DATA)
		switch {
		case err == unix.ENXIO:
			return nil
		case err == nil:
			off = data
			if end, err = unix.Seek(f.fd, off, unix.SEEK_HOLE); err != nil {
				return err
			}
		case err != unix.EINVAL: // EINVAL: it cannot tell
			return err
		}
		n, err := io.Copy(io.NewOffsetWriter(to, off), io.NewSectionReader(f, off, end-off))
		if err != nil {
			return err
		}
		if n < end-off {
			return io.ErrUnexpectedEOF
		}
		off = end
	}
	return nil
}
