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
