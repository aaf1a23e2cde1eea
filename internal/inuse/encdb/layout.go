package encdb

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
)

// Layout64 is the version byte of the cells existing clients read. A value
// becomes, before base64,
//
//	check (1) || 40 || type (1) || algorithm (1) || nonce (8) || body
//
// where check is the XOR of all bytes after it, type the MySQL column type of
// the plaintext, and body, for GCM,
//
//	IV (12) || tag (16) || ciphertext of (value || XOR of its bytes)
//
// so 41 bytes more than the value; base64 of a 4-byte value takes 60. There is
// no additional data: nothing binds such a cell to its column, and the header
// can be changed. Check codes protect against accidents only.
const Layout64 = 0x40

// Layout65 is the version byte of cells between our own ends:
//
//	00 || 41 || type (1) || algorithm (1) || flags (1) || decimals (1) ||
//	key id (4, big endian) || nonce (8) || IV (12) || tag (16) || ciphertext
//
// Flags: 01 the column is UNSIGNED, 02 the value is one of the binary
// protocol, 04 the value is padded: 80, then 00 up to the padded length. Type
// and decimals are those of the column itself. Additional data is
//
//	header (18) || lenenc database || lenenc table || lenenc column || session id (16)
//
// with the schema, org_table and org_name of the column definition the client
// gets; where org_name is empty, name takes its place. A cell therefore opens
// in its column and connection only. Its row is not bound: cells of a column
// can change places. 46 bytes more than the value; base64 of 4 bytes takes 68.
const Layout65 = 0x41

// Sizes in bytes.
const (
	MaxValue = 1 << 30 // longest value of a cell

	nonceSize    = 8
	header64     = 12
	header65     = 18
	ivSize       = 12
	tagSize      = 16
	sessionSize  = 16
	minTemporary = 11

	flagUnsigned = 0x01
	flagBinary   = 0x02
	flagPadded   = 0x04
)

// xorAll is the check code of the protocol.
func xorAll(b []byte) byte {
	var w uint64
	for ; len(b) >= 8; b = b[8:] {
		w ^= binary.LittleEndian.Uint64(b)
	}
	w ^= w >> 32
	w ^= w >> 16
	w ^= w >> 8
	x := byte(w)
	for _, c := range b {
		x ^= c
	}
	return x
}

// A cell is a parsed one; its slices are parts of what was parsed.
type cell struct {
	layout    byte // 0 for the temporary layout
	typ       byte
	algorithm Algorithm
	flags     byte
	decimals  byte
	keyID     uint32
	nonce     []byte
	header    []byte // Layout65 only
	body      []byte
}

// parseCell takes a cell apart and verifies the outer check code. It knows, in
// addition to the two layouts, the temporary one of older servers:
//
//	check (1) || type (1) || 0, algorithm (4 bits each) || body || nonce (8)
//
// whose check code does not cover the nonce. Errors: ErrNotCell,
// ErrUnsupported for an unknown algorithm or version.
func parseCell(b []byte) (c cell, err error) {
	covered := b
	switch {
	case len(b) < minTemporary:
		return c, ErrNotCell
	case b[1] == Layout64:
		if len(b) < header64 {
			return c, ErrNotCell
		}
		c = cell{layout: Layout64, typ: b[2], algorithm: Algorithm(b[3]), nonce: b[4:header64], body: b[header64:]}
	case b[1] == Layout65:
		if len(b) < header65 || b[0] != 0 {
			return c, ErrNotCell
		}
		return parse65(b)
	default:
		end := len(b) - nonceSize
		if b[2]>>4 != 0 {
			return c, ErrNotCell
		}
		covered = b[:end]
		c = cell{typ: b[1], algorithm: Algorithm(b[2] & 0x0f), nonce: b[end:], body: b[3:end]}
	}
	if xorAll(covered) != 0 {
		return c, ErrNotCell
	}
	if !c.algorithm.known() {
		return c, fmt.Errorf("open cell of %v: %w", c.algorithm, ErrUnsupported)
	}
	return c, nil
}

func parse65(b []byte) (c cell, err error) {
	c = cell{
		layout: Layout65, typ: b[2], algorithm: Algorithm(b[3]), flags: b[4], decimals: b[5],
		keyID: binary.BigEndian.Uint32(b[6:]), nonce: b[10:header65], header: b[:header65], body: b[header65:],
	}
	if !c.algorithm.Authenticated() || c.flags&^(flagUnsigned|flagBinary|flagPadded) != 0 {
		return c, fmt.Errorf("open cell of %v: %w", c.algorithm, ErrUnsupported)
	}
	return c, nil
}

// CellSize returns the length in bytes of a cell that holds n bytes without
// padding, as a row has it.
func CellSize(layout byte, n int) int {
	if layout == Layout66 {
		return around66 + n
	}
	if layout == Layout65 {
		return base64.StdEncoding.EncodedLen(header65 + ivSize + tagSize + n)
	}
	return base64.StdEncoding.EncodedLen(header64 + ivSize + tagSize + n + 1)
}
