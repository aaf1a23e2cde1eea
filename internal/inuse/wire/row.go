package wire

// A Field is where one value of a row is: row[Data:End] is the value without,
// row[Start:End] with its length; both are empty for NULL but in the text
// protocol, where Start:End holds the one byte that means NULL.
type Field struct {
	Start, Data, End uint32
	Null             bool
}

// Value is the field's value as a view of row; nil for NULL and not nil for an
// empty value.
func (f Field) Value(row []byte) []byte {
	if f.Null {
		return nil
	}
	return row[f.Data:f.End:f.End]
}

// DecodeTextRow finds the n values of a row in the text protocol and appends
// them to fields[:0], which it returns.
func DecodeTextRow(row []byte, n int, fields []Field) ([]Field, error) {
	fields = fields[:0]
	if len(row) > MaxPacket {
		return fields, malformed("text row")
	}
	at := 0
	for range n {
		if at >= len(row) {
			return fields, malformed("text row")
		}
		f := Field{Start: uint32(at), Data: uint32(at + 1)}
		switch c := row[at]; {
		case c < 0xfb:
			f.End = f.Data + uint32(c)
		case c == 0xfb:
			f.Null, f.End = true, f.Data
		default:
			d := decoder{b: row[at:]}
			size := d.lenenc()
			f.Data = uint32(len(row) - len(d.b))
			if d.bad || size > uint64(len(d.b)) {
				return fields, malformed("text row")
			}
			f.End = f.Data + uint32(size)
		}
		if int(f.End) > len(row) {
			return fields, malformed("text row")
		}
		at = int(f.End)
		fields = append(fields, f)
	}
	if at != len(row) {
		return fields, malformed("text row")
	}
	return fields, nil
}

// The binary protocol's row is
//
//	0x00 | NULL bitmap, 2 bits left free | values that are not NULL
const (
	binaryRowHeader = 0x00
	nullBitOffset   = 2
)

// DecodeBinaryRow finds the values of a row in the binary protocol, of columns
// of the given types, and appends them to fields[:0], which it returns. Values
// of fixed size have Start == Data; a date or time has a length byte.
func DecodeBinaryRow(row []byte, types []Type, fields []Field) ([]Field, error) {
	fields = fields[:0]
	d := decoder{b: row}
	d.expect(binaryRowHeader)
	nulls := d.take(uint64(len(types)+7+nullBitOffset) / 8)
	if d.bad || len(row) > MaxPacket {
		return fields, malformed("binary row")
	}
	for i, t := range types {
		start := uint32(len(row) - len(d.b))
		f := Field{Start: start, Data: start, End: start}
		if bit := i + nullBitOffset; nulls[bit/8]&(1<<(bit%8)) != 0 {
			f.Null = true
		} else {
			v := t.take(&d)
			if d.bad {
				return fields, malformed("binary row")
			}
			f.End = uint32(len(row) - len(d.b))
			f.Data = f.End - uint32(len(v))
		}
		fields = append(fields, f)
	}
	return fields, d.end("binary row")
}

// ReplaceFields appends row to dst with the values of the columns in cols,
// which ascend, replaced by length-encoded strings: cell appends the new value
// of column col to dst. NULL stays NULL. The same for both protocols: where
// the binary protocol's value was of fixed size, the column's definition must
// have become TypeVarString.
func ReplaceFields(dst, row []byte, fields []Field, cols []int, cell func(dst []byte, col int, value []byte) ([]byte, error)) ([]byte, error) {
	var err error
	at := uint32(0)
	for _, col := range cols {
		f := fields[col]
		if f.Null {
			continue
		}
		dst = append(dst, row[at:f.Start]...)
		at = f.End
		// Most values take one byte of length; make room for more after.
		mark := len(dst)
		dst = append(dst, 0)
		if dst, err = cell(dst, col, f.Value(row)); err != nil {
			return dst, err
		}
		dst = SetLength(dst, mark)
	}
	return append(dst, row[at:]...), nil
}

// SetLength turns the byte at mark into the length-encoded size of what
// follows it in dst.
func SetLength(dst []byte, mark int) []byte {
	size := len(dst) - mark - 1
	n := lenencSize(uint64(size))
	if n > 1 {
		dst = append(dst, "\x00\x00\x00\x00\x00\x00\x00\x00"[:n-1]...)
		copy(dst[mark+n:], dst[mark+1:mark+1+size])
	}
	AppendLenenc(dst[:mark:mark+n], uint64(size))
	return dst
}

// AppendTextRow appends a row in the text protocol; a nil value is NULL.
func AppendTextRow(dst []byte, values ...[]byte) []byte {
	for _, v := range values {
		if v == nil {
			dst = append(dst, 0xfb)
		} else {
			dst = AppendLenencBytes(dst, v)
		}
	}
	return dst
}

// AppendBinaryRow appends a row in the binary protocol; a nil value is NULL,
// the others are what DecodeBinaryRow finds for their type.
func AppendBinaryRow(dst []byte, types []Type, values ...[]byte) []byte {
	dst = append(dst, binaryRowHeader)
	nulls := len(dst)
	dst = append(dst, make([]byte, (len(types)+7+nullBitOffset)/8)...)
	for i, v := range values {
		switch {
		case v == nil:
			bit := i + nullBitOffset
			dst[nulls+bit/8] |= 1 << (bit % 8)
		case types[i].fixedSize() > 0:
			dst = append(dst, v...)
		default: // a date's length byte is a short length-encoded integer
			dst = AppendLenencBytes(dst, v)
		}
	}
	return dst
}
