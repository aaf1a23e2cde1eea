#include "textflag.h"

// AES-NI, 8 blocks at a time in 128-bit registers. The code is in
// aesni_amd64.h, once for both directions.

// func encryptAESNI(keys *roundKeys, rounds int, dst, src *byte, blocks, units int, tweaks *[16]byte)
TEXT ·encryptAESNI(SB), NOSPLIT, $256-56
	MOVQ keys+0(FP), AX
	MOVQ rounds+8(FP), CX
	MOVQ dst+16(FP), DI
	MOVQ src+24(FP), SI
	MOVQ blocks+32(FP), BX
	MOVQ units+40(FP), DX
	MOVQ tweaks+48(FP), R8
#define AES AESENC
#define AESLAST AESENCLAST
#include "aesni_amd64.h"
#undef AES
#undef AESLAST
	RET

// func decryptAESNI(keys *roundKeys, rounds int, dst, src *byte, blocks, units int, tweaks *[16]byte)
TEXT ·decryptAESNI(SB), NOSPLIT, $256-56
	MOVQ keys+0(FP), AX
	MOVQ rounds+8(FP), CX
	MOVQ dst+16(FP), DI
	MOVQ src+24(FP), SI
	MOVQ blocks+32(FP), BX
	MOVQ units+40(FP), DX
	MOVQ tweaks+48(FP), R8
#define AES AESDEC
#define AESLAST AESDECLAST
#include "aesni_amd64.h"
#undef AES
#undef AESLAST
	RET
