//go:build linux

package fusefs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
	"github.com/veildb/veildb/internal/atrest/volume"
)

// TestUnreadableFiles has files that cannot be opened beside good ones: each is
// EIO and one line of log, the others go on, and all can be removed.
func TestUnreadableFiles(t *testing.T) {
	m := mountTest(t, serveConfig{Key: 1})
	names := []string{"good", "damaged", "truncated", "foreign", "otherkey", "version"}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(m.dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m.stop(t)
	other := mountTest(t, serveConfig{Key: 2})
	writeOne(t, filepath.Join(other.dir, "f"))
	other.stop(t)
	newer := mountTest(t, serveConfig{Key: 1, Version: 7})
	writeOne(t, filepath.Join(newer.dir, "f"))
	newer.stop(t)

	change := func(name string, f func(b []byte) []byte) {
		path := filepath.Join(m.Lower, name)
		b, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, f(b), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	readLower := func(o *mounted) []byte {
		b, err := os.ReadFile(filepath.Join(o.Lower, "f"))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	change("damaged", func(b []byte) []byte { b[100] ^= 1; return b })
	change("truncated", func(b []byte) []byte { return b[:700] })
	change("foreign", func([]byte) []byte { return bytes.Repeat([]byte("plain"), 2000) })
	change("otherkey", func([]byte) []byte { return readLower(other) })
	change("version", func([]byte) []byte { return readLower(newer) })

	m.remount(t)
	for _, name := range names {
		path := filepath.Join(m.dir, name)
		b, err := os.ReadFile(path)
		if name == "good" {
			if string(b) != name || err != nil {
				t.Errorf("%s: %q, %v", name, b, err)
			}
			continue
		}
		if !errors.Is(err, unix.EIO) {
			t.Errorf("%s: read %q, %v; want EIO", name, b, err)
		}
		if err := os.Truncate(path, 0); !errors.Is(err, unix.EIO) {
			t.Errorf("%s: truncate: %v; want EIO", name, err)
		}
	}
	m.stop(t) // all of the log has come
	for _, name := range names[1:] {
		if want := filepath.Join(m.Lower, name); strings.Count(strings.Join(m.log(), "\n"), want) != 1 {
			t.Errorf("%s: log %q; want one line on it", name, m.log())
		}
	}
	m.remount(t)
	for _, name := range names {
		if err := os.Remove(filepath.Join(m.dir, name)); err != nil {
			t.Errorf("remove %s: %v", name, err)
		}
	}
}

func writeOne(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestEmptyLowerFile is a file whose header never reached the disk, or was lost
// there: reading takes it for zeros and leaves it alone, also on a mount that
// refuses changes, and writing keeps what was behind it.
func TestEmptyLowerFile(t *testing.T) {
	m := mountTest(t, serveConfig{Key: 1})
	m.stop(t)
	lost := append(make([]byte, volume.HeaderSize), "what only a header can open"...)
	for name, data := range map[string][]byte{"empty": nil, "zeros": make([]byte, 8192), "lost": lost} {
		if err := os.WriteFile(filepath.Join(m.Lower, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	size := map[string]int64{"empty": 0, "zeros": 4096, "lost": volume.ContentSize(int64(len(lost)))}
	m.Lost = filepath.Join(tempDir(t), "lost")
	for _, readOnly := range []bool{true, false} {
		m.ReadOnly = readOnly
		m.remount(t)
		for name, size := range size {
			b, err := os.ReadFile(filepath.Join(m.dir, name))
			if !bytes.Equal(b, make([]byte, size)) || err != nil {
				t.Errorf("%s: %q, %v; want %d zeros", name, b, err, size)
			}
		}
		if b, err := os.ReadFile(filepath.Join(m.Lower, "lost")); !bytes.Equal(b, lost) || err != nil {
			t.Errorf("reading changed the lower file: %q, %v", b, err)
		}
		if fi, err := os.Stat(filepath.Join(m.Lower, "empty")); err != nil || fi.Size() != 0 {
			t.Errorf("reading changed an empty lower file: %v, %v", fi, err)
		}
		m.stop(t)
	}
	m.remount(t)
	for name, size := range size {
		path := filepath.Join(m.dir, name)
		r, err := os.Open(path) // a reader from before sees what is written
		if err != nil {
			t.Fatal(err)
		}
		w, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]byte, max(3, size))
		copy(want, "one")
		if _, err := w.WriteString("one"); err != nil {
			t.Error(err)
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(r, got); !bytes.Equal(got, want) || err != nil {
			t.Errorf("%s: %q, %v after writing", name, got, err)
		}
		w.Close()
		r.Close()
	}
	m.stop(t)
	kept, err := filepath.Glob(filepath.Join(m.Lost, "*"))
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, k := range kept {
		b, err := os.ReadFile(k)
		found = found || bytes.Equal(b, lost) && err == nil
	}
	if len(kept) != 2 || !found {
		t.Errorf("kept %q; want a copy of what had data behind the header", kept)
	}
	if log := strings.Join(m.log(), "\n"); strings.Count(log, "kept as "+m.Lost) != 2 || !strings.Contains(log, filepath.Join(m.Lower, "lost")) {
		t.Errorf("log %q", log)
	}
}

// TestKilledMount kills the server: the mount point answers ENOTCONN, and a new
// mount, or an unmount, clears it away though it is in use.
func TestKilledMount(t *testing.T) {
	m := mountTest(t, serveConfig{Key: 1})
	f, err := os.Create(filepath.Join(m.dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("written, not synced"); err != nil {
		t.Fatal(err)
	}
	m.kill(t)
	if _, err := os.ReadDir(m.dir); !errors.Is(err, unix.ENOTCONN) {
		t.Errorf("after the kill: %v, want ENOTCONN", err)
	}
	m.remount(t)
	if b, err := os.ReadFile(filepath.Join(m.dir, "f")); string(b) != "written, not synced" {
		t.Errorf("mounted again: %q, %v", b, err)
	}
	if _, err := f.WriteString("x"); !errors.Is(err, unix.ENOTCONN) {
		t.Errorf("old handle: %v, want ENOTCONN", err)
	}
	m.kill(t)
	if err := fuse.Unmount(m.dir); err != nil {
		t.Errorf("unmount a dead one: %v", err)
	}
	if _, ok, err := fuse.Find(m.dir); ok || err != nil {
		t.Errorf("still mounted: %v, %v", ok, err)
	}
	if err := fuse.Unmount(m.dir); !errors.Is(err, fuse.ErrNotMounted) {
		t.Errorf("unmount once more: %v, want ErrNotMounted", err)
	}
}

// TestBusyUnmount unmounts what is in use: service goes on.
func TestBusyUnmount(t *testing.T) {
	m := mountTest(t, serveConfig{Key: 1})
	f, err := os.Create(filepath.Join(m.dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := fuse.Unmount(m.dir); !errors.Is(err, fuse.ErrBusy) {
		t.Errorf("unmount: %v, want ErrBusy", err)
	}
	m.cmd.Process.Signal(unix.SIGTERM)
	eventually(t, "complaint", func() bool { return strings.Contains(strings.Join(m.log(), "\n"), "in use") })
	if _, err := f.WriteString("still there"); err != nil {
		t.Errorf("write after that: %v", err)
	}
	second := serveConfig{Key: 1, Lower: m.Lower, Mountpoint: m.dir}
	if err := (&mounted{serveConfig: second}).start(); err == nil || !strings.Contains(err.Error(), "already mounted") {
		t.Errorf("mount on it: %v, want already mounted", err)
	}
}

// TestLowerDiskFull fills the file system below. What was acknowledged stays,
// the write that does not fit fails at once, and space that is freed is used.
func TestLowerDiskFull(t *testing.T) {
	lower := tempDir(t)
	if err := unix.Mount("none", lower, "tmpfs", 0, "size=4m,mode=755"); err != nil {
		t.Fatalf("mount a small tmpfs (the tests of the mount need root): %v", err)
	}
	t.Cleanup(func() { unix.Unmount(lower, unix.MNT_DETACH) })
	m := mountTest(t, serveConfig{Key: 1, Lower: lower})
	keep := filepath.Join(m.dir, "keep")
	content := bytes.Repeat([]byte("kept"), 10000)
	if err := os.WriteFile(keep, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(m.dir, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	written, block := int64(0), bytes.Repeat([]byte{7}, 12345)
	for {
		n, err := f.WriteAt(block, written)
		written += int64(n)
		if errors.Is(err, unix.ENOSPC) {
			break
		}
		if err != nil || written > 8<<20 {
			t.Fatalf("after %d bytes: %v", written, err)
		}
	}
	if err := f.Sync(); err != nil {
		t.Errorf("sync: %v", err)
	}
	got := make([]byte, written)
	if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, bytes.Repeat(block, int(written)/len(block)+1)[:written]) {
		t.Errorf("acknowledged content: %v", err)
	}
	if err := unix.Fallocate(int(f.Fd()), 0, written, 1<<20); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("fallocate: %v, want ENOSPC", err)
	}
	if err := os.WriteFile(filepath.Join(m.dir, "new"), block, 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("new file: %v, want ENOSPC", err)
	}
	if b, err := os.ReadFile(keep); err != nil || !bytes.Equal(b, content) {
		t.Errorf("other file: %v", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		t.Errorf("remove: %v", err)
	}
	f.Close()
	path := filepath.Join(m.dir, "again")
	eventually(t, "space is free again", func() bool { return os.WriteFile(path, bytes.Repeat(block, 100), 0o600) == nil })
	m.stop(t)
	m.remount(t)
	if b, err := os.ReadFile(keep); err != nil || !bytes.Equal(b, content) {
		t.Errorf("other file, mounted again: %v", err)
	}
}

// TestLowerTree looks at the tree below: names and kinds are those above,
// sizes follow the format.
func TestLowerTree(t *testing.T) {
	m := mountTest(t, serveConfig{Key: 1})
	if err := os.MkdirAll(filepath.Join(m.dir, "a/b"), 0o750); err != nil {
		t.Fatal(err)
	}
	for i, size := range []int{0, 1, 15, 16, 17, 4096, 5000} {
		name := fmt.Sprintf("a/b/%d", i)
		if err := os.WriteFile(filepath.Join(m.dir, name), bytes.Repeat([]byte{1}, size), 0o640); err != nil {
			t.Fatal(err)
		}
		if fi, err := os.Stat(filepath.Join(m.dir, name)); err != nil || fi.Size() != int64(size) {
			t.Errorf("%s: %v, %v; want %d bytes", name, fi.Size(), err, size)
		}
		if fi, err := os.Stat(filepath.Join(m.Lower, name)); err != nil || fi.Size() != volume.LowerSize(int64(size)) || fi.Mode() != 0o640 {
			t.Errorf("below: %s: %d bytes, %v, %v; want %d", name, fi.Size(), fi.Mode(), err, volume.LowerSize(int64(size)))
		}
	}
	count := func(dir string) (n int) {
		filepath.WalkDir(dir, func(string, fs.DirEntry, error) error { n++; return nil })
		return n
	}
	if above, below := count(m.dir), count(m.Lower); above != below {
		t.Errorf("%d entries above, %d below", above, below)
	}
}
