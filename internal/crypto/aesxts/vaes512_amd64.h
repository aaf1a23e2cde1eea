// The body of encryptVAES512 and decryptVAES512. In:
//
//	AX keys   CX rounds   DI dst   SI src   BX blocks a unit   DX units   R8 tweaks
//
// Z0-Z7 hold 32 blocks, four a register, Z8-Z15 their tweaks, Z16 is scratch.
// The round keys stay in Z17-Z31, each four times: the first in Z17, those of
// AES-256 alone in Z27-Z30, the last in Z31.

// MULBITS sets d to s * alpha^n, 0 < n < 64, for every tweak in s: a shift left
// of a 128-bit number by n bits. The n bits that leave the low half go to the
// bottom of the high half (VPSLLDQ by 8 bytes); those that leave the high half
// stand for c * x^128 and are reduced by multiplying them with x^7+x^2+x+1
// without carries. VPTERNLOGQ $0x96 is a three-way exclusive or.
#define MULBITS(n, s, d, tmp) \
	VPSRLQ $(64-n), s, Z16                     \
	VPSLLQ $n, s, d                            \
	VPCLMULQDQ $0x01, ·poly512<>(SB), Z16, tmp \
	VPSLLDQ $8, Z16, Z16                       \
	VPTERNLOGQ $0x96, Z16, tmp, d

// ADVANCE multiplies four tweaks by alpha^32 for the next turn. That is a shift
// by four whole bytes, so no bits need to be passed between halves: VPSLLDQ
// shifts all 128 bits, VPSRLDQ finds the four bytes that fall out, to be
// reduced as above.
#define ADVANCE(t) \
	VPSRLDQ $12, t, Z16                        \
	VPSLLDQ $4, t, t                           \
	VPCLMULQDQ $0x00, ·poly512<>(SB), Z16, Z16 \
	VPXORQ Z16, t, t

#define LOAD(i, z, t) \
	VPXORQ t, Z17, z        \
	VPXORQ (i*64)(SI), z, z

#define STORE(i, z, t) \
	VPXORQ t, z, z          \
	VMOVDQU64 z, (i*64)(DI)

#define ROUND8(op, k) \
	op k, Z0, Z0 \
	op k, Z1, Z1 \
	op k, Z2, Z2 \
	op k, Z3, Z3 \
	op k, Z4, Z4 \
	op k, Z5, Z5 \
	op k, Z6, Z6 \
	op k, Z7, Z7

	SHLQ $4, CX           // offset of the last round key: 160 or 224
	VBROADCASTI32X4 0(AX), Z17
	VBROADCASTI32X4 16(AX), Z18
	VBROADCASTI32X4 32(AX), Z19
	VBROADCASTI32X4 48(AX), Z20
	VBROADCASTI32X4 64(AX), Z21
	VBROADCASTI32X4 80(AX), Z22
	VBROADCASTI32X4 96(AX), Z23
	VBROADCASTI32X4 112(AX), Z24
	VBROADCASTI32X4 128(AX), Z25
	VBROADCASTI32X4 144(AX), Z26
	VBROADCASTI32X4 160(AX), Z27
	VBROADCASTI32X4 176(AX), Z28
	VBROADCASTI32X4 192(AX), Z29
	VBROADCASTI32X4 208(AX), Z30
	VBROADCASTI32X4 (AX)(CX*1), Z31

unit:
	// Z8 = T, T*alpha, T*alpha^2, T*alpha^3: as MULBITS, with another count
	// for each lane. The others follow from it, all at once: how long this
	// takes shows on small units.
	VBROADCASTI32X4 (R8), Z0
	ADDQ $16, R8
	VPSRLVQ ·shr512<>(SB), Z0, Z16
	VPSLLVQ ·shl512<>(SB), Z0, Z8
	VPCLMULQDQ $0x01, ·poly512<>(SB), Z16, Z1
	VPSLLDQ $8, Z16, Z16
	VPTERNLOGQ $0x96, Z16, Z1, Z8
	MOVQ BX, R9           // blocks left in this unit
	SUBQ $32, R9
	JLT tail
	MULBITS(4, Z8, Z9, Z1)
	MULBITS(8, Z8, Z10, Z2)
	MULBITS(12, Z8, Z11, Z3)
	MULBITS(16, Z8, Z12, Z4)
	MULBITS(20, Z8, Z13, Z5)
	MULBITS(24, Z8, Z14, Z6)
	MULBITS(28, Z8, Z15, Z7)

loop:
	LOAD(0, Z0, Z8)
	LOAD(1, Z1, Z9)
	LOAD(2, Z2, Z10)
	LOAD(3, Z3, Z11)
	LOAD(4, Z4, Z12)
	LOAD(5, Z5, Z13)
	LOAD(6, Z6, Z14)
	LOAD(7, Z7, Z15)
	ROUND8(AES, Z18)
	ROUND8(AES, Z19)
	ROUND8(AES, Z20)
	ROUND8(AES, Z21)
	ROUND8(AES, Z22)
	ROUND8(AES, Z23)
	ROUND8(AES, Z24)
	ROUND8(AES, Z25)
	ROUND8(AES, Z26)
	CMPQ CX, $160
	JEQ last
	ROUND8(AES, Z27)
	ROUND8(AES, Z28)
	ROUND8(AES, Z29)
	ROUND8(AES, Z30)
last:
	ROUND8(AESLAST, Z31)
	STORE(0, Z0, Z8)
	STORE(1, Z1, Z9)
	STORE(2, Z2, Z10)
	STORE(3, Z3, Z11)
	STORE(4, Z4, Z12)
	STORE(5, Z5, Z13)
	STORE(6, Z6, Z14)
	STORE(7, Z7, Z15)
	ADDQ $512, SI
	ADDQ $512, DI
	ADVANCE(Z8)
	SUBQ $32, R9
	JLT tail
	ADVANCE(Z9)
	ADVANCE(Z10)
	ADVANCE(Z11)
	ADVANCE(Z12)
	ADVANCE(Z13)
	ADVANCE(Z14)
	ADVANCE(Z15)
	JMP loop

tail:
	// Fewer than 32 blocks are left, the next four with the tweaks in Z8. Go
	// on with four a turn; the last turn masks what is not there, which also
	// keeps it from being touched in memory.
	ADDQ $32, R9
	JEQ unitDone
	MOVL $0xff, R10       // two mask bits for each block
	KMOVW R10, K1
four:
	CMPQ R9, $4
	JGE four4
	MOVQ CX, R11
	MOVQ R9, CX
	ADDQ CX, CX
	MOVL $1, R10
	SHLL CX, R10
	DECL R10
	KMOVW R10, K1
	MOVQ R11, CX
four4:
	VMOVDQU64.Z (SI), K1, Z0
	VPTERNLOGQ $0x96, Z8, Z17, Z0
	AES Z18, Z0, Z0
	AES Z19, Z0, Z0
	AES Z20, Z0, Z0
	AES Z21, Z0, Z0
	AES Z22, Z0, Z0
	AES Z23, Z0, Z0
	AES Z24, Z0, Z0
	AES Z25, Z0, Z0
	AES Z26, Z0, Z0
	CMPQ CX, $160
	JEQ fourLast
	AES Z27, Z0, Z0
	AES Z28, Z0, Z0
	AES Z29, Z0, Z0
	AES Z30, Z0, Z0
fourLast:
	AESLAST Z31, Z0, Z0
	VPXORQ Z8, Z0, Z0
	VMOVDQU64 Z0, K1, (DI)
	MULBITS(4, Z8, Z9, Z1)
	VMOVDQA64 Z9, Z8
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $4, R9
	JGT four
	// The last turn may have gone past the end.
	SHLQ $4, R9
	ADDQ R9, SI
	ADDQ R9, DI

unitDone:
	DECQ DX
	JNZ unit

	// VZEROUPPER reaches only the first 16 registers; do not leave round keys
	// in the others.
	VPXORQ Z17, Z17, Z17
	VPXORQ Z18, Z18, Z18
	VPXORQ Z19, Z19, Z19
	VPXORQ Z20, Z20, Z20
	VPXORQ Z21, Z21, Z21
	VPXORQ Z22, Z22, Z22
	VPXORQ Z23, Z23, Z23
	VPXORQ Z24, Z24, Z24
	VPXORQ Z25, Z25, Z25
	VPXORQ Z26, Z26, Z26
	VPXORQ Z27, Z27, Z27
	VPXORQ Z28, Z28, Z28
	VPXORQ Z29, Z29, Z29
	VPXORQ Z30, Z30, Z30
	VPXORQ Z31, Z31, Z31

#undef MULBITS
#undef ADVANCE
#undef LOAD
#undef STORE
#undef ROUND8
