#include "textflag.h"

// func cpuidLeaf7ECX() uint32
TEXT ·cpuidLeaf7ECX(SB), NOSPLIT, $0-4
	MOVL $7, AX
	MOVL $0, CX
	CPUID
	MOVL CX, ret+0(FP)
	RET

// func subWord(w uint32) uint32
TEXT ·subWord(SB), NOSPLIT, $0-12
	MOVL w+0(FP), X0
	PSHUFD $0, X0, X0
	AESKEYGENASSIST $0, X0, X0 // lane 0 is SubWord(lane 1)
	MOVL X0, ret+8(FP)
	RET

// func invMixColumns(key *[16]byte)
TEXT ·invMixColumns(SB), NOSPLIT, $0-8
	MOVQ key+0(FP), AX
	MOVUPS (AX), X0
	AESIMC X0, X0
	MOVUPS X0, (AX)
	RET

// One block a turn: the turns do not depend on each other, so the CPU runs
// several at once by itself.
//
// func makeTweaks(keys *roundKeys, rounds int, tweaks *[16]byte, n int, lo, hi uint64)
TEXT ·makeTweaks(SB), NOSPLIT, $0-48
	MOVQ keys+0(FP), AX
	MOVQ rounds+8(FP), CX
	MOVQ tweaks+16(FP), DI
	MOVQ n+24(FP), BX
	MOVQ lo+32(FP), R8
	MOVQ hi+40(FP), X2
	MOVUPS 0(AX), X3
	MOVUPS 16(AX), X4
	MOVUPS 32(AX), X5
	MOVUPS 48(AX), X6
	MOVUPS 64(AX), X7
	MOVUPS 80(AX), X8
	MOVUPS 96(AX), X9
	MOVUPS 112(AX), X10
	MOVUPS 128(AX), X11
	MOVUPS 144(AX), X12
	SHLQ $4, CX
	MOVUPS (AX)(CX*1), X13
next:
	MOVQ R8, X0
	PUNPCKLQDQ X2, X0
	PXOR X3, X0
	AESENC X4, X0
	AESENC X5, X0
	AESENC X6, X0
	AESENC X7, X0
	AESENC X8, X0
	AESENC X9, X0
	AESENC X10, X0
	AESENC X11, X0
	AESENC X12, X0
	CMPQ CX, $160
	JEQ last
	MOVUPS 160(AX), X1
	AESENC X1, X0
	MOVUPS 176(AX), X1
	AESENC X1, X0
	MOVUPS 192(AX), X1
	AESENC X1, X0
	MOVUPS 208(AX), X1
	AESENC X1, X0
last:
	AESENCLAST X13, X0
	MOVUPS X0, (DI)
	ADDQ $16, DI
	INCQ R8
	DECQ BX
	JNZ next
	RET
