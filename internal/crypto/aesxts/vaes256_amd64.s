#include "textflag.h"

// VAES and VPCLMULQDQ in the 256-bit registers of AVX2: 2 blocks a register,
// 16 at a time. The code is in vaes256_amd64.h, once for both directions.

// How far to shift the tweak left for the 2 blocks of a register, and 64 less
// that for the bits that leave a 64-bit half at its top.
DATA ·shl256<>+0(SB)/8, $0
DATA ·shl256<>+8(SB)/8, $0
DATA ·shl256<>+16(SB)/8, $1
DATA ·shl256<>+24(SB)/8, $1
GLOBL ·shl256<>(SB), RODATA|NOPTR, $32

DATA ·shr256<>+0(SB)/8, $64
DATA ·shr256<>+8(SB)/8, $64
DATA ·shr256<>+16(SB)/8, $63
DATA ·shr256<>+24(SB)/8, $63
GLOBL ·shr256<>(SB), RODATA|NOPTR, $32

// x^128 = x^7 + x^2 + x + 1
DATA ·poly256<>+0(SB)/8, $0x87
DATA ·poly256<>+8(SB)/8, $0
DATA ·poly256<>+16(SB)/8, $0x87
DATA ·poly256<>+24(SB)/8, $0
GLOBL ·poly256<>(SB), RODATA|NOPTR, $32

// func encryptVAES256(keys *roundKeys, rounds int, dst, src *byte, blocks, units int, tweaks *[16]byte)
TEXT ·encryptVAES256(SB), NOSPLIT, $288-56
	MOVQ keys+0(FP), AX
	MOVQ rounds+8(FP), CX
	MOVQ dst+16(FP), DI
	MOVQ src+24(FP), SI
	MOVQ blocks+32(FP), BX
	MOVQ units+40(FP), DX
	MOVQ tweaks+48(FP), R8
#define AES VAESENC
#define AESLAST VAESENCLAST
#include "vaes256_amd64.h"
#undef AES
#undef AESLAST
	VZEROUPPER
	RET

// func decryptVAES256(keys *roundKeys, rounds int, dst, src *byte, blocks, units int, tweaks *[16]byte)
TEXT ·decryptVAES256(SB), NOSPLIT, $288-56
	MOVQ keys+0(FP), AX
	MOVQ rounds+8(FP), CX
	MOVQ dst+16(FP), DI
	MOVQ src+24(FP), SI
	MOVQ blocks+32(FP), BX
	MOVQ units+40(FP), DX
	MOVQ tweaks+48(FP), R8
#define AES VAESDEC
#define AESLAST VAESDECLAST
#include "vaes256_amd64.h"
#undef AES
#undef AESLAST
	VZEROUPPER
	RET
