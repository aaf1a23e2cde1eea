// Package kmstest is the suite that every provider of root keys passes.
package kmstest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/keys/keyring"
)

// A Subject is a provider under test.
type Subject struct {
	// Open returns a provider of the root key; each call a new one of the same
	// root key.
	Open func(t *testing.T) keyring.Provider

	// Other returns a provider of the same kind with another root key.
	Other func(t *testing.T) keyring.Provider

	// Away returns a provider whose root key cannot be reached; nil if that
	// cannot happen.
	Away func(t *testing.T) keyring.Provider

	// Denied returns a provider that is refused by its key manager; nil if
	// that cannot happen.
	Denied func(t *testing.T) keyring.Provider

	// IgnoresAAD is true if the provider cannot authenticate additional data.
	IgnoresAAD bool

	// Break makes the key manager fail until mend is called; nil if there is
	// none.
	Break func(t *testing.T, f Fault) (mend func())

	// Faults are those that Break can make; nil means all.
	Faults []Fault

	// Rotate makes a new version of the root key; nil if it has none.
	Rotate func(t *testing.T)

	// Secrets are strings that no error may contain: tokens, passphrases.
	Secrets []string
}

// Run runs the suite.
func Run(t *testing.T, s Subject) {
	t.Run("round trip", s.roundTrip)
	t.Run("wrong key", s.wrongKey)
	t.Run("damaged blob", s.damaged)
	t.Run("not there", s.notThere)
	t.Run("concurrent", s.concurrent)
	t.Run("key file", s.keyFile)
	if s.Break != nil {
		t.Run("outage", s.outage)
		t.Run("key file in an outage", s.keyFileOutage)
	}
	if s.Rotate != nil {
		t.Run("rotation", s.rotation)
	}
}

var aad = []byte("place of the key")

func random(t *testing.T, n int) *secret.Bytes {
	t.Helper()
	k, err := secret.Random(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k
}

func wrap(t *testing.T, p keyring.Provider, key *secret.Bytes) []byte {
	t.Helper()
	blob, _, err := p.Wrap(t.Context(), key, aad)
	if err != nil {
		t.Fatalf("wrap: %v", err)
	}
	return blob
}

func (s Subject) roundTrip(t *testing.T) {
	p := s.Open(t)
	for _, n := range []int{1, 16, 32, 64, 1000, 4096} {
		key := random(t, n)
		blob, version, err := p.Wrap(t.Context(), key, aad)
		if err != nil {
			t.Fatalf("wrap %d bytes: %v", n, err)
		}
		if n >= 16 && bytes.Contains(blob, key.Reveal()) {
			t.Errorf("the blob of %d bytes contains the key", n)
		}
		if strings.ContainsAny(version, "\n\x00") || len(version) > 500 {
			t.Errorf("key version %q", version)
		}
		back, err := s.Open(t).Unwrap(t.Context(), blob, aad)
		if err != nil {
			t.Fatalf("unwrap %d bytes: %v", n, err)
		}
		if !back.Equal(key) {
			t.Errorf("%d bytes came back different", n)
		}
		back.Close()
	}
	key := random(t, 32)
	if bytes.Equal(wrap(t, p, key), wrap(t, p, key)) && !s.IgnoresAAD {
		t.Error("the same key wraps to the same blob twice")
	}
	if u := p.URI(); u == "" || u != s.Open(t).URI() {
		t.Errorf("URI is %q, then %q", u, s.Open(t).URI())
	}
	for _, sec := range s.Secrets {
		if strings.Contains(p.URI(), sec) {
			t.Errorf("URI %q contains the secret %q", p.URI(), sec)
		}
	}
}

// refuse fails the test unless err matches one of want and keeps secrets, of
// which key is one.
func (s Subject) refuse(t *testing.T, what string, key, got *secret.Bytes, err error, want ...error) {
	t.Helper()
	if got != nil || !slices.ContainsFunc(want, func(w error) bool { return errors.Is(err, w) }) {
		t.Errorf("%s: key %v, error %v; want %v", what, got, err, want)
	}
	s.keepsSecrets(t, key, err)
}

func (s Subject) keepsSecrets(t *testing.T, key *secret.Bytes, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if enc := FindKeyIn([]byte(err.Error()), key.Reveal()); enc != "" {
		t.Errorf("error %q contains the key as %s", err, enc)
	}
	for _, sec := range s.Secrets {
		if strings.Contains(err.Error(), sec) {
			t.Errorf("error %q contains the secret %q", err, sec)
		}
	}
}

func (s Subject) wrongKey(t *testing.T) {
	key := random(t, 32)
	blob := wrap(t, s.Open(t), key)
	got, err := s.Other(t).Unwrap(t.Context(), blob, aad)
	s.refuse(t, "other root key", key, got, err, keyring.ErrWrongKey)
	if !s.IgnoresAAD {
		got, err = s.Open(t).Unwrap(t.Context(), blob, []byte("another place"))
		s.refuse(t, "other place", key, got, err, keyring.ErrCorrupt, keyring.ErrWrongKey)
	}
}

func (s Subject) damaged(t *testing.T) {
	p, key := s.Open(t), random(t, 32)
	blob := wrap(t, p, key)
	either := []error{keyring.ErrCorrupt, keyring.ErrWrongKey}
	for _, n := range []int{0, 1, len(blob) / 2, len(blob) - 1} {
		got, err := p.Unwrap(t.Context(), blob[:n], aad)
		s.refuse(t, "cut blob", key, got, err, either...)
	}
	got, err := p.Unwrap(t.Context(), []byte("this is no wrapped key at all, just some text"), aad)
	s.refuse(t, "text", key, got, err, either...)
	for at := 0; at < len(blob); at += max(1, len(blob)/16) {
		bad := bytes.Clone(blob)
		bad[at] ^= 0x10
		got, err := p.Unwrap(t.Context(), bad, aad)
		if err == nil && s.IgnoresAAD && !got.Equal(key) {
			got.Close() // no integrity of its own; the key check value notices
			continue
		}
		s.refuse(t, "changed blob", key, got, err, either...)
	}
}

func (s Subject) notThere(t *testing.T) {
	key := random(t, 32)
	blob := wrap(t, s.Open(t), key)
	for name, c := range map[string]struct {
		open func(*testing.T) keyring.Provider
		want error
	}{"away": {s.Away, keyring.ErrUnreachable}, "denied": {s.Denied, keyring.ErrDenied}} {
		if c.open == nil {
			continue
		}
		p := c.open(t)
		got, err := p.Unwrap(t.Context(), blob, aad)
		s.refuse(t, name+": unwrap", key, got, err, c.want)
		none, _, err := p.Wrap(t.Context(), key, aad)
		if none != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: wrap: %d bytes, %v; want %v", name, len(none), err, c.want)
		}
		s.keepsSecrets(t, key, err)
	}
}

func (s Subject) concurrent(t *testing.T) {
	p := s.Open(t)
	var wg sync.WaitGroup
	for range 4 {
		key := random(t, 32)
		wg.Go(func() {
			for range 2 {
				blob, _, err := p.Wrap(t.Context(), key, aad)
				if err != nil {
					t.Errorf("wrap: %v", err)
					return
				}
				back, err := p.Unwrap(t.Context(), blob, aad)
				if err != nil || !back.Equal(key) {
					t.Errorf("unwrap: %v", err)
					return
				}
				back.Close()
			}
		})
	}
	wg.Wait()
}

// keyFile drives a whole key file, and looks for key bytes in it.
func (s Subject) keyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ring")
	opts := keyring.Options{Provider: func(context.Context, string) (keyring.Provider, error) { return s.Open(t), nil }}
	r, err := keyring.Init(t.Context(), path, s.Open(t), keyring.InitOptions{}, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := errors.Join(r.Rotate(t.Context()), r.RotateDEK(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Check(t.Context()) {
		if f.Err != nil {
			t.Errorf("check %q: %v", f.Name, f.Err)
		}
	}
	again, err := keyring.Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for v := uint32(1); v <= 2; v++ {
		a, err := r.DEK(v)
		if err != nil {
			t.Fatal(err)
		}
		b, err := again.DEK(v)
		if err != nil || !a.Equal(b) {
			t.Errorf("data key %d differs after opening again: %v", v, err)
		}
		for _, f := range []string{path, path + ".prev"} {
			if leak := FindKey(t, f, a.Reveal()); leak != "" {
				t.Errorf("%s contains data key %d as %s", f, v, leak)
			}
		}
	}
	opts.Provider = func(context.Context, string) (keyring.Provider, error) { return s.Other(t), nil }
	if _, err := keyring.Open(t.Context(), path, opts); !errors.Is(err, keyring.ErrWrongKey) {
		t.Errorf("open with another root key: %v, want ErrWrongKey", err)
	}
}

// Encodings returns a key as it might leak: raw, hex and base64, for each a
// part long enough to be no accident.
func Encodings(key []byte) map[string][]byte {
	return map[string][]byte{
		"raw": key[:8], "hex": []byte(hex.EncodeToString(key[:8])),
		"HEX":    []byte(strings.ToUpper(hex.EncodeToString(key[:8]))),
		"base64": []byte(base64.StdEncoding.EncodeToString(key)[:16]),
	}
}
