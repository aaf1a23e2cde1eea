#include "textflag.h"

// VAES and VPCLMULQDQ in the 512-bit registers of AVX-512 (F, BW): 4 blocks a
// register, 32 at a time. The code is in vaes512_amd64.h, once for both
// directions.

// How far to shift the tweak left for the 4 blocks of a register, and 64 less
// that for the bits that leave a 64-bit half at its top.
DATA ·shl512<>+0(SB)/8, $0
DATA ·shl512<>+8(SB)/8, $0
DATA ·shl512<>+16(SB)/8, $1
DATA ·shl512<>+24(SB)/8, $1
DATA ·shl512<>+32(SB)/8, $2
DATA ·shl512<>+40(SB)/8, $2
DATA ·shl512<>+48(SB)/8, $3
DATA ·shl512<>+56(SB)/8, $3
GLOBL ·shl512<>(SB), RODATA|NOPTR, $64

DATA ·shr512<>+0(SB)/8, $64
DATA ·shr512<>+8(SB)/8, $64
DATA ·shr512<>+16(SB)/8, $63
DATA ·shr512<>+24(SB)/8, $63
DATA ·shr512<>+32(SB)/8, $62
DATA ·shr512<>+40(SB)/8, $62
DATA ·shr512<>+48(SB)/8, $61
DATA ·shr512<>+56(SB)/8, $61
GLOBL ·shr512<>(SB), RODATA|NOPTR, $64

// x^128 = x^7 + x^2 + x + 1
DATA ·poly512<>+0(SB)/8, $0x87
DATA ·poly512<>+8(SB)/8, $0
DATA ·poly512<>+16(SB)/8, $0x87
DATA ·poly512<>+24(SB)/8, $0
DATA ·poly512<>+32(SB)/8, $0x87
DATA ·poly512<>+40(SB)/8, $0
DATA ·poly512<>+48(SB)/8, $0x87
DATA ·poly512<>+56(SB)/8, $0
GLOBL ·poly512<>(SB), RODATA|NOPTR, $64

// func encryptVAES512(keys *roundKeys, rounds int, dst, src *byte, blocks, units int, tweaks *[16]byte)
TEXT ·encryptVAES512(SB), NOSPLIT, $0-56
	MOVQ keys+0(FP), AX
	MOVQ rounds+8(FP), CX
	MOVQ dst+16(FP), DI
	MOVQ src+24(FP), SI
	MOVQ blocks+32(FP), BX
	MOVQ units+40(FP), DX
	MOVQ tweaks+48(FP), R8
#define AES VAESENC
#define AESLAST VAESENCLAST
#include "vaes512_amd64.h"
#undef AES
#undef AESLAST
	VZEROUPPER
	RET

// func decryptVAES512(keys *roundKeys, rounds int, dst, src *byte, blocks, units int, tweaks *[16]byte)
TEXT ·decryptVAES512(SB), NOSPLIT, $0-56
	MOVQ keys+0(FP), AX
	MOVQ rounds+8(FP), CX
	MOVQ dst+16(FP), DI
	MOVQ src+24(FP), SI
	MOVQ blocks+32(FP), BX
	MOVQ units+40(FP), DX
	MOVQ tweaks+48(FP), R8
#define AES VAESDEC
#define AESLAST VAESDECLAST
#include "vaes512_amd64.h"
#undef AES
#undef AESLAST
	VZEROUPPER
	RET
