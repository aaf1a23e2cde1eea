package aesxts

import "golang.org/x/sys/cpu"

func detect() []impl {
	if !cpu.ARM64.HasAES {
		return nil
	}
	return []impl{implARMv8}
}

// bulk encrypts or decrypts units data units of blocks 16-byte blocks each,
// one after the other. tweaks points at one tweak per unit, that of the first
// block to process. There is only one implementation.
func (s *schedule) bulk(_ impl, dst, src *byte, blocks, units int, tweaks *[blockSize]byte, dir direction) {
	if dir == encrypt {
		encryptARMv8(&s.enc, s.rounds, dst, src, blocks, units, tweaks)
	} else {
		decryptARMv8(&s.dec, s.rounds, dst, src, blocks, units, tweaks)
	}
}

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
func encryptARMv8(keys *roundKeys, rounds int, dst, src *byte, blocks, units int, tweaks *[blockSize]byte)

//go:noescape
func decryptARMv8(keys *roundKeys, rounds int, dst, src *byte, blocks, units int, tweaks *[blockSize]byte)
