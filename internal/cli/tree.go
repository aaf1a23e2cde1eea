package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// copyTree copies the directories and regular files below from, with their
// modes and owners, and sees to it that they are on disk: else the first arm to
// sync anything would write out both. What else there is, such as sockets, is
// left out.
func copyTree(from, to string) error {
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		return copyEntry(path, filepath.Join(to, rel), info)
	})
	if err == nil {
		err = syncFilesystem(to)
	}
	if err != nil {
		return fmt.Errorf("copy data: %w", err)
	}
	return nil
}

func copyEntry(from, to string, info fs.FileInfo) error {
	mode := info.Mode().Perm()
	switch {
	case info.IsDir():
		if err := os.Mkdir(to, mode|0o700); err != nil && !os.IsExist(err) {
			return err
		}
	case info.Mode().IsRegular():
		if err := copyContent(from, to, mode); err != nil {
			return err
		}
	default:
		return nil
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		if err := os.Lchown(to, int(st.Uid), int(st.Gid)); err != nil {
			return err
		}
	}
	return os.Chmod(to, mode)
}

func copyContent(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode|0o600)
	if err != nil {
		return err
	}
	// In large pieces: a file system in user space takes a call for each.
	_, err = io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{in}, make([]byte, 1<<20))
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return err
}

// syncFilesystem writes out the file system that dir is on.
func syncFilesystem(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

// treeSize is the room that the files in dir take, as far as they can be seen; 0
// if there is no dir.
func treeSize(dir string) (size int64) {
	filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // such as a mount whose daemon was killed
		}
		if info, err := e.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				size += st.Blocks * 512
			}
		}
		return nil
	})
	return size
}
