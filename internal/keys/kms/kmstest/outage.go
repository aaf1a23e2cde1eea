package kmstest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/keys/keyring"
)

// A Fault is a way in which a key manager fails.
type Fault int

// Faults.
const (
	Down    Fault = iota // nothing answers
	Hang                 // it takes the request and never answers
	Garbage              // it answers with something that makes no sense
	Refuse               // it answers that this is not allowed
)

var faults = map[string]struct {
	fault Fault
	want  []error
}{
	"down":    {Down, []error{keyring.ErrUnreachable}},
	"hang":    {Hang, []error{keyring.ErrUnreachable}},
	"garbage": {Garbage, []error{keyring.ErrUnreachable, keyring.ErrCorrupt, keyring.ErrWrongKey}},
	"refuse":  {Refuse, []error{keyring.ErrDenied}},
}

// tooLong is when a call that had to give up, after patience for a manager that
// hangs, or after retries of one that may be back soon, has not.
const (
	patience = 500 * time.Millisecond
	retries  = 3 * time.Second
	tooLong  = 30 * time.Second
)

// outage breaks the manager under a provider that worked before and under one
// that starts meanwhile; both work again after it.
func (s Subject) outage(t *testing.T) {
	for name, f := range faults {
		if s.Faults != nil && !slices.Contains(s.Faults, f.fault) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			before, key := s.Open(t), random(t, 32)
			blob := wrap(t, before, key)
			mend := s.Break(t, f.fault)
			wait := tooLong
			switch f.fault {
			case Hang:
				wait = patience
			case Down, Garbage:
				wait = retries
			}
			during := s.Open(t)
			for who, p := range map[string]keyring.Provider{"before": before, "during": during} {
				start := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), wait)
				got, err := p.Unwrap(ctx, blob, aad)
				cancel()
				if f.fault == Garbage && err == nil && s.IgnoresAAD && !got.Equal(key) {
					got.Close() // the key check value notices
				} else {
					s.refuse(t, "unwrap, opened "+who, key, got, err, f.want...)
				}

				ctx, cancel = context.WithTimeout(t.Context(), wait)
				none, _, err := p.Wrap(ctx, key, aad)
				cancel()
				var wrapped *secret.Bytes
				if f.fault == Garbage && err == nil {
					// A blob that is garbage must at least not open.
					wrapped, err = p.Unwrap(t.Context(), none, aad)
				} else if none != nil {
					t.Errorf("wrap, opened %s: a blob and error %v", who, err)
				}
				s.refuse(t, "wrap, opened "+who, key, wrapped, err, f.want...)
				if time.Since(start) > 2*wait+tooLong {
					t.Errorf("opened %s: gave up after %v only", who, time.Since(start))
				}
			}
			mend()
			for who, p := range map[string]keyring.Provider{"before": before, "during": during} {
				back, err := p.Unwrap(t.Context(), blob, aad)
				if err != nil || !back.Equal(key) {
					t.Errorf("opened %s: after the outage: %v", who, err)
				}
				wrap(t, p, key)
			}
		})
	}
}

// keyFileOutage breaks the manager under an open key file: what is unlocked
// stays so, a rotation fails and changes nothing, and it works later.
func (s Subject) keyFileOutage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ring")
	opts := keyring.Options{Provider: func(context.Context, string) (keyring.Provider, error) { return s.Open(t), nil }}
	r, err := keyring.Init(t.Context(), path, s.Open(t), keyring.InitOptions{}, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	mend := s.Break(t, Down)
	ctx, cancel := context.WithTimeout(t.Context(), retries)
	defer cancel()
	if _, err := keyring.Open(ctx, path, opts); !errors.Is(err, keyring.ErrUnreachable) {
		t.Errorf("open: %v, want ErrUnreachable", err)
	}
	if _, err := r.DEK(1); err != nil {
		t.Errorf("data key of an unlocked key file: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), retries)
	defer cancel()
	if err := r.Rotate(ctx); !errors.Is(err, keyring.ErrUnreachable) {
		t.Errorf("rotate: %v, want ErrUnreachable", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("a rotation that failed changed the key file (%v)", err)
	}
	mend()
	if err := r.Rotate(t.Context()); err != nil {
		t.Errorf("rotate after the outage: %v", err)
	}
	again, err := keyring.Open(t.Context(), path, opts)
	if err != nil {
		t.Fatalf("open after the outage: %v", err)
	}
	again.Close()
}

// rotation makes a new version of the root key in its manager.
func (s Subject) rotation(t *testing.T) {
	p, key := s.Open(t), random(t, 32)
	var blobs [][]byte
	var versions []string
	for range 3 {
		blob, version, err := p.Wrap(t.Context(), key, aad)
		if err != nil {
			t.Fatal(err)
		}
		blobs, versions = append(blobs, blob), append(versions, version)
		s.Rotate(t)
	}
	if versions[0] == "" || versions[0] == versions[1] || versions[1] == versions[2] {
		t.Errorf("key versions %q, want another after each rotation", versions)
	}
	for i, blob := range blobs {
		back, err := p.Unwrap(t.Context(), blob, aad)
		if err != nil || !back.Equal(key) {
			t.Errorf("blob of version %d of 4: %v", i+1, err)
		}
	}
}
