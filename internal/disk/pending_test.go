package disk_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/veildb/veildb/internal/disk"
)

func TestPending(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new")
	names := func() (n int) { entries, _ := os.ReadDir(dir); return len(entries) }

	p, err := disk.CreatePending(path, 0o640)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.WriteAt([]byte("content"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file shows before Commit: %v", err)
	}
	if err := p.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "content" {
		t.Errorf("content %q", got)
	}
	if _, err := disk.CreatePending(path, 0o640); !errors.Is(err, fs.ErrExist) {
		t.Errorf("existing name: %v, want fs.ErrExist", err)
	}

	dropped, err := disk.CreatePending(filepath.Join(dir, "dropped"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	dropped.Close()
	if names() != 1 {
		t.Errorf("%d names after a drop, want 1", names())
	}

	late, err := disk.CreatePending(filepath.Join(dir, "late"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if err := os.WriteFile(filepath.Join(dir, "late"), []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := late.Commit(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("name taken meanwhile: %v, want fs.ErrExist", err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "late")); string(got) != "theirs" {
		t.Errorf("overwrote another's file: %q", got)
	}
}
