package check

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/disk"
	"github.com/veildb/veildb/internal/disk/disktest"
)

type testKeys struct{ dek *secret.Bytes }

func newTestKeys(t testing.TB) *testKeys {
	t.Helper()
	dek, err := secret.Random(32)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dek.Close() })
	return &testKeys{dek}
}

func (k *testKeys) Current() uint32                   { return 1 }
func (k *testKeys) DEK(uint32) (*secret.Bytes, error) { return k.dek, nil }

// newVolume makes a volume with two files and opens it.
func newVolume(t testing.TB) *volume.Dir {
	t.Helper()
	keys := newTestKeys(t)
	path := filepath.Join(t.TempDir(), "lower")
	if err := volume.InitDir(path, keys, volume.Config{}); err != nil {
		t.Fatal(err)
	}
	d, err := volume.OpenDir(path, func() (volume.KeySource, error) { return keys, nil }, volume.DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	for name, size := range map[string]int{"small": 10, "pages": 3 << 20} {
		lower, err := disk.CreateNew(filepath.Join(d.Root().Name(), name), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		f, err := volume.Create(lower, keys, volume.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(bytes.Repeat([]byte{7}, size), 0); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	return d
}

func TestProblems(t *testing.T) {
	write := func(path string, off int64, b []byte) error {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteAt(b, off)
		return err
	}
	for _, c := range []struct {
		name     string
		spoil    func(d *volume.Dir, at func(string) string) error
		path     string // of the problem; "" if there is none
		severity Severity
		repaired bool
		read     bool
	}{
		{name: "nothing", spoil: func(*volume.Dir, func(string) string) error { return nil }},
		{name: "empty file", spoil: func(_ *volume.Dir, at func(string) string) error { return os.WriteFile(at("x"), nil, 0o600) }},
		{name: "header changed", spoil: func(_ *volume.Dir, at func(string) string) error { return write(at("small"), 70, []byte{1}) },
			path: "files/small", severity: Damage},
		{name: "header overwritten with zeros", spoil: func(_ *volume.Dir, at func(string) string) error {
			return write(at("pages"), 0, make([]byte, 4096))
		}, path: "files/pages", severity: Damage},
		{name: "header never written", spoil: func(_ *volume.Dir, at func(string) string) error {
			return os.WriteFile(at("x"), make([]byte, 4096), 0o600)
		}, path: "files/x", severity: Untidy, repaired: true},
		{name: "header cut off", spoil: func(_ *volume.Dir, at func(string) string) error { return os.Truncate(at("pages"), 2000) },
			path: "files/pages", severity: Damage},
		{name: "plain file", spoil: func(_ *volume.Dir, at func(string) string) error {
			return os.WriteFile(at("x"), bytes.Repeat([]byte("plain"), 2000), 0o600)
		}, path: "files/x", severity: Damage},
		{name: "impossible length", spoil: func(_ *volume.Dir, at func(string) string) error { return os.Truncate(at("small"), 4096+5) },
			path: "files/small", severity: Untidy, repaired: true},
		{name: "copied below", spoil: func(_ *volume.Dir, at func(string) string) error {
			data, err := os.ReadFile(at("small"))
			return errors.Join(err, os.WriteFile(at("zcopy"), data, 0o600))
		}, path: "files/zcopy", severity: Untidy},
		{name: "hard link", spoil: func(_ *volume.Dir, at func(string) string) error { return os.Link(at("small"), at("zlink")) }},
		{name: "beside the tree", spoil: func(d *volume.Dir, _ func(string) string) error {
			return os.WriteFile(filepath.Join(d.Path(), "x"), nil, 0o600)
		}, path: "x", severity: Untidy},
		{name: "old journal", spoil: func(d *volume.Dir, _ func(string) string) error {
			return os.WriteFile(d.Private("convert"), nil, 0o600)
		}, path: ".veildb/convert", severity: Untidy, repaired: true},
		{name: "temporary file", spoil: func(d *volume.Dir, _ func(string) string) error {
			return os.WriteFile(disk.TempName(d.Private("config")), nil, 0o600)
		}, path: ".veildb/.config.", severity: Untidy, repaired: true},
		{name: "foreign private file", spoil: func(d *volume.Dir, _ func(string) string) error {
			return os.WriteFile(d.Private("x"), nil, 0o600)
		}, path: ".veildb/x", severity: Untidy},
		{name: "no copy of the configuration", spoil: func(d *volume.Dir, _ func(string) string) error { return os.Remove(d.Private("config.copy")) },
			path: ".veildb/config.copy", severity: Untidy, repaired: true},
		{name: "content overwritten with zeros", spoil: func(_ *volume.Dir, at func(string) string) error {
			return errors.Join(write(at("pages"), 4096+8192, make([]byte, 4096)), syncFile(at("pages")))
		}, path: "files/pages", severity: Untidy, read: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newVolume(t)
			if err := c.spoil(d, func(name string) string { return filepath.Join(d.Root().Name(), name) }); err != nil {
				t.Fatal(err)
			}
			r, err := Run(t.Context(), d, Options{Zeros: c.read})
			if err != nil {
				t.Fatal(err)
			}
			if c.path == "" {
				if len(r.Problems) > 0 {
					t.Errorf("problems %+v", r.Problems)
				}
				return
			}
			if len(r.Problems) != 1 || !strings.HasPrefix(r.Problems[0].Path, c.path) || r.Problems[0].Severity != c.severity || r.Problems[0].Repaired {
				t.Fatalf("problems %+v", r.Problems)
			}
			before := snapshot(t, d)
			if r, err = Run(t.Context(), d, Options{Zeros: c.read}); err != nil || len(r.Problems) != 1 || snapshot(t, d) != before {
				t.Errorf("something changed without being asked: %+v, %v", r, err)
			}
			if r, err = Run(t.Context(), d, Options{Repair: true, Zeros: c.read}); err != nil || r.Problems[0].Repaired != c.repaired {
				t.Fatalf("repair: %+v, %v", r, err)
			}
			r, err = Run(t.Context(), d, Options{Zeros: c.read})
			if err != nil || (len(r.Problems) == 0) != c.repaired {
				t.Errorf("after repair: %+v, %v", r, err)
			}
		})
	}
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// snapshot tells whether anything below the volume directory changed.
func snapshot(t *testing.T, d *volume.Dir) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(d.Path(), func(path string, de os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := de.Info()
		if err == nil {
			fmt.Fprintln(&all, path, fi.Mode(), fi.Size(), fi.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestReadHoles reads what was written, and no holes.
func TestReadHoles(t *testing.T) {
	const size = 200 << 20
	d := newVolume(t)
	if err := os.Truncate(filepath.Join(d.Root().Name(), "pages"), size); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{Read: true}, {Zeros: true}} {
		before := disktest.BytesRead(t)
		r, err := Run(t.Context(), d, o)
		if err != nil || len(r.Problems) != 0 || r.Bytes < size-8192 {
			t.Fatalf("%+v, %v", r, err)
		}
		if n := disktest.BytesRead(t) - before; n < 3<<20 || n > size/4 {
			t.Errorf("%+v: read %d bytes, 3 MiB are not holes", o, n)
		}
	}
}
