package wire

import (
	"bytes"
	"testing"
)

// TestOutParams: MySQL, to clients of EOF packets, says only before the row of a
// procedure's OUT parameters that the procedure's end follows it.
func TestOutParams(t *testing.T) {
	eof := func(status Status) []byte { return EOF{Status: status}.Append(nil) }
	const more = StatusAutocommit | StatusMoreResults
	column := (&Column{Catalog: []byte("def"), Name: []byte("n"), Type: TypeLong}).Append(nil, 0)
	for _, c := range []struct {
		name         string
		before, ends Status
		again        bool
	}{
		{"MySQL's", more | StatusPSOutParams, StatusAutocommit, true},
		{"MariaDB's", more | StatusPSOutParams, more | StatusPSOutParams, true},
		{"a query's, after another", more, StatusAutocommit, false},
	} {
		sent := &feed{}
		server := NewConn(sent, Limits{})
		server.SetSequence(1)
		for _, p := range [][]byte{{1}, column, eof(c.before), {0, 0, 7, 0, 0, 0}, eof(c.ends)} {
			if err := server.WritePacket(p); err != nil {
				t.Fatal(err)
			}
		}
		ok := OK{Status: StatusAutocommit}
		server.WritePacket(ok.Append(nil, 0))
		if err := server.Flush(); err != nil {
			t.Fatal(err)
		}
		client := newConn(&feed{data: sent.out.Bytes()}, Limits{}, true)
		client.SetSequence(1)
		var r Response
		r.Start(ComStmtExecute, 0)
		var kinds []byte
		for !r.Done() {
			kind, err := r.Next(client)
			if err != nil {
				t.Fatal(c.name, err)
			}
			kinds = append(kinds, byte(kind))
		}
		want := []byte{byte(KindColumns), byte(KindColumn), byte(KindDefsEnd), byte(KindRow), byte(KindRowsEnd)}
		if c.again {
			want = append(want, byte(KindOK))
		}
		if !bytes.Equal(kinds, want) {
			t.Errorf("%s: packets are %v, want %v", c.name, kinds, want)
		}
	}
}
