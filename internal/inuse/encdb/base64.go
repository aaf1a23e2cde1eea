package encdb

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
)

// The base64 of cells is half of their price, so the long middle part is done
// here, by table, and the ends by the standard library. It also lets a cell be
// encoded where it lies: that a group is read before its text is written is a
// promise of this code.

// pairs holds the two characters of each 12 bits, the first in the low byte.
var pairs = func() (t [1 << 12]uint16) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for i := range t {
		t[i] = uint16(digits[i>>6]) | uint16(digits[i&63])<<8
	}
	return t
}()

// notDigit is set in the value of a character that is none of base64.
const notDigit = 1 << 24

// digit holds the value of each character in each of the 4 places of a group.
var digit = func() (t [4][256]uint32) {
	for place := range t {
		for c := range t[place] {
			t[place][c] = notDigit
		}
		for v := range uint32(64) {
			t[place][byte(pairs[v<<6])] = v << (18 - 6*place)
		}
	}
	return t
}()

// encodeInPlace writes the base64 of the last n bytes of b over all of b,
// which is exactly as long as that base64. Each 6 bytes become 8 at or before
// the place where the bytes not yet read begin.
func encodeInPlace(b []byte, n int) {
	src := b[len(b)-n:]
	for len(src) >= 8 {
		v := binary.BigEndian.Uint64(src)
		binary.LittleEndian.PutUint64(b, uint64(pairs[v>>52])|uint64(pairs[v>>40&0xfff])<<16|
			uint64(pairs[v>>28&0xfff])<<32|uint64(pairs[v>>16&0xfff])<<48)
		src, b = src[6:], b[8:]
	}
	var rest [8]byte
	base64.StdEncoding.Encode(b, rest[:copy(rest[:], src)])
}

// decodeText appends the bytes of the base64 text to dst and leaves room for
// extra more. It takes one spelling of each value only: padded, the bits that
// are left over zero, without line ends.
func decodeText(dst, text []byte, extra int) ([]byte, bool) {
	if len(text)%4 != 0 || len(text) == 0 {
		return nil, false
	}
	at := len(dst)
	dst = slices.Grow(dst, base64.StdEncoding.DecodedLen(len(text))+extra)
	out, bad := dst[:cap(dst)], uint32(0)
	for len(text) > 8 {
		hi, lo := group(text), group(text[4:])
		bad |= hi | lo
		// Two bytes too many, which the next group or the end overwrites.
		binary.BigEndian.PutUint64(out[at:], uint64(hi)<<40|uint64(lo&0xffffff)<<16)
		at, text = at+6, text[8:]
	}
	if len(text) == 8 {
		v := group(text)
		bad |= v
		out[at], out[at+1], out[at+2] = byte(v>>16), byte(v>>8), byte(v)
		at, text = at+3, text[4:]
	}
	last, n := [4]byte(text), 3
	for n > 1 && last[n] == '=' {
		last[n] = 'A' // zero bits
		n--
	}
	v := group(last[:])
	bad |= v
	for i := range n {
		out[at+i] = byte(v >> (16 - 8*i))
	}
	leftOver := v & (1<<(24-8*n) - 1)
	return dst[:at+n], bad&notDigit == 0 && leftOver == 0
}

// group returns the 3 bytes of 4 characters, or something with notDigit set.
func group(text []byte) uint32 {
	_ = text[3]
	return digit[0][text[0]] | digit[1][text[1]] | digit[2][text[2]] | digit[3][text[3]]
}
