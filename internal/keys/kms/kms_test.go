package kms_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/keys/keyring"
	"github.com/veildb/veildb/internal/keys/kms"
	"github.com/veildb/veildb/internal/keys/kms/kmstest"
)

// cheap is the lowest cost, for tests.
var cheap = kms.Argon2{Time: 1, Memory: 64, Threads: 1}

func open(t testing.TB, uri string, c kms.Config) keyring.Provider {
	t.Helper()
	c.Argon2 = cheap
	p, err := kms.Open(uri, c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func commands(wrap, unwrap string) kms.Config {
	return kms.Config{WrapCommand: wrap, UnwrapCommand: unwrap}
}

func putFile(t testing.TB, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func rootFile(t testing.TB, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := kms.CreateFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "odd name: 100%\n'\"")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path, other := rootFile(t, dir, "root"), rootFile(t, dir, "other")
	key, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	kmstest.Run(t, kmstest.Subject{
		Open:    func(t *testing.T) keyring.Provider { return open(t, "file:"+path, kms.Config{}) },
		Other:   func(t *testing.T) keyring.Provider { return open(t, "file:"+other, kms.Config{}) },
		Away:    func(t *testing.T) keyring.Provider { return open(t, "file:"+path+".missing", kms.Config{}) },
		Secrets: []string{string(key)},
	})
}

func TestPassphrase(t *testing.T) {
	answer := func(s string) kms.Config {
		return kms.Config{Passphrase: func(context.Context, bool) (*secret.Bytes, error) { return secret.From([]byte(s)) }}
	}
	kmstest.Run(t, kmstest.Subject{
		Open:  func(t *testing.T) keyring.Provider { return open(t, "passphrase", answer("tr0ub4dor & 3")) },
		Other: func(t *testing.T) keyring.Provider { return open(t, "passphrase:", answer("tr0ub4dor & 4")) },
		Away: func(t *testing.T) keyring.Provider {
			return open(t, "passphrase:", kms.Config{Passphrase: func(context.Context, bool) (*secret.Bytes, error) {
				return nil, keyring.ErrUnreachable
			}})
		},
		Secrets: []string{"tr0ub4dor"},
	})
}

func TestPassphraseFile(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path, other := put("pass", "one two three\n"), put("other", "one two three \n")
	kmstest.Run(t, kmstest.Subject{
		Open:    func(t *testing.T) keyring.Provider { return open(t, "passphrase-file:"+path, kms.Config{}) },
		Other:   func(t *testing.T) keyring.Provider { return open(t, "passphrase-file:"+other, kms.Config{}) },
		Away:    func(t *testing.T) keyring.Provider { return open(t, "passphrase-file:"+path+".missing", kms.Config{}) },
		Secrets: []string{"one two three"},
	})
	// The line end is no part of it, and the same passphrase may come another way.
	key := mustRandom(t)
	blob, _, err := open(t, "passphrase-file:"+path, kms.Config{}).Wrap(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CREDENTIALS_DIRECTORY", dir)
	put("cred", "one two three\r\n")
	back, err := open(t, "passphrase-credential:cred", kms.Config{}).Unwrap(t.Context(), blob, nil)
	if err != nil || !back.Equal(key) {
		t.Errorf("through a systemd credential: %v", err)
	}
}

func TestPassphraseCredential(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"cred": "some words", "other": "other words"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("CREDENTIALS_DIRECTORY", dir)
	kmstest.Run(t, kmstest.Subject{
		Open:    func(t *testing.T) keyring.Provider { return open(t, "passphrase-credential:cred", kms.Config{}) },
		Other:   func(t *testing.T) keyring.Provider { return open(t, "passphrase-credential:other", kms.Config{}) },
		Away:    func(t *testing.T) keyring.Provider { return open(t, "passphrase-credential:../cred", kms.Config{}) },
		Secrets: []string{"some words"},
	})
}

func mustRandom(t testing.TB) *secret.Bytes {
	t.Helper()
	key, err := secret.Random(32)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { key.Close() })
	return key
}

func TestBadRootFiles(t *testing.T) {
	dir := t.TempDir()
	key := mustRandom(t)
	good := rootFile(t, dir, "good")
	blob, _, err := open(t, "file:"+good, kms.Config{}).Wrap(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	bytesFile := func(name string, data []byte, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, data, 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	random := bytes.Clone(mustRandom(t).Reveal())
	for name, tc := range map[string]struct {
		path string
		want error
	}{
		"short":          {bytesFile("short", random[:31], 0o600), keyring.ErrWrongKey},
		"long":           {bytesFile("long", append(random, 1), 0o600), keyring.ErrWrongKey},
		"empty":          {bytesFile("empty", nil, 0o600), keyring.ErrWrongKey},
		"zero":           {bytesFile("zero", make([]byte, 32), 0o600), keyring.ErrWrongKey},
		"hex":            {bytesFile("hex", []byte("00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n"), 0o600), keyring.ErrWrongKey},
		"group may read": {bytesFile("group", random, 0o640), kms.ErrInsecure},
		"all may read":   {bytesFile("all", random, 0o604), kms.ErrInsecure},
		"directory":      {dir, kms.ErrInsecure},
		"missing":        {filepath.Join(dir, "missing"), keyring.ErrUnreachable},
	} {
		got, err := open(t, "file:"+tc.path, kms.Config{}).Unwrap(t.Context(), blob, nil)
		if got != nil || !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
		if err != nil && (kmstest.FindKeyIn([]byte(err.Error()), random) != "" || strings.Contains(err.Error(), string(random[:8]))) {
			t.Errorf("%s: error contains the key: %v", name, err)
		}
	}
	if os.Getuid() == 0 {
		path := bytesFile("foreign", random, 0o600)
		if err := os.Chown(path, 12345, -1); err != nil {
			t.Fatal(err)
		}
		if _, err := open(t, "file:"+path, kms.Config{}).Unwrap(t.Context(), blob, nil); !errors.Is(err, kms.ErrInsecure) {
			t.Errorf("foreign owner: %v, want ErrInsecure", err)
		}
	}
	if err := kms.CreateFile(good); !errors.Is(err, fs.ErrExist) {
		t.Errorf("create over a file: %v, want fs.ErrExist", err)
	}
}

func TestPassphraseIsAskedOnce(t *testing.T) {
	asked, answer := 0, "right"
	c := kms.Config{Passphrase: func(_ context.Context, isNew bool) (*secret.Bytes, error) {
		asked++
		return secret.From([]byte(answer))
	}}
	p, key := open(t, "passphrase", c), mustRandom(t)
	blob, _, err := p.Wrap(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Unwrap(t.Context(), blob, nil); err != nil || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	q := open(t, "passphrase", c)
	answer = "wrong"
	if _, err := q.Unwrap(t.Context(), blob, nil); !errors.Is(err, keyring.ErrWrongKey) {
		t.Errorf("wrong passphrase: %v, want ErrWrongKey", err)
	}
	answer = "right"
	if _, err := q.Unwrap(t.Context(), blob, nil); err != nil || asked != 3 {
		t.Errorf("after a wrong answer: asked %d times, %v; want to be asked again", asked, err)
	}
	answer = ""
	if _, _, err := open(t, "passphrase", c).Wrap(t.Context(), key, nil); !errors.Is(err, kms.ErrConfig) {
		t.Errorf("new empty passphrase: %v, want ErrConfig", err)
	}
	if _, err := open(t, "passphrase", c).Unwrap(t.Context(), blob, nil); !errors.Is(err, keyring.ErrWrongKey) {
		t.Errorf("empty passphrase: %v, want ErrWrongKey", err)
	}
}

// TestArgon2Limits lowers and raises the cost in a blob, which nothing protects
// before the key is derived.
func TestArgon2Limits(t *testing.T) {
	c := kms.Config{Passphrase: func(context.Context, bool) (*secret.Bytes, error) { return secret.From([]byte("pw")) }}
	p, key := open(t, "passphrase", c), mustRandom(t)
	blob, _, err := p.Wrap(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		at    int
		value uint32
		want  error
	}{
		"no passes":          {1, 0, keyring.ErrCorrupt},
		"too many passes":    {1, 33, keyring.ErrCorrupt},
		"huge passes":        {1, 1 << 31, keyring.ErrCorrupt},
		"no memory":          {5, 0, keyring.ErrCorrupt},
		"too much memory":    {5, 2<<20 + 1, keyring.ErrCorrupt},
		"huge memory":        {5, 1<<32 - 1, keyring.ErrCorrupt},
		"other cost":         {1, 2, keyring.ErrWrongKey},
		"other cost, memory": {5, 65, keyring.ErrWrongKey},
	} {
		bad := bytes.Clone(blob)
		binary.BigEndian.PutUint32(bad[tc.at:], tc.value)
		if _, err := p.Unwrap(t.Context(), bad, nil); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}

func TestCalibrate(t *testing.T) {
	a := kms.Calibrate()
	if a.Memory < 19<<10 || a.Memory > 1<<20 || a.Time < 2 || a.Threads < 1 {
		t.Errorf("calibrated to %+v", a)
	}
}

func TestUnknownURIs(t *testing.T) {
	for _, uri := range []string{"", "file", "file:", "passphrase", "passphrase:x", "passphrase-file:", "nosuch:thing", "FILE:/x"} {
		if p, err := kms.Open(uri, kms.Config{}); !errors.Is(err, kms.ErrUnknown) || p != nil {
			t.Errorf("%q: %v, %v; want ErrUnknown", uri, p, err)
		}
	}
}

func FuzzUnwrap(f *testing.F) {
	dir := f.TempDir()
	file := open(f, "file:"+rootFile(f, dir, "root"), kms.Config{})
	pass := open(f, "passphrase", kms.Config{Passphrase: func(context.Context, bool) (*secret.Bytes, error) { return secret.From([]byte("pw")) }})
	key := mustRandom(f)
	for _, p := range []keyring.Provider{file, pass} {
		blob, _, err := p.Wrap(f.Context(), key, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(blob)
	}
	f.Fuzz(func(t *testing.T, blob []byte) {
		if len(blob) > 9 && binary.BigEndian.Uint32(blob[5:]) > 1<<10 {
			return // allowed, and slow
		}
		for _, p := range []keyring.Provider{file, pass} {
			got, err := p.Unwrap(t.Context(), blob, nil)
			if err == nil {
				got.Close()
			} else if !errors.Is(err, keyring.ErrCorrupt) && !errors.Is(err, keyring.ErrWrongKey) {
				t.Errorf("%x: %v", blob, err)
			}
		}
	})
}

// BenchmarkUnlock is an unlock by passphrase at the calibrated cost.
func BenchmarkUnlock(b *testing.B) {
	p, err := kms.Open("passphrase", kms.Config{Passphrase: func(context.Context, bool) (*secret.Bytes, error) { return secret.From([]byte("pw")) }})
	if err != nil {
		b.Fatal(err)
	}
	blob, _, err := p.Wrap(b.Context(), mustRandom(b), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("alg=argon2id/cost=calibrated", func(b *testing.B) {
		for b.Loop() {
			key, err := p.Unwrap(b.Context(), blob, nil)
			if err != nil {
				b.Fatal(err)
			}
			key.Close()
		}
	})
}
