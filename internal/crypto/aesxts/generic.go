package aesxts

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// generic is the reference: the definition of XTS written down block by
// block, on top of the standard library's AES. Every other implementation is
// tested against it, so it shares nothing with them.
type generic struct {
	k1, k2 cipher.Block
}

func (g *generic) init(k1, k2 []byte) {
	g.k1, g.k2 = mustAES(k1), mustAES(k2)
}

func mustAES(key []byte) cipher.Block {
	b, err := aes.NewCipher(key)
	if err != nil {
		panic("aesxts: internal error: AES refused a checked key size")
	}
	return b
}

func (g *generic) crypt(dst, src []byte, unitLo, unitHi uint64, index int, dir direction) {
	// A local array handed to an interface method would move to the heap, so
	// the first tweak is made in dst; the first input block is kept aside
	// because dst may be src.
	lo, hi := load(src)
	store(dst, unitLo, unitHi)
	g.k2.Encrypt(dst[:blockSize], dst[:blockSize])
	t0, t1 := load(dst)
	for range index {
		t0, t1 = double(t0, t1)
	}
	for n := len(src); ; {
		store(dst, lo^t0, hi^t1)
		if dir == encrypt {
			g.k1.Encrypt(dst[:blockSize], dst[:blockSize])
		} else {
			g.k1.Decrypt(dst[:blockSize], dst[:blockSize])
		}
		lo, hi = load(dst)
		store(dst, lo^t0, hi^t1)
		if n -= blockSize; n == 0 {
			return
		}
		t0, t1 = double(t0, t1)
		dst, src = dst[blockSize:], src[blockSize:]
		lo, hi = load(src)
	}
}

// double multiplies a tweak, as two little-endian halves, by alpha: a shift
// left by one bit, where a bit that leaves at the top (x^128) comes back as
// x^7 + x^2 + x + 1 = 0x87.
func double(lo, hi uint64) (uint64, uint64) {
	carry := hi >> 63
	return lo<<1 ^ carry*0x87, hi<<1 | lo>>63
}

func load(b []byte) (lo, hi uint64) {
	return binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
}

func store(b []byte, lo, hi uint64) {
	binary.LittleEndian.PutUint64(b, lo)
	binary.LittleEndian.PutUint64(b[8:], hi)
}
