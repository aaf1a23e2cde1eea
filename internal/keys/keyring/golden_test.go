package keyring_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/keys/keyring"
)

// goldenRing copies testdata/v1.ring, whose root key is testdata/v1.root.hex,
// and returns its path and how to open it.
func goldenRing(t testing.TB) (string, keyring.Options) {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile("testdata/v1.root.hex")
	if err != nil {
		t.Fatal(err)
	}
	root, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "root"), root, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "ring")
	copyFile(t, "testdata/v1.ring", path)
	return path, keyring.Options{Provider: func(ctx context.Context, _ string) (keyring.Provider, error) {
		return byURI(ctx, "file:"+filepath.Join(dir, "root"))
	}}
}

// TestGolden opens a key file of format 1, which must open for ever, and goes
// on with it.
func TestGolden(t *testing.T) {
	path, opts := goldenRing(t)
	r := openRing(t, path, opts)
	digest := func(b []byte) string {
		sum := sha256.Sum256(b)
		return hex.EncodeToString(sum[:8])
	}
	if r.ID() != "2e968d23569a394470bfb70b4a192c0d" || r.Generation() != 4 || r.Current() != 2 {
		t.Errorf("id %s, generation %d, data key %d", r.ID(), r.Generation(), r.Current())
	}
	for v, want := range []string{"8474b9533cdb502b", "1a53663799fd71fa"} {
		if got := digest([]byte(dek(t, r, uint32(v+1)))); got != want {
			t.Errorf("data key %d has digest %s, want %s", v+1, got, want)
		}
	}
	for v, want := range []string{"2c0c138524959428", "fe3ebbd301705396"} {
		sub, err := r.Subkey("columns", uint32(v+1))
		if err != nil {
			t.Fatal(err)
		}
		if got := digest(sub.Reveal()); got != want {
			t.Errorf("subkey %d has digest %s, want %s", v+1, got, want)
		}
		sub.Close()
	}
	wrapped, err := os.ReadFile("testdata/v1.wrapped")
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := r.UnwrapForeign(wrapped)
	if err != nil || string(foreign.Reveal()) != "the key of another program" {
		t.Errorf("wrapped key: %v", err)
	}
	if s := r.Status(); s.RotateDays != 90 || len(s.KEKs) != 3 || s.Provider != "file:/etc/veildb/root" {
		t.Errorf("status %+v", s)
	}
	if err := r.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := digest([]byte(dek(t, openRing(t, path, opts), 1))); got != "8474b9533cdb502b" {
		t.Errorf("after a rotation data key 1 has digest %s", got)
	}
}

func TestForeign(t *testing.T) {
	r, path := initRing(t, keyring.InitOptions{}, options)
	other, _ := initRing(t, keyring.InitOptions{}, options)
	for _, n := range []int{1, 48, 4096, keyring.MaxForeignKey} {
		key, err := secret.Random(n)
		if err != nil {
			t.Fatal(err)
		}
		blob, err := r.WrapForeign(key)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.RotateDEK(t.Context()); err != nil {
			t.Fatal(err)
		}
		back, err := openRing(t, path, options).UnwrapForeign(blob)
		if err != nil || !back.Equal(key) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if _, err := other.UnwrapForeign(blob); err == nil {
			t.Errorf("%d bytes: another key file unwraps it", n)
		}
		for at := 0; at < len(blob); at += 1 + len(blob)/50 {
			bad := append([]byte(nil), blob...)
			bad[at] ^= 0x40
			if got, err := r.UnwrapForeign(bad); err == nil || got != nil {
				t.Errorf("%d bytes, changed at %d: unwraps", n, at)
			}
		}
		for _, m := range []int{0, 10, 21, 48, len(blob) - 1} {
			if got, err := r.UnwrapForeign(blob[:m]); err == nil || got != nil {
				t.Errorf("%d bytes, cut to %d: unwraps", n, m)
			}
		}
		key.Close()
	}
	for _, n := range []int{0, keyring.MaxForeignKey + 1} {
		key, err := secret.New(n)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.WrapForeign(key); err == nil {
			t.Errorf("%d bytes are wrapped", n)
		}
	}
}
