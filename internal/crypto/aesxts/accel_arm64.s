#include "textflag.h"

// func subWord(w uint32) uint32
TEXT ·subWord(SB), NOSPLIT, $0-12
	MOVWU w+0(FP), R0
	VDUP R0, V0.S4 // with four equal columns, ShiftRows changes nothing
	VEOR V1.B16, V1.B16, V1.B16
	AESE V1.B16, V0.B16
	VMOV V0.S[0], R0
	MOVW R0, ret+8(FP)
	RET

// func invMixColumns(key *[16]byte)
TEXT ·invMixColumns(SB), NOSPLIT, $0-8
	MOVD key+0(FP), R0
	VLD1 (R0), [V0.B16]
	AESIMC V0.B16, V0.B16
	VST1 [V0.B16], (R0)
	RET

#define LOADKEYS \
	VLD1.P 64(R0), [V16.B16, V17.B16, V18.B16, V19.B16] \
	VLD1.P 64(R0), [V20.B16, V21.B16, V22.B16, V23.B16] \
	VLD1.P 32(R0), [V24.B16, V25.B16]                   \
	CMP $10, R1                                         \
	BEQ keys128                                         \
	VLD1.P 64(R0), [V26.B16, V27.B16, V28.B16, V29.B16] \
keys128:                                                    \
	VLD1 (R0), [V30.B16]

// One block a turn: the turns do not depend on each other, so the CPU runs
// several at once by itself.
//
// func makeTweaks(keys *roundKeys, rounds int, tweaks *[16]byte, n int, lo, hi uint64)
TEXT ·makeTweaks(SB), NOSPLIT, $0-48
	MOVD keys+0(FP), R0
	MOVD rounds+8(FP), R1
	MOVD tweaks+16(FP), R2
	MOVD n+24(FP), R3
	MOVD lo+32(FP), R4
	MOVD hi+40(FP), R5
	LOADKEYS
next:
	VMOV R4, V0.D[0]
	VMOV R5, V0.D[1]
	AESE V16.B16, V0.B16
	AESMC V0.B16, V0.B16
	AESE V17.B16, V0.B16
	AESMC V0.B16, V0.B16
	AESE V18.B16, V0.B16
	AESMC V0.B16, V0.B16
	AESE V19.B16, V0.B16
	AESMC V0.B16, V0.B16
	AESE V20.B16, V0.B16
	AESMC V0.B16, V0.B16
	AESE V21.B16, V0.B16
	AESMC V0.B16, V0.B16
	AESE V22.B16, V0.B16
	AESMC V0.B16, V0.B16
	AESE V23.B16, V0.B16
	AESMC V0.B16, V0.B16
	AESE V24.B16, V0.B16
	AESMC V0.B16, V0.B16
	AESE V25.B16, V0.B16
	CMP $10, R1
	BEQ last
	AESMC V0.B16, V0.B16
	AESE V26.B16, V0.B16
	AESMC V0.B16, V0.B16
	AESE V27.B16, V0.B16
	AESMC V0.B16, V0.B16
	AESE V28.B16, V0.B16
	AESMC V0.B16, V0.B16
	AESE V29.B16, V0.B16
last:
	VEOR V30.B16, V0.B16, V0.B16
	VST1.P [V0.B16], 16(R2)
	ADD $1, R4
	SUBS $1, R3
	BNE next
	RET

// The ARMv8 AES instructions, 8 blocks at a time. The code is in
// armv8_arm64.h, once for both directions.

// func encryptARMv8(keys *roundKeys, rounds int, dst, src *byte, blocks, units int, tweaks *[16]byte)
TEXT ·encryptARMv8(SB), NOSPLIT, $0-56
	MOVD keys+0(FP), R0
	MOVD rounds+8(FP), R1
	MOVD dst+16(FP), R2
	MOVD src+24(FP), R3
	MOVD blocks+32(FP), R4
	MOVD units+40(FP), R5
	MOVD tweaks+48(FP), R6
	LOADKEYS
#define AES AESE
#define MIX AESMC
#include "armv8_arm64.h"
#undef AES
#undef MIX
	RET

// func decryptARMv8(keys *roundKeys, rounds int, dst, src *byte, blocks, units int, tweaks *[16]byte)
TEXT ·decryptARMv8(SB), NOSPLIT, $0-56
	MOVD keys+0(FP), R0
	MOVD rounds+8(FP), R1
	MOVD dst+16(FP), R2
	MOVD src+24(FP), R3
	MOVD blocks+32(FP), R4
	MOVD units+40(FP), R5
	MOVD tweaks+48(FP), R6
	LOADKEYS
#define AES AESD
#define MIX AESIMC
#include "armv8_arm64.h"
#undef AES
#undef MIX
	RET
