package volume

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// openPath opens the directory path as a mount does.
func openPath(t testing.TB, path string) int {
	t.Helper()
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}

// newNames returns a new directory with an id.
func newNames(t testing.TB, keys KeySource) (fd int, names *DirNames) {
	t.Helper()
	fd = openPath(t, t.TempDir())
	names, err := MakeNames(fd, keys)
	if err != nil {
		t.Fatal(err)
	}
	return fd, names
}

func TestNames(t *testing.T) {
	keys := newTestKeys(t, 1)
	dir, names := newNames(t, keys)
	_, others := newNames(t, keys)
	for _, tt := range []struct {
		name  string
		lower int // length of the lower name
	}{
		{"a", 43},
		{"sixteen bytes ok", 43},
		{"seventeen bytes !", 64},
		{"\xff\xfe not text\n", 43},
		{dirFileName, 43},
		{strings.Repeat("x", 160), 235},
		{strings.Repeat("x", 161), 56},
		{strings.Repeat("\xe2\x82\xac", 85), 56},
	} {
		low, err := names.Lower(tt.name)
		if err != nil || len(low.Name) != tt.lower {
			t.Fatalf("%.20q: lower name %q of %d bytes, want %d; %v", tt.name, low.Name, len(low.Name), tt.lower, err)
		}
		again, err := names.Lower(tt.name)
		if err != nil || again.Name != low.Name {
			t.Errorf("%.20q: another lower name the second time, %v", tt.name, err)
		}
		if other, err := others.Lower(tt.name); err != nil || other.Name == low.Name {
			t.Errorf("%.20q: the same lower name in another directory, %v", tt.name, err)
		}
		if err := MakeEntry(dir, low, func(name string) error { return unix.Mkdirat(dir, name, 0o700) }); err != nil {
			t.Fatal(err)
		}
		if got, err := names.Name(dir, low.Name); err != nil || got != tt.name {
			t.Errorf("%.20q: read back as %q, %v", tt.name, got, err)
		}
		if got, err := others.Name(dir, low.Name); !errors.Is(err, ErrName) {
			t.Errorf("%.20q: another directory reads it as %q, %v", tt.name, got, err)
		}
	}
	if _, err := names.Lower(strings.Repeat("x", 256)); err != unix.ENAMETOOLONG {
		t.Errorf("256 bytes: %v", err)
	}
}

func TestNamesRefused(t *testing.T) {
	dir, names := newNames(t, newTestKeys(t, 1))
	sealed := func(padded string) string {
		b, err := names.cipher.EncryptDeterministically([]byte(padded), nil)
		if err != nil {
			t.Fatal(err)
		}
		return encoding.EncodeToString(b)
	}
	zeros := strings.Repeat("\x00", 16)
	good := sealed("name" + zeros[4:])
	flipped := []byte(good)
	flipped[0] ^= 1
	for _, tt := range []struct{ what, lower string }{
		{"plain", "customers.ibd"},
		{"nothing", ""},
		{"one bit", string(flipped)},
		{"cut", good[:len(good)-1]},
		{"other end of the alphabet", good + "="},
		{"dot", sealed("." + zeros[1:])},
		{"dots", sealed(".." + zeros[2:])},
		{"slash", sealed("a/b" + zeros[3:])},
		{"zero inside", sealed("a\x00b" + zeros[3:])},
		{"empty", sealed(zeros)},
		{"too much padding", sealed("a" + zeros[1:] + zeros)},
		{"padding that ends early", sealed("a" + zeros)},
	} {
		if got, err := names.Name(dir, tt.lower); !errors.Is(err, ErrName) || !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: read as %q, %v", tt.what, got, err)
		}
	}
	low, err := names.Lower(strings.Repeat("n", 200))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := names.Name(dir, low.Name); !errors.Is(err, unix.ENOENT) {
		t.Errorf("long name without its file: %v", err)
	}
	if err := putFile(dir, low.sealedFile(), []byte("something else")); err != nil {
		t.Fatal(err)
	}
	if _, err := names.Name(dir, low.Name); !errors.Is(err, ErrName) {
		t.Errorf("long name with another file: %v", err)
	}
	// Who makes the entry anew makes it good.
	if err := MakeEntry(dir, low, func(name string) error { return unix.Mkdirat(dir, name, 0o700) }); err != nil {
		t.Fatal(err)
	}
	if got, err := names.Name(dir, low.Name); err != nil || len(got) != 200 {
		t.Errorf("long name made anew: %q, %v", got, err)
	}
}

func TestNamesOfDirectory(t *testing.T) {
	keys := newTestKeys(t, 1)
	path := t.TempDir()
	fd := openPath(t, path)
	id := filepath.Join(path, dirFileName)
	if _, err := LoadNames(fd, keys); !errors.Is(err, ErrNoNames) {
		t.Fatalf("empty directory: %v", err)
	}
	names, err := MakeNames(fd, keys)
	if err != nil {
		t.Fatal(err)
	}
	// The id stays when there is a newer key, and so does the key of its names.
	both := newTestKeys(t, 1, 2)
	again, err := MakeNames(fd, both)
	if err != nil || again.header != names.header || again.header.KeyVersion != 1 {
		t.Errorf("id changed: %+v to %+v, %v", names.header, again.header, err)
	}
	data, err := os.ReadFile(id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := LoadNames(fd, newTestKeys(t, 2)); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("without the key: %v", err)
	}
	data[offMAC] ^= 1
	if err := os.WriteFile(id, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadNames(fd, keys); !errors.Is(err, ErrCorrupt) {
		t.Errorf("changed id: %v", err)
	}
	if err := os.Remove(id); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "entry"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, load := range map[string]func(int, KeySource) (*DirNames, error){"load": LoadNames, "make": MakeNames} {
		if _, err := load(fd, keys); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: missing id with an entry: %v", what, err)
		}
	}
	// An id of another role, a file's, is none.
	lower, err := os.Create(id)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Create(diskFile{lower}, keys, Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := LoadNames(fd, keys); !errors.Is(err, ErrMismatch) {
		t.Errorf("file as id: %v", err)
	}
}

// TestNamesNeedFiles puts in the place of each file that names need what is no
// file.
func TestNamesNeedFiles(t *testing.T) {
	keys := newTestKeys(t, 1)
	for what, put := range map[string]func(path string) error{
		"link":      func(path string) error { return os.Symlink("elsewhere", path) },
		"pipe":      func(path string) error { return unix.Mkfifo(path, 0o600) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		path := t.TempDir()
		fd := openPath(t, path)
		names, err := MakeNames(fd, keys)
		if err != nil {
			t.Fatal(err)
		}
		low, err := names.Lower(strings.Repeat("n", 200))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Remove(filepath.Join(path, dirFileName)), put(filepath.Join(path, dirFileName)), put(filepath.Join(path, low.sealedFile()))); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadNames(fd, keys); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s as id: %v", what, err)
		}
		if _, err := names.Name(fd, low.Name); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s as long name: %v", what, err)
		}
	}
}

// diskFile adds Size to *os.File.
type diskFile struct{ *os.File }

func (f diskFile) Size() (int64, error) {
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

func TestLinks(t *testing.T) {
	keys := newTestKeys(t, 1)
	for _, target := range []string{"a", "../base/16384", "/srv/tablespace", strings.Repeat("x", 3024), "\xff\n"} {
		one, err := SealLink(keys, target)
		if err != nil {
			t.Fatal(err)
		}
		two, err := SealLink(keys, target)
		if err != nil || one == two {
			t.Errorf("%.20q: two links are equal below, %v", target, err)
		}
		if got, err := OpenLink(newTestKeys(t, 1, 2), one); err != nil || got != target {
			t.Errorf("%.20q: read back as %q, %v", target, got, err)
		}
		changed := []byte(one)
		changed[len(changed)/2] ^= 1
		if got, err := OpenLink(keys, string(changed)); err == nil {
			t.Errorf("%.20q: changed link is read as %q", target, got)
		}
	}
	if _, err := SealLink(keys, strings.Repeat("x", 3025)); err != unix.ENAMETOOLONG {
		t.Errorf("too long a link: %v", err)
	}
	for _, plain := range []string{"", "/srv/tablespace", "AAAA"} {
		if got, err := OpenLink(keys, plain); !errors.Is(err, ErrName) {
			t.Errorf("plain link %q is read as %q, %v", plain, got, err)
		}
	}
}

// FuzzName decodes lower names and the files of long ones: what is accepted is
// the one lower name of its name.
func FuzzName(f *testing.F) {
	keys := newTestKeys(f, 1)
	names, err := newDirNames(keys, Header{KeyVersion: 1})
	if err != nil {
		f.Fatal(err)
	}
	dir := openPath(f, f.TempDir())
	for _, n := range []string{"a", "ibdata1", strings.Repeat("y", 160)} {
		low, err := names.Lower(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(low.Name, []byte{})
	}
	low, err := names.Lower(strings.Repeat("z", 255))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(low.Name, low.sealed)
	f.Add("plain", []byte("plain"))
	f.Fuzz(func(t *testing.T, lower string, sealed []byte) {
		if name, err := names.open(sealed); err == nil {
			again, err := names.Lower(name)
			if err != nil || again.sealed != nil && !bytes.Equal(again.sealed, sealed) {
				t.Fatalf("%q: sealed %x, then %x, %v", name, sealed, again.sealed, err)
			}
		}
		name, err := names.Name(dir, lower)
		if err != nil {
			return
		}
		if again, err := names.Lower(name); err != nil || again.Name != lower {
			t.Fatalf("%q is %q below, then %q, %v", name, lower, again.Name, err)
		}
	})
}

// FuzzLink decodes targets of links.
func FuzzLink(f *testing.F) {
	keys := newTestKeys(f, 1)
	for _, n := range []string{"a", "/srv/x"} {
		link, err := SealLink(keys, n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(link)
	}
	f.Add("/plain")
	f.Fuzz(func(t *testing.T, lower string) {
		target, err := OpenLink(keys, lower)
		if err == nil && (target == "" || strings.Contains(target, "\x00")) {
			t.Fatalf("%q leads to %q", lower, target)
		}
	})
}

func BenchmarkName(b *testing.B) {
	names, err := newDirNames(newTestKeys(b, 1), Header{KeyVersion: 1})
	if err != nil {
		b.Fatal(err)
	}
	name := rand.Text()
	low, err := names.Lower(name)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("lower", func(b *testing.B) {
		for b.Loop() {
			names.Lower(name)
		}
	})
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			names.Name(-1, low.Name)
		}
	})
}

// A tree is a directory with encrypted names, worked on as a mount does.
type tree struct {
	t    testing.TB
	keys KeySource
	path string
}

// at opens the directory that a mount calls dir.
func (tr *tree) at(dir string) (fd int, names *DirNames) {
	tr.t.Helper()
	fd = openPath(tr.t, tr.path)
	for name := range strings.SplitSeq(dir, "/") {
		names, err := MakeNames(fd, tr.keys)
		if err != nil {
			tr.t.Fatal(err)
		}
		if dir == "" {
			return fd, names
		}
		low, err := names.Lower(name)
		if err != nil {
			tr.t.Fatal(err)
		}
		next, err := unix.Openat(fd, low.Name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			tr.t.Fatalf("%s: %v", dir, err)
		}
		tr.t.Cleanup(func() { unix.Close(next) })
		fd = next
	}
	names, err := MakeNames(fd, tr.keys)
	if err != nil {
		tr.t.Fatal(err)
	}
	return fd, names
}

// lower returns the directory and the lower name of path.
func (tr *tree) lower(path string) (int, LowerName) {
	tr.t.Helper()
	dir, name := filepath.Split(path)
	fd, names := tr.at(strings.TrimSuffix(dir, "/"))
	low, err := names.Lower(name)
	if err != nil {
		tr.t.Fatal(err)
	}
	return fd, low
}

func (tr *tree) make(path string) error {
	fd, low := tr.lower(path)
	return MakeEntry(fd, low, func(name string) error {
		if strings.HasPrefix(filepath.Base(path), "d") {
			return unix.Mkdirat(fd, name, 0o700)
		}
		f, err := unix.Openat(fd, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY, 0o600)
		if err == nil {
			unix.Close(f)
		}
		return err
	})
}

func (tr *tree) remove(path string, flags int) error {
	fd, low := tr.lower(path)
	return RemoveEntry(fd, low, flags)
}

func (tr *tree) rename(from, to string, flags uint) error {
	fromDir, a := tr.lower(from)
	toDir, b := tr.lower(to)
	return RenameEntry(fromDir, a, toDir, b, flags)
}

func (tr *tree) link(from, to string) error {
	fromDir, a := tr.lower(from)
	toDir, b := tr.lower(to)
	return MakeEntry(toDir, b, func(name string) error { return unix.Linkat(fromDir, a.Name, toDir, name, 0) })
}

// list returns all paths as a mount shows them, directories with a slash.
// orphans counts files of names that no entry needs.
func (tr *tree) list() (paths []string, orphans int) {
	tr.t.Helper()
	root, err := os.Open(tr.path)
	if err != nil {
		tr.t.Fatal(err)
	}
	defer root.Close()
	d := &Dir{path: tr.path, root: root, keys: tr.keys, config: Config{Names: NamesEncrypted}}
	err = d.Walk(func(e *Entry) error {
		switch {
		case e.Own:
			if base := filepath.Base(e.Path); strings.HasPrefix(base, sealedPrefix) {
				if _, err := os.Lstat(filepath.Join(tr.path, filepath.Dir(e.Path), longPrefix+strings.TrimPrefix(base, sealedPrefix))); err != nil {
					orphans++
				}
			}
		case e.NameErr != nil:
			tr.t.Errorf("%s: %v", e.Path, e.NameErr)
		case e.Kind() == unix.S_IFDIR && e.Path != ".":
			paths = append(paths, e.Name+"/")
		case e.Path != ".":
			paths = append(paths, e.Name)
		}
		return nil
	})
	if err != nil {
		tr.t.Fatal(err)
	}
	slices.Sort(paths)
	return paths, orphans
}

// stoppable are operations on encrypted directories.
var stoppable = func() []stoppedOp {
	long := func(c string) string { return strings.Repeat(c, 200/len(c)) }
	return []stoppedOp{
		{"create in new directory", []string{"d"}, nil, func(tr *tree) error { return tr.make("d/a") }},
		{"create long", nil, nil, func(tr *tree) error { return tr.make(long("a")) }},
		{"create long in new directory", []string{"d"}, nil, func(tr *tree) error { return tr.make("d/" + long("a")) }},
		{"make long directory", nil, nil, func(tr *tree) error { return tr.make(long("d")) }},
		{"unlink long", []string{long("a")}, nil, func(tr *tree) error { return tr.remove(long("a"), 0) }},
		{"rmdir", []string{"d"}, []string{"d/a"}, func(tr *tree) error { return tr.remove("d", unix.AT_REMOVEDIR) }},
		{"rmdir long", []string{long("d")}, []string{long("d") + "/a"}, func(tr *tree) error { return tr.remove(long("d"), unix.AT_REMOVEDIR) }},
		{"rename to long", []string{"a"}, nil, func(tr *tree) error { return tr.rename("a", long("b"), 0) }},
		{"rename from long", []string{long("a")}, nil, func(tr *tree) error { return tr.rename(long("a"), "b", 0) }},
		{"rename long over long", []string{long("a"), long("b")}, nil, func(tr *tree) error { return tr.rename(long("a"), long("b"), 0) }},
		{"rename long to new directory", []string{long("a"), "d"}, nil, func(tr *tree) error { return tr.rename(long("a"), "d/"+long("b"), 0) }},
		{"rename directory over empty one", []string{"d1", "d1/a", "d2"}, []string{"d2/x"}, func(tr *tree) error { return tr.rename("d1", "d2", 0) }},
		{"rename long directory over empty long one", []string{long("d"), long("d") + "/a", long("de")}, []string{long("de") + "/x"}, func(tr *tree) error {
			return tr.rename(long("d"), long("de"), 0)
		}},
		{"exchange long and short", []string{long("d"), "b"}, nil, func(tr *tree) error { return tr.rename(long("d"), "b", unix.RENAME_EXCHANGE) }},
		{"rename to long that must not exist", []string{"a"}, nil, func(tr *tree) error { return tr.rename("a", long("b"), unix.RENAME_NOREPLACE) }},
		{"link long", []string{"a"}, nil, func(tr *tree) error { return tr.link("a", long("b")) }},
	}
}()

type stoppedOp struct {
	name   string
	before []string // made first; directories begin with d
	gone   []string // made and removed first, so that their directory has an id
	do     func(*tree) error
}

// start returns a tree for o to work on, and what is there.
func (o *stoppedOp) start(t *testing.T) (*tree, []string) {
	t.Helper()
	tr := &tree{t, newTestKeys(t, 1), t.TempDir()}
	for _, p := range slices.Concat([]string{"kept", "dkept", "dkept/" + strings.Repeat("k", 200)}, o.before, o.gone) {
		if err := tr.make(p); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range o.gone {
		if err := tr.remove(p, 0); err != nil {
			t.Fatal(err)
		}
	}
	paths, _ := tr.list()
	return tr, paths
}

// TestNamesStopped stops operations after each of their lower steps: then an
// operation is done or it is not, nothing else has changed, it can be done
// again, and everything can be removed.
func TestNamesStopped(t *testing.T) {
	for _, op := range stoppable {
		t.Run(op.name, func(t *testing.T) {
			tr, before := op.start(t)
			if err := op.do(tr); err != nil {
				t.Fatal(err)
			}
			done, orphans := tr.list()
			if slices.Equal(before, done) || orphans != 0 {
				t.Fatalf("%d files of names without entries; %.60q became %.60q", orphans, before, done)
			}
			tr.removeAll()
			for stop := 1; ; stop++ {
				tr, _ := op.start(t)
				err := stopAt(stop, func() error { return op.do(tr) })
				if err == nil {
					return
				}
				if err != errStopped {
					t.Fatal(err)
				}
				now, _ := tr.list()
				if slices.Equal(now, before) {
					if err := op.do(tr); err != nil {
						t.Errorf("after step %d the operation cannot be done again: %v", stop, err)
					}
					now, _ = tr.list()
				}
				if !slices.Equal(now, done) {
					t.Errorf("after step %d there is %.80q, neither %.80q nor %.80q", stop, now, before, done)
				}
				tr.removeAll()
			}
		})
	}
}

// removeAll removes all entries as a mount does, after which nothing is left
// below but what the root needs.
func (tr *tree) removeAll() {
	tr.t.Helper()
	paths, _ := tr.list()
	for _, p := range slices.Backward(paths) {
		path, isDir := strings.CutSuffix(p, "/")
		flags := 0
		if isDir {
			flags = unix.AT_REMOVEDIR
		}
		if err := tr.remove(path, flags); err != nil {
			tr.t.Errorf("remove %.20s: %v", p, err)
		}
	}
	left, _ := tr.list()
	if len(left) > 0 {
		tr.t.Errorf("%.60q cannot be removed", left)
	}
}

var errStopped = errors.New("stopped")

// stopAt runs f and ends it after its nth lower step; nil if it has fewer.
func stopAt(n int, f func() error) (err error) {
	old := step
	defer func() {
		step = old
		if r := recover(); r != nil {
			if r != errStopped {
				panic(r)
			}
			err = errStopped
		}
	}()
	step = func() {
		if n--; n == 0 {
			panic(errStopped)
		}
	}
	return f()
}
