package volume

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPlantedFiles puts links and pipes in the place of what a volume holds:
// opening it fails, or does without, and neither follows nor waits.
func TestPlantedFiles(t *testing.T) {
	keys := newTestKeys(t, 1)
	link := func(path, victim string) error { return os.Symlink(victim, path) }
	pipe := func(path, _ string) error { return unix.Mkfifo(path, 0o600) }
	for _, c := range []struct {
		name, path string
		plant      func(path, victim string) error
		want       error
	}{
		{"lock is a link", ".veildb/lock", link, ErrCorrupt},
		{"lock is a pipe", ".veildb/lock", pipe, ErrCorrupt},
		{"config is a link", ".veildb/config", link, ErrCorrupt},
		{"config is a pipe", ".veildb/config", pipe, ErrCorrupt},
		{"copy is a link", ".veildb/config.copy", link, nil},
		{"copy is a pipe", ".veildb/config.copy", pipe, nil},
		{"tree is a link", "files", func(path, victim string) error { return os.Symlink(filepath.Dir(victim), path) }, ErrCorrupt},
		{"tree is a file", "files", func(path, _ string) error { return os.WriteFile(path, nil, 0o600) }, ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := initTestDir(t, keys, Config{})
			victim := filepath.Join(t.TempDir(), "victim")
			path := filepath.Join(dir, c.path)
			err := errors.Join(os.WriteFile(victim, []byte("precious"), 0o600), os.RemoveAll(path), c.plant(path, victim))
			if err != nil {
				t.Fatal(err)
			}
			ReadHolder(dir)
			if d, err := ViewDir(dir, keys); err == nil {
				d.Close()
			}
			d, err := OpenDir(dir, openWith(keys), DirOptions{Purpose: "testing"})
			if err == nil {
				err = d.Close()
			}
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if b, err := os.ReadFile(victim); string(b) != "precious" || err != nil {
				t.Errorf("the victim holds %q, %v", b, err)
			}
		})
	}
	t.Run("private directory is a link", func(t *testing.T) {
		dir := initTestDir(t, keys, Config{})
		private, elsewhere := filepath.Join(dir, privateName), filepath.Join(t.TempDir(), "private")
		if err := errors.Join(os.Rename(private, elsewhere), os.Symlink(elsewhere, private)); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenDir(dir, openWith(keys), DirOptions{}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%v, want %v", err, ErrCorrupt)
		}
	})
}
