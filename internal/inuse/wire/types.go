package wire

// A Type is a column or parameter type on the wire.
type Type byte

// The types.
const (
	TypeDecimal    Type = 0
	TypeTiny       Type = 1
	TypeShort      Type = 2
	TypeLong       Type = 3
	TypeFloat      Type = 4
	TypeDouble     Type = 5
	TypeNull       Type = 6
	TypeTimestamp  Type = 7
	TypeLongLong   Type = 8
	TypeInt24      Type = 9
	TypeDate       Type = 10
	TypeTime       Type = 11
	TypeDateTime   Type = 12
	TypeYear       Type = 13
	TypeNewDate    Type = 14
	TypeVarchar    Type = 15
	TypeBit        Type = 16
	TypeTimestamp2 Type = 17
	TypeDateTime2  Type = 18
	TypeTime2      Type = 19
	TypeVector     Type = 242
	TypeJSON       Type = 245
	TypeNewDecimal Type = 246
	TypeEnum       Type = 247
	TypeSet        Type = 248
	TypeTinyBlob   Type = 249
	TypeMediumBlob Type = 250
	TypeLongBlob   Type = 251
	TypeBlob       Type = 252
	TypeVarString  Type = 253
	TypeString     Type = 254
	TypeGeometry   Type = 255
)

// fixedSize is the size of the binary protocol's value, 0 for types that come
// with a length.
func (t Type) fixedSize() uint64 {
	switch t {
	case TypeTiny:
		return 1
	case TypeShort, TypeYear:
		return 2
	case TypeLong, TypeInt24, TypeFloat:
		return 4
	case TypeLongLong, TypeDouble:
		return 8
	}
	return 0
}

// Fixed reports whether values of the type have no length in the binary protocol.
func (t Type) Fixed() bool { return t.fixedSize() > 0 }

// known reports whether the binary form of the type is known. A type that is
// not may have any form, so a row with one is refused.
func (t Type) known() bool { return t <= TypeTime2 || t >= TypeVector && t != 243 && t != 244 }

// take takes a value of the type, in the binary protocol, as a view without
// its length.
func (t Type) take(d *decoder) []byte {
	if n := t.fixedSize(); n > 0 {
		return d.take(n)
	}
	switch t {
	case TypeNull:
		return nil
	case TypeDate, TypeTime, TypeDateTime, TypeTimestamp, TypeNewDate, TypeTimestamp2, TypeDateTime2, TypeTime2:
		return d.take(uint64(d.u8()))
	}
	if !t.known() {
		d.fail()
		return nil
	}
	return d.lenencBytes()
}

// Column flags.
const (
	FlagNotNull       = 1 << 0
	FlagPrimaryKey    = 1 << 1
	FlagUniqueKey     = 1 << 2
	FlagMultipleKey   = 1 << 3
	FlagBlob          = 1 << 4
	FlagUnsigned      = 1 << 5
	FlagZerofill      = 1 << 6
	FlagBinary        = 1 << 7
	FlagEnum          = 1 << 8
	FlagAutoIncrement = 1 << 9
	FlagTimestamp     = 1 << 10
	FlagSet           = 1 << 11
	FlagNoDefault     = 1 << 12
	FlagOnUpdateNow   = 1 << 13
	FlagNum           = 1 << 15
)
