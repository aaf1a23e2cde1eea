package aesxts

import "golang.org/x/sys/cpu"

func detect() []impl {
	if !cpu.X86.HasAES {
		return nil
	}
	// x/sys/cpu tells of AVX2 and AVX-512 only where the operating system
	// saves the wide registers, but names VAES and VPCLMULQDQ as parts of
	// AVX-512, which they are not on CPUs that have only AVX2.
	const vaes, vpclmulqdq = 1 << 9, 1 << 10
	wide := false
	if cpu.X86.HasAVX2 {
		ecx := cpuidLeaf7ECX()
		wide = ecx&vaes != 0 && ecx&vpclmulqdq != 0
	}
	var found []impl
	if wide && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW {
		found = append(found, implVAES512)
	}
	if wide {
		found = append(found, implVAES256)
	}
	return append(found, implAESNI)
}

// bulk encrypts or decrypts units data units of blocks 16-byte blocks each,
// one after the other. tweaks points at one tweak per unit, that of the first
// block to process.
func (s *schedule) bulk(im impl, dst, src *byte, blocks, units int, tweaks *[blockSize]byte, dir direction) {
	switch {
	case im == implVAES512 && dir == encrypt:
		encryptVAES512(&s.enc, s.rounds, dst, src, blocks, units, tweaks)
	case im == implVAES512:
		decryptVAES512(&s.dec, s.rounds, dst, src, blocks, units, tweaks)
	case im == implVAES256 && dir == encrypt:
		encryptVAES256(&s.enc, s.rounds, dst, src, blocks, units, tweaks)
	case im == implVAES256:
		decryptVAES256(&s.dec, s.rounds, dst, src, blocks, units, tweaks)
	case dir == encrypt:
		encryptAESNI(&s.enc, s.rounds, dst, src, blocks, units, tweaks)
	default:
		decryptAESNI(&s.dec, s.rounds, dst, src, blocks, units, tweaks)
	}
}

func cpuidLeaf7ECX() uint32

// subWord applies the AES S-box to each byte of w.
func subWord(w uint32) uint32

// invMixColumns applies the AES InvMixColumns step to key.
//
//go:noescape
func invMixColumns(key *[blockSize]byte)

// makeTweaks writes the first tweaks of n consecutive units, from the unit
// number hi<<64 + lo on, to tweaks[0:n]: AES of the unit number under K2.
// lo must not wrap.
//
//go:noescape
func makeTweaks(keys *roundKeys, rounds int, tweaks *[blockSize]byte, n int, lo, hi uint64)

//go:noescape
func encryptAESNI(keys *roundKeys, rounds int, dst, src *byte, blocks, units int, tweaks *[blockSize]byte)

//go:noescape
func decryptAESNI(keys *roundKeys, rounds int, dst, src *byte, blocks, units int, tweaks *[blockSize]byte)

//go:noescape
func encryptVAES256(keys *roundKeys, rounds int, dst, src *byte, blocks, units int, tweaks *[blockSize]byte)

//go:noescape
func decryptVAES256(keys *roundKeys, rounds int, dst, src *byte, blocks, units int, tweaks *[blockSize]byte)

//go:noescape
func encryptVAES512(keys *roundKeys, rounds int, dst, src *byte, blocks, units int, tweaks *[blockSize]byte)

//go:noescape
func decryptVAES512(keys *roundKeys, rounds int, dst, src *byte, blocks, units int, tweaks *[blockSize]byte)
