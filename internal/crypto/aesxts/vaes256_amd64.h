// The body of encryptVAES256 and decryptVAES256. In:
//
//	AX keys   CX rounds   DI dst   SI src   BX blocks a unit   DX units   R8 tweaks
//
// Y0-Y7 hold 16 blocks, two a register; Y8 the round key; Y9, Y10 and Y12 are
// scratch; Y11 is the reduction constant; Y13 and Y14 are the shift counts.
// The tweaks of the 16 blocks are 8 pairs in memory at R12.

// MULBITS sets d to s * alpha^n, 0 < n < 64, for every tweak in s: a shift left
// of a 128-bit number by n bits. The n bits that leave the low half go to the
// bottom of the high half (VPSLLDQ by 8 bytes); those that leave the high half
// stand for c * x^128 and are reduced by multiplying them with x^7+x^2+x+1
// without carries.
#define MULBITS(n, s, d) \
	VPSRLQ $(64-n), s, Y9           \
	VPSLLQ $n, s, d                 \
	VPCLMULQDQ $0x01, Y11, Y9, Y10  \
	VPSLLDQ $8, Y9, Y9              \
	VPXOR Y9, d, d                  \
	VPXOR Y10, d, d

// PREPARE computes pair i of a unit's tweaks, alpha^2i times those in Y12.
#define PREPARE(i) \
	MULBITS(2*i, Y12, Y0) \
	VMOVDQU Y0, (i*32)(R12)

#define LOAD(i, y) \
	VPXOR (i*32)(R12), Y8, y \
	VPXOR (i*32)(SI), y, y

// STORE writes a finished pair and multiplies its tweaks by alpha^16 for the
// next turn. That is a shift by two whole bytes, so no bits need to be passed
// between halves: VPSLLDQ shifts all 128 bits, VPSRLDQ finds the two bytes that
// fall out, to be reduced as above.
#define STORE(i, y) \
	VMOVDQU (i*32)(R12), Y9        \
	VPXOR Y9, y, y                 \
	VMOVDQU y, (i*32)(DI)          \
	VPSRLDQ $14, Y9, Y10           \
	VPSLLDQ $2, Y9, Y9             \
	VPCLMULQDQ $0x00, Y11, Y10, Y10 \
	VPXOR Y10, Y9, Y9              \
	VMOVDQU Y9, (i*32)(R12)

#define ROUND8(op) \
	op Y8, Y0, Y0 \
	op Y8, Y1, Y1 \
	op Y8, Y2, Y2 \
	op Y8, Y3, Y3 \
	op Y8, Y4, Y4 \
	op Y8, Y5, Y5 \
	op Y8, Y6, Y6 \
	op Y8, Y7, Y7

	VMOVDQU ·poly256<>(SB), Y11
	VMOVDQU ·shl256<>(SB), Y13
	VMOVDQU ·shr256<>(SB), Y14
	LEAQ 31(SP), R12
	ANDQ $~31, R12
	SHLQ $4, CX           // offset of the last round key
	LEAQ (AX)(CX*1), R10

unit:
	// Y12 = T, T*alpha: as MULBITS, with another count for each lane.
	VBROADCASTI128 (R8), Y0
	ADDQ $16, R8
	VPSRLVQ Y14, Y0, Y9
	VPSLLVQ Y13, Y0, Y12
	VPCLMULQDQ $0x01, Y11, Y9, Y10
	VPSLLDQ $8, Y9, Y9
	VPXOR Y9, Y12, Y12
	VPXOR Y10, Y12, Y12
	VMOVDQU Y12, (R12)
	PREPARE(1)
	PREPARE(2)
	PREPARE(3)
	PREPARE(4)
	PREPARE(5)
	PREPARE(6)
	PREPARE(7)
	MOVQ BX, R9           // blocks left in this unit
	SUBQ $16, R9
	JLT tail

sixteen:
	VBROADCASTI128 (AX), Y8
	LOAD(0, Y0)
	LOAD(1, Y1)
	LOAD(2, Y2)
	LOAD(3, Y3)
	LOAD(4, Y4)
	LOAD(5, Y5)
	LOAD(6, Y6)
	LOAD(7, Y7)
	LEAQ 16(AX), R11
sixteenRound:
	VBROADCASTI128 (R11), Y8
	ROUND8(AES)
	ADDQ $16, R11
	CMPQ R11, R10
	JNE sixteenRound
	VBROADCASTI128 (R10), Y8
	ROUND8(AESLAST)
	STORE(0, Y0)
	STORE(1, Y1)
	STORE(2, Y2)
	STORE(3, Y3)
	STORE(4, Y4)
	STORE(5, Y5)
	STORE(6, Y6)
	STORE(7, Y7)
	ADDQ $256, SI
	ADDQ $256, DI
	SUBQ $16, R9
	JGE sixteen

tail:
	// Fewer than 16 blocks are left; their tweaks are ready in memory.
	MOVQ R12, R13
	ADDQ $16, R9
	SUBQ $2, R9
	JLT odd
two:
	VBROADCASTI128 (AX), Y8
	VPXOR (R13), Y8, Y0
	VPXOR (SI), Y0, Y0
	LEAQ 16(AX), R11
twoRound:
	VBROADCASTI128 (R11), Y8
	AES Y8, Y0, Y0
	ADDQ $16, R11
	CMPQ R11, R10
	JNE twoRound
	VBROADCASTI128 (R10), Y8
	AESLAST Y8, Y0, Y0
	VPXOR (R13), Y0, Y0
	VMOVDQU Y0, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	ADDQ $32, R13
	SUBQ $2, R9
	JGE two

odd:
	ADDQ $2, R9
	JEQ unitDone
	VMOVDQU (AX), X0
	VPXOR (R13), X0, X0
	VPXOR (SI), X0, X0
	LEAQ 16(AX), R11
oddRound:
	VMOVDQU (R11), X8
	AES X8, X0, X0
	ADDQ $16, R11
	CMPQ R11, R10
	JNE oddRound
	VMOVDQU (R10), X8
	AESLAST X8, X0, X0
	VPXOR (R13), X0, X0
	VMOVDQU X0, (DI)
	ADDQ $16, SI
	ADDQ $16, DI

unitDone:
	DECQ DX
	JNZ unit

#undef MULBITS
#undef PREPARE
#undef LOAD
#undef STORE
#undef ROUND8
