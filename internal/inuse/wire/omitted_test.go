package wire

import (
	"errors"
	"testing"
)

// TestOmitted: with MariaDBCacheMetadata a prepared statement's result may have no
// definitions, and no other's.
func TestOmitted(t *testing.T) {
	const cached = MariaDBCacheMetadata
	for _, tt := range []struct {
		name    string
		caps    Capabilities
		cmd     Command
		count   []byte
		omitted bool
		err     error
	}{
		{"omitted", cached, ComStmtExecute, []byte{1, 0}, true, nil},
		{"sent", cached, ComStmtExecute, []byte{1, 1}, false, nil},
		{"neither", cached, ComStmtExecute, []byte{1, 2}, false, ErrMalformed},
		{"not said", cached, ComStmtExecute, []byte{1}, false, ErrMalformed},
		{"more said", cached, ComStmtExecute, []byte{1, 1, 0}, false, ErrMalformed},
		{"no columns", cached, ComStmtExecute, []byte{0xfc, 0, 0, 0}, false, ErrMalformed},
		{"text", cached, ComQuery, []byte{1, 1}, false, nil},
		{"text, omitted", cached, ComQuery, []byte{1, 0}, false, ErrMalformed},
		{"not agreed on", 0, ComStmtExecute, []byte{1, 0}, false, ErrMalformed},
		{"not agreed on, sent", 0, ComStmtExecute, []byte{1}, false, nil},
	} {
		for _, caps := range []Capabilities{tt.caps, tt.caps | DeprecateEOF} {
			out := &feed{}
			w := NewConn(out, Limits{})
			w.SetSequence(1)
			w.WritePacket(tt.count)
			if !tt.omitted {
				w.WritePacket((&Column{Catalog: []byte("def"), Type: TypeTiny}).Append(nil, caps))
			}
			if !caps.Has(DeprecateEOF) {
				w.WritePacket(EOF{}.Append(nil))
			}
			row := AppendTextRow(nil, []byte("1"))
			if tt.cmd == ComStmtExecute {
				row = []byte{0, 0, 1}
			}
			w.WritePacket(row)
			if caps.Has(DeprecateEOF) {
				w.WritePacket(OK{End: true}.Append(nil, caps))
			} else {
				w.WritePacket(EOF{}.Append(nil))
			}
			w.Flush()
			c := newConn(&feed{data: out.out.Bytes()}, Limits{}, true)
			c.Caps = caps
			c.SetSequence(1)
			var r Response
			r.Start(tt.cmd, caps)
			kind, err := r.Next(c)
			if !errors.Is(err, tt.err) || err == nil && (kind != KindColumns || r.Omitted != tt.omitted || r.Columns != 1) {
				t.Errorf("%s: kind %d of %d columns, omitted %t, %v", tt.name, kind, r.Columns, r.Omitted, err)
				continue
			}
			rows := 0
			for err == nil && !r.Done() {
				if kind, err = r.Next(c); kind == KindRow {
					rows++
				}
			}
			if tt.err == nil && (err != nil || rows != 1) {
				t.Errorf("%s: %d rows, %v", tt.name, rows, err)
			}
		}
	}
}
