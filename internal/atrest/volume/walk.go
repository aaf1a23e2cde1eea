package volume

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// An Entry is one name in the tree of a volume.
type Entry struct {
	Path string // relative to the tree, "." for its root
	Stat unix.Stat_t
	// Again says that an earlier entry is the same file under another name.
	Again bool
	// Header is that of a regular file that has one.
	Header Header
	// Err says why a regular file has no header that stands; it matches one of
	// the errors of Open.
	Err error
}

// Kind returns the type bits of the entry's mode, such as unix.S_IFREG.
func (e *Entry) Kind() uint32 { return e.Stat.Mode & unix.S_IFMT }

// Size returns the length of the content of a regular file.
func (e *Entry) Size() int64 { return ContentSize(e.Stat.Size) }

// Walk calls visit for each name of the tree, parents first. Headers are
// checked against damage and, if d has keys, authenticated. What vanishes while
// it walks, as on a mounted volume, is left out.
func (d *Dir) Walk(visit func(*Entry) error) error {
	root := d.root.Name()
	seen := map[[2]uint64]bool{}
	return filepath.WalkDir(root, func(path string, de fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != root {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		e := Entry{Path: rel}
		if err := unix.Lstat(path, &e.Stat); errors.Is(err, unix.ENOENT) {
			return nil
		} else if err != nil {
			return &os.PathError{Op: "lstat", Path: path, Err: err}
		}
		if e.Kind() == unix.S_IFREG {
			key := [2]uint64{e.Stat.Dev, e.Stat.Ino}
			e.Again, seen[key] = seen[key], true
			e.Header, e.Err = ReadHeader(path, d.keys)
			if errors.Is(e.Err, fs.ErrNotExist) {
				return nil
			}
		}
		return visit(&e)
	})
}

// ReadHeader reads the header of the lower file path and, unless keys is nil,
// authenticates it. Errors are those of Open.
func ReadHeader(path string, keys KeySource) (Header, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOATIME, 0)
	if errors.Is(err, unix.EPERM) {
		f, err = os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	}
	if err != nil {
		return Header{}, err
	}
	defer f.Close()
	b := make([]byte, HeaderSize)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return Header{}, err
	}
	h, err := Inspect(b[:n])
	if err != nil || keys == nil {
		return h, err
	}
	key, cipher, err := fileKeys(keys, h.KeyVersion, h.FileID)
	if err != nil {
		return h, err
	}
	defer clear(key[:])
	cipher.Wipe()
	if err := h.verify(b, &key); err != nil {
		return h, err
	}
	if h.Role != RoleFile {
		return h, fmt.Errorf("%w: role %q", ErrMismatch, h.Role)
	}
	return h, nil
}
