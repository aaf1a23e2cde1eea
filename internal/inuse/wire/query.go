package wire

// A Query is a COM_QUERY; the slices are views.
type Query struct {
	// Attrs is what stands before the text with QueryAttributes: values,
	// with their counts and types. AppendQuery puts it back.
	Attrs []byte
	SQL   []byte
}

// DecodeQuery decodes a COM_QUERY.
func DecodeQuery(p []byte, caps Capabilities) (Query, error) {
	d := decoder{b: p}
	d.expect(byte(ComQuery))
	start := d.b
	if caps.Has(QueryAttributes) {
		n, sets := d.lenenc(), d.lenenc()
		if sets != 1 || n > maxParams {
			d.fail()
		}
		if n > 0 && !d.bad {
			skipParams(&d, int(n))
		}
	}
	q := Query{Attrs: start[:len(start)-len(d.b)]}
	q.SQL = d.rest()
	return q, d.end("query")
}

// AppendQuery appends the payload of a COM_QUERY to dst. attrs are those of a
// decoded Query, or nil for none.
func AppendQuery(dst, attrs, sql []byte, caps Capabilities) []byte {
	dst = append(dst, byte(ComQuery))
	if caps.Has(QueryAttributes) && len(attrs) == 0 {
		dst = append(dst, 0, 1)
	}
	return append(append(dst, attrs...), sql...)
}

// skipParams takes n named values with new types.
func skipParams(d *decoder, n int) {
	nulls := d.take(uint64(n+7) / 8)
	d.expect(1) // new types
	types := make([]Type, 0, min(n, 64))
	for range n {
		t := d.u16()
		d.lenencBytes() // name
		if d.bad {
			return
		}
		types = append(types, Type(t))
	}
	for i, t := range types {
		if nulls[i/8]&(1<<(i%8)) == 0 {
			t.take(d)
		}
	}
}
