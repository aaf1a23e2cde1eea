package disk_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/veildb/veildb/internal/disk"
	"github.com/veildb/veildb/internal/disk/diskfaulttest"
)

// TestAtomicWriteFailsAtEachStep fails every operation in turn: the old
// content must survive every failure before the rename, and no temporary file
// may stay.
func TestAtomicWriteFailsAtEachStep(t *testing.T) {
	boom := errors.New("boom")
	for step := 0; ; step++ {
		path := filepath.Join(t.TempDir(), "f")
		if err := disk.AtomicWrite(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		seen, failed := 0, ""
		faulty := &diskfaulttest.FS{Base: disk.OS, Before: func(op diskfaulttest.Op) (int, error) {
			seen++
			if seen-1 == step {
				failed = op.Kind
				return len(op.Data) / 2, boom
			}
			return 0, nil
		}}
		err := disk.AtomicWriteFS(faulty, path, []byte("new"), 0o600)
		want := "old"
		if failed == "" || failed == "sync-dir" {
			want = "new"
		}
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Errorf("after a failed %q: content %q, want %q", failed, got, want)
		}
		if strays, err := disk.Strays(path); err != nil || len(strays) != 0 {
			t.Errorf("after a failed %q: strays %v, error %v", failed, strays, err)
		}
		if failed == "" {
			if err != nil {
				t.Fatal(err)
			}
			if step < 6 {
				t.Errorf("only %d operations seen; expected open, write, sync, close, rename, sync-dir", step)
			}
			return
		}
		if !errors.Is(err, boom) {
			t.Errorf("after a failed %q: error %v, want %v", failed, err, boom)
		}
	}
}

func TestStraysFindsTemporaryFilesOnly(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ring")
	tmp := disk.TempName(path)
	for _, name := range []string{tmp, path, path + ".tmp", filepath.Join(dir, ".ring.x.tmp"), disk.TempName(filepath.Join(dir, "other"))} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := disk.Strays(path)
	if err != nil || len(got) != 1 || got[0] != tmp {
		t.Errorf("Strays = %v, %v; want only %s", got, err, tmp)
	}
}

func TestAtomicWriteMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := disk.AtomicWrite(path, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(path)
	if err != nil || fi.Mode() != 0o400 {
		t.Errorf("mode %v, %v; want 0400", fi.Mode(), err)
	}
}

func TestLockIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l, err := disk.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := disk.Lock(path); !errors.Is(err, disk.ErrBusy) {
		t.Errorf("second lock: %v, want ErrBusy", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := disk.Lock(path)
	if err != nil {
		t.Fatalf("lock after release: %v", err)
	}
	again.Close()
}

func TestRenameNewRefusesExisting(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, p := range []string{a, b} {
		if err := os.WriteFile(p, []byte(filepath.Base(p)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := disk.OS.RenameNew(a, b); !errors.Is(err, fs.ErrExist) {
		t.Errorf("rename over a file: %v, want fs.ErrExist", err)
	}
	if got, _ := os.ReadFile(b); string(got) != "b" {
		t.Errorf("target overwritten: %q", got)
	}
	if err := disk.OS.RenameNew(a, filepath.Join(dir, "c")); err != nil {
		t.Errorf("rename to a free name: %v", err)
	}
}

func TestCreateNewRefusesExisting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, err := disk.CreateNew(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := disk.CreateNew(path, 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second create: %v, want fs.ErrExist", err)
	}
}
