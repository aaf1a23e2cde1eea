package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Pending is a new file that appears under its name when it is complete, or
// never. Where the system can, it has no name before, so that not even a
// killed process leaves anything; else it is a temporary file that Strays
// finds.
type Pending struct {
	File
	path string
	temp string // name of the temporary file, or ""
}

// CreatePending begins a new file that is to be path. The error matches
// fs.ErrExist if path exists; Commit looks again.
func CreatePending(path string, perm fs.FileMode) (*Pending, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	f, err := openUnnamed(filepath.Dir(path), perm)
	if err == nil {
		return &Pending{File: f, path: path}, nil
	}
	if !errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	temp := TempName(path)
	f, err = CreateNew(temp, perm)
	if err != nil {
		return nil, err
	}
	return &Pending{File: f, path: path, temp: temp}, nil
}

// Commit makes the content durable and gives the file its name; it never
// replaces a file. The file stays open.
func (p *Pending) Commit() error {
	err := p.Sync()
	if err == nil {
		if p.temp == "" {
			err = linkUnnamed(p.File, p.path)
		} else if err = OS.RenameNew(p.temp, p.path); err == nil {
			p.temp = ""
		}
	}
	if err == nil {
		err = SyncDir(filepath.Dir(p.path))
	}
	if err != nil {
		return fmt.Errorf("name new file: %w", err)
	}
	return nil
}

// Close closes the file and, without Commit, forgets it.
func (p *Pending) Close() error {
	err := p.File.Close()
	if p.temp != "" {
		err = errors.Join(err, os.Remove(p.temp))
		p.temp = ""
	}
	return err
}
