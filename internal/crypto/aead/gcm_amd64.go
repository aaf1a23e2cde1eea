package aead

import (
	"math"
	"unsafe"

	"golang.org/x/sys/cpu"
)

func detect() []impl {
	x := &cpu.X86
	if !x.HasAES || !x.HasPCLMULQDQ || !x.HasAVX {
		return nil
	}
	found := []impl{implAVX}
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VAES && x.HasAVX512VPCLMULQDQ && x.HasBMI2 {
		found = []impl{implVAES512, implAVX}
	}
	return found
}

// limit returns the longest plaintext the assembly is for. AVX leaves long
// ones to the standard library, which is faster there.
func (i impl) limit() int {
	if i == implAVX {
		return 1024
	}
	return math.MaxInt
}

// keys is a key made ready for the assembly, which knows where things are.
type keys struct {
	rounds [15][16]byte // round keys of AES-256
	powers [32][16]byte // of the hash key H, from H^32 down to H^1, each divided by x
	_      [3][16]byte  // zero, where the last powers are read four at a time
}

func (k *keys) expand(key *[KeySize]byte) { expandKey(k, key) }

// seal is gcm.seal after its checks.
func (k *keys) seal(im impl, cell, plaintext, aad []byte) {
	if im == implVAES512 {
		sealVAES512(k, &cell[0], unsafe.SliceData(plaintext), len(plaintext), unsafe.SliceData(aad), len(aad))
		return
	}
	sealAVX(k, &cell[0], unsafe.SliceData(plaintext), len(plaintext), unsafe.SliceData(aad), len(aad))
}

// open is gcm.open after its checks.
func (k *keys) open(im impl, plaintext, cell, aad []byte) bool {
	if im == implVAES512 {
		return openVAES512(k, unsafe.SliceData(plaintext), &cell[0], len(plaintext), unsafe.SliceData(aad), len(aad))
	}
	return openAVX(k, unsafe.SliceData(plaintext), &cell[0], len(plaintext), unsafe.SliceData(aad), len(aad))
}

//go:noescape
func expandKey(k *keys, key *[KeySize]byte)

//go:noescape
func sealAVX(k *keys, cell, plaintext *byte, n int, aad *byte, aadSize int)

//go:noescape
func openAVX(k *keys, plaintext, cell *byte, n int, aad *byte, aadSize int) bool

//go:noescape
func sealVAES512(k *keys, cell, plaintext *byte, n int, aad *byte, aadSize int)

//go:noescape
func openVAES512(k *keys, plaintext, cell *byte, n int, aad *byte, aadSize int) bool
