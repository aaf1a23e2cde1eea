#include "textflag.h"
#include "gcm_amd64.h"

// VAES and VPCLMULQDQ in the 512-bit registers of AVX-512, 4 blocks in each, 16
// blocks at a time. See gcm_amd64.h for the registers and the arithmetic;
// besides:
//
//	Z0-Z3 blocks   Z4-Z7 scratch   Z8 four, for the counters   Z14 four counters
//	Z16-Z30 round keys, each four times   Z31 for VPSHUFB: bytes backwards
//	K1 which bytes of a register are of the message
//
// A group is added up in four lanes of Z9, Z10 and Z11, which are added to one
// at its end.

#define LOADKEY(i, k) VBROADCASTI32X4 (ROUNDS+i*16)(AX), k

#define LOADKEYS \
	LOADKEY(0, Z16)  \
	LOADKEY(1, Z17)  \
	LOADKEY(2, Z18)  \
	LOADKEY(3, Z19)  \
	LOADKEY(4, Z20)  \
	LOADKEY(5, Z21)  \
	LOADKEY(6, Z22)  \
	LOADKEY(7, Z23)  \
	LOADKEY(8, Z24)  \
	LOADKEY(9, Z25)  \
	LOADKEY(10, Z26) \
	LOADKEY(11, Z27) \
	LOADKEY(12, Z28) \
	LOADKEY(13, Z29) \
	LOADKEY(14, Z30)

#define EACH1(op, k) \
	op k, Z0, Z0

#define EACH2(op, k) \
	op k, Z0, Z0 \
	op k, Z1, Z1

#define EACH4(op, k) \
	op k, Z0, Z0 \
	op k, Z1, Z1 \
	op k, Z2, Z2 \
	op k, Z3, Z3

#define AES(each) \
	each(VPXORQ, Z16)  \
	each(VAESENC, Z17) \
	each(VAESENC, Z18) \
	each(VAESENC, Z19) \
	each(VAESENC, Z20) \
	each(VAESENC, Z21) \
	each(VAESENC, Z22) \
	each(VAESENC, Z23) \
	each(VAESENC, Z24) \
	each(VAESENC, Z25) \
	each(VAESENC, Z26) \
	each(VAESENC, Z27) \
	each(VAESENC, Z28) \
	each(VAESENC, Z29) \
	each(VAESENCLAST, Z30)

// COUNTER makes the next four counter blocks.
#define COUNTER(z) \
	VPSHUFB Z31, Z14, z \
	VPADDD Z8, Z14, Z14

// STREAM1, 2 and 4 make that many registers of key stream, from Z0 on.
#define STREAM1 \
	COUNTER(Z0) \
	AES(EACH1)

#define STREAM2 \
	COUNTER(Z0) \
	COUNTER(Z1) \
	AES(EACH2)

#define STREAM4 \
	COUNTER(Z0) \
	COUNTER(Z1) \
	COUNTER(Z2) \
	COUNTER(Z3) \
	AES(EACH4)

// FIRST makes X15 and Z14 of the nonce at p: the first counter block, which is
// for the tag, is nonce || 1; those of the key stream begin with nonce || 2.
#define FIRST(p) \
	VMOVQ (p), X14                    \
	VPINSRD $2, 8(p), X14, X14        \
	VBROADCASTI32X4 ·reverse(SB), Z31 \
	VPSHUFB X31, X14, X14             \
	VPADDD counts512<>+64(SB), X14, X15 \
	VSHUFI64X2 $0, Z14, Z14, Z14      \
	VPADDD counts512<>(SB), Z14, Z14  \
	VBROADCASTI32X4 counts512<>+80(SB), Z8 \
	VPSHUFB X31, X15, X15             \
	VPXORQ X16, X15, X15              \
	VAESENC X17, X15, X15             \
	VAESENC X18, X15, X15             \
	VAESENC X19, X15, X15             \
	VAESENC X20, X15, X15             \
	VAESENC X21, X15, X15             \
	VAESENC X22, X15, X15             \
	VAESENC X23, X15, X15             \
	VAESENC X24, X15, X15             \
	VAESENC X25, X15, X15             \
	VAESENC X26, X15, X15             \
	VAESENC X27, X15, X15             \
	VAESENC X28, X15, X15             \
	VAESENC X29, X15, X15             \
	VAESENCLAST X30, X15, X15

// MASK makes K1 select the first n bytes of a register, all 64 if n is more.
#define MASK(n) \
	MOVL $64, R13     \
	CMPQ n, R13       \
	CMOVQLT n, R13    \
	MOVQ $-1, R9      \
	BZHIQ R13, R9, R9 \
	KMOVQ R9, K1

// MULTIPLY adds to the group the four blocks in z, bytes reversed, times the
// powers at p.
#define MULTIPLY(z, p) \
	VMOVDQU64 p, Z4               \
	VPCLMULQDQ $0x00, Z4, z, Z5   \
	VPCLMULQDQ $0x01, Z4, z, Z6   \
	VPCLMULQDQ $0x10, Z4, z, Z7   \
	VPCLMULQDQ $0x11, Z4, z, Z4   \
	VPXORQ Z5, Z9, Z9             \
	VPTERNLOGQ $0x96, Z6, Z7, Z10 \
	VPXORQ Z4, Z11, Z11

// HASH adds the four blocks in z to the group.
#define HASH(z) \
	VPSHUFB Z31, z, z        \
	VPXORQ Z13, z, z         \
	VPXORQ Z13, Z13, Z13     \
	MULTIPLY(z, (R10))       \
	ADDQ $64, R10

// LANES adds up the four lanes of a register.
#define LANES(z, y, x) \
	VEXTRACTI64X4 $1, z, Y4 \
	VPXOR Y4, y, y          \
	VEXTRACTI128 $1, y, X4  \
	VPXOR X4, x, x

#define FOLD4 \
	LANES(Z9, Y9, X9)    \
	LANES(Z10, Y10, X10) \
	LANES(Z11, Y11, X11) \
	FOLD

// TAG hashes the block of lengths, of the plaintext in BX and of the additional
// data in CX, and makes X0 the tag.
#define TAG \
	SHLQ $3, BX                     \
	SHLQ $3, CX                     \
	VMOVQ BX, X0                    \
	VPINSRQ $1, CX, X0, X0          \
	VPXOR X13, X0, X0               \
	MULTIPLY(Z0, (POWERS_END-16)(AX)) \
	FOLD4                           \
	VPSHUFB X31, X13, X0            \
	VPXOR X15, X0, X0

// CRYPT encrypts or decrypts 64 bytes at i*64 with the key stream in z.
#define CRYPT(i, z) \
	VPXORQ (i*64)(SI), z, z \
	VMOVDQU64 z, (i*64)(DI)

// CRYPTK is CRYPT of min(64, BX) bytes; the rest of z becomes zero.
#define CRYPTK(z) \
	MASK(BX)                   \
	VMOVDQU8.Z (SI), K1, Z5    \
	VPXORQ Z5, z, z            \
	VMOVDQU8.Z z, K1, z        \
	VMOVDQU8 z, K1, (DI)       \
	ADDQ R13, SI               \
	ADDQ R13, DI               \
	SUBQ R13, BX

// What is to be added to the counter for the first four blocks of the stream,
// 1, and 4.
DATA counts512<>+0x00(SB)/8, $2
DATA counts512<>+0x08(SB)/8, $0
DATA counts512<>+0x10(SB)/8, $3
DATA counts512<>+0x18(SB)/8, $0
DATA counts512<>+0x20(SB)/8, $4
DATA counts512<>+0x28(SB)/8, $0
DATA counts512<>+0x30(SB)/8, $5
DATA counts512<>+0x38(SB)/8, $0
DATA counts512<>+0x40(SB)/8, $1
DATA counts512<>+0x48(SB)/8, $0
DATA counts512<>+0x50(SB)/8, $4
DATA counts512<>+0x58(SB)/8, $0
GLOBL counts512<>(SB), RODATA|NOPTR, $96

// hash adds the CX bytes at DX, padded with zeros to whole blocks.
TEXT hash<>(SB), NOSPLIT, $0-0
	TESTQ CX, CX
	JEQ done
next:
	MASK(CX)
	VMOVDQU8.Z (DX), K1, Z0
	ADDQ R13, DX
	SUBQ R13, CX
	HASH(Z0)
	ADDQ $15, R13
	ANDQ $~15, R13
	LEAQ -64(R10)(R13*1), R10 // the last may be fewer than four blocks
	CMPQ R10, R11
	JNE same
	FOLD4
	GROUP
same:
	TESTQ CX, CX
	JNE next
done:
	RET

// func sealVAES512(k *keys, cell, plaintext *byte, n int, aad *byte, aadSize int)
TEXT ·sealVAES512(SB), NOSPLIT, $0-48
	MOVQ k+0(FP), AX
	MOVQ cell+8(FP), DI
	MOVQ plaintext+16(FP), SI
	MOVQ n+24(FP), BX
	MOVQ aad+32(FP), DX
	MOVQ aadSize+40(FP), CX
	LOADKEYS
	FIRST(DI)
	ADDQ $12, DI
	BEGIN
	CMPQ BX, $256
	JLT rest
bulk:
	STREAM4
	CRYPT(0, Z0)
	CRYPT(1, Z1)
	CRYPT(2, Z2)
	CRYPT(3, Z3)
	HASH(Z0)
	HASH(Z1)
	HASH(Z2)
	HASH(Z3)
	ADDQ $256, SI
	ADDQ $256, DI
	SUBQ $256, BX
	CMPQ R10, R11
	JNE bulkNext
	FOLD4
	GROUP
bulkNext:
	CMPQ BX, $256
	JGE bulk

	// Fewer than 256 bytes are left, all in one group. Where the last register
	// is not full, R10 goes too far, but nothing needs it any more.
rest:
	TESTQ BX, BX
	JEQ tag
	CMPQ BX, $128
	JGT four
	CMPQ BX, $64
	JGT two
	STREAM1
	JMP one
two:
	STREAM2
	CRYPTK(Z0)
	HASH(Z0)
	VMOVDQU64 Z1, Z0
	JMP one
four:
	STREAM4
	CRYPTK(Z0)
	HASH(Z0)
	CRYPTK(Z1)
	HASH(Z1)
	VMOVDQU64 Z2, Z0
	CMPQ BX, $64
	JLE one
	CRYPTK(Z0)
	HASH(Z0)
	VMOVDQU64 Z3, Z0
one:
	CRYPTK(Z0)
	HASH(Z0)
tag:
	TESTQ R12, R12
	JEQ lengths
	FOLD4                 // the block of lengths did not fit into the group
lengths:
	MOVQ n+24(FP), BX
	MOVQ aadSize+40(FP), CX
	TAG
	VMOVDQU X0, (DI)
	VZEROUPPER
	RET

// func openVAES512(k *keys, plaintext, cell *byte, n int, aad *byte, aadSize int) bool
TEXT ·openVAES512(SB), NOSPLIT, $0-49
	MOVQ k+0(FP), AX
	MOVQ plaintext+8(FP), DI
	MOVQ cell+16(FP), SI
	MOVQ n+24(FP), BX
	MOVQ aad+32(FP), DX
	MOVQ aadSize+40(FP), CX
	LOADKEYS
	FIRST(SI)
	ADDQ $12, SI
	BEGIN
	MOVQ SI, DX
	MOVQ BX, CX
	CALL hash<>(SB)
	MOVQ aadSize+40(FP), CX
	TAG
	MOVQ n+24(FP), BX
	VPXOR (SI)(BX*1), X0, X0
	VPTEST X0, X0
	SETEQ ret+48(FP)
	JNE done              // no plaintext has been made
bulk:
	CMPQ BX, $256
	JLT rest
	STREAM4
	CRYPT(0, Z0)
	CRYPT(1, Z1)
	CRYPT(2, Z2)
	CRYPT(3, Z3)
	ADDQ $256, SI
	ADDQ $256, DI
	SUBQ $256, BX
	JMP bulk
rest:
	TESTQ BX, BX
	JEQ done
	CMPQ BX, $128
	JGT four
	CMPQ BX, $64
	JGT two
	STREAM1
	JMP one
two:
	STREAM2
	CRYPTK(Z0)
	VMOVDQU64 Z1, Z0
	JMP one
four:
	STREAM4
	CRYPTK(Z0)
	CRYPTK(Z1)
	VMOVDQU64 Z2, Z0
	CMPQ BX, $64
	JLE one
	CRYPTK(Z0)
	VMOVDQU64 Z3, Z0
one:
	CRYPTK(Z0)
done:
	VZEROUPPER
	RET
