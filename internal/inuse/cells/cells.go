// Package cells seals single database values for those who may see them only
// with a key: typed, authenticated, and bound to the column they came from.
//
// A cell is
//
//	offset  size  field
//	0       1     magic, 0xC5
//	1       1     layout, 0x41
//	2       4     key version, big-endian
//	6       8     key salt
//	14      4     key check
//	18      12    nonce
//	30      1+n   ciphertext of a type tag and n bytes of value
//	31+n    16    GCM tag
//
// so an integer takes 55 bytes and a string of 10 bytes 57. The layout byte is
// neither the 0x40 of the EncDB layout nor a MySQL column type, so that older
// clients refuse it. Cipher and nonce rule are those of package aead; keys are
// described at KeySource and keyID; the additional data is the cell's Label.
//
// What a cell does not hide: that a value is there (NULL has no cell and stays
// NULL), the length of strings and byte strings, and, by its salt, which cells
// one Sealer made. What it is not bound to: its row and its statement. A cell
// put in the place of another of the same column and key version opens.
package cells

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/veildb/veildb/internal/crypto/aead"
)

const (
	magic      = 0xC5
	layout     = 0x41
	headerSize = 2 + keyIDSize

	// Overhead is how many bytes a cell is longer than a string it holds.
	Overhead = headerSize + aead.Overhead + 1
)

// cellsPerKey is how many cells a Sealer seals under one cell key before it
// derives the next: 2^20, far below what the nonce rule allows. The current
// key version is looked up at the same time.
const cellsPerKey = 1 << 20

// A Sealer seals cells under its key source's current key. It is safe for
// concurrent use.
type Sealer struct {
	keys KeySource
	key  atomic.Pointer[sealKey] // nil: closed

	rotate sync.Mutex // held while key is replaced
}

// A sealKey is one cell key and how many cells it has sealed.
type sealKey struct {
	header [headerSize]byte
	aead   *aead.Sealer
	used   atomic.Uint64
}

// NewSealer returns a Sealer. It fails when the source has no current key.
func NewSealer(keys KeySource) (*Sealer, error) {
	s := &Sealer{keys: keys}
	if err := s.renew(nil); err != nil {
		return nil, fmt.Errorf("make cell sealer: %w", err)
	}
	return s, nil
}

// renew replaces the key old by a fresh one; where another goroutine did so
// already, there is nothing to do.
func (s *Sealer) renew(old *sealKey) error {
	s.rotate.Lock()
	defer s.rotate.Unlock()
	if s.key.Load() != old {
		return nil
	}
	id, a, err := newKey(s.keys)
	if err != nil {
		return err
	}
	k := &sealKey{aead: a}
	copy(k.header[:], append([]byte{magic, layout}, id[:]...))
	s.key.Store(k)
	return nil
}

// Rotate makes the next cell use a fresh key of the source's current version.
// Without it a new version is taken up after at most 2^20 cells.
func (s *Sealer) Rotate() error {
	k := s.key.Load()
	if k == nil {
		return ErrClosed
	}
	if err := s.renew(k); err != nil {
		return fmt.Errorf("rotate cell key: %w", err)
	}
	return nil
}

// Close drops the key; later calls of Append fail with ErrClosed.
func (s *Sealer) Close() error {
	s.rotate.Lock()
	defer s.rotate.Unlock()
	s.key.Store(nil)
	return nil
}

// Append appends the cell of v, bound to label, to dst. It does not allocate
// if dst has room for the cell and once more for the value.
//
// v is an int64, float64, bool, string, []byte, time.Time, uint64 or float32;
// other types, nil among them, give ErrUnknownType: the caller passes NULL on
// as NULL. It fails with ErrClosed after Close. On error dst is returned as it
// was.
func (s *Sealer) Append(dst []byte, v driver.Value, label Label) ([]byte, error) {
	size, err := valueSize(v)
	if err != nil {
		return dst, fmt.Errorf("seal cell of %s: %w", label, err)
	}
	if label.IsZero() {
		panic("cells: internal error: cell without label")
	}
	for {
		k := s.key.Load()
		if k == nil {
			return dst, ErrClosed
		}
		if k.used.Add(1) <= cellsPerKey {
			out, err := k.append(dst, v, size, label)
			if err == nil {
				return out, nil
			}
			if !errors.Is(err, aead.ErrExhausted) {
				return dst, fmt.Errorf("seal cell of %s: %w", label, err)
			}
		}
		if err := s.renew(k); err != nil {
			return dst, fmt.Errorf("renew cell key: %w", err)
		}
	}
}

// append appends the cell of v, which takes size bytes.
func (k *sealKey) append(dst []byte, v driver.Value, size int, label Label) ([]byte, error) {
	end := len(dst) + headerSize + aead.Overhead + size
	dst = slices.Grow(dst, end-len(dst)+size)
	// The plaintext stands behind the place of the cell, and is wiped there.
	plain := appendValue(dst[end:end:end+size], v)
	out, err := k.aead.Seal(append(dst, k.header[:]...), plain, label.aad)
	clear(plain)
	return out, err
}

// An Opener opens the cells of any Sealer that has the same keys. It is safe
// for concurrent use.
type Opener struct {
	keys KeySource
	last atomic.Pointer[openedKey] // the key of the latest cell

	mu    sync.Mutex
	known map[keyID]*openedKey // nil: closed
}

type openedKey struct {
	id   keyID
	aead *aead.Opener
}

// maxKnown bounds the cell keys an Opener remembers.
const maxKnown = 256

// NewOpener returns an Opener.
func NewOpener(keys KeySource) *Opener {
	return &Opener{keys: keys, known: map[keyID]*openedKey{}}
}

// Close drops the keys; later calls of Open fail with ErrClosed.
func (o *Opener) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known = nil
	o.last.Store(nil)
	return nil
}

// Open returns the value of a cell bound to label, with the type it had when
// it was sealed. The plaintext is appended to buf, and the extended slice
// returned with the value: a []byte value is a view of it, all others are
// independent of it and need not keep it.
//
// It fails with ErrTampered for a cell that was altered, cut, bound to another
// label, or is none; with ErrWrongKey when the key source gives another key
// than the cell's, or none, whose error then is wrapped beside; and with
// ErrClosed after Close. No error holds any of the cell.
func (o *Opener) Open(buf, cell []byte, label Label) (driver.Value, []byte, error) {
	if label.IsZero() {
		panic("cells: internal error: cell without label")
	}
	if len(cell) < Overhead || cell[0] != magic || cell[1] != layout {
		return nil, buf, fmt.Errorf("open cell of %s: %w", label, ErrTampered)
	}
	k, err := o.key((*keyID)(cell[2:headerSize]))
	if err != nil {
		return nil, buf, fmt.Errorf("open cell of %s: %w", label, err)
	}
	n := len(buf)
	out, err := k.aead.Open(buf, cell[headerSize:], label.aad)
	if err != nil {
		return nil, buf, fmt.Errorf("open cell of %s: %w", label, ErrTampered)
	}
	v, err := parseValue(out[n:])
	if err != nil {
		return nil, buf, fmt.Errorf("open cell of %s: %w", label, err)
	}
	return v, out, nil
}

// key returns the key for id, from memory where it can.
func (o *Opener) key(id *keyID) (*openedKey, error) {
	if k := o.last.Load(); k != nil && k.id == *id {
		return k, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known == nil {
		return nil, ErrClosed
	}
	k := o.known[*id]
	if k == nil {
		a, err := openKey(o.keys, *id)
		if err != nil {
			return nil, err
		}
		if len(o.known) >= maxKnown {
			clear(o.known)
		}
		k = &openedKey{id: *id, aead: a}
		o.known[*id] = k
	}
	o.last.Store(k)
	return k, nil
}
