package fscrypt

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fscrypt/fscrypttest"
	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/crypto/secret"
)

// testKeys are constant data keys: of version v, the bytes v+seed.
type testKeys struct {
	t    testing.TB
	seed byte
	n    uint32
}

func (k testKeys) Current() uint32 { return k.n }

func (k testKeys) DEK(version uint32) (*secret.Bytes, error) {
	if version == 0 || version > k.n {
		return nil, volume.ErrUnknownKey
	}
	key, err := secret.From(bytes.Repeat([]byte{byte(version) + k.seed}, 32))
	if err == nil {
		k.t.Cleanup(func() { key.Close() })
	}
	return key, err
}

const (
	canaryText = "Erika Mustermann lives in Heidestrasse"
	canaryName = "payroll-of-erika"
)

// fill writes a tree with canaries in names and contents.
func fill(t *testing.T, dir string) {
	t.Helper()
	err := errors.Join(
		os.WriteFile(filepath.Join(dir, canaryName), []byte(strings.Repeat(canaryText, 1000)), 0o600),
		os.Mkdir(filepath.Join(dir, "dir-of-erika"), 0o700),
		os.WriteFile(filepath.Join(dir, "dir-of-erika", "empty"), nil, 0o600),
		os.Symlink("target-of-erika", filepath.Join(dir, "link")),
		unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
}

// TestLife takes a directory through all that can happen to it.
func TestLife(t *testing.T) {
	fs := fscrypttest.New(t, 32)
	dir := filepath.Join(fs.Dir, "db")
	keys := testKeys{t, 0, 2}
	d, err := Init(dir, keys)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.WriteCopy(dir); err != nil {
		t.Fatal(err)
	}
	if d.Config.KeyVersion != 2 || !d.Policy.ours() {
		t.Errorf("got %+v", d)
	}
	fill(t, dir)
	if found := fs.Holds(canaryText, canaryName, "dir-of-erika", "target-of-erika"); found != nil {
		t.Errorf("on the disk: %q", found)
	}
	if err := os.WriteFile(filepath.Join(fs.Dir, "plain"), []byte(canaryText), 0o600); err != nil {
		t.Fatal(err)
	}
	if found := fs.Holds(canaryText); found == nil {
		t.Error("the search does not find what is there")
	}
	if err := d.Lock(dir); err != nil {
		t.Fatal(err)
	}
	checkLocked(t, dir)

	fs.Unmount()
	fs.Mount()
	checkLocked(t, dir)
	if d, err = Read(dir); err != nil || d.FromCopy {
		t.Fatal(d, err)
	}
	if err := d.Unlock(testKeys{t, 1, 2}); !errors.Is(err, ErrWrongKey) {
		t.Errorf("unlock with another key: %v", err)
	}
	if err := d.Unlock(testKeys{t, 0, 1}); !errors.Is(err, volume.ErrUnknownKey) {
		t.Errorf("unlock with an older key file: %v", err)
	}
	checkLocked(t, dir)
	for range 2 { // twice does no harm
		if err := d.Unlock(testKeys{t, 0, 5}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, canaryName))
	if err != nil || string(got) != strings.Repeat(canaryText, 1000) {
		t.Errorf("read back %d bytes, %v", len(got), err)
	}
	if target, err := os.Readlink(filepath.Join(dir, "link")); target != "target-of-erika" {
		t.Errorf("link to %q, %v", target, err)
	}
	if err := d.Lock(dir); err != nil {
		t.Fatal(err)
	}
	if err := d.Lock(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("lock twice: %v", err)
	}
}

// checkLocked fails if anything of what fill wrote can be had.
func checkLocked(t *testing.T, dir string) {
	t.Helper()
	d, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := d.State(); s != KeyAbsent {
		t.Errorf("state %s, %v", s, err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 4 {
		t.Fatalf("%d names, %v", len(names), err)
	}
	for _, n := range names {
		if strings.Contains(n.Name(), "erika") || n.Name() == "link" || n.Name() == "pipe" {
			t.Errorf("name %s in a locked directory", n.Name())
		}
		if n.Type().IsRegular() {
			if _, err := os.ReadFile(filepath.Join(dir, n.Name())); !errors.Is(err, unix.ENOKEY) {
				t.Errorf("read in a locked directory: %v", err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o600); !errors.Is(err, unix.ENOKEY) {
		t.Errorf("create in a locked directory: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, canaryName)); err == nil {
		t.Error("a name can be looked up in a locked directory")
	}
	if tree, problems, err := d.Check(t.Context()); err != nil || len(problems) > 0 || tree.Files != 2 || tree.Directories != 2 {
		t.Errorf("check of a locked directory: %+v, %v, %v", tree, problems, err)
	}
}

func TestRefusals(t *testing.T) {
	fs := fscrypttest.New(t, 32)
	other := fscrypttest.New(t, 16, "-O", "^encrypt")
	keys := testKeys{t, 0, 1}
	mk := func(path string) string {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	full, encrypted := mk(filepath.Join(fs.Dir, "full")), filepath.Join(fs.Dir, "encrypted")
	tmpfs := mk(filepath.Join(other.Dir, "tmpfs"))
	if err := unix.Mount("tmpfs", tmpfs, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(tmpfs, unix.MNT_DETACH) })
	if err := os.WriteFile(filepath.Join(full, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Init(encrypted, keys); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path string
		want       error
	}{
		{"not empty", full, ErrNotEmpty},
		{"top of the file system", fs.Dir, ErrNotEmpty},
		{"encrypted", encrypted, ErrEncrypted},
		{"below", mk(filepath.Join(encrypted, "sub")), ErrEncrypted},
		{"tmpfs", tmpfs, ErrFileSystem},
		{"tmpfs, new", filepath.Join(tmpfs, "new"), ErrFileSystem},
		{"feature missing", filepath.Join(other.Dir, "new"), ErrFeature},
		{"no parent", filepath.Join(fs.Dir, "no", "new"), os.ErrNotExist},
		{"file", filepath.Join(full, "file"), unix.ENOTDIR},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, before := os.Lstat(c.path)
			if _, err := Init(c.path, keys); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if _, after := os.Lstat(c.path); (before == nil) != (after == nil) {
				t.Errorf("it was there: %v, is there: %v", before, after)
			}
			if _, err := Read(c.path); !errors.Is(err, ErrNotEncrypted) && !errors.Is(err, os.ErrNotExist) && c.path != encrypted {
				t.Errorf("read: %v", err)
			}
		})
	}
}

// TestConfiguration damages the attribute in several ways.
func TestConfiguration(t *testing.T) {
	fs := fscrypttest.New(t, 32)
	keys := testKeys{t, 0, 1}
	dir, other := filepath.Join(fs.Dir, "db"), filepath.Join(fs.Dir, "other")
	d, err := Init(dir, keys)
	if err != nil {
		t.Fatal(err)
	}
	o, err := Init(other, keys)
	if err != nil {
		t.Fatal(err)
	}
	set := func(value []byte) {
		t.Helper()
		if err := unix.Setxattr(dir, volume.OwnAttribute, value, 0); err != nil {
			t.Fatal(err)
		}
	}
	older := d.Config
	older.KeyVersion = 7
	for _, c := range []struct {
		name  string
		value []byte
		want  error
	}{
		{"another directory's", o.Config.encode(), ErrMismatch},
		{"noise", []byte("noise"), ErrCorrupt},
		{"too long", bytes.Repeat([]byte(" "), 800), ErrCorrupt},
		{"newer", []byte(`{"format":"veildb.kernel/2"}`), ErrUnsupported},
	} {
		t.Run(c.name, func(t *testing.T) {
			set(c.value)
			if _, err := Read(dir); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	if err := unix.Removexattr(dir, volume.OwnAttribute); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); !errors.Is(err, ErrNotEncrypted) {
		t.Errorf("without: %v", err)
	}
	altered := d.Config
	altered.Created = altered.Created.AddDate(1, 0, 0)
	set(altered.encode())
	a, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Unlock(keys); !errors.Is(err, ErrWrongKey) {
		t.Errorf("altered: %v", err)
	}

	// The copy stands in, and is put back.
	if err := d.WriteCopy(dir); err != nil {
		t.Fatal(err)
	}
	for _, damage := range []func(){func() { set([]byte("noise")) }, func() { unix.Removexattr(dir, volume.OwnAttribute) }} {
		damage()
		c, err := Read(dir)
		if err != nil || !c.FromCopy || c.Config.ID != d.Config.ID {
			t.Fatal(c, err)
		}
		if err := c.Restore(testKeys{t, 1, 1}); !errors.Is(err, ErrWrongKey) {
			t.Errorf("restore with another key: %v", err)
		}
		if err := c.Restore(keys); err != nil {
			t.Fatal(err)
		}
		if c, err := Read(dir); err != nil || c.FromCopy {
			t.Error(c, err)
		}
	}
}

// TestBusy has a process hold a file open, map one, or work in a directory.
func TestBusy(t *testing.T) {
	fs := fscrypttest.New(t, 32)
	dir := filepath.Join(fs.Dir, "db")
	keys := testKeys{t, 0, 1}
	d, err := Init(dir, keys)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, dir)
	if users := d.Users(); users != nil {
		t.Errorf("nobody uses it, but: %v", users)
	}
	cmd := exec.Command("sh", "-c", "exec <"+canaryName+"; cd /; echo ready; exec sleep 100")
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	stop := func() { cmd.Process.Kill(); cmd.Wait() }
	defer stop()
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	users := d.Users()
	if len(users) != 1 || users[0].PID != cmd.Process.Pid || filepath.Base(users[0].Path) != canaryName {
		t.Errorf("used by %v, want %d", users, cmd.Process.Pid)
	}
	if err := d.Lock(dir); !errors.Is(err, ErrBusy) {
		t.Errorf("lock: %v", err)
	}
	if s, err := d.State(); s != KeyIncomplete {
		t.Errorf("state %s, %v", s, err)
	}
	if _, err := os.ReadFile(filepath.Join(dir, "dir-of-erika", "empty")); err == nil {
		t.Error("another file can be read after the key was taken")
	}
	stop()
	if err := d.Lock(dir); err != nil {
		t.Fatal(err)
	}
	checkLocked(t, dir)
}

// TestCheck finds what is not encrypted, which takes changing the file system
// from below.
func TestCheck(t *testing.T) {
	fs := fscrypttest.New(t, 32)
	dir := filepath.Join(fs.Dir, "db")
	keys := testKeys{t, 0, 1}
	d, err := Init(dir, keys)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, dir)
	var st unix.Stat_t
	sub := filepath.Join(dir, "dir-of-erika", "empty")
	if err := unix.Stat(sub, &st); err != nil {
		t.Fatal(err)
	}
	if tree, problems, err := d.Check(t.Context()); err != nil || problems != nil || tree.Files != 2 || tree.Bytes != int64(1000*len(canaryText)) {
		t.Errorf("got %+v, %v, %v", tree, problems, err)
	}
	fs.Unmount()
	out, err := exec.Command("debugfs", "-w", "-R", fmt.Sprintf("set_inode_field <%d> flags 0x80000", st.Ino), fs.Image).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	fs.Mount()
	for _, unlock := range []bool{false, true} {
		if unlock {
			if err := d.Unlock(keys); err != nil {
				t.Fatal(err)
			}
		}
		_, problems, err := d.Check(t.Context())
		if err != nil || len(problems) != 1 || problems[0].What != "not encrypted" {
			t.Errorf("unlocked %v: got %v, %v", unlock, problems, err)
		}
		if unlock && len(problems) == 1 && problems[0].Path != "dir-of-erika/empty" {
			t.Errorf("path %s", problems[0].Path)
		}
	}
}

// TestGolden keeps directories of version 1 readable: a configuration that was
// written then, the key that it stands for, and what the kernel calls that.
func TestGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/v1.json")
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.TrimSpace(data)
	c, err := decodeConfig(data)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(c.encode(), data) {
		t.Errorf("written anew: %s", c.encode())
	}
	key, err := c.Key(testKeys{t, 0, 3})
	if err != nil {
		t.Fatal(err)
	}
	defer key.Close()
	const want = "b345b6ff8995f1ca9757b3efe6a21cd129d3ee564e1e2f2dc43ad84eef116f3e796bd392a9d4e3e9545b4f26f5b977f8f2f4223b466217f95cf013055d715a26"
	if got := hex.EncodeToString(key.Reveal()); got != want {
		t.Errorf("key %s, want %s", got, want)
	}
}

func FuzzConfig(f *testing.F) {
	data, err := os.ReadFile("testdata/v1.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"format":"veildb.kernel/1","id":"","key_version":1,"key_identifier":"","created":"","tag":""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := decodeConfig(data)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) {
				t.Errorf("no error of ours: %v", err)
			}
			return
		}
		again, err := decodeConfig(c.encode())
		if err != nil || again.ID != c.ID || again.KeyID != c.KeyID || !again.Created.Equal(c.Created) {
			t.Errorf("%s: %v", c.encode(), err)
		}
	})
}

func TestCipher(t *testing.T) {
	block := func(name, driver string, priority int) string {
		return fmt.Sprintf("name         : %s\ndriver       : %s\nmodule       : kernel\npriority     : %d\n\n", name, driver, priority)
	}
	generic := block("ecb(aes)", "ecb(aes-fixed-time)", 101) + block("aes", "aes-fixed-time", 101) + block("aes", "aes-generic", 100)
	for _, c := range []struct {
		name, table string
		want        Cipher
	}{
		{"empty", "", Cipher{}},
		{"not used yet", generic, Cipher{"xts(ecb(aes-fixed-time))", false}},
		{"block cipher only", block("aes", "aes-generic", 100), Cipher{"xts(ecb(aes-generic))", false}},
		{"portable", generic + block("xts(aes)", "xts(ecb(aes-fixed-time))", 101), Cipher{"xts(ecb(aes-fixed-time))", false}},
		{"x86", generic + block("xts(aes)", "xts-aes-aesni", 401) + block("xts(aes)", "xts-aes-vaes-avx512", 800), Cipher{"xts-aes-vaes-avx512", true}},
		{"arm", block("xts(aes)", "xts-aes-ce", 300) + block("xts(aes)", "xts(ecb(aes-generic))", 100), Cipher{"xts-aes-ce", true}},
		{"noise", "a\nb : c\npriority : x\n", Cipher{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := parseCrypto(strings.NewReader(c.table)); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	if got := FindCipher(); got.Driver == "" {
		t.Error("this kernel has no AES")
	}
}
