package volume

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/disk"
)

// goldenFiles are in testdata/v1.dir, which must open for ever: name → content,
// under data keys 1 (a and b) and 2.
var goldenFiles = map[string]string{
	"a":            "",
	"b":            "a file of one data key",
	"dir/c":        strings.Repeat("and one of another. ", 500),
	"dir/page.bin": strings.Repeat("\x00\x01", 4096),
}

const goldenDir = "testdata/v1.dir"

// TestGoldenDir opens a volume directory that an earlier version made; -update
// makes one that is missing.
func TestGoldenDir(t *testing.T) {
	keys := newTestKeys(t, 1, 2)
	if makesGolden(goldenDir) {
		makeGoldenDir(t)
	}
	// Opening takes the lock, and so writes.
	path := filepath.Join(t.TempDir(), "lower")
	if err := os.CopyFS(path, os.DirFS(goldenDir)); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDir(path, openWith(keys), DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if c := d.Config(); c.State != StateReady || c.Names != NamesPlain || c.KeyVersion != 2 || c.Generation != 2 || c.ID == (FileID{}) {
		t.Errorf("configuration %+v", c)
	}
	seen := 0
	err = d.Walk(func(e *Entry) error {
		if e.Kind() != unix.S_IFREG {
			return e.Err
		}
		seen++
		want, ok := goldenFiles[e.Path]
		version := uint32(2)
		if e.Path == "a" || e.Path == "b" {
			version = 1
		}
		if !ok || e.Err != nil || e.Size() != int64(len(want)) || e.Header.KeyVersion != version {
			t.Errorf("%s: %d bytes under key %d, %v", e.Path, e.Size(), e.Header.KeyVersion, e.Err)
			return nil
		}
		got, err := readLower(filepath.Join(d.Root().Name(), e.Path), keys)
		if string(got) != want {
			t.Errorf("%s: content is %.40q", e.Path, got)
		}
		return err
	})
	if err != nil || seen != len(goldenFiles) {
		t.Errorf("%d files of %d, %v", seen, len(goldenFiles), err)
	}
}

func readLower(path string, keys KeySource) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return readAll(&memFile{data: data, written: map[int64]bool{}}, keys)
}

func makeGoldenDir(t *testing.T) {
	t.Helper()
	one, both := newTestKeys(t, 1), newTestKeys(t, 1, 2)
	err := errors.Join(InitDir(goldenDir, one, Config{}), os.Mkdir(filepath.Join(goldenDir, filesName, "dir"), 0o755))
	for name, content := range goldenFiles {
		keys := both
		if name == "a" || name == "b" {
			keys = one
		}
		lower, cerr := disk.CreateNew(filepath.Join(goldenDir, filesName, name), 0o644)
		if cerr != nil {
			t.Fatal(cerr)
		}
		f, cerr := Create(lower, keys, Options{})
		if cerr != nil {
			t.Fatal(cerr)
		}
		_, cerr = f.WriteAt([]byte(content), 0)
		err = errors.Join(err, cerr, f.Close())
	}
	d, oerr := OpenDir(goldenDir, openWith(both), DirOptions{})
	if err = errors.Join(err, oerr); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Update(func(*Config) {}), d.Close()); err != nil {
		t.Fatal(err)
	}
}
