package rekey

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/disk"
)

// testKeys has data keys 1 to current: version v is made of bytes v.
type testKeys struct {
	current uint32
	deks    map[uint32]*secret.Bytes
}

func newTestKeys(current uint32) (*testKeys, error) {
	k := &testKeys{current, map[uint32]*secret.Bytes{}}
	for v := uint32(1); v <= current; v++ {
		dek, err := secret.From(bytes.Repeat([]byte{byte(v)}, 32))
		if err != nil {
			return nil, err
		}
		k.deks[v] = dek
	}
	return k, nil
}

func mustKeys(t testing.TB, current uint32) *testKeys {
	t.Helper()
	k, err := newTestKeys(current)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *testKeys) Current() uint32 { return k.current }
func (k *testKeys) DEK(v uint32) (*secret.Bytes, error) {
	if dek := k.deks[v]; dek != nil {
		return dek, nil
	}
	return nil, volume.ErrUnknownKey
}

// childEnv makes the test binary rekey a volume; see TestMain.
const childEnv = "VEILDB_REKEY_TEST_CHILD"

// TestMain serves as the process that TestKill kills.
func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		os.Exit(m.Run())
	}
	life, _ := strconv.Atoi(os.Args[3])
	current, _ := strconv.Atoi(os.Args[2])
	time.AfterFunc(time.Duration(life)*time.Microsecond, func() { syscall.Kill(os.Getpid(), syscall.SIGKILL) })
	keys, err := newTestKeys(uint32(current))
	if err == nil {
		err = rekeyAt(context.Background(), os.Args[1], keys)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func openDir(path string, keys volume.KeySource) (*volume.Dir, error) {
	return volume.OpenDir(path, func() (volume.KeySource, error) { return keys, nil }, volume.DirOptions{})
}

func mustOpen(t testing.TB, path string, keys volume.KeySource) *volume.Dir {
	t.Helper()
	d, err := openDir(path, keys)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func rekeyAt(ctx context.Context, path string, keys volume.KeySource) error {
	d, err := openDir(path, keys)
	if err != nil {
		return err
	}
	defer d.Close()
	_, err = Run(ctx, d, Options{})
	return err
}

var files = map[string]int{"a": 0, "b": 5, "c": 8192, "dir/d": 3<<20 + 17, "dir/e": 100000, "z": 1 << 20}

func content(name string) []byte {
	return bytes.Repeat([]byte(name+" has this. "), files[name]/len(name+" has this. ")+1)[:files[name]]
}

// newVolume makes a volume with files, some with several names.
func newVolume(t testing.TB, keys volume.KeySource) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lower")
	if err := volume.InitDir(path, keys, volume.Config{}); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(path, "files", name) }
	if err := os.Mkdir(at("dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name := range files {
		lower, err := disk.CreateNew(at(name), 0o640)
		if err != nil {
			t.Fatal(err)
		}
		f, err := volume.Create(lower, keys, volume.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(content(name), 0); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	for _, l := range [][2]string{{"c", "c2"}, {"c", "dir/c3"}, {"dir/e", "e2"}} {
		if err := os.Link(at(l[0]), at(l[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("empty"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	old := []unix.Timespec{{Sec: 1e9, Nsec: 1}, {Sec: 1e9, Nsec: 2}}
	if err := errors.Join(unix.UtimesNanoAt(unix.AT_FDCWD, at("b"), old, 0), os.Chmod(at("b"), 0o4711)); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Chown(at("z"), 12, 34), unix.Setxattr(at("z"), "user.veildb", []byte("x"), 0)); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// checkFiles reads everything in the volume, and returns how many files have
// each key version.
func checkFiles(t *testing.T, path string, keys volume.KeySource) map[uint32]int {
	t.Helper()
	d := mustOpen(t, path, keys)
	defer d.Close()
	at := func(name string) string { return filepath.Join(path, "files", name) }
	versions := map[uint32]int{}
	for name := range files {
		lower, err := disk.OS.OpenFile(at(name), os.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f, err := volume.Open(lower, keys, volume.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := make([]byte, files[name]+1)
		n, _ := f.ReadAt(got, 0)
		if !bytes.Equal(got[:n], content(name)) {
			t.Fatalf("%s: content is not what was written", name)
		}
		versions[f.Header().KeyVersion]++
		f.Close()
	}
	for _, l := range [][2]string{{"c", "c2"}, {"c", "dir/c3"}, {"dir/e", "e2"}} {
		a, err1 := os.Stat(at(l[0]))
		b, err2 := os.Stat(at(l[1]))
		if err := errors.Join(err1, err2); err != nil || !os.SameFile(a, b) {
			t.Fatalf("%s and %s are two files: %v", l[0], l[1], err)
		}
	}
	if rest, _ := filepath.Glob(d.Private("rekey*")); len(rest) > 0 {
		t.Fatalf("left after opening: %q", rest)
	}
	return versions
}

func attributes(t *testing.T, path string) string {
	t.Helper()
	all := ""
	for _, name := range []string{"b", "z", "dir/d"} {
		var st unix.Stat_t
		if err := unix.Lstat(filepath.Join(path, "files", name), &st); err != nil {
			t.Fatal(err)
		}
		value := make([]byte, 10)
		n, _ := unix.Lgetxattr(filepath.Join(path, "files", name), "user.veildb", value)
		all += fmt.Sprintln(name, st.Mode, st.Uid, st.Gid, st.Mtim, st.Size, st.Nlink, string(value[:max(n, 0)]))
	}
	return all
}

func TestRun(t *testing.T) {
	one, two := mustKeys(t, 1), mustKeys(t, 2)
	path := newVolume(t, one)
	before := attributes(t, path)
	d := mustOpen(t, path, two)
	var last Progress
	s, err := Run(t.Context(), d, Options{Progress: func(p Progress) { last = p }})
	if err != nil {
		t.Fatal(err)
	}
	if s.Files != len(files) || s.Left != 0 || s.Current != 0 || s.Version != 2 || last.Bytes != last.AllBytes || last.Files != len(files) {
		t.Errorf("%+v, %+v", s, last)
	}
	if c := d.Config(); c.KeyVersion != 2 || c.Rekeyed.IsZero() {
		t.Errorf("configuration %+v", c)
	}
	if s, err := Run(t.Context(), d, Options{}); err != nil || s.Files != 0 || s.Current != len(files) {
		t.Errorf("again: %+v, %v", s, err)
	}
	d.Close()
	if v := checkFiles(t, path, two); v[2] != len(files) {
		t.Errorf("versions %v", v)
	}
	if after := attributes(t, path); after != before {
		t.Errorf("attributes were\n%sand are\n%s", before, after)
	}
}

// TestNameOutside has a file whose other name is not in the volume: it keeps
// its key, and the user is told.
func TestNameOutside(t *testing.T) {
	path := newVolume(t, mustKeys(t, 1))
	if err := os.Link(filepath.Join(path, "files", "b"), filepath.Join(path, "outside")); err != nil {
		t.Fatal(err)
	}
	d := mustOpen(t, path, mustKeys(t, 2))
	defer d.Close()
	noted := ""
	s, err := Run(t.Context(), d, Options{Note: func(path, why string) { noted += path + ": " + why }})
	if err != nil || s.Left != 1 || noted != "b: 1 of its 2 names are outside of the volume; remove those, or copy it and put the copy in its place" || !d.Config().Rekeyed.IsZero() {
		t.Errorf("%+v, %v, %q, %+v", s, err, noted, d.Config())
	}
}

// TestUnreadable has files without a header that stands: they are named, and all
// others get their key.
func TestUnreadable(t *testing.T) {
	path := newVolume(t, mustKeys(t, 1))
	at := func(name string) string { return filepath.Join(path, "files", name) }
	damaged, err := os.ReadFile(at("b"))
	if err != nil {
		t.Fatal(err)
	}
	damaged[100] ^= 1
	err = errors.Join(os.WriteFile(at("b"), damaged, 0o600), os.WriteFile(at("foreign"), []byte("put there below"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	d := mustOpen(t, path, mustKeys(t, 2))
	defer d.Close()
	noted := map[string]bool{}
	s, err := Run(t.Context(), d, Options{Note: func(path, _ string) { noted[path] = true }})
	if err != nil || s.Left != 2 || s.Files != len(files)-1 || !noted["b"] || !noted["foreign"] || !d.Config().Rekeyed.IsZero() {
		t.Errorf("%+v, %v, %v, %+v", s, err, noted, d.Config())
	}
	if after, err := os.ReadFile(at("b")); err != nil || !bytes.Equal(after, damaged) {
		t.Errorf("the damaged file was changed: %v", err)
	}
}

// TestNamesChange has each file get another name when the turn of one before it
// comes: none may be missed.
func TestNamesChange(t *testing.T) {
	path := newVolume(t, mustKeys(t, 1))
	d := mustOpen(t, path, mustKeys(t, 2))
	defer d.Close()
	at := func(name string) string { return filepath.Join(path, "files", name) }
	moved, walks := 0, 0
	alone := &runner{d: d, o: Options{Note: func(string, string) {}}}
	s, err := Run(t.Context(), d, Options{
		Still: func() func() { walks++; return func() {} },
		Replace: func(ctx context.Context, names []string, wait func(context.Context, int) error) error {
			if moved < 3 {
				for _, name := range []string{"a", "b"} {
					os.Rename(at(fmt.Sprint(name, strings.Repeat("x", moved))), at(fmt.Sprint(name, strings.Repeat("x", moved+1))))
				}
				moved++
			}
			return alone.replaceAtRest(ctx, names, wait)
		},
	})
	if err != nil || s.Left != 0 || moved != 3 || walks < 2 || d.Config().Rekeyed.IsZero() {
		t.Errorf("%+v, %v after %d moves and %d walks", s, err, moved, walks)
	}
	for _, name := range []string{"axxx", "bxxx"} {
		if h, err := volume.ReadHeader(at(name), nil); err != nil || h.KeyVersion != 2 {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}

// TestKill kills rekeying, from one key to the next, each time a little later:
// each file must be of one key and whole at every moment, and names of one file
// must stay names of one file.
func TestKill(t *testing.T) {
	path := newVolume(t, mustKeys(t, 1))
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kills := 0
	for current := uint32(2); current <= 3; current++ {
		keys := mustKeys(t, current)
		// Each lives a tenth longer than the one before, so that on the slowest
		// machine one gets through.
		for step, life := 0, 2000.0; ; step, life = step+1, life*1.1 {
			cmd := exec.Command(exe, path, strconv.Itoa(int(current)), strconv.Itoa(int(life)))
			// The race detector would have it stay for a second when it is done.
			cmd.Env = append(os.Environ(), childEnv+"=1", "GORACE=atexit_sleep_ms=0")
			cmd.Stderr = os.Stderr
			err := cmd.Run()
			if err == nil {
				break
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) || !exit.Sys().(syscall.WaitStatus).Signaled() || step > 150 {
				t.Fatalf("after %d kills: %v", kills, err)
			}
			kills++
			checkFiles(t, path, keys)
		}
		if v := checkFiles(t, path, keys); v[current] != len(files) {
			t.Errorf("versions %v", v)
		}
	}
	t.Logf("killed %d times", kills)
}

// TestInterruptedReplace stops the replacement of a file with three names after
// each step: opening the volume completes it.
func TestInterruptedReplace(t *testing.T) {
	two := mustKeys(t, 2)
	for done := range 4 {
		path := newVolume(t, mustKeys(t, 1))
		at := func(name string) string { return filepath.Join(path, "files", name) }
		successor := filepath.Join(path, ".veildb", "rekey", "file.1")
		data, err := os.ReadFile(at("c"))
		if err == nil {
			err = errors.Join(os.Mkdir(filepath.Dir(successor), 0o700), os.WriteFile(successor, data, 0o600),
				os.WriteFile(filepath.Join(path, ".veildb", "rekey.journal"), []byte(`{"successor":"file.1","names":["Yw==","YzI=","ZGlyL2Mz"]}`), 0o600))
		}
		for _, name := range []string{"c", "c2", "dir/c3"}[:done] {
			err = errors.Join(err, os.Link(successor, at("x")), os.Rename(at("x"), at(name)))
		}
		if err != nil {
			t.Fatal(err)
		}
		checkFiles(t, path, two)
	}
	path := newVolume(t, mustKeys(t, 1))
	for _, bad := range []string{``, `{}`, `{"successor":"../../x","names":["Yw=="]}`, `{"successor":"file.1","names":["Li4vLi4vZXRj"]}`} {
		if err := os.WriteFile(filepath.Join(path, ".veildb", "rekey.journal"), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := rekeyAt(t.Context(), path, two); !errors.Is(err, volume.ErrCorrupt) {
			t.Errorf("journal %s: %v, want ErrCorrupt", bad, err)
		}
	}
}
