#include "textflag.h"
#include "gcm_amd64.h"

// 1/x = x^127 + x^6 + x + 1, bits reversed. FOLD uses the upper word alone.
DATA ·poly+0(SB)/8, $1
DATA ·poly+8(SB)/8, $0xc200000000000000
GLOBL ·poly(SB), RODATA|NOPTR, $16

// For VPSHUFB: the bytes of a block backwards.
DATA ·reverse+0(SB)/8, $0x08090a0b0c0d0e0f
DATA ·reverse+8(SB)/8, $0x0001020304050607
GLOBL ·reverse(SB), RODATA|NOPTR, $16

// PREFIX makes each 32-bit word of x the sum of those up to it.
#define PREFIX(x) \
	VPSLLDQ $4, x, X3 \
	VPXOR X3, x, x    \
	VPSLLDQ $8, x, X3 \
	VPXOR X3, x, x

// EVEN and ODD make the next 16 bytes of the AES-256 key schedule (FIPS 197
// section 5.2): X0 from the two round keys before it, X1 likewise.
#define EVEN(rcon, i) \
	VAESKEYGENASSIST $rcon, X1, X2 \
	VPSHUFD $0xff, X2, X2          \
	PREFIX(X0)                     \
	VPXOR X2, X0, X0               \
	VMOVDQU X0, (ROUNDS+i*16)(AX)

#define ODD(i) \
	VAESKEYGENASSIST $0, X0, X2 \
	VPSHUFD $0xaa, X2, X2       \
	PREFIX(X1)                  \
	VPXOR X2, X1, X1            \
	VMOVDQU X1, (ROUNDS+i*16)(AX)

// func expandKey(k *keys, key *[32]byte)
TEXT ·expandKey(SB), NOSPLIT, $0-16
	MOVQ k+0(FP), AX
	MOVQ key+8(FP), DX
	VMOVDQU (DX), X0
	VMOVDQU 16(DX), X1
	VMOVDQU X0, ROUNDS(AX)
	VMOVDQU X1, (ROUNDS+16)(AX)
	EVEN(0x01, 2)
	ODD(3)
	EVEN(0x02, 4)
	ODD(5)
	EVEN(0x04, 6)
	ODD(7)
	EVEN(0x08, 8)
	ODD(9)
	EVEN(0x10, 10)
	ODD(11)
	EVEN(0x20, 12)
	ODD(13)
	EVEN(0x40, 14)

	// H = AES(0)
	VMOVDQU ROUNDS(AX), X0
	LEAQ (ROUNDS+16)(AX), R11
	LEAQ (ROUNDS+14*16)(AX), R12
round:
	VAESENC (R11), X0, X0
	ADDQ $16, R11
	CMPQ R11, R12
	JNE round
	VAESENCLAST (R12), X0, X0

	// X4 = X13 = H/x: a shift left of the reversed bits by one, and 1/x for the
	// bit that leaves at the top, which is 1.
	VPSHUFB ·reverse(SB), X0, X0
	VPSRAD $31, X0, X1
	VPSHUFD $0xff, X1, X1
	VPAND ·poly(SB), X1, X1
	VPSRLQ $63, X0, X2
	VPSLLDQ $8, X2, X2
	VPADDQ X0, X0, X0
	VPXOR X2, X0, X0
	VPXOR X1, X0, X13
	VMOVDQU X13, X4

	// The powers upwards, from the end of their place down.
	LEAQ POWERS_END(AX), R11
	LEAQ POWERS(AX), R12
power:
	SUBQ $16, R11
	VMOVDQU X13, (R11)
	VPCLMULQDQ $0x00, X4, X13, X9
	VPCLMULQDQ $0x01, X4, X13, X10
	VPCLMULQDQ $0x10, X4, X13, X1
	VPCLMULQDQ $0x11, X4, X13, X11
	VPXOR X1, X10, X10
	FOLD
	CMPQ R11, R12
	JNE power
	RET
