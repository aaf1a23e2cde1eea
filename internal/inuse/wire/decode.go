package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// A decoder takes values off the front of b. The first value that is not there
// makes it bad, and every later one zero, so a message is read first and
// checked once.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) fail() { d.b, d.bad = nil, true }

// take is the next n bytes as a view.
func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.fail()
		return nil
	}
	p := d.b[:n:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) u8() byte {
	if p := d.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (d *decoder) u16() uint16 {
	if p := d.take(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

func (d *decoder) u24() uint32 {
	if p := d.take(3); p != nil {
		return uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16
	}
	return 0
}

func (d *decoder) u32() uint32 {
	if p := d.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (d *decoder) u64() uint64 {
	if p := d.take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

// lenenc is a length-encoded integer; 0xfb (NULL) and 0xff are not one.
func (d *decoder) lenenc() uint64 {
	switch c := d.u8(); c {
	case 0xfb, 0xff:
		d.fail()
		return 0
	case 0xfc:
		return uint64(d.u16())
	case 0xfd:
		return uint64(d.u24())
	case 0xfe:
		return d.u64()
	default:
		return uint64(c)
	}
}

// lenencBytes is a length-encoded string as a view.
func (d *decoder) lenencBytes() []byte { return d.take(d.lenenc()) }

// nul is a string up to a zero byte, which is taken too.
func (d *decoder) nul() []byte {
	i := bytes.IndexByte(d.b, 0)
	if i < 0 {
		d.fail()
		return nil
	}
	p := d.b[:i:i]
	d.b = d.b[i+1:]
	return p
}

// nulOrRest is nul, but the zero byte may be missing at the end.
func (d *decoder) nulOrRest() []byte {
	if bytes.IndexByte(d.b, 0) < 0 {
		return d.rest()
	}
	return d.nul()
}

func (d *decoder) rest() []byte { return d.take(uint64(len(d.b))) }

func (d *decoder) more() bool { return len(d.b) > 0 }

// expect takes the byte that says which message it is.
func (d *decoder) expect(c byte) {
	if d.u8() != c {
		d.fail()
	}
}

// end is the verdict on message what: everything read was there and nothing
// is left.
func (d *decoder) end(what string) error {
	if d.bad || len(d.b) > 0 {
		return malformed(what)
	}
	return nil
}

// endLax is end for a message later protocol versions may extend.
func (d *decoder) endLax(what string) error {
	if d.bad {
		return malformed(what)
	}
	return nil
}

func malformed(what string) error { return fmt.Errorf("decode %s: %w", what, ErrMalformed) }

// AppendLenenc appends n as a length-encoded integer.
func AppendLenenc(dst []byte, n uint64) []byte {
	switch {
	case n < 0xfb:
		return append(dst, byte(n))
	case n <= 0xffff:
		return append(dst, 0xfc, byte(n), byte(n>>8))
	case n <= 0xffffff:
		return append(dst, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	}
	return binary.LittleEndian.AppendUint64(append(dst, 0xfe), n)
}

// lenencSize is the number of bytes AppendLenenc appends.
func lenencSize(n uint64) int {
	switch {
	case n < 0xfb:
		return 1
	case n <= 0xffff:
		return 3
	case n <= 0xffffff:
		return 4
	}
	return 9
}

// AppendLenencBytes appends s as a length-encoded string.
func AppendLenencBytes[T []byte | string](dst []byte, s T) []byte {
	return append(AppendLenenc(dst, uint64(len(s))), s...)
}

func appendNul[T []byte | string](dst []byte, s T) []byte {
	return append(append(dst, s...), 0)
}
