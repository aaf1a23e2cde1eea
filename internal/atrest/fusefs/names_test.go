//go:build linux

package fusefs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// tell lists the tree under dir: names, and what files and links hold.
func tell(t testing.TB, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		switch {
		case d.Type().IsRegular():
			data, err := os.ReadFile(path)
			list = append(list, fmt.Sprintf("%s = %s", rel, data))
			return err
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			fi, err2 := os.Lstat(path)
			list = append(list, fmt.Sprintf("%s -> %s (%d)", rel, to, fi.Size()))
			return errors.Join(err, err2)
		}
		list = append(list, rel+"/")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestNames keeps a tree over a remount, of which nothing can be read below.
func TestNames(t *testing.T) {
	m := mountTest(t, serveConfig{Key: 1, HideNames: true})
	long := strings.Repeat("customers-", 25)
	at := func(name string) string { return filepath.Join(m.dir, name) }
	err := errors.Join(
		os.MkdirAll(at("shop/"+long+"/empty"), 0o755),
		os.WriteFile(at("shop/customers.ibd"), []byte("one"), 0o644),
		os.WriteFile(at("shop/"+long+"/orders.ibd"), []byte("two"), 0o644),
		os.WriteFile(at("shop/"+long+".frm"), nil, 0o644),
		os.Link(at("shop/customers.ibd"), at("customers.link")),
		os.Symlink("shop/customers.ibd", at("customers.symlink")),
		os.Rename(at("shop"), at("store")),
	)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"./", "customers.link = one", "customers.symlink -> shop/customers.ibd (18)", "store/", "store/" + long + "/",
		"store/" + long + "/empty/", "store/" + long + "/orders.ibd = two", "store/" + long + ".frm = ", "store/customers.ibd = one",
	}
	if got := tell(t, m.dir); !slices.Equal(got, want) {
		t.Errorf("tree is\n%q, want\n%q", got, want)
	}
	m.stop(t)
	m.remount(t)
	if got := tell(t, m.dir); !slices.Equal(got, want) {
		t.Errorf("mounted again, the tree is\n%q, want\n%q", got, want)
	}
	err = filepath.WalkDir(m.Lower, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var content []byte
		if d.Type()&fs.ModeSymlink != 0 {
			to, lerr := os.Readlink(path)
			content, err = []byte(to), lerr
		} else if !d.IsDir() {
			content, err = os.ReadFile(path)
		}
		rel := strings.TrimPrefix(path, m.Lower)
		for _, word := range []string{"customers", "orders", "store", "shop", "empty", ".ibd"} {
			if strings.Contains(rel, word) || bytes.Contains(content, []byte(word)) {
				t.Errorf("%s is below in %s", word, rel)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	// Who removes everything leaves nothing but the root's own file.
	for _, name := range []string{"store", "customers.link", "customers.symlink"} {
		if err := os.RemoveAll(at(name)); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(m.Lower); err != nil || len(left) != 1 {
		t.Errorf("below %v is left, %v", left, err)
	}
}

// TestDirectoryWithoutID takes the id of a directory away: its names cannot be
// read, and everything else can.
func TestDirectoryWithoutID(t *testing.T) {
	m := mountTest(t, serveConfig{Key: 1, HideNames: true})
	for _, d := range []string{"one", "two"} {
		err := errors.Join(os.Mkdir(filepath.Join(m.dir, d), 0o755), os.WriteFile(filepath.Join(m.dir, d, "file"), []byte(d), 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
	m.stop(t)
	ids, err := filepath.Glob(filepath.Join(m.Lower, "*", ".veildb.dir"))
	if err != nil || len(ids) != 2 {
		t.Fatalf("ids %q, %v", ids, err)
	}
	kept, err := os.ReadFile(ids[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(ids[0]); err != nil {
		t.Fatal(err)
	}
	m.remount(t)
	refused := 0
	for _, d := range []string{"one", "two"} {
		got, err := os.ReadFile(filepath.Join(m.dir, d, "file"))
		if errors.Is(err, unix.EIO) {
			refused++
			if err := os.WriteFile(filepath.Join(m.dir, d, "new"), nil, 0o644); !errors.Is(err, unix.EIO) {
				t.Errorf("create where names cannot be read: %v", err)
			}
			if err := os.Remove(filepath.Join(m.dir, d)); !errors.Is(err, unix.ENOTEMPTY) {
				t.Errorf("remove a directory whose names cannot be read: %v", err)
			}
		} else if err != nil || string(got) != d {
			t.Errorf("%s: %q, %v", d, got, err)
		}
	}
	if refused != 1 {
		t.Errorf("%d directories refused", refused)
	}
	eventually(t, "word in the log", func() bool { return strings.Contains(strings.Join(m.log(), "\n"), ".veildb.dir is missing") })
	m.stop(t)
	if err := os.WriteFile(ids[0], kept, 0o600); err != nil {
		t.Fatal(err)
	}
	m.remount(t)
	if got := tell(t, m.dir); !slices.Equal(got, []string{"./", "one/", "one/file = one", "two/", "two/file = two"}) {
		t.Errorf("with its id back the tree is %q", got)
	}
}

// TestForeignNames puts files below that no mount made.
func TestForeignNames(t *testing.T) {
	m := mountTest(t, serveConfig{Key: 1, HideNames: true})
	if err := os.WriteFile(filepath.Join(m.dir, "ours"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	m.stop(t)
	for _, name := range []string{"plain.txt", ".veildb.other", ".veildb.long.AAAA", "QUJD"} {
		if err := os.WriteFile(filepath.Join(m.Lower, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m.remount(t)
	if got := tell(t, m.dir); !slices.Equal(got, []string{"./", "ours = x"}) {
		t.Errorf("tree is %q", got)
	}
	if err := os.WriteFile(filepath.Join(m.dir, ".veildb.dir"), []byte("mine"), 0o644); err != nil {
		t.Errorf("a program's own .veildb.dir: %v", err)
	}
	if err := os.WriteFile(filepath.Join(m.dir, strings.Repeat("x", 256)), nil, 0o644); !errors.Is(err, unix.ENAMETOOLONG) {
		t.Errorf("a name of 256 bytes: %v", err)
	}
}

// TestNamesKilled kills mounts while names come, change and go: what was
// acknowledged is there, and all of it can be removed.
func TestNamesKilled(t *testing.T) {
	m := mountTest(t, serveConfig{Key: 1, HideNames: true})
	long := func(s string, i int) string { return fmt.Sprintf("%s-%s-%d", s, strings.Repeat("x", 200), i) }
	for cycle := range 8 {
		base := filepath.Join(m.dir, fmt.Sprint("cycle", cycle))
		if err := os.Mkdir(base, 0o755); err != nil {
			t.Fatal(err)
		}
		acknowledged := make(chan int, 1<<16)
		go func() {
			defer close(acknowledged)
			for i := 0; ; i++ {
				dir, file := filepath.Join(base, long("d", i)), filepath.Join(base, long("f", i))
				err := errors.Join(
					os.Mkdir(dir, 0o755),
					os.WriteFile(filepath.Join(dir, "inside"), nil, 0o644),
					os.WriteFile(file, nil, 0o644),
					os.Rename(file, filepath.Join(dir, long("g", i))),
					os.Remove(filepath.Join(dir, "inside")),
					os.Mkdir(filepath.Join(base, "e"), 0o755),
					unix.Rename(dir, filepath.Join(base, "e")), // os.Rename replaces no directory
					os.Rename(filepath.Join(base, "e"), filepath.Join(base, fmt.Sprint("done", i))),
				)
				if err != nil {
					return
				}
				acknowledged <- i
			}
		}()
		for range cycle + 1 {
			if _, ok := <-acknowledged; !ok {
				t.Fatal("operations fail before the mount is killed")
			}
		}
		m.kill(t)
		last := cycle
		for i := range acknowledged {
			last = i
		}
		m.remount(t)
		for i := range last + 1 {
			if _, err := os.Lstat(filepath.Join(base, fmt.Sprint("done", i), long("g", i))); err != nil {
				t.Errorf("cycle %d: acknowledged, and gone: %v", cycle, err)
			}
		}
		tell(t, base)
		if err := os.RemoveAll(base); err != nil {
			t.Errorf("cycle %d: %v", cycle, err)
		}
	}
	if left, err := os.ReadDir(m.Lower); err != nil || len(left) != 1 {
		t.Errorf("below %v is left, %v", left, err)
	}
}
