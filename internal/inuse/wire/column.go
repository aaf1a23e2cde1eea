package wire

import "encoding/binary"

// MaxColumns is the most columns a result may have here; servers stop at 4096.
const MaxColumns = 1 << 16

// A Column is a column definition of protocol 4.1. Slices are views of the
// packet; see Clone.
type Column struct {
	Catalog  []byte // "def"
	Schema   []byte // of OrgTable; empty for an expression
	Table    []byte // alias
	OrgTable []byte // base table, as far as the server says
	Name     []byte // alias
	OrgName  []byte // base column
	// Extended is MariaDB's extra type data, with MariaDBExtendedMetadata.
	Extended []byte
	Charset  uint16 // collation number
	Length   uint32 // greatest size of a value in bytes
	Type     Type
	Flags    uint16
	Decimals byte
	Filler   [2]byte
	// Default is what follows in the answer to COM_FIELD_LIST: the default
	// value, encoded.
	Default []byte
}

// fixedFields is the size of what follows the strings, which the packet says.
const fixedFields = 12

// Decode decodes a column definition, which overwrites all of c.
func (c *Column) Decode(p []byte, caps Capabilities) error {
	d := decoder{b: p}
	c.Catalog = d.lenencBytes()
	c.Schema = d.lenencBytes()
	c.Table = d.lenencBytes()
	c.OrgTable = d.lenencBytes()
	c.Name = d.lenencBytes()
	c.OrgName = d.lenencBytes()
	c.Extended = nil
	if caps.Has(MariaDBExtendedMetadata) {
		c.Extended = d.lenencBytes()
	}
	if d.lenenc() != fixedFields {
		d.fail()
	}
	c.Charset = d.u16()
	c.Length = d.u32()
	c.Type = Type(d.u8())
	c.Flags = d.u16()
	c.Decimals = d.u8()
	copy(c.Filler[:], d.take(2))
	c.Default = d.rest()
	return d.end("column definition")
}

// Append appends the packet's payload to dst.
func (c *Column) Append(dst []byte, caps Capabilities) []byte {
	for _, s := range [...][]byte{c.Catalog, c.Schema, c.Table, c.OrgTable, c.Name, c.OrgName} {
		dst = AppendLenencBytes(dst, s)
	}
	if caps.Has(MariaDBExtendedMetadata) {
		dst = AppendLenencBytes(dst, c.Extended)
	}
	dst = binary.LittleEndian.AppendUint16(append(dst, fixedFields), c.Charset)
	dst = binary.LittleEndian.AppendUint32(dst, c.Length)
	dst = binary.LittleEndian.AppendUint16(append(dst, byte(c.Type)), c.Flags)
	dst = append(dst, c.Decimals, c.Filler[0], c.Filler[1])
	return append(dst, c.Default...)
}

// Clone is c with memory of its own.
func (c *Column) Clone() Column {
	n := *c
	parts := [...]*[]byte{&n.Catalog, &n.Schema, &n.Table, &n.OrgTable, &n.Name, &n.OrgName, &n.Extended, &n.Default}
	size := 0
	for _, p := range parts {
		size += len(*p)
	}
	mem := make([]byte, 0, size)
	for _, p := range parts {
		at := len(mem)
		mem = append(mem, *p...)
		*p = mem[at:len(mem):len(mem)]
	}
	return n
}

// Kinds of MariaDB's extra type data.
const (
	ExtendedTypeName = 0 // such as "inet6", "uuid", "point"
	ExtendedFormat   = 1 // "json"
)

// EachExtended calls f with every item of Extended.
func (c *Column) EachExtended(f func(kind byte, value []byte)) error {
	d := decoder{b: c.Extended}
	for d.more() {
		kind, value := d.u8(), d.lenencBytes()
		if d.bad {
			break
		}
		f(kind, value)
	}
	return d.end("extended column metadata")
}
