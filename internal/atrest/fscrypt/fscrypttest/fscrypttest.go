// Package fscrypttest makes file systems whose directories the kernel can
// encrypt, for tests.
package fscrypttest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// An FS is an ext4 file system in a file, mounted until the test ends, however
// it does: a child unmounts it when this process is gone.
type FS struct {
	Image string // the file
	Dir   string // where it is mounted
	tb    testing.TB
}

// Need skips a test on a machine whose kernel New cannot use: it needs root,
// loop devices, and encryption in ext4.
func Need(tb testing.TB) {
	tb.Helper()
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	switch {
	case os.Geteuid() != 0:
		tb.Skip("SKIPPED: only root mounts file systems")
	case !exists("/dev/loop-control"):
		tb.Skip("SKIPPED: this machine has no loop devices")
	case exists("/sys/fs/ext4/features") && !exists("/sys/fs/ext4/features/encryption"):
		tb.Skip("SKIPPED: this kernel's ext4 does not encrypt")
	}
}

// New makes one of the given size in MiB, with the feature encrypt or with the
// options of mkfs.ext4 that replace it. It needs e2fsprogs and what Need says.
func New(tb testing.TB, size int64, mkfs ...string) *FS {
	tb.Helper()
	Need(tb)
	if len(mkfs) == 0 {
		mkfs = []string{"-O", "encrypt"}
	}
	dir := tb.TempDir()
	s := &FS{filepath.Join(dir, "image"), filepath.Join(dir, "fs"), tb}
	f, err := os.Create(s.Image)
	if err == nil {
		err = errors.Join(f.Truncate(size<<20), f.Close(), os.Mkdir(s.Dir, 0o755))
	}
	if err != nil {
		tb.Fatal(err)
	}
	s.run("mkfs.ext4", append(mkfs, "-q", s.Image)...)
	s.guard()
	s.Mount()
	tb.Cleanup(func() { unmountAll(s.Dir) })
	return s
}

// guard starts the child. What it reads ends when this process does.
func (s *FS) guard() {
	s.tb.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		s.tb.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `read -r _; while umount -l "$0" 2>/dev/null; do :; done`, s.Dir)
	cmd.Stdin = r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		s.tb.Fatal(err)
	}
	r.Close()
	s.tb.Cleanup(func() { w.Close(); cmd.Wait() })
}

func unmountAll(dir string) {
	for unix.Unmount(dir, unix.MNT_DETACH) == nil {
	}
}

func (s *FS) run(name string, args ...string) {
	s.tb.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		s.tb.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// Mount mounts it, which New has done.
func (s *FS) Mount() {
	s.tb.Helper()
	s.run("mount", "-o", "loop", s.Image, s.Dir)
}

// Unmount unmounts it. The kernel then has no key of it any more.
func (s *FS) Unmount() {
	s.tb.Helper()
	s.run("umount", s.Dir)
}

// Holds reports which of texts are in the image, after a sync, byte for byte.
func (s *FS) Holds(texts ...string) []string {
	s.tb.Helper()
	d, err := os.Open(s.Dir)
	if err != nil {
		s.tb.Fatal(err)
	}
	err = errors.Join(unix.Syncfs(int(d.Fd())), d.Close())
	f, ferr := os.Open(s.Image)
	if err = errors.Join(err, ferr); err != nil {
		s.tb.Fatal(err)
	}
	defer f.Close()
	// The loop device writes to the same page cache that this reads.
	const step, most = 4 << 20, 1 << 10 // of texts
	buf := make([]byte, step+most)
	found := map[string]bool{}
	for off := int64(0); ; off += step {
		n, err := f.ReadAt(buf, off)
		for _, t := range texts {
			if bytes.Contains(buf[:n], []byte(t)) {
				found[t] = true
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.tb.Fatal(err)
		}
	}
	var list []string
	for _, t := range texts {
		if found[t] {
			list = append(list, t)
		}
	}
	return list
}
