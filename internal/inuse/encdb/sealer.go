package encdb

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/veildb/veildb/internal/crypto/aead"
	"github.com/veildb/veildb/internal/crypto/secret"
)

// The nonce rule. A cell key serves one Sealer, for at most maxSteps steps and
// maxAge; a cell takes one step for each started stepSize of its value. The IV
// of a cell is
//
//	prefix (8, random for each cell key) || step (4, big endian, from 0)
//
// and is never used twice under a key. Package aead, which seals under AES-256,
// has the same rule, and a prefix of its own. Cell keys are derived from 8 random
// bytes, which repeat after some 2^32 keys; the prefix is drawn anew with them,
// so an IV repeats only when 16 random bytes do. 2^20 steps of 64 KiB are 2^32
// blocks, far below the bounds of NIST SP 800-38D.
const (
	maxSteps = 1 << 20
	stepSize = 64 << 10
	maxAge   = time.Hour
	lookAt   = 1 << 8 // steps between two looks at the clock
)

// dummySize is the length of what a Sealer for no one's eyes puts into a cell.
const dummySize = 16

// A Sealer makes the cells of one connection. It is for one goroutine.
type Sealer struct {
	key       *secret.Bytes // MEK or session key; owned by the Sealer
	hash      Hash
	algorithm Algorithm
	layout    byte
	keyID     uint32
	session   [sessionSize]byte
	padTo     int  // own layouts: pad values to a multiple, 0 for none
	dummy     bool // every value is replaced by zero bytes

	gcm    cipher.AEAD
	fast   *aead.Sealer // the same for own layouts, nil for other ciphers than AES-256
	nonce  [nonceSize]byte
	prefix [ivSize - 4]byte
	steps  uint32
	made   time.Time
	now    func() time.Time
	aad    []byte
	plain  [20]byte
}

// newSealer returns a Sealer of Layout64 under a copy of key.
func newSealer(key *secret.Bytes, h Hash, a Algorithm, now func() time.Time) (*Sealer, error) {
	own, err := key.Clone()
	if err != nil {
		return nil, err
	}
	s := &Sealer{key: own, hash: h, algorithm: a, layout: Layout64, now: now}
	if err := s.rotate(); err != nil {
		own.Close()
		return nil, err
	}
	return s, nil
}

// newDummySealer returns a Sealer whose cells nobody can open: the key is
// random and kept nowhere else, and the value is not even in them. All cells
// have one length and one type.
func newDummySealer(h Hash, a Algorithm, now func() time.Time) (*Sealer, error) {
	key, err := secret.Random(32)
	if err != nil {
		return nil, err
	}
	defer key.Close()
	s, err := newSealer(key, h, a, now)
	if err == nil {
		s.dummy = true
	}
	return s, err
}

// Layout returns Layout64, Layout65 or Layout66.
func (s *Sealer) Layout() byte { return s.layout }

// Close wipes the key. The Sealer cannot be used any more.
func (s *Sealer) Close() {
	if s != nil {
		s.key.Close()
		s.gcm, s.fast = nil, nil
	}
}

// rotate makes a fresh cell key.
func (s *Sealer) rotate() error {
	rand.Read(s.nonce[:]) // never fails, see crypto/rand
	rand.Read(s.prefix[:])
	dek, err := s.hash.derive(s.key.Reveal(), s.nonce[:], "", algorithms[s.algorithm].keySize)
	if err != nil {
		return err
	}
	defer clear(dek)
	if s.gcm, err = s.algorithm.gcm(dek); err != nil {
		return fmt.Errorf("make cell key: %w", err)
	}
	if s.fast = nil; s.algorithm == AES256GCM {
		if s.fast, err = aead.NewSealer(dek); err != nil {
			return fmt.Errorf("make cell key: %w", err)
		}
	}
	s.steps, s.made = 0, s.now()
	return nil
}

// Begin makes a fresh cell key if the present one is too old. It is to be
// called before each result set: between cells the clock is seldom looked at.
func (s *Sealer) Begin() error {
	if s.gcm == nil {
		return ErrClosed
	}
	if s.now().Sub(s.made) >= maxAge {
		return s.rotate()
	}
	return nil
}

// take reserves the steps of a value of n bytes and returns the first.
func (s *Sealer) take(n int) (uint32, error) {
	if s.gcm == nil {
		return 0, ErrClosed
	}
	need := uint32(max(1, (n+stepSize-1)/stepSize))
	if s.steps+need > maxSteps || s.steps/lookAt != (s.steps+need)/lookAt && s.now().Sub(s.made) >= maxAge {
		if err := s.rotate(); err != nil {
			return 0, err
		}
	}
	first := s.steps
	s.steps += need
	return first, nil
}

// Append appends the cell of a value of column c to dst, as the row has it. The value
// is the bytes of a row, of the binary protocol if bin, without their length
// prefix; it must not overlap dst. SQL NULL is not a value and stays NULL.
// Append does not allocate if dst has CellSize bytes and 16 more to spare.
// Errors: ErrValue for a value that is not one of the column's type or longer
// than MaxValue, ErrClosed.
func (s *Sealer) Append(dst []byte, c *Column, bin bool, value []byte) ([]byte, error) {
	if len(value) > MaxValue {
		return nil, fmt.Errorf("seal value of %d bytes: %w", len(value), ErrValue)
	}
	var typ byte
	var err error
	switch {
	case s.dummy:
		typ, value = TypeVarString, zeros[:]
	case Own(s.layout):
		if typ = c.typ; bin && !fits(typ, len(value)) {
			return nil, fmt.Errorf("seal value of %d bytes for column type %d: %w", len(value), typ, ErrValue)
		}
	default:
		if typ, value, err = plainType(s.plain[:0], c.typ, c.unsigned, bin, value); err != nil {
			return nil, fmt.Errorf("seal: %w", err)
		}
	}
	step, err := s.take(len(value))
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	switch s.layout {
	case Layout66:
		return s.append66(dst, c, bin, step, value)
	case Layout65:
		return s.append65(dst, c, bin, typ, step, value)
	}
	return s.append64(dst, typ, step, value), nil
}

var zeros [dummySize]byte

// room extends dst by the base64 of n bytes. It returns the extended slice, the
// n bytes at its end, which become the cell, and the place of the base64.
func room(dst []byte, n int) (out, raw, text []byte) {
	start := len(dst)
	end := start + base64.StdEncoding.EncodedLen(n)
	out = slices.Grow(dst, end-start+tagSize)[:end]
	return out, out[end-n : end : end+tagSize], out[start:end]
}

// sealBody seals inner, the last bytes of raw, in place, and puts IV and tag
// before it, where the format wants the tag. cipher.AEAD puts it behind; there
// is room.
func (s *Sealer) sealBody(raw []byte, header, inner int, step uint32, aad []byte) {
	iv := raw[header : header+ivSize]
	copy(iv, s.prefix[:])
	binary.BigEndian.PutUint32(iv[len(s.prefix):], step)
	at := len(raw) - inner
	sealed := s.gcm.Seal(raw[at:at], iv, raw[at:], aad)
	copy(raw[header+ivSize:at], sealed[inner:])
}

// sealFast is sealBody by package aead, whose cells have the IV directly before
// the ciphertext.
func (s *Sealer) sealFast(raw []byte, header, inner int, aad []byte) error {
	at := len(raw) - inner
	sealed, err := s.fast.Seal(raw[at-ivSize:at-ivSize], raw[at:], aad)
	if err != nil {
		return fmt.Errorf("seal: %w", err)
	}
	copy(raw[header:], sealed[:ivSize])
	copy(raw[header+ivSize:at], sealed[ivSize+inner:])
	return nil
}

func (s *Sealer) append64(dst []byte, typ byte, step uint32, value []byte) []byte {
	const before = header64 + ivSize + tagSize
	n := before + len(value) + 1
	out, raw, text := room(dst, n)
	raw[0], raw[1], raw[2], raw[3] = 0, Layout64, typ, byte(s.algorithm)
	copy(raw[4:], s.nonce[:])
	copy(raw[before:], value)
	raw[n-1] = xorAll(value)
	s.sealBody(raw, header64, len(value)+1, step, nil)
	raw[0] = xorAll(raw)
	encodeInPlace(text, n)
	return out
}

func (s *Sealer) append65(dst []byte, c *Column, bin bool, typ byte, step uint32, value []byte) ([]byte, error) {
	const before = header65 + ivSize + tagSize
	inner, flags := len(value), byte(0)
	if s.padTo > 0 {
		inner, flags = (inner/s.padTo+1)*s.padTo, flagPadded
	}
	if c.unsigned && !s.dummy {
		flags |= flagUnsigned
	}
	if bin {
		flags |= flagBinary
	}
	out, raw, text := room(dst, before+inner)
	raw[0], raw[1], raw[2], raw[3], raw[4], raw[5] = 0, Layout65, typ, byte(s.algorithm), flags, c.decimals
	binary.BigEndian.PutUint32(raw[6:], s.keyID)
	copy(raw[10:], s.nonce[:])
	if m := copy(raw[before:], value); m < inner {
		clear(raw[before+m:])
		raw[before+m] = 0x80
	}
	s.aad = appendAAD(s.aad[:0], raw[:header65], c, &s.session)
	if s.fast == nil || inner > aead.MaxPlaintext {
		s.sealBody(raw, header65, inner, step, s.aad)
	} else if err := s.sealFast(raw, header65, inner, s.aad); err != nil {
		return nil, err
	}
	encodeInPlace(text, len(raw))
	return out, nil
}

// appendAAD appends the additional data of a cell of Layout65.
func appendAAD(dst, header []byte, c *Column, session *[sessionSize]byte) []byte {
	return append(append(append(dst, header...), c.place...), session[:]...)
}
