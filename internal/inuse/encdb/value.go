package encdb

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// isInteger reports whether typ is an integer type that can be UNSIGNED. YEAR
// has the flag too, but its values never need it.
func isInteger(typ byte) bool {
	switch typ {
	case TypeTiny, TypeShort, TypeInt24, TypeLong, TypeLongLong:
		return true
	}
	return false
}

// fits reports whether n bytes can be a value of typ in the binary protocol,
// without its length prefix.
func fits(typ byte, n int) bool {
	switch typ {
	case TypeTiny:
		return n == 1
	case TypeShort, TypeYear:
		return n == 2
	case TypeInt24, TypeLong, TypeFloat:
		return n == 4
	case TypeLongLong, TypeDouble:
		return n == 8
	case TypeDate, TypeNewDate:
		return n == 0 || n == 4
	case TypeDateTime, TypeTimestamp:
		return n == 0 || n == 4 || n == 7 || n == 11
	case TypeTime:
		return n == 0 || n == 8 || n == 12
	}
	return true
}

// PlainType returns the type byte and plaintext under which existing clients
// decode a value of a row, the bytes without their length prefix, correctly:
//
//   - a value usually travels as it is, under its own type;
//   - those clients take every integer for a signed one, so an UNSIGNED value
//     travels as BIGINT, but BIGINT UNSIGNED as DECIMAL, in both protocols, and
//     not only above 2^63-1: some take the first cell's type for the column's;
//   - a type they do not know (VECTOR and other new ones) travels as BLOB.
//
// The result may be value itself. An ill-sized value gives ErrValue.
func PlainType(colType byte, unsigned, binary bool, value []byte) (typ byte, plaintext []byte, err error) {
	return plainType(make([]byte, 0, 20), colType, unsigned, binary, value)
}

// plainType is PlainType that appends what it has to make to the empty buf.
func plainType(buf []byte, colType byte, unsigned, bin bool, value []byte) (byte, []byte, error) {
	if bin && !fits(colType, len(value)) {
		return 0, nil, fmt.Errorf("read value of %d bytes for column type %d: %w", len(value), colType, ErrValue)
	}
	switch {
	case colType > TypeBit && colType < TypeJSON:
		return TypeBlob, value, nil
	case !unsigned || !isInteger(colType):
		return colType, value, nil
	case colType == TypeLongLong && bin:
		return TypeNewDecimal, strconv.AppendUint(buf, uintLE(value), 10), nil
	case colType == TypeLongLong:
		return TypeNewDecimal, value, nil
	case !bin:
		return TypeLongLong, value, nil
	}
	return TypeLongLong, binary.LittleEndian.AppendUint64(buf, uintLE(value)), nil
}

// uintLE reads up to 8 little-endian bytes.
func uintLE(b []byte) (n uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		n = n<<8 | uint64(b[i])
	}
	return n
}

// intLE reads 1 to 8 little-endian bytes as a two's complement number.
func intLE(b []byte) int64 {
	shift := 64 - 8*uint(len(b))
	return int64(uintLE(b)<<shift) >> shift
}

// Restore undoes PlainType: it appends to dst the bytes that a row of column c
// has for a plaintext of type typ, without the length prefix. A column that is
// known only as a string gets text. ErrValue means the plaintext is not one of
// typ, or cannot be one of the column.
func Restore(dst []byte, c *Column, bin bool, typ byte, plaintext []byte) ([]byte, error) {
	switch {
	case !bin || typ == c.typ && !(c.unsigned && isInteger(typ) && typ != TypeLongLong):
		if bin && !fits(typ, len(plaintext)) {
			return nil, errType(typ, c.typ)
		}
		return append(dst, plaintext...), nil
	case !fits(typ, len(plaintext)):
		return nil, errType(typ, c.typ)
	case isInteger(c.typ):
		return restoreInteger(dst, c, typ, plaintext)
	case fixed(c.typ):
		return nil, errType(typ, c.typ)
	}
	return appendText(dst, typ, c.decimals, plaintext)
}

func errType(from, to byte) error {
	return fmt.Errorf("read value of type %d for column type %d: %w", from, to, ErrValue)
}

// fixed reports whether values of typ are not a string in the binary protocol.
func fixed(typ byte) bool { return !fits(typ, 3) }

func restoreInteger(dst []byte, c *Column, typ byte, plaintext []byte) ([]byte, error) {
	size := 8
	for !fits(c.typ, size) {
		size /= 2
	}
	var n uint64
	switch {
	case typ == TypeLongLong:
		n = uintLE(plaintext)
	case typ == TypeNewDecimal && c.typ == TypeLongLong && c.unsigned:
		var err error
		if n, err = strconv.ParseUint(string(plaintext), 10, 64); err != nil {
			return nil, errType(typ, c.typ)
		}
	case isInteger(typ) && typ == c.typ:
		n = uintLE(plaintext)
	default:
		return nil, errType(typ, c.typ)
	}
	if c.typ == TypeInt24 && c.unsigned && n >= 1<<24 || c.unsigned && size < 8 && n>>(8*size) != 0 {
		return nil, errType(typ, c.typ)
	}
	if v := int64(n); !c.unsigned && typ == TypeLongLong && v != v<<(64-8*size)>>(64-8*size) {
		return nil, errType(typ, c.typ)
	}
	for ; size > 0; size-- {
		dst = append(dst, byte(n))
		n >>= 8
	}
	return dst, nil
}
