// The body of encryptARMv8 and decryptARMv8. In:
//
//	R1 rounds   R2 dst   R3 src   R4 blocks a unit   R5 units   R6 tweaks
//	V16-V25 the first ten round keys, V26-V29 those of AES-256 alone, V30 the last
//
// V0-V7 hold 8 blocks, V8-V15 their tweaks. R10 and R11 hold the tweak of the
// next block, low and high half, because doubling a 128-bit number is shorter
// in general registers, and leaves the vector units to AES.

// TWEAK moves the next tweak to v and multiplies it by alpha: a shift left by
// one, where the bit that leaves at the top, worth x^128 = x^7+x^2+x+1, comes
// back as R9 = 0x87.
#define TWEAK(v) \
	VMOV R10, v.D[0]          \
	VMOV R11, v.D[1]          \
	AND R11->63, R9, R12      \
	EXTR $63, R10, R11, R11   \
	EOR R10<<1, R12, R10

#define XOR8 \
	VEOR V8.B16, V0.B16, V0.B16  \
	VEOR V9.B16, V1.B16, V1.B16  \
	VEOR V10.B16, V2.B16, V2.B16 \
	VEOR V11.B16, V3.B16, V3.B16 \
	VEOR V12.B16, V4.B16, V4.B16 \
	VEOR V13.B16, V5.B16, V5.B16 \
	VEOR V14.B16, V6.B16, V6.B16 \
	VEOR V15.B16, V7.B16, V7.B16

// LAST adds the last round key; the instructions add a key before a round, so
// it has no round of its own.
#define LAST8 \
	VEOR V30.B16, V0.B16, V0.B16 \
	VEOR V30.B16, V1.B16, V1.B16 \
	VEOR V30.B16, V2.B16, V2.B16 \
	VEOR V30.B16, V3.B16, V3.B16 \
	VEOR V30.B16, V4.B16, V4.B16 \
	VEOR V30.B16, V5.B16, V5.B16 \
	VEOR V30.B16, V6.B16, V6.B16 \
	VEOR V30.B16, V7.B16, V7.B16

// ROUND is a round but the last. CPUs fuse the two instructions when they
// stand next to each other.
#define ROUND(k, v) \
	AES k.B16, v.B16 \
	MIX v.B16, v.B16

#define ROUND8(k) \
	ROUND(k, V0) \
	ROUND(k, V1) \
	ROUND(k, V2) \
	ROUND(k, V3) \
	ROUND(k, V4) \
	ROUND(k, V5) \
	ROUND(k, V6) \
	ROUND(k, V7)

// FINAL8 is the last round, which does not mix columns.
#define FINAL8(k) \
	AES k.B16, V0.B16 \
	AES k.B16, V1.B16 \
	AES k.B16, V2.B16 \
	AES k.B16, V3.B16 \
	AES k.B16, V4.B16 \
	AES k.B16, V5.B16 \
	AES k.B16, V6.B16 \
	AES k.B16, V7.B16

	MOVD $0x87, R9

unit:
	LDP.P 16(R6), (R10, R11)
	SUBS $8, R4, R7       // blocks left in this unit, less 8
	BLT tail

eight:
	TWEAK(V8)
	TWEAK(V9)
	TWEAK(V10)
	TWEAK(V11)
	TWEAK(V12)
	TWEAK(V13)
	TWEAK(V14)
	TWEAK(V15)
	VLD1.P 64(R3), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1.P 64(R3), [V4.B16, V5.B16, V6.B16, V7.B16]
	XOR8
	ROUND8(V16)
	ROUND8(V17)
	ROUND8(V18)
	ROUND8(V19)
	ROUND8(V20)
	ROUND8(V21)
	ROUND8(V22)
	ROUND8(V23)
	ROUND8(V24)
	CMP $10, R1
	BEQ eight128
	ROUND8(V25)
	ROUND8(V26)
	ROUND8(V27)
	ROUND8(V28)
	FINAL8(V29)
	B eightLast
eight128:
	FINAL8(V25)
eightLast:
	LAST8
	XOR8
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R2)
	VST1.P [V4.B16, V5.B16, V6.B16, V7.B16], 64(R2)
	SUBS $8, R7, R7
	BGE eight

tail:
	ADDS $8, R7, R7
	BEQ unitDone
one:
	TWEAK(V8)
	VLD1.P 16(R3), [V0.B16]
	VEOR V8.B16, V0.B16, V0.B16
	ROUND(V16, V0)
	ROUND(V17, V0)
	ROUND(V18, V0)
	ROUND(V19, V0)
	ROUND(V20, V0)
	ROUND(V21, V0)
	ROUND(V22, V0)
	ROUND(V23, V0)
	ROUND(V24, V0)
	CMP $10, R1
	BEQ one128
	ROUND(V25, V0)
	ROUND(V26, V0)
	ROUND(V27, V0)
	ROUND(V28, V0)
	AES V29.B16, V0.B16
	B oneLast
one128:
	AES V25.B16, V0.B16
oneLast:
	VEOR V30.B16, V0.B16, V0.B16
	VEOR V8.B16, V0.B16, V0.B16
	VST1.P [V0.B16], 16(R2)
	SUBS $1, R7, R7
	BNE one

unitDone:
	SUBS $1, R5, R5
	BNE unit

#undef TWEAK
#undef XOR8
#undef LAST8
#undef ROUND
#undef ROUND8
#undef FINAL8
