package cli

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// veildbAt returns a function that runs the real command line in dir.
func veildbAt(t *testing.T, dir string) func(args ...string) error {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "veildb") // see TestMain
	if err := os.Symlink(exe, bin); err != nil {
		t.Fatal(err)
	}
	return func(args ...string) error {
		cmd := exec.Command(bin, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), keyEnv+"=ring")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("veildb %q: %w\n%s", args, err, out)
		}
		return nil
	}
}

// newMount makes a volume in a new directory and mounts it on mnt there.
func newMount(t *testing.T) (dir string, veildb func(args ...string) error) {
	t.Helper()
	dir = t.TempDir()
	veildb = veildbAt(t, dir)
	root := make([]byte, 32)
	rand.Read(root)
	err := errors.Join(os.WriteFile(filepath.Join(dir, "root"), root, 0o600), os.Mkdir(filepath.Join(dir, "mnt"), 0o700),
		veildb("key", "init", "ring", "--provider", "file:root"), veildb("volume", "init", "lower"),
		veildb("volume", "mount", "lower", "mnt", "--background"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(filepath.Join(dir, "mnt"), unix.MNT_DETACH) })
	return dir, veildb
}

// A workedFile is a file of a mount that one goroutine changes in all ways,
// and what it should hold.
type workedFile struct {
	path  string
	f     *os.File
	model []byte
	r     *mathrand.Rand
	done  atomic.Int64
}

const workedSize = 3 << 20

func newWorkedFile(t *testing.T, path string, seed uint64) *workedFile {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := &workedFile{path: path, f: f, r: mathrand.New(mathrand.NewPCG(seed, 1)), model: bytes.Repeat([]byte{byte(seed)}, workedSize)}
	if _, err := f.Write(w.model); err != nil {
		t.Fatal(err)
	}
	return w
}

// change does one random thing. What succeeds is in the model; a file system
// that has gone away is an error.
func (w *workedFile) change() error {
	off := w.r.IntN(workedSize - 70000)
	n := 1 + w.r.IntN(70000)
	switch w.r.IntN(12) {
	case 0:
		size := w.r.IntN(workedSize)
		if err := w.f.Truncate(int64(size)); err != nil {
			return err
		}
		w.model = w.model[:min(size, len(w.model))]
		w.model = append(w.model, make([]byte, size-len(w.model))...)
	case 1:
		if off+n > len(w.model) {
			return nil
		}
		if err := unix.Fallocate(int(w.f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(off), int64(n)); err != nil {
			return err
		}
		clear(w.model[off : off+n])
	case 2:
		to := w.path + "x"
		if err := errors.Join(os.Rename(w.path, to), os.Chmod(to, 0o640), os.Rename(to, w.path)); err != nil {
			return err
		}
	case 3:
		return w.compare(w.f)
	case 5:
		to := w.path + "linked"
		if err := os.Remove(to); err == nil {
			return nil
		} else if !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return os.Link(w.path, to)
	case 4:
		return w.f.Sync()
	default:
		if w.r.IntN(2) == 0 {
			off, n = off&^4095, (n+4095)&^4095
		}
		p := bytes.Repeat([]byte{byte(off), byte(n), byte(off >> 8)}, n/3+1)[:n]
		if _, err := w.f.WriteAt(p, int64(off)); err != nil {
			return err
		}
		if end := off + n; end > len(w.model) {
			w.model = append(w.model, make([]byte, end-len(w.model))...)
		}
		copy(w.model[off:], p)
	}
	w.done.Add(1)
	return nil
}

func (w *workedFile) compare(f io.ReaderAt) error {
	got := make([]byte, len(w.model)+1)
	n, err := f.ReadAt(got, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !bytes.Equal(got[:n], w.model) {
		i := 0
		for i < min(n, len(w.model)) && got[i] == w.model[i] {
			i++
		}
		return fmt.Errorf("%w: %s has %d bytes, want %d; it differs from byte %d on", volume.ErrCorrupt, w.path, n, len(w.model), i)
	}
	return nil
}

// compareLink looks at the second name of w, if it has one.
func (w *workedFile) compareLink() error {
	f, err := os.Open(w.path + "linked")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	a, err := f.Stat()
	b, err2 := os.Stat(w.path)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if !os.SameFile(a, b) {
		return fmt.Errorf("%s and its second name are two files", w.path)
	}
	return w.compare(f)
}

// TestRekeyLinks rekeys a mounted file that has names in several directories,
// open under one of them.
func TestRekeyLinks(t *testing.T) {
	dir, veildb := newMount(t)
	at := func(name string) string { return filepath.Join(dir, "mnt", name) }
	w := newWorkedFile(t, at("a"), 7)
	defer w.f.Close()
	names := []string{"a", "alinked", "b", "d/c", "d/e/" + strings.Repeat("f", 255)}
	err := os.MkdirAll(at("d/e"), 0o700)
	for _, name := range names[1:] {
		err = errors.Join(err, os.Link(at("a"), at(name)))
	}
	before, err2 := w.f.Stat()
	err = errors.Join(err, err2, veildb("key", "rotate", "ring", "--dek"), veildb("volume", "rekey", "mnt"))
	if err != nil {
		t.Fatal(err)
	}
	copy(w.model[100:], "written after it")
	if _, err := w.f.WriteAt([]byte("written after it"), 100); err != nil {
		t.Fatal(err)
	}
	for mounted := range 2 {
		for _, name := range names {
			f, err := os.Open(at(name))
			if err != nil {
				t.Fatal(err)
			}
			fi, err := f.Stat()
			if err := errors.Join(err, w.compare(f)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if st := fi.Sys().(*syscall.Stat_t); mounted == 0 && !os.SameFile(fi, before) || st.Nlink != uint64(len(names)) {
				t.Errorf("%s is another file than before, or has %d links", name, st.Nlink)
			}
			f.Close()
			h, err := volume.ReadHeader(filepath.Join(dir, "lower", "files", name), nil)
			if err != nil || h.KeyVersion != 2 {
				t.Errorf("%s: %+v, %v; want key version 2", name, h, err)
			}
		}
		if mounted == 0 {
			w.f.Close()
			if err := errors.Join(veildb("volume", "umount", "mnt"), veildb("volume", "mount", "lower", "mnt", "--background")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(veildb("volume", "umount", "mnt"), veildb("volume", "check", "lower", "--read")); err != nil {
		t.Error(err)
	}
}

// TestRekeyUnderLoad rekeys a mounted volume again and again while its files
// are written, cut, punched, renamed and read.
func TestRekeyUnderLoad(t *testing.T) {
	dir, veildb := newMount(t)
	var files []*workedFile
	for i := range 3 {
		files = append(files, newWorkedFile(t, filepath.Join(dir, "mnt", fmt.Sprint(i)), uint64(i+1)))
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, w := range files {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := w.change(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	version := 1
	for ; version < 6; version++ {
		before := files[0].done.Load()
		if err := errors.Join(veildb("key", "rotate", "ring", "--dek"), veildb("volume", "rekey", "mnt")); err != nil {
			t.Error(err)
			break
		}
		for files[0].done.Load() == before && !t.Failed() {
			unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil)
		}
	}
	close(stop)
	wg.Wait()
	for _, w := range files {
		if err := w.compare(w.f); err != nil {
			t.Error(err)
		}
		t.Logf("%d changes", w.done.Load())
		w.f.Close()
		h, err := volume.ReadHeader(filepath.Join(dir, "lower", "files", filepath.Base(w.path)), nil)
		if err != nil || h.KeyVersion != uint32(version) && !t.Failed() {
			t.Errorf("%s: key version %d, %v; want %d", w.path, h.KeyVersion, err, version)
		}
		if err := w.compareLink(); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(veildb("volume", "umount", "mnt"), veildb("volume", "check", "lower", "--read")); err != nil {
		t.Error(err)
	}
}

// TestKillMountWhileRekeying kills the mount while it rekeys under load: what
// was written before is there again.
func TestKillMountWhileRekeying(t *testing.T) {
	dir, veildb := newMount(t)
	mnt, lower := filepath.Join(dir, "mnt"), filepath.Join(dir, "lower")
	for round := range 6 {
		w := newWorkedFile(t, filepath.Join(mnt, "file"), uint64(round+1))
		if err := veildb("key", "rotate", "ring", "--dek"); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			veildb("volume", "rekey", "mnt", "--throttle", "30") // is cut off
		}()
		for w.done.Load() < int64(1+round*7) {
			if err := w.change(); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Kill(volume.ReadHolder(lower).PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		w.f.Close()
		<-ended
		if err := waitFree(t.Context(), lower); err != nil { // until it is dead
			t.Fatal(err)
		}
		if err := veildb("volume", "mount", "lower", "mnt", "--background"); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(w.path)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.compare(f); err != nil {
			t.Error(err)
		}
		f.Close()
	}
	if err := errors.Join(veildb("volume", "rekey", "mnt"), veildb("volume", "umount", "mnt"), veildb("volume", "check", "lower", "--read")); err != nil {
		t.Error(err)
	}
}

// TestCopyBelowWhileRekeying copies the lower directory file by file, again and
// again, while a mounted volume is rekeyed: each copy is a volume that holds
// what the files held.
func TestCopyBelowWhileRekeying(t *testing.T) {
	dir, veildb := newMount(t)
	var files []*workedFile
	for i := range 12 {
		w := newWorkedFile(t, filepath.Join(dir, "mnt", fmt.Sprint(i)), uint64(i+1))
		w.f.Close()
		files = append(files, w)
	}
	if err := veildb("key", "rotate", "ring", "--dek"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- veildb("volume", "rekey", "mnt", "--throttle", "60") }()
	copies, rekeyed := 0, false
	for ; !rekeyed; copies++ {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			rekeyed = true // and once more, at rest
		default:
		}
		restored := filepath.Join(dir, fmt.Sprint("copy", copies))
		if out, err := exec.Command("cp", "-a", filepath.Join(dir, "lower"), restored).CombinedOutput(); err != nil {
			t.Logf("%s", out) // a successor went while it was copied
		}
		os.Remove(filepath.Join(restored, ".veildb", controlName))
		plain := filepath.Join(dir, "plain")
		if err := veildb("volume", "convert", "--in", restored, "--out", plain, "--decrypt"); err != nil {
			t.Fatal(err)
		}
		for i, w := range files {
			got, err := os.ReadFile(filepath.Join(plain, fmt.Sprint(i)))
			if err != nil || !bytes.Equal(got, w.model) {
				t.Fatalf("copy %d, file %d: %d bytes, %v", copies, i, len(got), err)
			}
		}
		if err := errors.Join(os.RemoveAll(restored), os.RemoveAll(plain)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d copies", copies)
	if err := veildb("volume", "umount", "mnt"); err != nil {
		t.Error(err)
	}
}
