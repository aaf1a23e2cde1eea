// Package disk performs the file operations on which durability depends: each
// goes through an FS, so that a test can fail, tear or record it by name.
package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A File is an open file. ReadAt and WriteAt are as in io; the other methods
// are as in *os.File. All are safe for concurrent use.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	// Size returns the length in bytes, asked of the system each time.
	Size() (int64, error)
}

// An FS is the part of a file system that durable formats need. Paths are
// those of the operating system.
type FS interface {
	OpenFile(path string, flag int, perm fs.FileMode) (File, error)
	// Rename replaces newPath if it exists.
	Rename(oldPath, newPath string) error
	// RenameNew moves oldPath to newPath in one step and returns an error
	// matching fs.ErrExist if newPath exists.
	RenameNew(oldPath, newPath string) error
	Remove(path string) error
	// SyncDir makes the entries of directory dir durable.
	SyncDir(dir string) error
}

// OS is the file system of the operating system.
var OS FS = osFS{}

type osFS struct{}

// osFile adds Size to *os.File.
type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

func (osFS) OpenFile(path string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Rename(oldPath, newPath string) error    { return os.Rename(oldPath, newPath) }
func (osFS) RenameNew(oldPath, newPath string) error { return renameNew(oldPath, newPath) }
func (osFS) Remove(path string) error                { return os.Remove(path) }

func (osFS) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	// Some file systems cannot sync a directory and say so with EINVAL; for
	// them an entry is as durable as it will ever be.
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// SyncDir makes the entries of directory dir durable: files created in it,
// renamed into it or removed from it before the call.
func SyncDir(dir string) error { return OS.SyncDir(dir) }

// CreateNew creates path for reading and writing and returns an error matching
// fs.ErrExist if anything, even a dangling symbolic link, has that name.
func CreateNew(path string, perm fs.FileMode) (File, error) {
	return OS.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

// AtomicWrite replaces path by a file with the given content and mode. After a
// crash at any moment path is the old file or the new one, whole; once
// AtomicWrite has returned nil it is the new one. A crash may leave a temporary
// file beside path, which Strays finds.
func AtomicWrite(path string, data []byte, perm fs.FileMode) error {
	return AtomicWriteFS(OS, path, data, perm)
}

// AtomicWriteFS is AtomicWrite through fsys.
func AtomicWriteFS(fsys FS, path string, data []byte, perm fs.FileMode) error {
	tmp, err := writeTemp(fsys, path, data, perm)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := fsys.Rename(tmp, path); err != nil {
		fsys.Remove(tmp)
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := fsys.SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("write %s: sync directory: %w", path, err)
	}
	return nil
}

// writeTemp writes and syncs a new temporary file beside path. On error it
// leaves no file.
func writeTemp(fsys FS, path string, data []byte, perm fs.FileMode) (tmp string, err error) {
	tmp = TempName(path)
	f, err := fsys.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return "", err
	}
	_, err = f.WriteAt(data, 0)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		fsys.Remove(tmp)
		return "", err
	}
	return tmp, nil
}
