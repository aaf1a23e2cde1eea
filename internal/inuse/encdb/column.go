package encdb

import "encoding/binary"

// MySQL column types, as in column definitions, cell headers and rows.
const (
	TypeDecimal    byte = 0
	TypeTiny       byte = 1
	TypeShort      byte = 2
	TypeLong       byte = 3
	TypeFloat      byte = 4
	TypeDouble     byte = 5
	TypeTimestamp  byte = 7
	TypeLongLong   byte = 8
	TypeInt24      byte = 9
	TypeDate       byte = 10
	TypeTime       byte = 11
	TypeDateTime   byte = 12
	TypeYear       byte = 13
	TypeNewDate    byte = 14
	TypeVarChar    byte = 15
	TypeBit        byte = 16
	TypeVector     byte = 242
	TypeJSON       byte = 245
	TypeNewDecimal byte = 246
	TypeEnum       byte = 247
	TypeSet        byte = 248
	TypeTinyBlob   byte = 249
	TypeMediumBlob byte = 250
	TypeLongBlob   byte = 251
	TypeBlob       byte = 252
	TypeVarString  byte = 253
	TypeString     byte = 254
	TypeGeometry   byte = 255
)

// A Column is what sealing and opening need to know of a result column. It is
// made once for a result set, never changes, and may be shared.
type Column struct {
	typ      byte
	unsigned bool
	decimals byte
	place    []byte // lenenc database || lenenc table || lenenc column
}

// NewColumn describes a result column by the fields of its column definition:
// schema, org_table, org_name (name where that is empty), type, the UNSIGNED
// flag, decimals. The type is the one the server gave, not VAR_STRING. A client
// that does not know the type leaves it VAR_STRING and gets text.
func NewColumn(database, table, name string, typ byte, unsigned bool, decimals byte) *Column {
	c := &Column{typ: typ, unsigned: unsigned, decimals: decimals}
	for _, s := range []string{database, table, name} {
		c.place = append(appendLenEnc(c.place, uint64(len(s))), s...)
	}
	return c
}

// Type returns the column's own type.
func (c *Column) Type() byte { return c.typ }

// Unsigned reports whether the column is UNSIGNED.
func (c *Column) Unsigned() bool { return c.unsigned }

// appendLenEnc appends MySQL's length-encoded form of n.
func appendLenEnc(dst []byte, n uint64) []byte {
	switch {
	case n < 251:
		return append(dst, byte(n))
	case n < 1<<16:
		return binary.LittleEndian.AppendUint16(append(dst, 0xfc), uint16(n))
	case n < 1<<24:
		return append(dst, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	}
	return binary.LittleEndian.AppendUint64(append(dst, 0xfe), n)
}
