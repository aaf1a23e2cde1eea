//go:build unix

package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestOpenRegular(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("file"), []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", at("link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path string
		want       error
	}{
		{"file", at("file"), nil},
		{"link to a file", at("link"), nil},
		{"pipe without a writer", at("pipe"), ErrNotRegular},
		{"directory", dir, ErrNotRegular},
		{"device", os.DevNull, ErrNotRegular},
		{"nothing", at("nothing"), fs.ErrNotExist},
	} {
		t.Run(c.name, func(t *testing.T) {
			done := make(chan error, 1)
			go func() {
				f, err := OpenRegular(c.path)
				if err == nil {
					_, err = io.ReadAll(f)
					f.Close()
				}
				done <- err
			}()
			select {
			case err := <-done:
				if !errors.Is(err, c.want) {
					t.Errorf("error %v, want %v", err, c.want)
				}
			case <-time.After(time.Minute):
				t.Error("waits for ever")
			}
		})
	}
}

// TestUnlockedWhileForking takes a lock again that was released while a process was
// being started, which has all that was open until it runs its program.
func TestUnlockedWhileForking(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	forked, err := syscall.Dup(int(l.f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(forked)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// TestLockWhileLookedAt: who looks whether a lock is held keeps nobody from taking
// it, nor others from looking.
func TestLockWhileLookedAt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	looking, other := open(), open()
	if err := flockShared(looking); err != nil { // in the middle of IsLocked
		t.Fatal(err)
	}
	if held, err := IsLocked(other); held || err != nil {
		t.Errorf("looked at by another: held %t, %v", held, err)
	}
	locked := make(chan error)
	go func() {
		l, err := Lock(path)
		locked <- err
		if err == nil {
			<-locked
			l.Close()
		}
	}()
	select {
	case err := <-locked:
		t.Errorf("locked while looked at: %v", err)
	case <-time.After(5 * time.Millisecond): // it has tried, or will not mind
	}
	funlock(looking)
	if err := <-locked; err != nil {
		t.Fatal(err)
	}
	if held, err := IsLocked(other); !held || err != nil {
		t.Errorf("held %t, %v", held, err)
	}
	locked <- nil
}
