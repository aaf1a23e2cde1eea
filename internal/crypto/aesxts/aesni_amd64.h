// The body of encryptAESNI and decryptAESNI. In:
//
//	AX keys   CX rounds   DI dst   SI src   BX blocks a unit   DX units   R8 tweaks
//
// X0-X7 hold 8 blocks, X8 the tweak of the next block, X9 and X10 are scratch,
// X11 is the reduction constant. The 8 tweaks in use wait in memory at R12, the
// next 8 are made at R13.

// DOUBLE sets the tweak t to t * alpha, a shift left of the 128-bit number by
// one. PADDQ shifts the two 64-bit halves apart from each other; the bits that
// leave their tops come back in: the low half's as bit 0 of the high half, the
// high half's, worth x^128 = x^7+x^2+x+1, as 0x87 in the low half. PSHUFD
// brings the dwords with these top bits to the opposite halves, PSRAL smears
// the bit over its dword, and PAND with (0x87, 0, 1, 0) picks what is added.
#define DOUBLE(t, tmp) \
	PSHUFD $0x13, t, tmp \
	PADDQ t, t           \
	PSRAL $31, tmp       \
	PAND X11, tmp        \
	PXOR tmp, t

// NEXT keeps the next tweak, X8, in place i of those for the next turn.
#define NEXT(i) \
	MOVUPS X8, (i*16)(R13) \
	DOUBLE(X8, X9)

#define LOAD(i, x) \
	MOVUPS (i*16)(R12), x \
	MOVUPS (i*16)(SI), X9 \
	PXOR X10, x           \
	PXOR X9, x

#define STORE(i, x) \
	MOVUPS (i*16)(R12), X9 \
	PXOR X9, x             \
	MOVUPS x, (i*16)(DI)

#define ROUND8(op) \
	op X10, X0 \
	op X10, X1 \
	op X10, X2 \
	op X10, X3 \
	op X10, X4 \
	op X10, X5 \
	op X10, X6 \
	op X10, X7

	MOVL $0x87, R11
	MOVQ R11, X11
	MOVL $1, R11
	MOVQ R11, X9
	PUNPCKLQDQ X9, X11    // (0x87, 0, 1, 0)
	SHLQ $4, CX           // offset of the last round key: 160 or 224
	LEAQ 0(SP), R12       // tweaks of this turn
	LEAQ 128(SP), R13     // tweaks of the next

unit:
	MOVUPS (R8), X8
	ADDQ $16, R8
	MOVQ BX, R9           // blocks left in this unit
	SUBQ $8, R9
	JLT tail
	NEXT(0)
	NEXT(1)
	NEXT(2)
	NEXT(3)
	NEXT(4)
	NEXT(5)
	NEXT(6)
	NEXT(7)

eight:
	XCHGQ R12, R13
	MOVUPS (AX), X10
	LOAD(0, X0)
	LOAD(1, X1)
	LOAD(2, X2)
	LOAD(3, X3)
	LOAD(4, X4)
	LOAD(5, X5)
	LOAD(6, X6)
	LOAD(7, X7)
	// The next tweaks are made between the rounds, where there is room.
	MOVUPS 16(AX), X10
	ROUND8(AES)
	NEXT(0)
	MOVUPS 32(AX), X10
	ROUND8(AES)
	NEXT(1)
	MOVUPS 48(AX), X10
	ROUND8(AES)
	NEXT(2)
	MOVUPS 64(AX), X10
	ROUND8(AES)
	NEXT(3)
	MOVUPS 80(AX), X10
	ROUND8(AES)
	NEXT(4)
	MOVUPS 96(AX), X10
	ROUND8(AES)
	NEXT(5)
	MOVUPS 112(AX), X10
	ROUND8(AES)
	NEXT(6)
	MOVUPS 128(AX), X10
	ROUND8(AES)
	NEXT(7)
	MOVUPS 144(AX), X10
	ROUND8(AES)
	CMPQ CX, $160
	JEQ eightLast
	MOVUPS 160(AX), X10
	ROUND8(AES)
	MOVUPS 176(AX), X10
	ROUND8(AES)
	MOVUPS 192(AX), X10
	ROUND8(AES)
	MOVUPS 208(AX), X10
	ROUND8(AES)
eightLast:
	MOVUPS (AX)(CX*1), X10
	ROUND8(AESLAST)
	STORE(0, X0)
	STORE(1, X1)
	STORE(2, X2)
	STORE(3, X3)
	STORE(4, X4)
	STORE(5, X5)
	STORE(6, X6)
	STORE(7, X7)
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $8, R9
	JGE eight
	MOVUPS (R13), X8      // the tweak after the last used

tail:
	ADDQ $8, R9
	JEQ unitDone
one:
	MOVUPS (SI), X0
	MOVUPS (AX), X10
	PXOR X8, X0
	PXOR X10, X0
	LEAQ 16(AX), R11
	LEAQ (AX)(CX*1), R10
oneRound:
	MOVUPS (R11), X10
	AES X10, X0
	ADDQ $16, R11
	CMPQ R11, R10
	JNE oneRound
	MOVUPS (R10), X10
	AESLAST X10, X0
	PXOR X8, X0
	MOVUPS X0, (DI)
	DOUBLE(X8, X9)
	ADDQ $16, SI
	ADDQ $16, DI
	DECQ R9
	JNZ one

unitDone:
	DECQ DX
	JNZ unit

#undef NEXT
#undef DOUBLE
#undef LOAD
#undef STORE
#undef ROUND8
