// Package diskfaulttest wraps a disk.FS so that a test sees, fails or cuts
// short each operation by its label.
package diskfaulttest

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/veildb/veildb/internal/disk"
)

// An Op is one operation about to be done.
type Op struct {
	Kind string // open, read, write, truncate, sync, size, close, rename, rename-new, remove, sync-dir
	Path string // file or directory; for a rename the old name
	New  string // new name of a rename
	Off  int64  // offset of a read or write, new size of a truncate
	Data []byte // data of a write; valid during the call only
}

func (o Op) String() string {
	switch o.Kind {
	case "read", "write":
		return fmt.Sprintf("%s %s [%d+%d]", o.Kind, filepath.Base(o.Path), o.Off, len(o.Data))
	case "truncate":
		return fmt.Sprintf("truncate %s %d", filepath.Base(o.Path), o.Off)
	}
	return o.Kind + " " + filepath.Base(o.Path)
}

// An FS calls Before ahead of every operation of Base. If Before returns an
// error the operation is not done and the error is returned; a write is first
// done for the leading n bytes. Calls of Before are serialised.
type FS struct {
	Base   disk.FS
	Before func(op Op) (n int, err error)

	mu sync.Mutex
}

func (f *FS) before(op Op) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Before(op)
}

// OpenFile implements disk.FS.
func (f *FS) OpenFile(path string, flag int, perm fs.FileMode) (disk.File, error) {
	if _, err := f.before(Op{Kind: "open", Path: path}); err != nil {
		return nil, err
	}
	file, err := f.Base.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return &faultFile{file, path, f}, nil
}

// Rename implements disk.FS.
func (f *FS) Rename(oldPath, newPath string) error {
	if _, err := f.before(Op{Kind: "rename", Path: oldPath, New: newPath}); err != nil {
		return err
	}
	return f.Base.Rename(oldPath, newPath)
}

// RenameNew implements disk.FS.
func (f *FS) RenameNew(oldPath, newPath string) error {
	if _, err := f.before(Op{Kind: "rename-new", Path: oldPath, New: newPath}); err != nil {
		return err
	}
	return f.Base.RenameNew(oldPath, newPath)
}

// Remove implements disk.FS.
func (f *FS) Remove(path string) error {
	if _, err := f.before(Op{Kind: "remove", Path: path}); err != nil {
		return err
	}
	return f.Base.Remove(path)
}

// SyncDir implements disk.FS.
func (f *FS) SyncDir(dir string) error {
	if _, err := f.before(Op{Kind: "sync-dir", Path: dir}); err != nil {
		return err
	}
	return f.Base.SyncDir(dir)
}

type faultFile struct {
	base disk.File
	path string
	fs   *FS
}

func (f *faultFile) ReadAt(p []byte, off int64) (int, error) {
	if _, err := f.fs.before(Op{Kind: "read", Path: f.path, Off: off, Data: p}); err != nil {
		return 0, err
	}
	return f.base.ReadAt(p, off)
}

func (f *faultFile) WriteAt(p []byte, off int64) (int, error) {
	if n, err := f.fs.before(Op{Kind: "write", Path: f.path, Off: off, Data: p}); err != nil {
		n, _ = f.base.WriteAt(p[:n], off)
		return n, err
	}
	return f.base.WriteAt(p, off)
}

func (f *faultFile) Truncate(size int64) error {
	if _, err := f.fs.before(Op{Kind: "truncate", Path: f.path, Off: size}); err != nil {
		return err
	}
	return f.base.Truncate(size)
}

func (f *faultFile) Sync() error {
	if _, err := f.fs.before(Op{Kind: "sync", Path: f.path}); err != nil {
		return err
	}
	return f.base.Sync()
}

func (f *faultFile) Size() (int64, error) {
	if _, err := f.fs.before(Op{Kind: "size", Path: f.path}); err != nil {
		return 0, err
	}
	return f.base.Size()
}

func (f *faultFile) Close() error {
	_, err := f.fs.before(Op{Kind: "close", Path: f.path})
	if cerr := f.base.Close(); err == nil {
		err = cerr
	}
	return err
}
