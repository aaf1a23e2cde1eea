#include "textflag.h"
#include "gcm_amd64.h"

// AES-NI and PCLMULQDQ in the 128-bit registers of AVX, 8 blocks at a time. See
// gcm_amd64.h for the registers and the arithmetic; besides:
//
//	R8 place in the key stream   X0-X7 blocks, scratch   X8 round key
//	X12 for VPSHUFB: bytes backwards

// MULTIPLY adds to the group the block in X0, bytes reversed, times the power
// at p.
#define MULTIPLY(p) \
	VMOVDQU p, X1                 \
	VPCLMULQDQ $0x00, X1, X0, X2  \
	VPCLMULQDQ $0x01, X1, X0, X3  \
	VPXOR X2, X9, X9              \
	VPCLMULQDQ $0x10, X1, X0, X2  \
	VPXOR X3, X10, X10            \
	VPCLMULQDQ $0x11, X1, X0, X3  \
	VPXOR X2, X10, X10            \
	VPXOR X3, X11, X11

// HASH adds the block in X0 to the group.
#define HASH \
	VPSHUFB X12, X0, X0  \
	VPXOR X13, X0, X0    \
	VPXOR X13, X13, X13  \
	MULTIPLY((R10))      \
	ADDQ $16, R10

#define HASH1(i, p) \
	VMOVDQU (i*16)(p), X0       \
	VPSHUFB X12, X0, X0         \
	MULTIPLY(((i-1)*16)(R10))

// HASH8 adds the 8 blocks at p to the group.
#define HASH8(p) \
	VMOVDQU (p), X0      \
	HASH                 \
	HASH1(1, p)          \
	HASH1(2, p)          \
	HASH1(3, p)          \
	HASH1(4, p)          \
	HASH1(5, p)          \
	HASH1(6, p)          \
	HASH1(7, p)          \
	ADDQ $(7*16), R10

// COUNTER makes the counter block i blocks ahead.
#define COUNTER(i, x) \
	VPADDD counts<>+(i*16)(SB), X14, x \
	VPSHUFB X12, x, x

// FIRST makes X15 and X14 of the nonce at p: the first counter block, which is
// for the tag, is nonce || 1; those of the key stream begin with nonce || 2.
#define FIRST(p) \
	VMOVDQU ·reverse(SB), X12            \
	VMOVQ (p), X14                       \
	VPINSRD $2, 8(p), X14, X14           \
	VPSHUFB X12, X14, X14                \
	COUNTER(1, X15)                      \
	VPADDD counts<>+(2*16)(SB), X14, X14 \
	VPXOR ROUNDS(AX), X15, X15           \
	VAESENC (ROUNDS+1*16)(AX), X15, X15  \
	VAESENC (ROUNDS+2*16)(AX), X15, X15  \
	VAESENC (ROUNDS+3*16)(AX), X15, X15  \
	VAESENC (ROUNDS+4*16)(AX), X15, X15  \
	VAESENC (ROUNDS+5*16)(AX), X15, X15  \
	VAESENC (ROUNDS+6*16)(AX), X15, X15  \
	VAESENC (ROUNDS+7*16)(AX), X15, X15  \
	VAESENC (ROUNDS+8*16)(AX), X15, X15  \
	VAESENC (ROUNDS+9*16)(AX), X15, X15  \
	VAESENC (ROUNDS+10*16)(AX), X15, X15 \
	VAESENC (ROUNDS+11*16)(AX), X15, X15 \
	VAESENC (ROUNDS+12*16)(AX), X15, X15 \
	VAESENC (ROUNDS+13*16)(AX), X15, X15 \
	VAESENCLAST (ROUNDS+14*16)(AX), X15, X15

#define EACH4(op) \
	op X8, X0, X0 \
	op X8, X1, X1 \
	op X8, X2, X2 \
	op X8, X3, X3

#define EACH8(op) \
	EACH4(op)     \
	op X8, X4, X4 \
	op X8, X5, X5 \
	op X8, X6, X6 \
	op X8, X7, X7

#define ROUND(i, each, op) \
	VMOVDQU (ROUNDS+i*16)(AX), X8 \
	each(op)

#define AES(each) \
	ROUND(0, each, VPXOR)    \
	ROUND(1, each, VAESENC)  \
	ROUND(2, each, VAESENC)  \
	ROUND(3, each, VAESENC)  \
	ROUND(4, each, VAESENC)  \
	ROUND(5, each, VAESENC)  \
	ROUND(6, each, VAESENC)  \
	ROUND(7, each, VAESENC)  \
	ROUND(8, each, VAESENC)  \
	ROUND(9, each, VAESENC)  \
	ROUND(10, each, VAESENC) \
	ROUND(11, each, VAESENC) \
	ROUND(12, each, VAESENC) \
	ROUND(13, each, VAESENC) \
	ROUND(14, each, VAESENCLAST)

// STREAM4 makes 4 blocks of key stream in X0 to X3, STREAM8 8 in X0 to X7.
#define STREAM4 \
	COUNTER(0, X0) \
	COUNTER(1, X1) \
	COUNTER(2, X2) \
	COUNTER(3, X3) \
	AES(EACH4)

#define STREAM8 \
	COUNTER(0, X0) \
	COUNTER(1, X1) \
	COUNTER(2, X2) \
	COUNTER(3, X3) \
	COUNTER(4, X4) \
	COUNTER(5, X5) \
	COUNTER(6, X6) \
	COUNTER(7, X7) \
	VPADDD counts<>+(8*16)(SB), X14, X14 \
	AES(EACH8)

#define KEEP4 \
	VMOVDQU X0, 0(SP)  \
	VMOVDQU X1, 16(SP) \
	VMOVDQU X2, 32(SP) \
	VMOVDQU X3, 48(SP)

#define KEEP8 \
	KEEP4               \
	VMOVDQU X4, 64(SP)  \
	VMOVDQU X5, 80(SP)  \
	VMOVDQU X6, 96(SP)  \
	VMOVDQU X7, 112(SP)

#define WIPE \
	VPXOR X0, X0, X0    \
	VMOVDQU X0, 0(SP)   \
	VMOVDQU X0, 16(SP)  \
	VMOVDQU X0, 32(SP)  \
	VMOVDQU X0, 48(SP)  \
	VMOVDQU X0, 64(SP)  \
	VMOVDQU X0, 80(SP)  \
	VMOVDQU X0, 96(SP)  \
	VMOVDQU X0, 112(SP)

#define CRYPT1(i, x) \
	VPXOR (i*16)(SI), x, x \
	VMOVDQU x, (i*16)(DI)

#define CRYPT8 \
	CRYPT1(0, X0) \
	CRYPT1(1, X1) \
	CRYPT1(2, X2) \
	CRYPT1(3, X3) \
	CRYPT1(4, X4) \
	CRYPT1(5, X5) \
	CRYPT1(6, X6) \
	CRYPT1(7, X7)

// TAG hashes the block of lengths, of the plaintext in BX and of the additional
// data in CX, and makes X0 the tag.
#define TAG \
	SHLQ $3, BX                 \
	SHLQ $3, CX                 \
	VMOVQ BX, X0                \
	VPINSRQ $1, CX, X0, X0      \
	VPXOR X13, X0, X0           \
	MULTIPLY((POWERS_END-16)(AX)) \
	FOLD                        \
	VPSHUFB X12, X13, X0        \
	VPXOR X15, X0, X0

DATA counts<>+0x00(SB)/8, $0
DATA counts<>+0x08(SB)/8, $0
DATA counts<>+0x10(SB)/8, $1
DATA counts<>+0x18(SB)/8, $0
DATA counts<>+0x20(SB)/8, $2
DATA counts<>+0x28(SB)/8, $0
DATA counts<>+0x30(SB)/8, $3
DATA counts<>+0x38(SB)/8, $0
DATA counts<>+0x40(SB)/8, $4
DATA counts<>+0x48(SB)/8, $0
DATA counts<>+0x50(SB)/8, $5
DATA counts<>+0x58(SB)/8, $0
DATA counts<>+0x60(SB)/8, $6
DATA counts<>+0x68(SB)/8, $0
DATA counts<>+0x70(SB)/8, $7
DATA counts<>+0x78(SB)/8, $0
DATA counts<>+0x80(SB)/8, $8
DATA counts<>+0x88(SB)/8, $0
GLOBL counts<>(SB), RODATA|NOPTR, $144

// The 16 bytes from 16-r on keep the first r bytes of a block.
DATA keep<>+0(SB)/8, $0xffffffffffffffff
DATA keep<>+8(SB)/8, $0xffffffffffffffff
DATA keep<>+16(SB)/8, $0
DATA keep<>+24(SB)/8, $0
GLOBL keep<>(SB), RODATA|NOPTR, $32

// hash adds the CX bytes at DX, padded with zeros to whole blocks.
TEXT hash<>(SB), NOSPLIT, $0-0
next:
	SUBQ $16, CX
	JLT partial
	VMOVDQU (DX), X0
	ADDQ $16, DX
add:
	HASH
	CMPQ R10, R11
	JNE next
	FOLD
	GROUP
	JMP next
partial:
	ADDQ $16, CX
	JEQ done
	CALL load<>(SB)
	XORL CX, CX
	JMP add
done:
	RET

// load makes X0 the CX bytes at DX, 1 to 15, and zeros. It reads no byte more:
// two reads that may overlap, the second shifted to its place.
TEXT load<>(SB), NOSPLIT, $0-0
	CMPQ CX, $8
	JGT over8
	CMPQ CX, $4
	JGE over3
	CMPQ CX, $2
	JGE over1
	MOVBQZX (DX), R13
	VMOVQ R13, X0
	RET
over1:
	MOVWQZX -2(DX)(CX*1), R13
	MOVWQZX (DX), DX
	LEAQ -16(CX*8), CX
	JMP join
over3:
	MOVL -4(DX)(CX*1), R13
	MOVL (DX), DX
	LEAQ -32(CX*8), CX
join:
	SHLQ CX, R13
	ORQ DX, R13
	VMOVQ R13, X0
	RET
over8:
	MOVQ -8(DX)(CX*1), R13
	VMOVQ (DX), X0
	NEGQ CX
	LEAQ 128(CX*8), CX
	SHRQ CX, R13
	VPINSRQ $1, R13, X0, X0
	RET

// store writes the first CX bytes of X0, 1 to 15, to DX: the inverse of load.
TEXT store<>(SB), NOSPLIT, $0-0
	VMOVQ X0, R13
	CMPQ CX, $8
	JGT over8
	CMPQ CX, $4
	JGE over3
	CMPQ CX, $2
	JGE over1
	MOVB R13, (DX)
	RET
over1:
	MOVW R13, (DX)
	LEAQ -2(DX)(CX*1), DX
	LEAQ -16(CX*8), CX
	SHRQ CX, R13
	MOVW R13, (DX)
	RET
over3:
	MOVL R13, (DX)
	LEAQ -4(DX)(CX*1), DX
	LEAQ -32(CX*8), CX
	SHRQ CX, R13
	MOVL R13, (DX)
	RET
over8:
	MOVQ R13, (DX)
	LEAQ -8(DX)(CX*1), DX
	LEAQ -64(CX*8), CX
	VPEXTRQ $1, X0, R9
	SHRQ CX, R9, R13      // R9:R13 as one number
	MOVQ R13, (DX)
	RET

// func sealAVX(k *keys, cell, plaintext *byte, n int, aad *byte, aadSize int)
TEXT ·sealAVX(SB), NOSPLIT, $128-48
	MOVQ k+0(FP), AX
	MOVQ cell+8(FP), DI
	MOVQ plaintext+16(FP), SI
	MOVQ n+24(FP), BX
	MOVQ aad+32(FP), DX
	MOVQ aadSize+40(FP), CX
	FIRST(DI)
	ADDQ $12, DI
	BEGIN
	CMPQ BX, $128
	JLT rest
bulk:
	STREAM8
	CRYPT8
	HASH8(DI)
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $128, BX
	CMPQ R10, R11
	JNE bulkNext
	FOLD
	GROUP
bulkNext:
	CMPQ BX, $128
	JGE bulk

	// Fewer than 128 bytes are left, all in one group, one block at a time.
rest:
	TESTQ BX, BX
	JEQ tag
	MOVQ SP, R8
	CMPQ BX, $64
	JLE four
	STREAM8
	KEEP8
	JMP next
four:
	STREAM4
	KEEP4
next:
	SUBQ $16, BX
	JLT partial
	VMOVDQU (SI), X0
	VPXOR (R8), X0, X0
	VMOVDQU X0, (DI)
	ADDQ $16, SI
	ADDQ $16, DI
	ADDQ $16, R8
	HASH
	JMP next
partial:
	ADDQ $16, BX
	JEQ wipe
	MOVQ SI, DX
	MOVQ BX, CX
	CALL load<>(SB)
	VPXOR (R8), X0, X0
	LEAQ keep<>+16(SB), DX
	SUBQ BX, DX
	VPAND (DX), X0, X0
	MOVQ DI, DX
	MOVQ BX, CX
	CALL store<>(SB)
	ADDQ BX, DI
	HASH
wipe:
	WIPE
tag:
	TESTQ R12, R12
	JEQ lengths
	FOLD                  // the block of lengths did not fit into the group
lengths:
	MOVQ n+24(FP), BX
	MOVQ aadSize+40(FP), CX
	TAG
	VMOVDQU X0, (DI)
	RET

// func openAVX(k *keys, plaintext, cell *byte, n int, aad *byte, aadSize int) bool
TEXT ·openAVX(SB), NOSPLIT, $128-49
	MOVQ k+0(FP), AX
	MOVQ plaintext+8(FP), DI
	MOVQ cell+16(FP), SI
	MOVQ n+24(FP), BX
	MOVQ aad+32(FP), DX
	MOVQ aadSize+40(FP), CX
	FIRST(SI)
	ADDQ $12, SI
	BEGIN
	MOVQ SI, DX
	MOVQ BX, CX
bulkHash:
	CMPQ CX, $128
	JLT hashRest
	HASH8(DX)
	ADDQ $128, DX
	SUBQ $128, CX
	CMPQ R10, R11
	JNE bulkHash
	FOLD
	GROUP
	JMP bulkHash
hashRest:
	CALL hash<>(SB)
	MOVQ aadSize+40(FP), CX
	TAG
	MOVQ n+24(FP), BX
	VPXOR (SI)(BX*1), X0, X0
	VPTEST X0, X0
	SETEQ ret+48(FP)
	JNE done              // no plaintext has been made
bulk:
	CMPQ BX, $128
	JLT rest
	STREAM8
	CRYPT8
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $128, BX
	JMP bulk
rest:
	TESTQ BX, BX
	JEQ done
	MOVQ SP, R8
	CMPQ BX, $64
	JLE four
	STREAM8
	KEEP8
	JMP next
four:
	STREAM4
	KEEP4
next:
	SUBQ $16, BX
	JLT partial
	VMOVDQU (SI), X0
	VPXOR (R8), X0, X0
	VMOVDQU X0, (DI)
	ADDQ $16, SI
	ADDQ $16, DI
	ADDQ $16, R8
	JMP next
partial:
	ADDQ $16, BX
	JEQ wipe
	MOVQ SI, DX
	MOVQ BX, CX
	CALL load<>(SB)
	VPXOR (R8), X0, X0
	MOVQ DI, DX
	MOVQ BX, CX
	CALL store<>(SB)
wipe:
	WIPE
done:
	RET
