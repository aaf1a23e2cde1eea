package volume

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/disk"
)

func initTestDir(t testing.TB, keys KeySource, c Config) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lower")
	if err := InitDir(path, keys, c); err != nil {
		t.Fatal(err)
	}
	return path
}

func openWith(keys KeySource) func() (KeySource, error) {
	return func() (KeySource, error) { return keys, nil }
}

func TestDirLife(t *testing.T) {
	keys := newTestKeys(t, 1)
	path := initTestDir(t, keys, Config{})
	d, err := OpenDir(path, openWith(keys), DirOptions{Purpose: "testing"})
	if err != nil {
		t.Fatal(err)
	}
	c := d.Config()
	if c.State != StateReady || c.Names != NamesPlain || c.KeyVersion != 1 || c.Generation != 1 || c.ID == (FileID{}) || time.Since(c.Created) > time.Hour {
		t.Errorf("configuration %+v", c)
	}
	if names, err := d.Root().Readdirnames(-1); err != nil || len(names) != 0 {
		t.Errorf("tree holds %q, %v", names, err)
	}
	called := false
	_, err = OpenDir(path, func() (KeySource, error) { called = true; return keys, nil }, DirOptions{})
	if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "testing") || called {
		t.Errorf("second opening: %v, keys asked for: %v; want ErrBusy with the purpose before any key", err, called)
	}
	if h := ReadHolder(path); h.PID != os.Getpid() || h.Purpose != "testing" {
		t.Errorf("holder %+v", h)
	}

	newer := newTestKeys(t, 1, 2)
	view, err := ViewDir(path, newer)
	if err != nil {
		t.Fatalf("view beside the holder: %v", err)
	}
	view.Close()
	d.keys = newer
	if err := d.Update(func(c *Config) { c.Rekeyed = time.Unix(1e9, 0).UTC(); c.ID[0]++ }); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if h := ReadHolder(path); h.PID != 0 {
		t.Errorf("holder after Close: %+v", h)
	}
	again, err := OpenDir(path, openWith(newer), DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	got := again.Config()
	c.Generation, c.KeyVersion, c.Rekeyed = 2, 2, time.Unix(1e9, 0).UTC()
	if got != c {
		t.Errorf("configuration %+v, want %+v", got, c)
	}
}

// TestOpenDirTidies opens a volume whose last change of configuration was cut
// off between its two files.
func TestOpenDirTidies(t *testing.T) {
	keys := newTestKeys(t, 1)
	path := initTestDir(t, keys, Config{})
	private := filepath.Join(path, privateName)
	stray := disk.TempName(filepath.Join(private, configName))
	if err := errors.Join(os.WriteFile(stray, []byte("x"), 0o600), os.WriteFile(filepath.Join(private, copyName), []byte("older"), 0o600)); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDir(path, openWith(keys), DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
	config, _ := os.ReadFile(filepath.Join(private, configName))
	spare, err := os.ReadFile(filepath.Join(private, copyName))
	if _, serr := os.Lstat(stray); err != nil || serr == nil || !bytes.Equal(config, spare) {
		t.Errorf("copy %q, %v; stray %v", spare, err, serr)
	}
}

func TestOpenDirErrors(t *testing.T) {
	keys, other := newTestKeys(t, 1), newTestKeys(t, 1)
	other.deks[1] = newTestKeys(t, 9).deks[9]
	none := newTestKeys(t, 3)
	for _, c := range []struct {
		name   string
		config Config
		spoil  func(path string) error
		keys   KeySource
		opts   DirOptions
		want   error
	}{
		{name: "other key", keys: other, want: ErrWrongKey},
		{name: "key version missing", keys: none, want: ErrUnknownKey},
		{name: "converting", config: Config{State: StateConverting}, want: ErrConverting},
		{name: "ready", opts: DirOptions{Converting: true}, want: ErrReady},
		{name: "no such directory", spoil: os.RemoveAll, want: os.ErrNotExist},
		{name: "not a volume", spoil: func(p string) error { return os.RemoveAll(filepath.Join(p, privateName)) }, want: ErrNotVolume},
		{name: "a file", spoil: func(p string) error { os.RemoveAll(p); return os.WriteFile(p, nil, 0o600) }, want: ErrNotVolume},
		{name: "tree missing", spoil: func(p string) error { return os.Remove(filepath.Join(p, filesName)) }, want: ErrCorrupt},
		{name: "configuration missing", spoil: func(p string) error { return os.Remove(filepath.Join(p, privateName, configName)) }, want: ErrCorrupt},
		{name: "configuration cut", spoil: func(p string) error { return os.Truncate(filepath.Join(p, privateName, configName), 200) }, want: ErrCorrupt},
		{name: "configuration empty", spoil: func(p string) error { return os.Truncate(filepath.Join(p, privateName, configName), 0) }, want: ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := initTestDir(t, keys, c.config)
			if c.spoil != nil {
				if err := c.spoil(path); err != nil {
					t.Fatal(err)
				}
			}
			if c.keys == nil {
				c.keys = keys
			}
			d, err := OpenDir(path, openWith(c.keys), c.opts)
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if err == nil {
				d.Close()
			} else if l, lerr := disk.Lock(filepath.Join(path, privateName, lockName)); lerr == nil {
				l.Close()
			} else if errors.Is(lerr, disk.ErrBusy) {
				t.Error("the lock is still held")
			}
		})
	}
}

// TestEveryBitOfTheConfig flips each bit; and makes the checksum good again, as
// someone without the key can.
func TestEveryBitOfTheConfig(t *testing.T) {
	keys := newTestKeys(t, 1)
	path := initTestDir(t, keys, Config{})
	good, err := os.ReadFile(filepath.Join(path, privateName, configName))
	if err != nil {
		t.Fatal(err)
	}
	for bit := range len(good) * 8 {
		data := bytes.Clone(good)
		data[bit/8] ^= 1 << (bit % 8)
		if _, err := decodeConfig(data); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) {
			t.Fatalf("bit %d of byte %d flipped: %v", bit%8, bit/8, err)
		}
		resum(data)
		if c, err := decodeConfig(data); err == nil && !bytes.Equal(data, good) {
			if err := c.verify(data, keys); err == nil {
				t.Fatalf("bit %d of byte %d flipped with a good checksum: accepted", bit%8, bit/8)
			}
		}
	}
}

func TestForgedConfig(t *testing.T) {
	keys := newTestKeys(t, 1, 2)
	path := initTestDir(t, keys, Config{State: StateConverting})
	good, err := os.ReadFile(filepath.Join(path, privateName, configName))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, old, new string
		want           error
	}{
		{"state", `"converting"`, `"ready"`, ErrCorrupt},
		{"key version", `"key_version": 2`, `"key_version": 1`, ErrWrongKey},
		{"no such key", `"key_version": 2`, `"key_version": 7`, ErrUnknownKey},
		{"generation", `"generation": 1`, `"generation": 9`, ErrCorrupt},
		{"names", `"plain"`, `"sealed"`, ErrUnsupported},
		{"unit", `4096`, `8192`, ErrUnsupported},
		{"format", `veildb.volume/1"`, `veildb.volume/2"`, ErrUnsupported},
		{"more fields", `"names"`, `"nomes"`, ErrCorrupt},
	} {
		data := bytes.Replace(good, []byte(c.old), []byte(c.new), 1)
		resum(data)
		got, err := decodeConfig(data)
		if err == nil {
			err = got.verify(data, keys)
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// resum makes the checksum of a configuration good again.
func resum(data []byte) {
	summed := data[:len(data)-dirSumTail]
	sum := sha256.Sum256(summed)
	copy(data[len(summed)+len(dirSumField):], hex.EncodeToString(sum[:]))
}

// TestInitDirInterrupted makes volumes of what an interrupted InitDir leaves,
// and refuses directories that hold anything else.
func TestInitDirInterrupted(t *testing.T) {
	keys := newTestKeys(t, 1)
	mkdir := func(names ...string) func(string) error {
		return func(path string) error {
			for _, n := range names {
				if err := os.MkdirAll(filepath.Join(path, n), 0o700); err != nil {
					return err
				}
			}
			return nil
		}
	}
	write := func(name string) func(string) error {
		return func(path string) error {
			os.MkdirAll(filepath.Dir(filepath.Join(path, name)), 0o700)
			return os.WriteFile(filepath.Join(path, name), []byte("x"), 0o600)
		}
	}
	for _, c := range []struct {
		name  string
		setUp func(string) error
		want  error
	}{
		{"nothing there", func(string) error { return nil }, nil},
		{"empty directory", mkdir("."), nil},
		{"root of a file system", mkdir("lost+found"), nil},
		{"stopped before the private directory", mkdir("files"), nil},
		{"stopped before its name", write(tempPrefix + "X/config"), nil},
		{"a file", write("data"), ErrNotEmpty},
		{"a hidden file", write(".bashrc"), ErrNotEmpty},
		{"a tree", write("files/data"), ErrNotEmpty},
		{"a volume", func(path string) error { return InitDir(path, keys, Config{}) }, ErrNotEmpty},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lower")
			if err := c.setUp(path); err != nil {
				t.Fatal(err)
			}
			err := InitDir(path, keys, Config{})
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if c.want != nil {
				return
			}
			d, err := OpenDir(path, openWith(keys), DirOptions{})
			if err != nil {
				t.Fatal(err)
			}
			d.Close()
		})
	}
}

func FuzzDecodeConfig(f *testing.F) {
	keys := newTestKeys(f, 1)
	c := Config{ID: FileID{1}, Names: NamesPlain, State: StateReady, KeyVersion: 1, Generation: 1}
	good, err := sealConfig(&c, keys)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte("{\n  \"format\": \"veildb.volume/2\",\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := decodeConfig(data)
		if err != nil {
			return
		}
		if c.verify(data, keys) == nil && !bytes.Equal(data, good) {
			t.Errorf("a forged configuration is accepted:\n%s", data)
		}
	})
}
