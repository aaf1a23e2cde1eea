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
	Path string // relative to the tree, "." for its root; as it is below
	// Name is the path as a mount shows it. With encrypted names it is empty if
	// there are no keys, for an Own file, and where NameErr says why.
	Name string
	// NameErr says why the name cannot be read; it matches ErrCorrupt, or is one
	// of the system or of the keys.
	NameErr error
	// Own says that this is no entry but a file that encrypted names need. Only
	// the file that holds a directory's id has a Header.
	Own  bool
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
	names := newPathNames(d)
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
		names.describe(&e)
		if err := unix.Lstat(path, &e.Stat); errors.Is(err, unix.ENOENT) {
			return nil
		} else if err != nil {
			return &os.PathError{Op: "lstat", Path: path, Err: err}
		}
		if e.Kind() == unix.S_IFREG {
			key := [2]uint64{e.Stat.Dev, e.Stat.Ino}
			e.Again, seen[key] = seen[key], true
			e.Header, e.Err = d.readEntryHeader(path, &e)
			if errors.Is(e.Err, fs.ErrNotExist) {
				return nil
			}
		}
		return visit(&e)
	})
}

// readEntryHeader reads the header of e, if e has one to have.
func (d *Dir) readEntryHeader(path string, e *Entry) (Header, error) {
	switch {
	case !e.Own:
		return ReadHeader(path, d.keys)
	case filepath.Base(path) != dirFileName:
		return Header{}, nil
	}
	f, err := openQuietly(path)
	if err != nil {
		return Header{}, err
	}
	defer f.Close()
	return readHeaderOf(f, d.keys, roleNames)
}

// ReadHeader reads the header of the lower file path and, unless keys is nil,
// authenticates it. Errors are those of Open.
func ReadHeader(path string, keys KeySource) (Header, error) {
	f, err := openQuietly(path)
	if err != nil {
		return Header{}, err
	}
	defer f.Close()
	return readHeaderOf(f, keys, RoleFile)
}

// openQuietly opens path for reading, without changing when it was last read if
// this process may do that.
func openQuietly(path string) (*os.File, error) {
	const flags = os.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK
	f, err := os.OpenFile(path, flags|unix.O_NOATIME, 0)
	if errors.Is(err, unix.EPERM) {
		f, err = os.OpenFile(path, flags, 0)
	}
	return f, err
}

// readHeaderOf is ReadHeader of an open file that must have that role.
func readHeaderOf(f *os.File, keys KeySource, role Role) (Header, error) {
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
	if h.Role != role {
		return h, fmt.Errorf("%w: role %q", ErrMismatch, h.Role)
	}
	return h, nil
}
