package check

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// newNamed makes a volume with encrypted names that holds dir/file and
// dir/long…, and returns it with the lower path of dir.
func newNamed(t *testing.T) (*volume.Dir, string) {
	t.Helper()
	keys := newTestKeys(t)
	path := filepath.Join(t.TempDir(), "lower")
	if err := volume.InitDir(path, keys, volume.Config{Names: volume.NamesEncrypted}); err != nil {
		t.Fatal(err)
	}
	d, err := volume.OpenDir(path, func() (volume.KeySource, error) { return keys, nil }, volume.DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	add := func(dir, name string, make func(path string) error) string {
		t.Helper()
		f, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		names, err := volume.MakeNames(int(f.Fd()), keys)
		if err != nil {
			t.Fatal(err)
		}
		low, err := names.Lower(name)
		if err == nil {
			err = volume.MakeEntry(int(f.Fd()), low, func(lower string) error { return make(filepath.Join(dir, lower)) })
		}
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, low.Name)
	}
	empty := func(path string) error { return os.WriteFile(path, nil, 0o600) }
	dir := add(d.Root().Name(), "dir", func(path string) error { return os.Mkdir(path, 0o700) })
	add(dir, "file", empty)
	add(dir, "long"+strings.Repeat("g", 200), empty)
	add(dir, "link", func(path string) error {
		to, err := volume.SealLink(keys, "file")
		return errors.Join(err, os.Symlink(to, path))
	})
	return d, dir
}

func TestNameProblems(t *testing.T) {
	for _, c := range []struct {
		name   string
		spoil  func(dir string) error
		what   []string // of the problems, in order of a walk
		remedy bool     // all of them can be repaired
	}{
		{"nothing", func(string) error { return nil }, nil, true},
		{"empty directory without id", func(dir string) error { return os.Mkdir(filepath.Join(filepath.Dir(dir), "x"), 0o700) },
			[]string{"no mount shows it"}, true},
		{"id lost", func(dir string) error { return os.Remove(filepath.Join(dir, ".veildb.dir")) },
			[]string{"file with its id is missing"}, true},
		{"id damaged", func(dir string) error { return os.Truncate(filepath.Join(dir, ".veildb.dir"), 100) },
			[]string{"id of the directory"}, false},
		{"name changed", func(dir string) error {
			return forOne(dir, func(name string) bool { return len(name) == 43 }, func(path string) error { return os.Rename(path, path[:len(path)-1]) })
		}, []string{"no mount shows it"}, true},
		{"long name lost", func(dir string) error {
			return forOne(dir, func(name string) bool { return strings.HasPrefix(name, ".veildb.name.") }, os.Remove)
		}, []string{"file with its long name is missing"}, true},
		{"long name left", func(dir string) error {
			return forOne(dir, func(name string) bool { return strings.HasPrefix(name, ".veildb.long.") }, os.Remove)
		}, []string{"not there, left by an interrupted operation"}, true},
		{"plain link", func(dir string) error {
			return forOne(dir, func(name string) bool {
				fi, err := os.Readlink(filepath.Join(dir, name))
				return err == nil && fi != ""
			}, func(path string) error {
				return errors.Join(os.Remove(path), os.Symlink("/etc", path))
			})
		}, []string{"where the link leads"}, false},
		{"directory copied below", func(dir string) error { return os.CopyFS(dir+"copy", os.DirFS(dir)) },
			[]string{"no mount shows it", "copied below the mount from"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, dir := newNamed(t)
			if err := c.spoil(dir); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(t.Context(), d, Options{})
			if err != nil {
				t.Fatal(err)
			}
			found := r.Problems
			for i, p := range found {
				if i < len(c.what) && !strings.Contains(p.What, c.what[i]) || (p.Remedy == "") == c.remedy && c.remedy {
					t.Errorf("problem %+v", p)
				}
			}
			if len(found) != len(c.what) {
				t.Errorf("%d problems, want %d: %+v", len(found), len(c.what), found)
			}
			if after, err := os.ReadDir(dir); err != nil || len(after) != len(before) {
				t.Errorf("%d entries became %d, %v", len(before), len(after), err)
			}
			if !c.remedy {
				return
			}
			for range 3 { // a new id makes names anew, which make long names needless
				if _, err := Run(t.Context(), d, Options{Repair: true}); err != nil {
					t.Fatal(err)
				}
			}
			if r, err := Run(t.Context(), d, Options{Read: true}); err != nil || len(r.Problems) > 0 {
				t.Errorf("after repairs %+v, %v", r, err)
			}
			shown := 0
			err = d.Walk(func(e *volume.Entry) error {
				if e.Kind() == unix.S_IFREG && !e.Own {
					shown++
				}
				return e.NameErr
			})
			if want := r.Files; err != nil || shown != want {
				t.Errorf("%d files shown, want %d, %v", shown, want, err)
			}
		})
	}
}

// forOne does what do does to the one entry of dir that is.
func forOne(dir string, is func(name string) bool, do func(path string) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if is(e.Name()) {
			return do(filepath.Join(dir, e.Name()))
		}
	}
	return errors.New("no such entry")
}
