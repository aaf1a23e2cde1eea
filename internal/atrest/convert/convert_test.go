package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/crypto/secret"
)

// testKeys has one data key, made of one byte.
type testKeys struct{ dek *secret.Bytes }

func newTestKeys(t testing.TB, b byte) *testKeys {
	t.Helper()
	dek, err := secret.From(bytes.Repeat([]byte{b}, 32))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dek.Close() })
	return &testKeys{dek}
}

func (k *testKeys) Current() uint32 { return 1 }
func (k *testKeys) DEK(version uint32) (*secret.Bytes, error) {
	if version != 1 {
		return nil, volume.ErrUnknownKey
	}
	return k.dek, nil
}

func (k *testKeys) open() (volume.KeySource, error) { return k, nil }

const canary = "a canary that no lower file may show"

// makeTree makes a tree with one of everything that conversion must keep.
func makeTree(t testing.TB, root string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(root, name) }
	write := func(name string, size int64, mode fs.FileMode) {
		t.Helper()
		r := rand.New(rand.NewPCG(1, uint64(size)))
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		for i := 0; i+len(canary) < len(b); i += 4099 {
			copy(b[i:], canary)
		}
		must(os.MkdirAll(filepath.Dir(at(name)), 0o755))
		must(os.WriteFile(at(name), b, mode))
		must(os.Chmod(at(name), mode))
	}
	must(os.MkdirAll(root, 0o750))
	for _, size := range []int64{0, 1, 15, 16, 17, 511, 512, 4095, 4096, 4097, 65536, chunkSize - 1, chunkSize, 3*chunkSize + 5} {
		write(fmt.Sprintf("sizes/%d", size), size, 0o640)
	}
	write("modes/read-only", 100, 0o400)
	write("modes/setgid", 100, 0o2750)
	write("names/with\nnewline", 10, 0o600)
	write("names/not\xff\xfeutf8", 10, 0o600)
	write("names/"+strings.Repeat("n", 255), 10, 0o600)
	write(strings.Repeat("d", 200)+"/"+strings.Repeat("f", 161), 10, 0o600)
	write("base/1/1259", 8192, 0o600)
	must(os.MkdirAll(at("empty/dir"), 0o711))
	must(os.Mkdir(at("closed"), 0o500))
	must(os.Link(at("sizes/65536"), at("base/1/linked")))
	must(os.Link(at("sizes/65536"), at("aaa-first")))
	must(os.Symlink("1259", at("base/1/relative")))
	must(os.Symlink("/nowhere/at/all", at("outside")))
	must(unix.Mkfifo(at("pipe"), 0o620))
	l, err := net.Listen("unix", at("socket"))
	must(err)
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	must(l.Close())
	sparse, err := os.Create(at("sparse"))
	must(err)
	must(sparse.Truncate(segmentSize + 3*chunkSize + 7))
	for _, off := range []int64{0, 5 * chunkSize, segmentSize - 10, segmentSize + 2*chunkSize} {
		_, err = sparse.WriteAt([]byte(canary), off)
		must(err)
	}
	must(sparse.Close())
	if err := unix.Setxattr(at("sizes/4096"), "user.veildb", []byte("kept\x00"), 0); err != nil && !errors.Is(err, unix.ENOTSUP) {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		must(os.Lchown(at("base/1/1259"), 1234, 4321))
		must(os.Lchown(at("outside"), 1234, 4321))
	}
	old := []unix.Timespec{{Sec: 1e9, Nsec: 123456789}, {Sec: 1e9 + 5, Nsec: 987654321}}
	for _, name := range []string{"sizes/17", "base/1/relative", "empty/dir", "base"} {
		must(unix.UtimesNanoAt(unix.AT_FDCWD, at(name), old, unix.AT_SYMLINK_NOFOLLOW))
	}
}

// compareTrees compares what a and b hold, sockets left out.
func compareTrees(t *testing.T, a, b side) {
	t.Helper()
	as, bs := entriesOf(t, a), entriesOf(t, b)
	if len(as) != len(bs) {
		t.Fatalf("%d entries there, %d here", len(as), len(bs))
	}
	links := map[uint64]uint64{} // inodes of files
	for i := range as {
		ea, eb := &as[i], &bs[i]
		if ea.path != eb.path || ea.size != eb.size {
			t.Fatalf("%q of %d bytes is %q of %d bytes", ea.path, ea.size, eb.path, eb.size)
		}
		if links[ea.stat.Ino] == 0 {
			links[ea.stat.Ino] = eb.stat.Ino
		}
		if ea.kind() == unix.S_IFREG && (links[ea.stat.Ino] != eb.stat.Ino || ea.stat.Nlink != eb.stat.Nlink) {
			t.Errorf("%q is a link of another file", ea.path)
		}
		if ea.stat.Mode != eb.stat.Mode || ea.stat.Uid != eb.stat.Uid || ea.stat.Gid != eb.stat.Gid || ea.stat.Mtim != eb.stat.Mtim || ea.stat.Rdev != eb.stat.Rdev {
			t.Errorf("%q: %+v is not %+v", ea.path, ea.stat, eb.stat)
		}
		if xa, xb := xattr(a.path(ea.from)), xattr(b.path(eb.from)); xa != xb {
			t.Errorf("%q: attribute %q is not %q", ea.path, xa, xb)
		}
		switch ea.kind() {
		case unix.S_IFLNK:
			la, _ := a.readlink(ea.from)
			if lb, err := b.readlink(eb.from); la != lb || err != nil {
				t.Errorf("%q leads to %q, not %q", ea.path, lb, la)
			}
		case unix.S_IFREG:
			if ca, cb := read(t, a, ea), read(t, b, eb); !bytes.Equal(ca, cb) {
				t.Errorf("%q: content differs", ea.path)
			}
		}
	}
}

// entriesOf returns what s holds, in the order of the names that a mount shows.
func entriesOf(t *testing.T, s side) []entry {
	t.Helper()
	p, err := makePlan(s, func(string, string) {})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(p.entries, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	return p.entries
}

func xattr(path string) string {
	b := make([]byte, 100)
	n, err := unix.Lgetxattr(path, "user.veildb", b)
	return string(b[:max(n, 0)]) + fmt.Sprint(err == nil)
}

func read(t *testing.T, s side, e *entry) []byte {
	t.Helper()
	f, err := s.open(e.from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, e.size)
	if n, err := f.ReadAt(b, 0); n < len(b) {
		t.Fatalf("%s: %d of %d bytes: %v", e.path, n, len(b), err)
	}
	return b
}

// searchPlain fails if a file below root shows words.
func searchPlain(t *testing.T, root, words string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(words)) {
			t.Errorf("%s shows plaintext", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRoundTrip(t *testing.T) {
	for _, c := range []struct {
		fromDisk bool
		names    volume.Names
	}{{false, volume.NamesPlain}, {true, volume.NamesPlain}, {false, volume.NamesEncrypted}} {
		t.Run(fmt.Sprintf("FromDisk=%v/names=%s", c.fromDisk, c.names), func(t *testing.T) {
			fromDisk := c.fromDisk
			dir, keys := t.TempDir(), newTestKeys(t, 1)
			plain, lower, back := filepath.Join(dir, "plain"), filepath.Join(dir, "lower"), filepath.Join(dir, "back")
			makeTree(t, plain)
			var notes []string
			job := Job{Source: plain, Target: lower, Keys: keys.open, FromDisk: fromDisk, Names: c.names,
				Note: func(path, what string) { notes = append(notes, path+": "+what) }}
			s, err := job.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if s.Skipped != 1 || s.Files < 20 || s.Resumed != 0 {
				t.Errorf("summary %+v", s)
			}
			if all := strings.Join(notes, "\n"); len(notes) != 2 || !strings.Contains(all, "socket: ") || !strings.Contains(all, "outside: link out") {
				t.Errorf("notes:\n%s", all)
			}
			searchPlain(t, lower, canary)
			d, err := volume.OpenDir(lower, keys.open, volume.DirOptions{})
			if err != nil {
				t.Fatalf("open the new volume: %v", err)
			}
			compareTrees(t, side{root: plain}, side{d.Root().Name(), keys, c.names})
			if c.names == volume.NamesPlain {
				checkSparse(t, plain, d.Root().Name())
			} else {
				searchNames(t, plain, lower)
			}
			d.Close()

			job = Job{Source: lower, Target: back, Decrypt: true, Keys: keys.open, FromDisk: fromDisk}
			if _, err := job.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			compareTrees(t, side{root: plain}, side{root: back})
			checkSparse(t, plain, back)
			if names, _ := filepath.Glob(filepath.Join(dir, ".*")); len(names) > 0 {
				t.Errorf("left behind: %q", names)
			}
		})
	}
}

// searchNames fails if a name of the plain tree is to be seen in lower.
func searchNames(t *testing.T, plain, lower string) {
	t.Helper()
	var below []byte
	err := filepath.WalkDir(lower, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below = append(below, strings.TrimPrefix(path, lower)...)
		if to, err := os.Readlink(path); err == nil {
			below = append(below, to...)
		}
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			below = append(below, data...)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entriesOf(t, side{root: plain}) {
		if name := filepath.Base(e.path); len(name) > 6 && bytes.Contains(below, []byte(name)) {
			t.Errorf("the name %q is below", name)
		}
	}
}

// checkSparse wants the file sparse to take no more space in b than in a, but
// for its header.
func checkSparse(t *testing.T, a, b string) {
	t.Helper()
	var sa, sb unix.Stat_t
	if err := errors.Join(unix.Stat(filepath.Join(a, "sparse"), &sa), unix.Stat(filepath.Join(b, "sparse"), &sb)); err != nil {
		t.Fatal(err)
	}
	if sb.Blocks*512 > sa.Blocks*512+64<<10 {
		t.Errorf("sparse file takes %d bytes, its source %d", sb.Blocks*512, sa.Blocks*512)
	}
}

func TestRefusals(t *testing.T) {
	keys, other := newTestKeys(t, 1), newTestKeys(t, 2)
	for _, c := range []struct {
		name  string
		setUp func(dir string, j *Job) error
		want  error
	}{
		{"target inside", func(dir string, j *Job) error { j.Target = filepath.Join(j.Source, "lower"); return nil }, ErrNested},
		{"source inside", func(dir string, j *Job) error { j.Target = dir; return nil }, ErrNested},
		{"inside through a link", func(dir string, j *Job) error {
			j.Target = filepath.Join(dir, "link", "lower")
			return os.Symlink(j.Source, filepath.Join(dir, "link"))
		}, ErrNested},
		{"target not empty", func(dir string, j *Job) error {
			os.Mkdir(j.Target, 0o700)
			return os.WriteFile(filepath.Join(j.Target, "x"), nil, 0o600)
		}, volume.ErrNotEmpty},
		{"target is a volume", func(dir string, j *Job) error { return volume.InitDir(j.Target, keys, volume.Config{}) }, fs.ErrExist},
		{"source is a file", func(dir string, j *Job) error {
			j.Source = filepath.Join(dir, "f")
			return os.WriteFile(j.Source, nil, 0o600)
		}, unix.ENOTDIR},
		{"no source", func(dir string, j *Job) error { j.Source += "x"; return nil }, fs.ErrNotExist},
		{"no parent", func(dir string, j *Job) error { j.Target = filepath.Join(dir, "no", "lower"); return nil }, fs.ErrNotExist},
		{"decrypt what is plain", func(dir string, j *Job) error { j.Decrypt = true; return nil }, volume.ErrNotVolume},
		{"decrypt into something", func(dir string, j *Job) error {
			j.Source, j.Decrypt = filepath.Join(dir, "v"), true
			os.Mkdir(j.Target, 0o700)
			return errors.Join(os.WriteFile(filepath.Join(j.Target, "x"), nil, 0o600), volume.InitDir(j.Source, keys, volume.Config{}))
		}, fs.ErrExist},
		{"wrong key", func(dir string, j *Job) error {
			j.Source, j.Decrypt = filepath.Join(dir, "v"), true
			return volume.InitDir(j.Source, other, volume.Config{})
		}, volume.ErrWrongKey},
		{"unfinished volume", func(dir string, j *Job) error {
			j.Source, j.Decrypt = filepath.Join(dir, "v"), true
			return volume.InitDir(j.Source, keys, volume.Config{State: volume.StateConverting})
		}, volume.ErrConverting},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			j := Job{Source: filepath.Join(dir, "plain"), Target: filepath.Join(dir, "lower"), Keys: keys.open}
			if err := os.Mkdir(j.Source, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(j.Source, "file"), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := c.setUp(dir, &j); err != nil {
				t.Fatal(err)
			}
			if _, err := j.Run(t.Context()); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

// TestStopAndGoOn cancels at each chunk in turn and runs again: what an earlier
// run did is not done again, and another source is refused meanwhile.
func TestStopAndGoOn(t *testing.T) {
	dir, keys := t.TempDir(), newTestKeys(t, 1)
	plain, lower := filepath.Join(dir, "plain"), filepath.Join(dir, "lower")
	makeTree(t, plain)
	big := filepath.Join(plain, "big")
	if err := os.WriteFile(big, bytes.Repeat([]byte(canary), (segmentSize+16<<20)/len(canary)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	job := Job{Source: plain, Target: lower, Keys: keys.open, Workers: 1}
	job.Progress = func(p Progress) {
		if p.Bytes > p.AllBytes/2 {
			cancel()
		}
	}
	job.Rate = 400 << 20 // long enough for the progress to see it
	_, err := job.Run(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("stopped: %v", err)
	}
	if _, err := volume.OpenDir(lower, keys.open, volume.DirOptions{}); !errors.Is(err, volume.ErrConverting) {
		t.Errorf("open unfinished volume: %v, want ErrConverting", err)
	}
	second := job
	second.Source = filepath.Join(dir, "second")
	makeTree(t, second.Source)
	if _, err := second.Run(t.Context()); !errors.Is(err, ErrOther) {
		t.Errorf("another source: %v, want ErrOther", err)
	}
	// What the source has lost or changed since must not stay.
	if err := os.Remove(filepath.Join(plain, "sizes/65536")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(plain, "sizes/4096"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	job.Progress, job.Rate = nil, 0
	s, err := job.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Resumed == 0 {
		t.Error("nothing was taken over")
	}
	compareTrees(t, side{root: plain}, side{root: filepath.Join(lower, "files"), keys: keys})
}

func TestVerifyFindsAnyChange(t *testing.T) {
	dir, keys := t.TempDir(), newTestKeys(t, 1)
	plain := filepath.Join(dir, "plain")
	makeTree(t, plain)
	p, err := makePlan(side{root: plain}, func(string, string) {})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(p.entries, func(e entry) bool { return e.path == fmt.Sprintf("sizes/%d", 3*chunkSize+5) })
	c := newCopier(&Job{FromDisk: true}, &transfer{from: side{root: plain}, to: side{root: dir, keys: keys}}, p, &journal{}, nil)
	os.Mkdir(filepath.Join(dir, "sizes"), 0o700)
	f := &transferFile{c: c, entry: i, parts: 1}
	f.left.Store(2) // stays open
	rec, err := f.copyPart(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	_, sums, err := f.copyRange(t.Context(), 0, p.entries[i].size)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.verify(f.check, "x", 0, sums); err != nil {
		t.Fatalf("unchanged: %v", err)
	}
	var b [1]byte
	for _, off := range []int64{0, 4096, chunkSize + 77, 3*chunkSize + 4} {
		at := volume.HeaderSize + off
		if _, err := f.dst.os.ReadAt(b[:], at); err != nil {
			t.Fatal(err)
		}
		for _, change := range []byte{1, 0} { // there and back
			if _, err := f.dst.os.WriteAt([]byte{b[0] ^ change}, at); err != nil {
				t.Fatal(err)
			}
			err := c.verify(f.check, "x", 0, sums)
			if want := change == 1; errors.Is(err, ErrVerify) != want {
				t.Errorf("byte %d flipped %v: %v", off, want, err)
			}
		}
	}
	if rec.Bytes != p.entries[i].size {
		t.Errorf("copied %d bytes", rec.Bytes)
	}
	if err := f.dst.Truncate(100); err != nil {
		t.Fatal(err)
	}
	if err := c.verify(f.check, "x", 0, sums); !errors.Is(err, ErrVerify) {
		t.Errorf("cut off: %v", err)
	}
	f.close()
}

func TestFullDisk(t *testing.T) {
	dir, keys := t.TempDir(), newTestKeys(t, 1)
	plain, tiny := filepath.Join(dir, "plain"), filepath.Join(dir, "tiny")
	if err := errors.Join(os.Mkdir(plain, 0o700), os.Mkdir(tiny, 0o700)); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		if err := os.WriteFile(filepath.Join(plain, fmt.Sprint(i)), bytes.Repeat([]byte{byte(i + 1)}, 1<<20), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mount("tiny", tiny, "tmpfs", 0, "size=12m"); err != nil {
		if errors.Is(err, unix.EPERM) {
			t.Skip("mounting a small file system needs root")
		}
		t.Fatal(err)
	}
	defer unix.Unmount(tiny, unix.MNT_DETACH)
	lower, ballast := filepath.Join(tiny, "lower"), filepath.Join(tiny, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 6<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	job := Job{Source: plain, Target: lower, Keys: keys.open}
	if _, err := job.Run(t.Context()); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("too little space: %v, want ENOSPC", err)
	}
	// Enough at the start, not any more at the end.
	os.Remove(ballast)
	job.Workers = 1
	job.Keys = func() (volume.KeySource, error) {
		return &spaceEater{testKeys: keys, after: 3, path: ballast}, nil
	}
	if _, err := job.Run(t.Context()); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("disk filled meanwhile: %v, want ENOSPC", err)
	}
	if _, err := volume.OpenDir(lower, keys.open, volume.DirOptions{}); !errors.Is(err, volume.ErrConverting) {
		t.Errorf("open unfinished volume: %v, want ErrConverting", err)
	}
	os.Remove(ballast)
	job.Keys = keys.open
	if _, err := job.Run(t.Context()); err != nil {
		t.Fatalf("with space again: %v", err)
	}
	compareTrees(t, side{root: plain}, side{root: filepath.Join(lower, "files"), keys: keys})
}

// spaceEater fills the disk once so many keys were asked for.
type spaceEater struct {
	*testKeys
	after int
	path  string
}

func (k *spaceEater) DEK(version uint32) (*secret.Bytes, error) {
	if k.after--; k.after == 0 {
		f, err := os.Create(k.path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		for err == nil {
			_, err = io.CopyN(f, zeros{}, 64<<10)
		}
	}
	return k.testKeys.DEK(version)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
