package target

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// copyTemplate fills d.data with a copy of the data at path. The first caller
// makes the data with fresh and leaves the copy at path; others, in this
// program or another, wait for it.
func copyTemplate(ctx context.Context, path string, d *directory, fresh func(data string) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create template: %w", err)
	}
	if exists(path) { // complete: it appears by rename
		return copyTree(path, d.data, d.give)
	}
	unlock, err := waitLock(ctx, path+".lock")
	if err != nil {
		return fmt.Errorf("create template: %w", err)
	}
	defer unlock()
	if exists(path) {
		return copyTree(path, d.data, d.give)
	}
	if err := fresh(d.data); err != nil {
		return err
	}
	part := path + ".part"
	if err := os.RemoveAll(part); err != nil {
		return fmt.Errorf("create template: %w", err)
	}
	keep := func(string) error { return nil }
	if err := copyTree(d.data, part, keep); err != nil {
		return fmt.Errorf("create template: %w", err)
	}
	if err := os.Rename(part, path); err != nil {
		return fmt.Errorf("create template: %w", err)
	}
	return nil
}

// waitLock takes the lock file at path, waiting until ctx ends.
func waitLock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return func() { closeLock(f) }, nil
}

// copyTree copies the directories and regular files of src to dst and passes
// each new path to own.
func copyTree(src, dst string, own func(path string) error) error {
	return filepath.WalkDir(src, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}
		to := filepath.Join(dst, rel)
		switch {
		case e.IsDir():
			err = os.MkdirAll(to, 0o700)
		case e.Type().IsRegular():
			err = copyFile(path, to)
		default:
			return nil // sockets; initialised data has no links
		}
		if err != nil {
			return err
		}
		return own(to)
	})
}

func copyFile(src, dst string) error {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
