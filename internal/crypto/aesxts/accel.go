//go:build amd64 || arm64

package aesxts

import "math/bits"

// roundKeys are the round keys of one AES key in the order of their use: 11
// for AES-128, 15 for AES-256.
type roundKeys [15][blockSize]byte

// schedule is a key made ready for the assembly.
type schedule struct {
	rounds   int       // 10 for AES-128, 14 for AES-256
	enc, dec roundKeys // K1; dec is for the "equivalent inverse cipher"
	tweak    roundKeys // K2
}

func (s *schedule) init(k1, k2 []byte) {
	s.rounds = len(k1)/4 + 6
	expand(&s.enc, k1)
	expand(&s.tweak, k2)

	// The decryption instructions take the round keys backwards, each but the
	// first and last passed through InvMixColumns (FIPS 197 section 5.3.5).
	for i := range s.rounds + 1 {
		s.dec[i] = s.enc[s.rounds-i]
		if i != 0 && i != s.rounds {
			invMixColumns(&s.dec[i])
		}
	}
}

// expand is the AES key expansion (FIPS 197 section 5.2). subWord and
// invMixColumns are CPU instructions, so no memory is indexed by key bytes.
func expand(keys *roundKeys, key []byte) {
	n := len(key) / 4
	word := func(i int) *[4]byte { return (*[4]byte)(keys[i/4][i%4*4:]) }
	copy(keys[0][:], key)
	if n == 8 {
		copy(keys[1][:], key[blockSize:])
	}
	rcon := uint32(1)
	for i := n; i < 4*(n+7); i++ {
		w := leUint32(word(i - 1))
		switch {
		case i%n == 0:
			// RotWord moves the low byte to the top, little-endian.
			w = bits.RotateLeft32(subWord(w), -8) ^ rcon
			rcon <<= 1
			if rcon == 0x100 {
				rcon = 0x1b
			}
		case n == 8 && i%n == 4:
			w = subWord(w)
		}
		putLeUint32(word(i), w^leUint32(word(i-n)))
	}
}

func leUint32(b *[4]byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func putLeUint32(b *[4]byte, w uint32) {
	b[0], b[1], b[2], b[3] = byte(w), byte(w>>8), byte(w>>16), byte(w>>24)
}

// crypt is Cipher.crypt after its checks, for the unit number hi<<64 + lo.
func (s *schedule) crypt(im impl, dst, src []byte, lo, hi uint64, index int, dir direction) {
	var tweak [1][blockSize]byte
	makeTweaks(&s.tweak, s.rounds, &tweak[0], 1, lo, hi)
	if index != 0 {
		t0, t1 := load(tweak[0][:])
		t0, t1 = mulAlpha(t0, t1, index)
		store(tweak[0][:], t0, t1)
	}
	s.bulk(im, &dst[0], &src[0], len(src)/blockSize, 1, &tweak[0], dir)
}

// tweakBatch is how many units cryptUnits hands to the assembly at once. The
// chain of AES rounds for a unit's first tweak takes as long as 100 to 200
// bytes of data; made together, the CPU overlaps the chains.
const tweakBatch = 32

// cryptUnits is Cipher.cryptUnits after its checks.
func (s *schedule) cryptUnits(im impl, dst, src []byte, unitSize int, first uint64, dir direction) {
	var tweaks [tweakBatch][blockSize]byte
	for len(src) > 0 {
		n := min(len(src)/unitSize, tweakBatch)
		makeTweaks(&s.tweak, s.rounds, &tweaks[0], n, first, 0)
		s.bulk(im, &dst[0], &src[0], unitSize/blockSize, n, &tweaks[0], dir)
		dst, src = dst[n*unitSize:], src[n*unitSize:]
		first += uint64(n)
	}
}

// mulAlpha multiplies a tweak by alpha^n: a shift left by n bits, 64 or fewer
// at a time. The 64-bit word c that a step shifts out at the top is worth
// c * x^128 = c * (x^7 + x^2 + x + 1), a carry-less product of up to 71 bits.
// It costs n/64 steps: a unit of 64 KiB has 4,096 blocks.
func mulAlpha(lo, hi uint64, n int) (uint64, uint64) {
	for ; n >= 64; n -= 64 {
		pl, ph := mul87(hi)
		lo, hi = pl, lo^ph
	}
	pl, ph := mul87(hi >> (64 - n))
	return lo<<n ^ pl, hi<<n ^ lo>>(64-n) ^ ph
}

func mul87(c uint64) (lo, hi uint64) {
	return c ^ c<<1 ^ c<<2 ^ c<<7, c>>63 ^ c>>62 ^ c>>57
}
