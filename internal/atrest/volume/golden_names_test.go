package volume

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// goldenNames are in testdata/v1.names.dir, which must open for ever: name →
// content, or where a link leads. The root's names and those of "made first"
// are under data key 1, the others under 2.
var goldenNames = map[string]string{
	"ibdata1":                "some content",
	"made first/orders.ibd":  "of a table",
	"made later/customers":   "and of another",
	strings.Repeat("l", 161): "the shortest name that is long",
	"made later/" + strings.Repeat("\xc3\xa4", 127): "a long one",
	"made later/" + strings.Repeat("s", 160):        "the longest name that is short",
	"not\xffutf-8\n":                                "bytes",
	"link":                                          "-> made first/orders.ibd",
}

const goldenNamesDir = "testdata/v1.names.dir"

// TestGoldenNames opens a volume with encrypted names that an earlier version
// made; -update makes one that is missing.
func TestGoldenNames(t *testing.T) {
	keys := newTestKeys(t, 1, 2)
	if makesGolden(goldenNamesDir) {
		makeGoldenNames(t)
	}
	path := filepath.Join(t.TempDir(), "lower")
	if err := os.CopyFS(path, os.DirFS(goldenNamesDir)); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDir(path, openWith(keys), DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if c := d.Config(); c.Names != NamesEncrypted || c.KeyVersion != 2 {
		t.Errorf("configuration %+v", c)
	}
	got, versions := map[string]string{}, map[uint32]int{}
	err = d.Walk(func(e *Entry) error {
		lower := filepath.Join(d.Root().Name(), e.Path)
		switch {
		case e.Own:
			versions[e.Header.KeyVersion]++
			return e.Err
		case e.NameErr != nil:
			return e.NameErr
		case e.Kind() == unix.S_IFREG:
			content, err := readLower(lower, keys)
			got[e.Name] = string(content)
			return errors.Join(e.Err, err)
		case e.Kind() == unix.S_IFLNK:
			to, err := os.Readlink(lower)
			if err == nil {
				to, err = OpenLink(keys, to)
			}
			got[e.Name] = "-> " + to
			return err
		}
		return nil
	})
	if err != nil || !maps.Equal(got, goldenNames) {
		t.Errorf("volume holds %.200q, %v", got, err)
	}
	// Two files with long names have no header.
	if want := map[uint32]int{0: 2, 1: 2, 2: 1}; !maps.Equal(versions, want) {
		t.Errorf("own files by key %v, want %v", versions, want)
	}
}

func makeGoldenNames(t *testing.T) {
	t.Helper()
	one, both := newTestKeys(t, 1), newTestKeys(t, 1, 2)
	err := InitDir(goldenNamesDir, one, Config{Names: NamesEncrypted})
	if err != nil {
		t.Fatal(err)
	}
	first := &tree{t, one, filepath.Join(goldenNamesDir, filesName)}
	later := &tree{t, both, first.path}
	mkdir := func(tr *tree, name string) {
		fd, low := tr.lower(name)
		if err := MakeEntry(fd, low, func(n string) error { return unix.Mkdirat(fd, n, 0o755) }); err != nil {
			t.Fatal(err)
		}
	}
	mkdir(first, "made first")
	for _, name := range slices.Sorted(maps.Keys(goldenNames)) {
		tr, content := first, goldenNames[name]
		if strings.HasPrefix(name, "made later/") {
			if tr = later; strings.HasSuffix(name, "/customers") {
				mkdir(tr, "made later")
			}
		}
		fd, low := tr.lower(name)
		err := MakeEntry(fd, low, func(lower string) error {
			if to, link := strings.CutPrefix(content, "-> "); link {
				sealed, err := SealLink(tr.keys, to)
				return errors.Join(err, unix.Symlinkat(sealed, fd, lower))
			}
			n, err := unix.Openat(fd, lower, unix.O_CREAT|unix.O_RDWR|unix.O_EXCL, 0o644)
			if err != nil {
				return err
			}
			f, err := Create(diskFile{os.NewFile(uintptr(n), lower)}, tr.keys, Options{})
			if err != nil {
				return err
			}
			_, err = f.WriteAt([]byte(content), 0)
			return errors.Join(err, f.Close())
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	d, err := OpenDir(goldenNamesDir, openWith(both), DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Update(func(*Config) {}), d.Close()); err != nil {
		t.Fatal(err)
	}
}
