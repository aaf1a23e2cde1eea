package aesxts

// impl names one implementation. The zero value is none, so a Cipher that was
// not made by New, or was wiped, cannot be used.
type impl uint8

const (
	implNone    impl = iota
	implGeneric      // any CPU
	implAESNI        // amd64: AES-NI, 8 blocks at a time
	implVAES256      // amd64: VAES on 256-bit registers (AVX2), 16 blocks
	implVAES512      // amd64: VAES on 512-bit registers (AVX-512), 32 blocks
	implARMv8        // arm64: ARMv8 cryptography extension, 8 blocks
)

// String returns the name that Implementations reports.
func (i impl) String() string {
	return [...]string{"none", "generic", "aesni", "vaes-avx2", "vaes-avx512", "armv8"}[i]
}

// available lists what this CPU can run, fastest first, generic last. It is
// never changed after start-up.
var available = append(detect(), implGeneric)
