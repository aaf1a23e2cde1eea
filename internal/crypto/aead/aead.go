// Package aead seals short values ("cells") with AES-256-GCM under a nonce rule
// that is enforced by count.
//
// A cell is
//
//	nonce (12) || ciphertext (as long as the plaintext) || tag (16)
//
// and a 4-byte value takes 32 bytes. The additional data is authenticated, not
// stored: it says where the cell belongs, so that a cell moved to another
// place does not open.
//
// The nonce rule is the deterministic construction of NIST SP 800-38D, section
// 8.2.1. The nonce is
//
//	prefix (8, random for each Sealer) || counter (4, big endian, from 0)
//
// A Sealer never uses a counter value twice, takes one for each started 64 KiB
// of plaintext, and refuses when all 2^32 are used: at most 2^32 cells and
// 2^44 AES blocks. A key should serve at most 2^16 Sealers; then two of them
// have the same prefix with a probability below 2^-32. Whoever restores the
// memory image of a running process twice defeats every nonce rule.
package aead

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
)

// Sizes in bytes.
const (
	KeySize      = 32
	Overhead     = nonceSize + tagSize // a cell is this much longer than its plaintext
	MaxPlaintext = 1 << 30             // longest plaintext

	nonceSize  = 12
	prefixSize = 8
	tagSize    = 16
	stepSize   = 64 << 10 // plaintext for each value of the counter
)

const maxSteps = 1 << 32 // values of the counter

var (
	// ErrExhausted means a Sealer has used its nonces; a new Sealer, best under
	// a new key, goes on.
	ErrExhausted = errors.New("sealer has used all its nonces")
	// ErrNotAuthentic means a cell does not open: another key, another place,
	// or an altered cell. Which of them cannot be known.
	ErrNotAuthentic = errors.New("cell is not authentic")
	// ErrSize means a key, plaintext or row has a length that is not allowed.
	ErrSize = errors.New("length not allowed")
)

// A Sealer encrypts cells. It is safe for concurrent use. It holds what it
// makes of the key, about 800 bytes, in ordinary memory: who must keep keys out
// of swap space or core dumps has to see to that for the process. The garbage
// collector wipes them when the Sealer is gone (what is the standard library's
// is only dropped).
type Sealer struct {
	gcm    *gcm
	prefix [prefixSize]byte
	steps  atomic.Uint64 // counter values given out
}

// NewSealer returns a Sealer with a fresh prefix. It keeps no reference to key,
// which has KeySize bytes; otherwise the error is ErrSize.
func NewSealer(key []byte) (*Sealer, error) { return newSealer(key, available[0]) }

func newSealer(key []byte, im impl) (*Sealer, error) {
	gcm, err := newGCM(key, im)
	if err != nil {
		return nil, fmt.Errorf("make sealer: %w", err)
	}
	s := &Sealer{gcm: gcm}
	runtime.AddCleanup(s, wipe, gcm)
	rand.Read(s.prefix[:]) // never fails, see crypto/rand
	return s, nil
}

// steps returns how many counter values a plaintext of n bytes takes.
func steps(n int) uint64 { return max(1, (uint64(n)+stepSize-1)/stepSize) }

// take reserves n counter values and returns the first.
func (s *Sealer) take(n uint64) (uint32, error) {
	end := s.steps.Add(n)
	if end > maxSteps {
		return 0, ErrExhausted
	}
	return uint32(end - n), nil
}

// Seal appends the cell of plaintext, bound to aad, to dst and returns the
// extended slice. It does not allocate if dst has Overhead + len(plaintext)
// bytes to spare, which neither plaintext nor aad may overlap (a panic), but that
// plaintext may lie exactly where its ciphertext will. Errors: ErrExhausted, and
// ErrSize for a plaintext longer than MaxPlaintext.
func (s *Sealer) Seal(dst, plaintext, aad []byte) ([]byte, error) {
	if len(plaintext) > MaxPlaintext {
		return nil, fmt.Errorf("seal cell of %d bytes: %w", len(plaintext), ErrSize)
	}
	counter, err := s.take(steps(len(plaintext)))
	if err != nil {
		return nil, fmt.Errorf("seal cell: %w", err)
	}
	return s.seal(slices.Grow(dst, Overhead+len(plaintext)), counter, plaintext, aad), nil
}

// seal appends a cell to dst, which has room for it.
func (s *Sealer) seal(dst []byte, counter uint32, plaintext, aad []byte) []byte {
	n := len(dst)
	dst = dst[:n+Overhead+len(plaintext)]
	cell := dst[n:]
	copy(cell, s.prefix[:])
	binary.BigEndian.PutUint32(cell[prefixSize:nonceSize], counter)
	s.gcm.seal(cell, plaintext, aad)
	runtime.KeepAlive(s) // until here the keys must not be wiped
	return dst
}

// SealRow seals the values of a row: it appends the cell of plain[i], bound to
// aad[i], to dst and makes out[i] the part of the result that holds it. A nil
// plain[i] (SQL NULL) gives a nil out[i] and no cell. The three must have one
// length. dst grows at most once, before the first cell; Seal tells the rest.
func (s *Sealer) SealRow(dst []byte, out, plain, aad [][]byte) ([]byte, error) {
	if len(out) != len(plain) || len(aad) != len(plain) {
		return nil, fmt.Errorf("seal row of %d values, %d places and %d outputs: %w", len(plain), len(aad), len(out), ErrSize)
	}
	size, need := 0, uint64(0)
	for _, p := range plain {
		if len(p) > MaxPlaintext {
			return nil, fmt.Errorf("seal row with a value of %d bytes: %w", len(p), ErrSize)
		}
		if p != nil {
			size += Overhead + len(p)
			need += steps(len(p))
		}
	}
	counter, err := s.take(need)
	if err != nil {
		return nil, fmt.Errorf("seal row: %w", err)
	}
	dst = slices.Grow(dst, size)
	for i, p := range plain {
		out[i] = nil
		if p == nil {
			continue
		}
		start := len(dst)
		dst = s.seal(dst, counter, p, aad[i])
		out[i] = dst[start:len(dst):len(dst)]
		counter += uint32(steps(len(p)))
	}
	return dst, nil
}

// An Opener decrypts cells of any Sealer with the same key. It is safe for
// concurrent use, and holds keys as a Sealer does.
type Opener struct{ gcm *gcm }

// NewOpener is as NewSealer.
func NewOpener(key []byte) (*Opener, error) { return newOpener(key, available[0]) }

func newOpener(key []byte, im impl) (*Opener, error) {
	gcm, err := newGCM(key, im)
	if err != nil {
		return nil, fmt.Errorf("make opener: %w", err)
	}
	o := &Opener{gcm}
	runtime.AddCleanup(o, wipe, gcm)
	return o, nil
}

// Open appends the plaintext of cell, which was bound to aad, to dst and
// returns the extended slice. It does not allocate if dst has len(cell) -
// Overhead bytes to spare, which cell must not overlap. Any failure is
// ErrNotAuthentic; no byte of an altered cell is returned.
func (o *Opener) Open(dst, cell, aad []byte) ([]byte, error) {
	if len(cell) < Overhead || len(cell) > MaxPlaintext+Overhead {
		return nil, ErrNotAuthentic
	}
	n := len(dst)
	dst = slices.Grow(dst, len(cell)-Overhead)[:n+len(cell)-Overhead]
	ok := o.gcm.open(dst[n:], cell, aad)
	runtime.KeepAlive(o) // until here the keys must not be wiped
	if !ok {
		return nil, ErrNotAuthentic
	}
	return dst, nil
}

// OpenRow opens the cells of a row as SealRow made them: it appends their
// plaintexts to dst and makes out[i] the part that holds that of cells[i]; nil
// stays nil. The three must have one length, else ErrSize. On any error, which
// is ErrNotAuthentic, nothing of the row is returned and out is all nil.
func (o *Opener) OpenRow(dst []byte, out, cells, aad [][]byte) ([]byte, error) {
	if len(out) != len(cells) || len(aad) != len(cells) {
		return nil, fmt.Errorf("open row of %d cells, %d places and %d outputs: %w", len(cells), len(aad), len(out), ErrSize)
	}
	size := 0
	for _, c := range cells {
		size += max(0, len(c)-Overhead)
	}
	base := slices.Grow(dst, size)
	dst = base
	for i, c := range cells {
		out[i] = nil
		if c == nil {
			continue
		}
		start := len(dst)
		next, err := o.Open(dst, c, aad[i])
		if err != nil {
			clear(out)
			clear(dst[len(base):])
			return nil, fmt.Errorf("open cell %d of row: %w", i, err)
		}
		dst = next
		out[i] = dst[start:len(dst):len(dst)]
	}
	return dst, nil
}
