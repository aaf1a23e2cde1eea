// What all functions of the assembly share: the layout of keys, and the GHASH
// of GCM. A cell is nonce (12) || ciphertext (n) || tag (16). Registers:
//
//	AX keys   DI, SI bytes out and in   BX bytes left
//	R10 power of H for the next block   R11 end of the powers   R12 blocks to come
//	DX, CX, R9, R13 scratch and arguments of hash, load and store
//	X9, X10, X11, X13 GHASH   X14 next counter   X15 AES of the first counter block
//
// The hash of the blocks B1..Bm is the sum of Bi * H^(m+1-i) in GF(2^128). GCM
// numbers bits from the left: with its bytes reversed, a block is a polynomial
// with its 128 bits reversed, and the carry-less product of two is their product
// with its 256 bits reversed, times x. To make up for that, the powers of H are
// stored divided by x.
//
// The products of a group of blocks are added up, in X9 (low), X10 (middle) and
// X11 (high), before one reduction. The powers lie in memory from the highest
// to H^1, so a group of j blocks starts at H^j and ends where the powers end.
// X13 is the sum of the groups before, to be added to the next block.

#define ROUNDS 0
#define POWERS 240 // after 15 round keys
#define POWERS_END (POWERS + 32*16)

// FOLD ends a group: X13 = the product reduced, and an empty group. The low
// half of the product holds the terms from x^128 on, which go away in two steps
// of 64 bits. As x^128 = 1 + x^7 + x^2 + x, the lowest word is added 128 bits
// further up (VPSHUFD puts it there, and its neighbour lowest), and its product
// with the upper word of poly, x^7 + x^2 + x, 64 bits further up.
#define FOLD \
	VPSLLDQ $8, X10, X1                \
	VPSRLDQ $8, X10, X10               \
	VPXOR X1, X9, X9                   \
	VPXOR X10, X11, X11                \
	VPCLMULQDQ $0x10, ·poly(SB), X9, X1 \
	VPSHUFD $0x4e, X9, X9              \
	VPXOR X1, X9, X9                   \
	VPCLMULQDQ $0x10, ·poly(SB), X9, X1 \
	VPSHUFD $0x4e, X9, X9              \
	VPXOR X1, X9, X9                   \
	VPXOR X9, X11, X13                 \
	VPXOR X9, X9, X9                   \
	VPXOR X10, X10, X10                \
	VPXOR X11, X11, X11

// GROUP begins a group of as many of the R12 blocks to come as there are powers.
#define GROUP \
	MOVQ $32, R13     \
	CMPQ R12, R13     \
	CMOVQLT R12, R13  \
	SUBQ R13, R12     \
	SHLQ $4, R13      \
	MOVQ R11, R10     \
	SUBQ R13, R10

// BEGIN hashes the additional data, CX bytes at DX, which BX bytes of
// ciphertext and the block of lengths follow. What fits into one group makes
// one. Otherwise the additional data has groups of its own, so that all groups
// of the ciphertext but the last begin and end with 32 whole blocks.
#define BEGIN \
	VPXOR X9, X9, X9         \
	VPXOR X10, X10, X10      \
	VPXOR X11, X11, X11      \
	VPXOR X13, X13, X13      \
	LEAQ POWERS_END(AX), R11 \
	LEAQ 15(CX), R12         \
	SHRQ $4, R12             \
	LEAQ 31(BX), R13         \
	SHRQ $4, R13             \
	ADDQ R12, R13            \
	CMPQ R13, $32            \
	JGT apart                \
	MOVQ R13, R12            \
	GROUP                    \
	CALL hash<>(SB)          \
	JMP begun                \
apart:                       \
	GROUP                    \
	CALL hash<>(SB)          \
	LEAQ 31(BX), R12         \
	SHRQ $4, R12             \
	GROUP                    \
begun:
