package fscrypt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A Tree is what lies below an encrypted directory.
type Tree struct {
	Files       int   `json:"files"`
	Directories int   `json:"directories"` // the top one among them
	Bytes       int64 `json:"bytes"`       // of content
	DiskBytes   int64 `json:"disk_bytes"`
}

// A Problem is something below an encrypted directory that is not as it should
// be. Path is relative to it.
type Problem struct {
	Path string `json:"path"`
	What string `json:"what"`
}

// Count adds up what lies below d. It needs no key; a file that vanishes
// meanwhile is left out.
func (d *Dir) Count(ctx context.Context) (Tree, error) {
	return d.walk(ctx, func(string, *unix.Statx_t) error { return nil })
}

// Check looks at each file, directory and link below d for a policy that is not
// d's, or none. Of regular files in a locked directory only the latter shows.
func (d *Dir) Check(ctx context.Context) (Tree, []Problem, error) {
	var problems []Problem
	tree, err := d.walk(ctx, func(path string, st *unix.Statx_t) error {
		what, err := d.look(path, st)
		if what != "" {
			rel, _ := filepath.Rel(d.Path, path)
			problems = append(problems, Problem{rel, what})
		}
		return err
	})
	return tree, problems, err
}

// look tells what is wrong with the file path; "" if nothing is.
func (d *Dir) look(path string, st *unix.Statx_t) (what string, err error) {
	kind := st.Mode & unix.S_IFMT
	switch kind {
	case unix.S_IFREG, unix.S_IFDIR, unix.S_IFLNK:
	default:
		return "", nil // sockets, pipes and devices hold nothing
	}
	if st.Attributes&unix.STATX_ATTR_ENCRYPTED == 0 {
		return "not encrypted", nil
	}
	if kind == unix.S_IFLNK {
		return "", nil // a link cannot be asked for its policy
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, unix.ENOKEY), errors.Is(err, fs.ErrNotExist):
		return "", nil // locked, or gone
	case err != nil:
		return "", err
	}
	defer f.Close()
	p, err := policyOf(f)
	switch {
	case err != nil:
		return "policy cannot be read: " + err.Error(), nil
	case p.KeyID != d.Policy.KeyID:
		return fmt.Sprintf("encrypted with another key: %s", p.KeyID), nil
	case p != d.Policy:
		return "encrypted with another policy", nil
	}
	return "", nil
}

func (d *Dir) walk(ctx context.Context, visit func(path string, st *unix.Statx_t) error) (t Tree, err error) {
	seen := map[[3]uint64]bool{} // files with several names
	err = filepath.WalkDir(d.Path, func(path string, e fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) && path != d.Path {
				return nil
			}
			return err
		}
		var st unix.Statx_t
		const flags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
		if err := unix.Statx(unix.AT_FDCWD, path, flags, unix.STATX_BASIC_STATS, &st); err != nil {
			if errors.Is(err, unix.ENOENT) {
				return nil
			}
			return &os.PathError{Op: "stat", Path: path, Err: err}
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			t.Directories++
		case unix.S_IFREG:
			id := [3]uint64{uint64(st.Dev_major), uint64(st.Dev_minor), st.Ino}
			if st.Nlink > 1 && seen[id] {
				return nil
			}
			if st.Nlink > 1 {
				seen[id] = true
			}
			t.Files++
			t.Bytes += int64(st.Size)
			t.DiskBytes += int64(st.Blocks) * 512
		}
		return visit(path, &st)
	})
	if err != nil {
		return t, fmt.Errorf("read directory: %w", err)
	}
	return t, nil
}
