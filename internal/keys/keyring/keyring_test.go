package keyring_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/keys/keyring"
	"github.com/veildb/veildb/internal/keys/kms"
)

// byURI opens providers as the command line does, without passphrases.
func byURI(_ context.Context, uri string) (keyring.Provider, error) {
	return kms.Open(uri, kms.Config{Argon2: kms.Argon2{Time: 1, Memory: 64, Threads: 1}})
}

var options = keyring.Options{Provider: byURI}

// newRoot makes a root key file in dir and returns its provider.
func newRoot(t testing.TB, dir, name string) keyring.Provider {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := kms.CreateFile(path); err != nil {
		t.Fatal(err)
	}
	p, err := byURI(t.Context(), "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// initRing makes a key file "ring" with a root key "root" in a new directory.
func initRing(t testing.TB, init keyring.InitOptions, opts keyring.Options) (*keyring.Ring, string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "ring")
	r, err := keyring.Init(t.Context(), path, newRoot(t, dir, "root"), init, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, path
}

func openRing(t testing.TB, path string, opts keyring.Options) *keyring.Ring {
	t.Helper()
	r, err := keyring.Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// wantOpen fails the test unless opening path gives an error that is want, and
// no other of the errors that callers decide on.
func wantOpen(t testing.TB, what, path string, opts keyring.Options, want error) {
	t.Helper()
	r, err := keyring.Open(t.Context(), path, opts)
	if err == nil {
		r.Close()
	}
	if !errors.Is(err, want) {
		t.Errorf("%s: open: %v; want %v", what, err, want)
	}
	for _, other := range []error{
		keyring.ErrWrongKey, keyring.ErrCorrupt, keyring.ErrUnreachable, keyring.ErrDenied, keyring.ErrRollback,
		keyring.ErrStray, keyring.ErrMissing, keyring.ErrUnsupported,
	} {
		if other != want && errors.Is(err, other) {
			t.Errorf("%s: open: %v; it is %v too", what, err, other)
		}
	}
}

func dek(t testing.TB, r *keyring.Ring, version uint32) string {
	t.Helper()
	k, err := r.DEK(version)
	if err != nil {
		t.Fatal(err)
	}
	return string(k.Reveal())
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestLife leads one key file through everything, and opens it anew each time.
func TestLife(t *testing.T) {
	r, path := initRing(t, keyring.InitOptions{}, options)
	dir := filepath.Dir(path)
	pass := filepath.Join(dir, "pass")
	if err := os.WriteFile(pass, []byte("words\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	passphrase, err := byURI(t.Context(), "passphrase-file:"+pass)
	if err != nil {
		t.Fatal(err)
	}
	other := newRoot(t, dir, "other")
	third := newRoot(t, dir, "third")
	ctx := t.Context()

	first := dek(t, r, 1)
	for i, step := range []struct {
		name       string
		do         func() error
		keks, deks int
		provider   string
	}{
		{"nothing", func() error { return nil }, 1, 1, "file:" + dir + "/root"},
		{"rotate", func() error { return r.Rotate(ctx) }, 2, 1, "file:" + dir + "/root"},
		{"new data key", func() error { return r.RotateDEK(ctx) }, 2, 2, "file:" + dir + "/root"},
		{"file to passphrase", func() error { return r.Rewrap(ctx, passphrase, false) }, 3, 2, "passphrase-file:" + pass},
		{"rotate again", func() error { return r.Rotate(ctx) }, 4, 2, "passphrase-file:" + pass},
		{"passphrase to file", func() error { return r.Rewrap(ctx, other, false) }, 5, 2, "file:" + dir + "/other"},
		{"file to file", func() error { return r.Rewrap(ctx, third, false) }, 6, 2, "file:" + dir + "/third"},
		{"new data key again", func() error { return r.RotateDEK(ctx) }, 6, 3, "file:" + dir + "/third"},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		again := openRing(t, path, options)
		for _, x := range []*keyring.Ring{r, again} {
			s := x.Status()
			if len(s.KEKs) != step.keks || len(s.DEKs) != step.deks || x.Current() != uint32(step.deks) ||
				s.Generation != uint64(i+1) || s.Provider != step.provider || !s.Authenticated || len(s.Warnings) > 0 {
				t.Errorf("after %s: %+v", step.name, s)
			}
			if dek(t, x, 1) != first {
				t.Errorf("after %s: data key 1 changed", step.name)
			}
		}
		if cur := uint32(step.deks); dek(t, r, cur) != dek(t, again, cur) || cur > 1 && dek(t, r, cur) == first {
			t.Errorf("after %s: data key %d differs, or is not new", step.name, cur)
		}
		for _, f := range r.Check(ctx) {
			if f.Err != nil {
				t.Errorf("after %s: check %q: %v", step.name, f.Name, f.Err)
			}
		}
		if _, err := keyring.ReadStatus(path, options); err != nil {
			t.Errorf("after %s: status: %v", step.name, err)
		}
	}
}

func TestUnknownVersion(t *testing.T) {
	r, _ := initRing(t, keyring.InitOptions{}, options)
	for _, v := range []uint32{0, 2, 1 << 31, 1<<32 - 1} {
		if k, err := r.DEK(v); !errors.Is(err, keyring.ErrUnknownVersion) || k != nil {
			t.Errorf("DEK(%d) = %v, %v; want ErrUnknownVersion", v, k, err)
		}
		if k, err := r.Subkey("x", v); !errors.Is(err, keyring.ErrUnknownVersion) || k != nil {
			t.Errorf("Subkey(%d) = %v, %v; want ErrUnknownVersion", v, k, err)
		}
	}
}

func TestSubkeys(t *testing.T) {
	r, path := initRing(t, keyring.InitOptions{}, options)
	if err := r.RotateDEK(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := openRing(t, path, options)
	seen := map[string]string{}
	for _, purpose := range []string{"", "columns", "columns/a", "wrap"} {
		for v := uint32(1); v <= 2; v++ {
			name := fmt.Sprintf("%q %d", purpose, v)
			a, err := r.Subkey(purpose, v)
			if err != nil {
				t.Fatal(err)
			}
			b, err := again.Subkey(purpose, v)
			if err != nil {
				t.Fatal(err)
			}
			if !a.Equal(b) || a.Len() != 32 {
				t.Errorf("subkey %s is not the same twice", name)
			}
			if other, dup := seen[string(a.Reveal())]; dup {
				t.Errorf("subkeys %s and %s are one key", name, other)
			}
			seen[string(a.Reveal())] = name
			a.Close()
			b.Close()
		}
	}
	if _, raw := seen[dek(t, r, 1)]; raw {
		t.Error("a subkey is the data key itself")
	}
}

// TestToldApart has the ways in which a key file does not open.
func TestToldApart(t *testing.T) {
	r, path := initRing(t, keyring.InitOptions{}, options)
	if err := r.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	newRoot(t, dir, "other")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put := func(name, content string) string {
		p := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	from := func(name string) keyring.Options {
		return keyring.Options{Provider: func(ctx context.Context, _ string) (keyring.Provider, error) {
			return byURI(ctx, "file:"+filepath.Join(dir, name))
		}}
	}
	text := string(data)
	for name, tc := range map[string]struct {
		path string
		opts keyring.Options
		want error
	}{
		"no file":           {filepath.Join(dir, "none"), options, keyring.ErrMissing},
		"no directory":      {filepath.Join(dir, "none", "none"), options, keyring.ErrMissing},
		"other root key":    {path, from("other"), keyring.ErrWrongKey},
		"root key away":     {path, from("nowhere"), keyring.ErrUnreachable},
		"empty":             {put("ring", ""), options, keyring.ErrCorrupt},
		"truncated":         {put("ring", text[:len(text)-1]), options, keyring.ErrCorrupt},
		"longer":            {put("ring", text+"\n"), options, keyring.ErrCorrupt},
		"the root key":      {filepath.Join(dir, "root"), options, keyring.ErrCorrupt},
		"a database":        {put("ring", "SQLite format 3\x00"+strings.Repeat("\x00", 4096)), options, keyring.ErrCorrupt},
		"huge":              {put("ring", text+strings.Repeat(" ", 5<<20)), options, keyring.ErrCorrupt},
		"newer format":      {put("ring", strings.Replace(text, "keyring/1", "keyring/2", 1)), options, keyring.ErrUnsupported},
		"one bit":           {put("ring", strings.Replace(text, `"generation": 2`, `"generation": 3`, 1)), options, keyring.ErrCorrupt},
		"carriage returns":  {put("ring", strings.ReplaceAll(text, "\n", "\r\n")), options, keyring.ErrCorrupt},
		"prefixed by space": {put("ring", " "+text), options, keyring.ErrCorrupt},
	} {
		wantOpen(t, name, tc.path, tc.opts, tc.want)
	}
	if _, err := keyring.Open(t.Context(), dir, options); err == nil {
		t.Error("a directory opens")
	}
	openRing(t, path, options) // still
}

// liar is a provider that goes wrong after it wrapped.
type liar struct {
	keyring.Provider
	unwrap func(*secret.Bytes, error) (*secret.Bytes, error)
}

func (l *liar) Unwrap(ctx context.Context, blob, aad []byte) (*secret.Bytes, error) {
	return l.unwrap(l.Provider.Unwrap(ctx, blob, aad))
}

// TestProviderAnswersGarbage: what the provider gives is checked before use,
// and before a file depends on it.
func TestProviderAnswersGarbage(t *testing.T) {
	r, path := initRing(t, keyring.InitOptions{}, options)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, unwrap := range map[string]func(*secret.Bytes, error) (*secret.Bytes, error){
		"another key": func(*secret.Bytes, error) (*secret.Bytes, error) { return secret.Random(32) },
		"zeros":       func(*secret.Bytes, error) (*secret.Bytes, error) { return secret.New(32) },
		"short":       func(k *secret.Bytes, err error) (*secret.Bytes, error) { return secret.From(k.Reveal()[:31]) },
		"nothing":     func(*secret.Bytes, error) (*secret.Bytes, error) { return secret.New(0) },
		"one bit":     func(k *secret.Bytes, err error) (*secret.Bytes, error) { k.Reveal()[5] ^= 1; return k, err },
	} {
		p := &liar{newRoot(t, t.TempDir(), "root"), unwrap}
		good, err := byURI(t.Context(), "file:"+filepath.Join(filepath.Dir(path), "root"))
		if err != nil {
			t.Fatal(err)
		}
		wantOpen(t, name, path, keyring.Options{Provider: func(context.Context, string) (keyring.Provider, error) {
			return &liar{good, unwrap}, nil
		}}, keyring.ErrWrongKey)
		fresh := filepath.Join(t.TempDir(), "ring")
		if _, err := keyring.Init(t.Context(), fresh, p, keyring.InitOptions{}, options); !errors.Is(err, keyring.ErrWrongKey) {
			t.Errorf("%s: init: %v, want ErrWrongKey", name, err)
		}
		if _, err := os.Stat(fresh); err == nil {
			t.Errorf("%s: init left a file", name)
		}
		if err := r.Rewrap(t.Context(), p, false); !errors.Is(err, keyring.ErrWrongKey) {
			t.Errorf("%s: rewrap: %v, want ErrWrongKey", name, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("%s: a refused rewrap changed the file", name)
		}
	}
	openRing(t, path, options)
}

func TestReuseIsRefused(t *testing.T) {
	r, path := initRing(t, keyring.InitOptions{}, options)
	dir, ctx := filepath.Dir(path), t.Context()
	first, err := byURI(ctx, "file:"+dir+"/root")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Rewrap(ctx, first, false); err != nil {
		t.Errorf("to the same root key: %v", err) // it was not given up
	}
	if err := r.Rewrap(ctx, newRoot(t, dir, "second"), false); err != nil {
		t.Fatal(err)
	}
	copyFile(t, dir+"/root", dir+"/moved") // another name is no other key
	moved, err := byURI(ctx, "file:"+dir+"/moved")
	if err != nil {
		t.Fatal(err)
	}
	before := r.Generation()
	for _, p := range []keyring.Provider{first, moved} {
		if err := r.Rewrap(ctx, p, false); !errors.Is(err, keyring.ErrReused) {
			t.Errorf("back to %s: %v, want ErrReused", p.URI(), err)
		}
	}
	if r.Generation() != before || openRing(t, path, options).Generation() != before {
		t.Error("a refused rewrap made a generation")
	}
	if err := r.Rewrap(ctx, moved, true); err != nil {
		t.Errorf("back with allowReuse: %v", err)
	}
	openRing(t, path, options)
}

func TestInitRefuses(t *testing.T) {
	dir := t.TempDir()
	p := newRoot(t, dir, "root")
	file := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	taken := file("taken")
	file("late.prev")
	file("copied.bak")
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		init keyring.InitOptions
		want error
	}{
		"taken":  {keyring.InitOptions{}, keyring.ErrExists},
		"link":   {keyring.InitOptions{}, keyring.ErrExists},
		"late":   {keyring.InitOptions{}, keyring.ErrExists},
		"fresh":  {keyring.InitOptions{Record: taken}, keyring.ErrExists},
		"copied": {keyring.InitOptions{}, keyring.ErrStray},
	} {
		if _, err := keyring.Init(t.Context(), filepath.Join(dir, name), p, tc.init, options); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
	if data, err := os.ReadFile(taken); err != nil || string(data) != "x" {
		t.Errorf("the file in the way is %q now, %v", data, err)
	}
}

// TestOddPaths uses names that scripts trip over, and a symbolic link, which a
// write must not replace.
func TestOddPaths(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a dir\nwith 'odd' \"name\" 100% $HOME")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "my ring")
	r, err := keyring.Init(t.Context(), path, newRoot(t, dir, "my root"), keyring.InitOptions{}, options)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	l := openRing(t, link, options)
	if err := l.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Lstat(link); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", fi.Mode(), err)
	}
	t.Chdir(dir)
	if g := openRing(t, "my ring", options).Generation(); g != 2 {
		t.Errorf("generation %d through a relative path, want 2", g)
	}
}
