package aead

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"unsafe"
)

// impl names one implementation of GCM.
type impl uint8

const (
	implStd     impl = iota // the standard library's, any CPU
	implAVX                 // amd64: AES-NI and PCLMULQDQ, VEX-encoded (AVX)
	implVAES512             // amd64: VAES and VPCLMULQDQ on 512-bit registers (AVX-512)
)

func (i impl) String() string { return [...]string{"std", "avx", "vaes-avx512"}[i] }

// available lists what this CPU can run, fastest first, the standard library
// last. It is never changed after start-up.
var available = append(detect(), implStd)

// gcm is AES-256-GCM under one key: for a cell, one call of assembly, or of the
// standard library.
type gcm struct {
	impl  impl
	limit int         // longest plaintext that is not for std, -1 for none
	std   cipher.AEAD // nil if there is no limit
	keys  keys        // not used by implStd
}

func newGCM(key []byte, im impl) (*gcm, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("use key of %d bytes, want %d: %w", len(key), KeySize, ErrSize)
	}
	g := &gcm{impl: im, limit: -1}
	if im != implStd {
		g.limit = im.limit()
		g.keys.expand((*[KeySize]byte)(key))
	}
	if g.limit >= MaxPlaintext {
		return g, nil
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	g.std, err = cipher.NewGCM(block)
	return g, err
}

// wipe overwrites the keys of g, which nobody uses any more.
func wipe(g *gcm) { *g = gcm{} }

// seal makes cell, which begins with the nonce, the cell of plaintext, which
// is Overhead bytes shorter. Plaintext may lie exactly where its ciphertext
// will; any other overlap, and another length, is a panic.
func (g *gcm) seal(cell, plaintext, aad []byte) {
	if len(cell) != len(plaintext)+Overhead {
		panic("aead: internal error: cell has another length than its plaintext asks for")
	}
	if overlap(cell, plaintext) && &cell[nonceSize] != &plaintext[0] || overlap(cell, aad) {
		panic("aead: internal error: cell overlaps what it is made from")
	}
	if len(plaintext) > g.limit {
		g.std.Seal(cell[:nonceSize], cell[:nonceSize], plaintext, aad)
		return
	}
	g.keys.seal(g.impl, cell, plaintext, aad)
}

// open makes plaintext, which is Overhead bytes shorter than cell, that of the
// cell, and may lie exactly where its ciphertext is. If it returns false, the
// cell is not authentic and plaintext holds nothing of it.
func (g *gcm) open(plaintext, cell, aad []byte) bool {
	if len(cell) != len(plaintext)+Overhead {
		panic("aead: internal error: plaintext has another length than its cell asks for")
	}
	if overlap(plaintext, cell) && &cell[nonceSize] != &plaintext[0] {
		panic("aead: internal error: plaintext overlaps its cell")
	}
	if len(plaintext) > g.limit {
		_, err := g.std.Open(plaintext[:0], cell[:nonceSize], cell[nonceSize:], aad)
		return err == nil
	}
	return g.keys.open(g.impl, plaintext, cell, aad)
}

func overlap(a, b []byte) bool {
	x, y := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return len(a) > 0 && len(b) > 0 && x < y+uintptr(len(b)) && y < x+uintptr(len(a))
}
