package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// newVolume makes a volume with some files and returns a view of it.
func newVolume(t testing.TB, keys volume.KeySource) *volume.Dir {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lower")
	if err := volume.InitDir(path, keys, volume.Config{}); err != nil {
		t.Fatal(err)
	}
	d, err := volume.ViewDir(path, keys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	at := func(name string) string { return filepath.Join(d.Root().Name(), name) }
	if err := errors.Join(os.Mkdir(at("dir"), 0o755), os.Mkdir(at("empty"), 0o700), os.Symlink("dir/a", at("link"))); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int{"dir/a": 10, "dir/b": 8192, "big": 3*stretch + 777, "not\xffutf8": 1, "zero": 0} {
		lower, err := disk.CreateNew(at(name), 0o600)
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
	if err := os.Link(at("dir/b"), at("hard")); err != nil {
		t.Fatal(err)
	}
	return d
}

func mustWrite(t testing.TB, d *volume.Dir) ([]byte, Summary) {
	t.Helper()
	var out bytes.Buffer
	s, err := Write(t.Context(), d, &out, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), s
}

func TestUnchanged(t *testing.T) {
	d := newVolume(t, newTestKeys(t))
	manifest, wrote := mustWrite(t, d)
	read, diffs, err := Verify(t.Context(), d, bytes.NewReader(manifest), nil)
	if err != nil || len(diffs) > 0 {
		t.Fatalf("%v, %v", diffs, err)
	}
	if read != wrote || wrote.Names != 10 || wrote.Bytes < 3*stretch {
		t.Errorf("wrote %+v, read %+v", wrote, read)
	}
}

// TestDifferences changes a volume behind its manifest in each way.
func TestDifferences(t *testing.T) {
	flip := func(path string, off int64) error {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		var b [1]byte
		if _, err := f.ReadAt(b[:], off); err != nil {
			return err
		}
		b[0] ^= 1
		_, err = f.WriteAt(b[:], off)
		return err
	}
	for _, c := range []struct {
		name   string
		change func(at func(string) string) error
		want   string
	}{
		{"a bit of content", func(at func(string) string) error { return flip(at("big"), 2*stretch+99) },
			fmt.Sprintf("[{big content changed %d}]", 2*stretch)},
		{"a bit of the tail's padding", func(at func(string) string) error { return flip(at("dir/a"), volume.HeaderSize+16) },
			"[{dir/a content changed 0}]"},
		{"a bit of a header", func(at func(string) string) error { return flip(at("dir/a"), 100) },
			"[{dir/a another file of that name 0}]"},
		{"cut off", func(at func(string) string) error { return os.Truncate(at("big"), stretch) }, "[{big length changed 0}]"},
		{"two files swapped", func(at func(string) string) error {
			return errors.Join(os.Rename(at("dir/a"), at("x")), os.Rename(at("big"), at("dir/a")), os.Rename(at("x"), at("big")))
		}, "[{big another file of that name 0} {dir/a another file of that name 0}]"},
		{"missing", func(at func(string) string) error { return os.Remove(at("zero")) }, "[{zero missing 0}]"},
		{"extra", func(at func(string) string) error { return os.WriteFile(at("x"), nil, 0o600) }, "[{x not in the manifest 0}]"},
		{"mode", func(at func(string) string) error { return os.Chmod(at("dir"), 0o777) },
			"[{dir type, mode, owner or link changed 0}]"},
		{"link", func(at func(string) string) error {
			return errors.Join(os.Remove(at("link")), os.Symlink("/etc/shadow", at("link")))
		}, "[{link type, mode, owner or link changed 0}]"},
		{"type", func(at func(string) string) error {
			return errors.Join(os.Remove(at("empty")), os.Symlink("dir", at("empty")))
		},
			"[{empty type, mode, owner or link changed 0}]"},
		{"hard link undone", func(at func(string) string) error {
			data, err := os.ReadFile(at("hard"))
			return errors.Join(err, os.Remove(at("hard")), os.WriteFile(at("hard"), data, 0o600))
		}, "[{hard another file of that name 0}]"},
		{"one page put back", func(at func(string) string) error {
			page := make([]byte, 4096)
			f, err := os.OpenFile(at("dir/b"), os.O_RDWR, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteAt(page, 4096)
			return err
		}, "[{dir/b content changed 0}]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newVolume(t, newTestKeys(t))
			manifest, _ := mustWrite(t, d)
			if err := c.change(func(name string) string { return filepath.Join(d.Root().Name(), name) }); err != nil {
				t.Fatal(err)
			}
			_, diffs, err := Verify(t.Context(), d, bytes.NewReader(manifest), nil)
			if got := told(diffs); err != nil || got != c.want {
				t.Errorf("%s, %v; want %s", got, err, c.want)
			}
		})
	}
}

// TestForgedManifest changes the manifest itself.
func TestForgedManifest(t *testing.T) {
	keys := newTestKeys(t)
	d := newVolume(t, keys)
	manifest, _ := mustWrite(t, d)
	lines := bytes.SplitAfter(manifest, []byte("\n"))
	other, _ := mustWrite(t, newVolume(t, keys))
	for _, c := range []struct {
		name string
		data []byte
		want error
	}{
		{"empty", nil, ErrManifest},
		{"cut off in a line", manifest[:len(manifest)/2], ErrManifest},
		{"last line missing", bytes.Join(lines[:len(lines)-2], nil), ErrManifest},
		{"a name left out", append(bytes.Join(lines[:2], nil), bytes.Join(lines[3:], nil)...), ErrManifest},
		{"a mode changed", bytes.Replace(manifest, []byte(`"mode":`), []byte(`"mode":1`), 1), ErrManifest},
		{"a date changed", bytes.Replace(manifest, []byte(`"written":"2`), []byte(`"written":"3`), 1), ErrManifest},
		{"something behind it", append(bytes.Clone(manifest), "{}\n"...), ErrManifest},
		{"no manifest", []byte("some text\n"), ErrManifest},
		{"of a newer version", bytes.Replace(manifest, []byte("veildb.manifest/1"), []byte("veildb.manifest/2"), 1), ErrUnsupported},
		{"of another volume", other, ErrOther},
	} {
		if _, _, err := Verify(t.Context(), d, bytes.NewReader(c.data), nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	for bit := 0; bit < len(manifest)*8; bit += 97 {
		data := bytes.Clone(manifest)
		data[bit/8] ^= 1 << (bit % 8)
		_, diffs, err := Verify(t.Context(), d, bytes.NewReader(data), nil)
		if err == nil && len(diffs) == 0 {
			t.Errorf("bit %d of byte %d flipped: accepted", bit%8, bit/8)
		}
	}
}

func FuzzReadManifest(f *testing.F) {
	d := newVolume(f, newTestKeys(f))
	manifest, _ := mustWrite(f, d)
	f.Add(manifest)
	f.Add([]byte(`{"format":"veildb.manifest/1"}` + "\n" + `{"names":0,"mac":""}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, diffs, err := Verify(t.Context(), d, io.LimitReader(bytes.NewReader(data), 1<<20), nil)
		if err == nil && len(diffs) == 0 && !bytes.Equal(data, manifest) {
			t.Errorf("a forged manifest is accepted:\n%s", data)
		}
	})
}

// told is what Verify found; names are plain here.
func told(diffs []Difference) string {
	type line struct {
		Path   string
		Kind   Kind
		Offset int64
	}
	all := []line{}
	for _, d := range diffs {
		all = append(all, line{d.Path + d.Name, d.Kind, d.Offset})
	}
	return fmt.Sprint(all)
}

// TestHoles vouches for holes as for the zeros that they read as.
func TestHoles(t *testing.T) {
	const size = 40 << 20
	d := newVolume(t, newTestKeys(t))
	path := filepath.Join(d.Root().Name(), "dir/a")
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	before := disktest.BytesRead(t)
	manifest, s := mustWrite(t, d)
	if n := disktest.BytesRead(t) - before; s.Bytes < size || n > size/2 {
		t.Errorf("read %d bytes of %d", n, s.Bytes)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, b := range []byte{0, 1} {
		if _, err := f.WriteAt(bytes.Repeat([]byte{b}, stretch), 10*stretch); err != nil {
			t.Fatal(err)
		}
		_, diffs, err := Verify(t.Context(), d, bytes.NewReader(manifest), nil)
		if err != nil || len(diffs) != i {
			t.Errorf("byte %d written into a hole: %v, %v", b, diffs, err)
		}
	}
}
