package wire

import (
	"bytes"
	"io"
	"testing"
)

// answerOf is a result of one column of the given name and one row, as a server
// sends it after a command.
func answerOf(name string, caps Capabilities) []byte {
	out := &feed{}
	c := NewConn(out, Limits{})
	c.SetSequence(1)
	c.WritePacket([]byte{1})
	col := Column{Catalog: []byte("def"), Name: []byte(name), Type: TypeVarString}
	c.WritePacket(col.Append(nil, caps))
	if !caps.Has(DeprecateEOF) {
		c.WritePacket(EOF{}.Append(nil))
	}
	c.WritePacket(AppendTextRow(nil, []byte("value")))
	if caps.Has(DeprecateEOF) {
		c.WritePacket(OK{End: true}.Append(nil, caps))
	} else {
		c.WritePacket(EOF{}.Append(nil))
	}
	c.Flush()
	return out.out.Bytes()
}

// noted is the Head of an answer whose definitions pass as they are.
func noted(t *testing.T, answer []byte, caps Capabilities) *Head {
	t.Helper()
	c := newConn(&feed{data: answer}, Limits{}, true)
	c.Caps = caps
	c.SetSequence(1)
	var r Response
	r.Start(ComQuery, caps)
	h := &Head{}
	for range 2 {
		if _, err := r.Next(c); err != nil {
			t.Fatal(err)
		}
		h.Add(c.Payload(), c.Payload())
	}
	h.Complete()
	return h
}

func TestSkipHead(t *testing.T) {
	for _, caps := range []Capabilities{Protocol41, Protocol41 | DeprecateEOF} {
		answer := answerOf("column", caps)
		h := noted(t, answer, caps)
		fault := newConn(&feed{}, Limits{}, false)
		fault.SetSequence(1)
		fault.WriteErr(CodeUnknown, "HY000", "no")
		fault.Flush()
		for _, tt := range []struct {
			name   string
			answer []byte
			step   int // bytes a read gives
			cmd    Command
			seq    byte
			skips  bool
		}{
			{"the same", answer, 1 << 20, ComQuery, 1, true},
			{"another name", answerOf("columm", caps), 1 << 20, ComQuery, 1, false},
			{"longer", answerOf("column2", caps), 1 << 20, ComQuery, 1, false},
			{"an error", fault.nc.(*feed).out.Bytes(), 1 << 20, ComQuery, 1, false},
			{"in pieces", answer, 7, ComQuery, 1, false},
			{"a command of two fragments", answer, 1 << 20, ComQuery, 2, false},
			{"another command", answer, 1 << 20, ComPing, 1, false},
		} {
			server := newConn(&feed{data: tt.answer, step: tt.step}, Limits{}, true)
			out := &feed{}
			client := NewConn(out, Limits{})
			server.Caps, client.Caps = caps, caps
			Link(server, client)
			server.SetSequence(tt.seq)
			client.SetSequence(1)
			var r Response
			r.Start(tt.cmd, caps)
			skips, err := r.SkipHead(server, client, h)
			if err != nil || skips != tt.skips {
				t.Errorf("%s: skips %t, %v", tt.name, skips, err)
				continue
			}
			if tt.cmd != ComQuery || tt.seq != 1 {
				continue
			}
			if err := RelayResponse(&r, server, client); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			client.Flush()
			if !bytes.Equal(out.out.Bytes(), tt.answer) {
				t.Errorf("%s: sent %q, want %q", tt.name, out.out.Bytes(), tt.answer)
			}
		}
	}
}

func TestHeadLimits(t *testing.T) {
	var r Response
	r.Start(ComQuery, Protocol41)
	server := newConn(&feed{}, Limits{}, true)
	server.SetSequence(1)
	if skips, err := r.SkipHead(server, server, &Head{}); skips || err != nil {
		t.Errorf("empty head: %t, %v", skips, err)
	}
	large := &Head{}
	large.Add([]byte{1}, []byte{1})
	large.Add(make([]byte, maxHead), nil)
	if large.Complete(); !large.Spoiled() {
		t.Error("a large head is kept")
	}
	if large.Columns() != 0 || large.EachIn(func([]byte) error { return io.EOF }) != nil {
		t.Error("a large head has packets")
	}
	kept := &Head{Keep: true}
	kept.Add([]byte{1}, []byte{2})
	for range 300 {
		kept.Add(make([]byte, 100), []byte{3})
	}
	n := 0
	count := func(p []byte) error { n += len(p); return nil }
	if kept.Complete(); !kept.Spoiled() || kept.Columns() != 300 || kept.EachIn(count) != nil || kept.EachOut(count) != nil || n != 1+300*100+1+300 {
		t.Errorf("a large head that is kept: recognised %t, %d columns, %d bytes", !kept.Spoiled(), kept.Columns(), n)
	}
	kept.Reset()
	kept.Add([]byte{1}, []byte{1})
	kept.Add(make([]byte, maxKept), nil)
	if kept.Complete(); !kept.Spoiled() || kept.Columns() != 0 {
		t.Error("a head of any size is kept")
	}
	large.Reset()
	large.Add([]byte{1}, []byte{1})
	large.Add([]byte{2}, []byte{3})
	if large.Complete(); large.Spoiled() {
		t.Error("a head that was reset is spoiled")
	}
	if skips, err := r.SkipHead(server, server, large); skips || err != io.EOF {
		t.Errorf("no answer: %t, %v", skips, err)
	}
}
