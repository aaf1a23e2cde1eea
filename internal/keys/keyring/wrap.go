package keyring

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/veildb/veildb/internal/crypto/aead"
	"github.com/veildb/veildb/internal/crypto/secret"
)

// Kinds of keys.
const (
	kindKEK = "kek"
	kindDEK = "dek"
)

// keys are the keys of a key file; the key of version v is at index v-1.
type keys struct{ keks, deks []*secret.Bytes }

func (k *keys) kek() *secret.Bytes { return k.keks[len(k.keks)-1] }

func (k *keys) close() {
	for _, s := range append(k.keks[:len(k.keks):len(k.keks)], k.deks...) {
		s.Close()
	}
}

// checkValue commits to a key: HMAC-SHA256, under the key, of what the key is.
// GCM alone does not commit, so the value is part of every additional data.
func checkValue(key *secret.Bytes, id, kind string, version uint32) []byte {
	h := hmac.New(sha256.New, key.Reveal())
	h.Write(place("check", id, kind, version, nil))
	return h.Sum(nil)
}

// place is the additional data of a wrapped key: each part with its length.
func place(use, id, kind string, version uint32, check []byte) []byte {
	var out []byte
	for _, part := range []string{formatV1, use, id, kind, string(check)} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(part)))
		out = append(out, part...)
	}
	return binary.BigEndian.AppendUint32(out, version)
}

// wrap seals key under kek. Each call makes a Sealer, hence a fresh prefix.
func wrap(kek, key *secret.Bytes, aad []byte) ([]byte, error) {
	s, err := aead.NewSealer(kek.Reveal())
	if err != nil {
		return nil, err
	}
	return s.Seal(nil, key.Reveal(), aad)
}

// unwrap opens what wrap sealed; the key goes straight to locked memory.
func unwrap(kek *secret.Bytes, blob, aad []byte) (*secret.Bytes, error) {
	if len(blob) != keySize+aead.Overhead {
		return nil, fmt.Errorf("wrapped key of %d bytes: %w", len(blob), ErrCorrupt)
	}
	o, err := aead.NewOpener(kek.Reveal())
	if err != nil {
		return nil, err
	}
	key, err := secret.New(keySize)
	if err != nil {
		return nil, err
	}
	if _, err := o.Open(key.Reveal()[:0], blob, aad); err != nil {
		key.Close()
		return nil, fmt.Errorf("%w: %w", err, ErrCorrupt)
	}
	return key, nil
}

// wrapAll fills in the entries of f for all keys of k, under its current KEK.
func (f *file) wrapAll(k *keys) error {
	current := uint32(len(k.keks))
	for kind, set := range map[string]struct {
		entries []entry
		secrets []*secret.Bytes
	}{kindKEK: {f.KEKs, k.keks}, kindDEK: {f.DEKs, k.deks}} {
		for i, key := range set.secrets {
			e := &set.entries[i]
			e.Check = checkValue(key, f.ID, kind, e.Version)
			if kind == kindKEK && e.Version == current {
				e.Blob = nil // in f.Root
				continue
			}
			blob, err := wrap(k.kek(), key, place("wrap", f.ID, kind, e.Version, e.Check))
			if err != nil {
				return fmt.Errorf("wrap %s %d: %w", kind, e.Version, err)
			}
			e.Blob = blob
		}
	}
	return nil
}

// rootPlace is the additional data of the current KEK.
func (f *file) rootPlace() []byte {
	e := f.KEKs[len(f.KEKs)-1]
	return place("root", f.ID, kindKEK, e.Version, e.Check)
}

// wrapRoot lets p wrap the current KEK.
func (f *file) wrapRoot(ctx context.Context, kek *secret.Bytes, p Provider) error {
	e := &f.KEKs[len(f.KEKs)-1]
	e.Check = checkValue(kek, f.ID, kindKEK, e.Version)
	blob, version, err := p.Wrap(ctx, kek, f.rootPlace())
	if err != nil {
		return fmt.Errorf("wrap key with %s: %w", p.URI(), err)
	}
	f.Root.Provider, f.Root.KeyVersion, f.Root.Blob = p.URI(), version, blob
	return nil
}

// unwrapRoot asks p for the current KEK of f and compares its check value.
func (f *file) unwrapRoot(ctx context.Context, p Provider) (*secret.Bytes, error) {
	e := f.KEKs[len(f.KEKs)-1]
	kek, err := p.Unwrap(ctx, f.Root.Blob, f.rootPlace())
	if err != nil {
		return nil, fmt.Errorf("unwrap key with %s: %w", p.URI(), err)
	}
	if kek.Len() != keySize || !hmac.Equal(checkValue(kek, f.ID, kindKEK, e.Version), e.Check) {
		kek.Close()
		return nil, fmt.Errorf("unwrap key with %s: it gave another key than this file's: %w", p.URI(), ErrWrongKey)
	}
	return kek, nil
}

// unwrapAll authenticates data, which f was decoded from, and returns all keys.
// It takes over kek, also on error, which is ErrCorrupt.
func (f *file) unwrapAll(data []byte, kek *secret.Bytes) (_ *keys, err error) {
	k := &keys{}
	defer func() {
		if err != nil {
			kek.Close()
			k.close()
		}
	}()
	if err := f.verify(kek, data); err != nil {
		return nil, err
	}
	open := func(kind string, e entry) (*secret.Bytes, error) {
		key, err := unwrap(kek, e.Blob, place("wrap", f.ID, kind, e.Version, e.Check))
		if err == nil && !hmac.Equal(checkValue(key, f.ID, kind, e.Version), e.Check) {
			key.Close()
			err = fmt.Errorf("compare check value: %w", ErrCorrupt)
		}
		if err != nil {
			return nil, fmt.Errorf("unwrap %s %d: %w", kind, e.Version, err)
		}
		return key, nil
	}
	for _, e := range f.KEKs[:len(f.KEKs)-1] {
		key, err := open(kindKEK, e)
		if err != nil {
			return nil, err
		}
		k.keks = append(k.keks, key)
	}
	for _, e := range f.DEKs {
		key, err := open(kindDEK, e)
		if err != nil {
			return nil, err
		}
		k.deks = append(k.deks, key)
	}
	k.keks = append(k.keks, kek)
	return k, nil
}
