// Package aesxts encrypts data units (disk sectors, database pages) with
// AES-128-XTS and AES-256-XTS as IEEE Std 1619-2018 and NIST SP 800-38E define
// them, at the speed of the CPU's AES instructions.
//
// # What XTS is
//
// A key is two AES keys of equal size, K1 || K2. A data unit is a run of
// 16-byte blocks with a number, its unit number. Block j of unit i is
//
//	T = AES-enc(K2, i as 16 bytes, little-endian) * alpha^j
//	C = AES-enc(K1, P xor T) xor T
//
// where the product is in GF(2^128) modulo x^128 + x^7 + x^2 + x + 1, bytes
// and bits little-endian, and alpha is the element x. Because T of any block
// can be computed alone, Encrypt and Decrypt may start at any block of a unit.
//
// # What XTS does not do
//
// XTS keeps the content of storage from someone who reads it; it does nothing
// else. There is no authentication: a changed ciphertext block decrypts to 16
// unpredictable bytes and nobody is told. An old ciphertext put back in its
// place decrypts to the old plaintext. The cipher is deterministic: the same
// block written twice at the same place of the same unit under the same key
// gives the same ciphertext, so who sees two versions of a unit sees which
// 16-byte blocks differ. A unit number must therefore never stand for two
// places under one key, and anything more than secrecy at rest needs another
// mechanism above this one.
//
// SP 800-38E limits a data unit to 2^20 blocks (16 MiB); exceeding it is
// refused here. IEEE 1619-2018 (and its 2025 successor) also limits the amount
// of data under one key; the owner of the keys counts that, not this package.
//
// Ciphertext stealing, which XTS defines for units that are not a multiple of
// 16 bytes, is not implemented: our units always are.
package aesxts

import (
	"crypto/subtle"
	"errors"
	"unsafe"
)

const (
	blockSize = 16

	// maxUnitBlocks is the length limit of one data unit, SP 800-38E section 4.
	maxUnitBlocks = 1 << 20
)

var (
	// ErrKeySize says that a key is neither 32 bytes (AES-128-XTS) nor 64
	// bytes (AES-256-XTS) long.
	ErrKeySize = errors.New("aesxts: key must be 32 or 64 bytes")

	// ErrWeakKey says that the two halves of a key are equal, which FIPS 140
	// (implementation guidance C.I) forbids because it lets an attacker who
	// chooses ciphertexts find tweaks.
	ErrWeakKey = errors.New("aesxts: the two halves of the key are equal")
)

// Cipher is AES-XTS under one key. Its methods may be called by any number of
// goroutines at once, except Wipe, which must be the last call of all.
//
// It holds the expanded keys, from which the key can be read, in ordinary
// memory (about 900 bytes): who must keep keys out of swap space or core dumps
// has to see to that for the process.
type Cipher struct {
	impl impl
	gen  generic  // used when impl is implGeneric
	keys schedule // used by every other implementation
}

// New returns a cipher for key = K1 || K2: 32 bytes select AES-128-XTS, 64
// bytes AES-256-XTS. The key is expanded into memory of the cipher's own, so
// the caller may wipe its copy. It returns ErrKeySize or ErrWeakKey.
//
// The fastest implementation that the CPU has is used; see Implementations.
func New(key []byte) (*Cipher, error) {
	return newCipher(key, available[0])
}

func newCipher(key []byte, impl impl) (*Cipher, error) {
	if len(key) != 32 && len(key) != 64 {
		return nil, ErrKeySize
	}
	k1, k2 := key[:len(key)/2], key[len(key)/2:]
	if subtle.ConstantTimeCompare(k1, k2) == 1 {
		return nil, ErrWeakKey
	}
	c := &Cipher{impl: impl}
	if impl == implGeneric {
		c.gen.init(k1, k2)
	} else {
		c.keys.init(k1, k2)
	}
	return c, nil
}

// Implementations returns the names of the implementations this CPU can run,
// fastest first; New uses the first. The last is always "generic".
func Implementations() []string {
	names := make([]string, len(available))
	for i, im := range available {
		names[i] = im.String()
	}
	return names
}

// Implementation returns the name of the implementation that c uses.
func (c *Cipher) Implementation() string { return c.impl.String() }

// Encrypt encrypts src, a multiple of 16 bytes that lie inside one data unit
// from its 16-byte block number index on, into dst[:len(src)]. unit is the
// number of the data unit. dst may be src exactly; no other overlap.
//
// It panics if a slice has the wrong size or overlap or the range leaves the
// unit's limit of 2^20 blocks: that is a bug of the caller.
func (c *Cipher) Encrypt(dst, src []byte, unit uint64, index int) {
	c.crypt(dst, src, unit, index, encrypt)
}

// Decrypt is the inverse of Encrypt, under the same rules. It cannot fail:
// XTS does not detect a wrong key or changed data.
func (c *Cipher) Decrypt(dst, src []byte, unit uint64, index int) {
	c.crypt(dst, src, unit, index, decrypt)
}

// EncryptUnits encrypts src, whole consecutive data units of unitSize bytes
// each, into dst[:len(src)]. The first has the number first, the next
// first+1, and so on. dst may be src exactly; no other overlap. Many small
// units in one call are faster than a call for each.
//
// It panics if unitSize is not a multiple of 16 up to 16 MiB, if src is not a
// multiple of unitSize, if the unit numbers pass the largest uint64, or if the
// slices overlap or differ in size: that is a bug of the caller.
func (c *Cipher) EncryptUnits(dst, src []byte, unitSize int, first uint64) {
	c.cryptUnits(dst, src, unitSize, first, encrypt)
}

// DecryptUnits is the inverse of EncryptUnits, under the same rules.
func (c *Cipher) DecryptUnits(dst, src []byte, unitSize int, first uint64) {
	c.cryptUnits(dst, src, unitSize, first, decrypt)
}

// Wipe overwrites the expanded keys and makes c unusable: any later call
// panics, so that nothing is ever encrypted under a zero key. The generic
// implementation can only drop its keys for the garbage collector.
func (c *Cipher) Wipe() {
	c.impl = implNone
	c.gen = generic{}
	c.keys = schedule{}
}

type direction bool

const (
	encrypt direction = true
	decrypt direction = false
)

func (c *Cipher) crypt(dst, src []byte, unit uint64, index int, dir direction) {
	c.check(dst, src)
	if index < 0 || index > maxUnitBlocks || index+len(src)/blockSize > maxUnitBlocks {
		panic("aesxts: internal error: block range outside of the data unit")
	}
	if len(src) == 0 {
		return
	}
	c.cryptUnit(dst, src, unit, 0, index, dir)
}

// cryptUnit is crypt for the unit number hi<<64 + lo. Ours have 64 bits, and
// hi is 0; published vectors use all 128.
func (c *Cipher) cryptUnit(dst, src []byte, lo, hi uint64, index int, dir direction) {
	if c.impl == implGeneric {
		c.gen.crypt(dst, src, lo, hi, index, dir)
		return
	}
	c.keys.crypt(c.impl, dst, src, lo, hi, index, dir)
}

func (c *Cipher) cryptUnits(dst, src []byte, unitSize int, first uint64, dir direction) {
	c.check(dst, src)
	if unitSize <= 0 || unitSize%blockSize != 0 || unitSize > maxUnitBlocks*blockSize {
		panic("aesxts: internal error: bad data unit size")
	}
	if len(src)%unitSize != 0 {
		panic("aesxts: internal error: input is not whole data units")
	}
	if len(src) == 0 {
		return
	}
	if first+uint64(len(src)/unitSize-1) < first {
		panic("aesxts: internal error: unit number overflow")
	}
	if c.impl == implGeneric {
		for off := 0; off < len(src); off += unitSize {
			c.crypt(dst[off:], src[off:off+unitSize], first, 0, dir)
			first++
		}
		return
	}
	c.keys.cryptUnits(c.impl, dst, src, unitSize, first, dir)
}

// check panics unless c is usable and dst can take src. The assembly relies
// on it: it reads and writes len(src) bytes without looking further.
func (c *Cipher) check(dst, src []byte) {
	if c.impl == implNone {
		panic("aesxts: internal error: cipher used after Wipe or without New")
	}
	if len(src)%blockSize != 0 {
		panic("aesxts: internal error: input is not a multiple of 16 bytes")
	}
	if len(dst) < len(src) {
		panic("aesxts: internal error: output is shorter than input")
	}
	if len(src) == 0 || &dst[0] == &src[0] {
		return
	}
	d, s, n := uintptr(unsafe.Pointer(&dst[0])), uintptr(unsafe.Pointer(&src[0])), uintptr(len(src))
	if d < s+n && s < d+n {
		panic("aesxts: internal error: output overlaps input")
	}
}
