package sidecar

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// agreed lets both ends of the protocol agree, and returns the client and what
// seals for it.
func agreed(tb testing.TB, only64 bool) (*encdb.Client, *encdb.Sealer) {
	tb.Helper()
	key, err := secret.From([]byte("0123456789abcdef"))
	if err != nil {
		tb.Fatal(err)
	}
	defer key.Close()
	server := (&encdb.Config{AllowClear: true, Only64: only64}).NewSession(encdb.Account{})
	client, err := encdb.NewClient(encdb.ClientConfig{MEK: key})
	if err != nil {
		tb.Fatal(err)
	}
	ask := func(sql []byte) []byte {
		cell, ev := server.Handle(encdb.Recognise(sql, false).Args[0].Value)
		if ev.Err != nil {
			tb.Fatal(ev.Err)
		}
		return cell
	}
	request, err := client.Provision(ask(client.Hello()))
	if err != nil {
		tb.Fatal(err)
	}
	if err := client.Finish(ask(request)); err != nil {
		tb.Fatal(err)
	}
	sealer, err := server.Cells()
	if err != nil {
		tb.Fatal(err)
	}
	return client, sealer
}

// stream is a connection whose peer has said all it will say, and does not
// listen.
type stream struct {
	net.Conn
	in io.Reader
}

func (s *stream) Read(b []byte) (int, error)       { return s.in.Read(b) }
func (s *stream) Write(b []byte) (int, error)      { return len(b), nil }
func (s *stream) Close() error                     { return nil }
func (s *stream) SetDeadline(time.Time) error      { return nil }
func (s *stream) SetReadDeadline(time.Time) error  { return nil }
func (s *stream) SetWriteDeadline(time.Time) error { return nil }

// logged returns a session that is logged in, and has what server says before
// it.
func logged(tb testing.TB, client *encdb.Client, application, server io.Reader, caps wire.Capabilities) *Session {
	tb.Helper()
	cfg := &Config{Key: func(context.Context) (*secret.Bytes, error) { return secret.Random(16) }}
	s := cfg.NewSession(&stream{in: application}, &stream{in: server})
	wire.Link(s.client, s.server)
	s.client.Caps, s.server.Caps, s.keys, s.user = caps, caps, client, &wire.Session{}
	var err error
	if s.opener, err = client.Opener(); err != nil {
		tb.Fatal(err)
	}
	s.server.ResetSequence()
	return s
}

// result is the answer of a server to a query: n rows of a number, and values
// of a protected column.
func result(tb testing.TB, sealer *encdb.Sealer, n, size, protected int, binary bool) []byte {
	tb.Helper()
	var buf bytes.Buffer
	c := wire.NewConn(&writer{stream{}, &buf}, wire.Limits{})
	c.Caps = wire.Protocol41
	c.ResetSequence()
	const columns = 10
	c.WritePacket([]byte{columns})
	value := bytes.Repeat([]byte("v"), size)
	types := make([]wire.Type, columns)
	values := make([][]byte, columns)
	for i := range columns {
		col := wire.Column{Catalog: []byte("def"), Schema: []byte("db"), OrgTable: []byte("t"), Table: []byte("t"), Type: wire.TypeVarString}
		col.OrgName = fmt.Appendf(nil, "c%d", i)
		col.Name = col.OrgName
		types[i], values[i] = col.Type, value
		if i < protected {
			col.Filler = [2]byte{encdb.TypeVarString, encdb.CipherMark}
			column := encdb.NewColumn("db", "t", string(col.OrgName), encdb.TypeVarString, false, 0)
			var err error
			if values[i], err = sealer.Append(nil, column, binary, value); err != nil {
				tb.Fatal(err)
			}
		}
		c.WritePacket(col.Append(nil, c.Caps))
	}
	c.WritePacket(wire.EOF{}.Append(nil))
	row := wire.AppendTextRow(nil, values...)
	if binary {
		row = wire.AppendBinaryRow(nil, types, values...)
	}
	for range n {
		c.WritePacket(row)
	}
	c.WritePacket(wire.EOF{}.Append(nil))
	if err := c.Flush(); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

type writer struct {
	stream
	to io.Writer
}

func (w *writer) Write(b []byte) (int, error) { return w.to.Write(b) }

// FuzzServer lets a server answer whatever it likes to all commands: the session
// must end, without a panic, and never with more than it was sent.
func FuzzServer(f *testing.F) {
	var clients [2]*encdb.Client
	for i := range clients {
		var sealer *encdb.Sealer
		clients[i], sealer = agreed(f, i == 1)
		f.Add(byte(i), byte(wire.ComQuery), result(f, sealer, 2, 5, 3, false))
		f.Add(byte(i), byte(wire.ComStmtExecute), result(f, sealer, 2, 5, 3, true))
		f.Add(byte(i), byte(wire.ComStmtPrepare), []byte("\x0c\x00\x00\x01\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00"))
	}
	f.Fuzz(func(t *testing.T, which, cmd byte, answer []byte) {
		client := clients[which&1]
		if wire.Command(cmd) == wire.ComChangeUser { // ends what the client agreed on
			client, _ = agreed(t, which&1 == 1)
		}
		s := logged(t, client, &bytes.Buffer{}, bytes.NewReader(answer), wire.Protocol41|wire.Capabilities(which&2)<<23)
		s.marked = which&4 == 0
		s.cursors = map[uint32]*resultSet{1: {
			in: []wire.Type{wire.TypeVarString, wire.TypeLong}, cols: []int{0}, kept: true,
			cells: []*definition{{typ: wire.TypeLong, strict: true, cells: encdb.NewColumn("", "", "a", encdb.TypeLong, false, 0)}, nil},
		}}
		for range 3 { // what one answer leaves is the beginning of the next
			if _, err := s.command([]byte{cmd, 1, 0, 0, 0, 0, 0, 0, 0, 0}); err != nil {
				return
			}
		}
	})
}

// TestRowsAllocateNothing: opening rows costs no memory for each.
func TestRowsAllocateNothing(t *testing.T) {
	for _, layout := range []byte{encdb.Layout64, encdb.Layout66} {
		client, sealer := agreed(t, layout == encdb.Layout64)
		for _, binary := range []bool{false, true} {
			allocs := map[int]float64{}
			for _, rows := range []int{1, 1001} {
				answer := result(t, sealer, rows, 40, 5, binary)
				in := bytes.NewReader(nil)
				s := logged(t, client, &bytes.Buffer{}, in, wire.Protocol41)
				cmd := wire.ComQuery
				if binary {
					cmd = wire.ComStmtExecute
				}
				allocs[rows] = testing.AllocsPerRun(5, func() {
					in.Reset(answer)
					s.server.ResetSequence()
					if err := s.relay(cmd, 1); err != nil {
						t.Fatal(err)
					}
				})
			}
			if more := allocs[1001] - allocs[1]; more > 20 {
				t.Errorf("layout %x, binary %t: %v allocations in 1000 rows", layout, binary, more)
			}
		}
	}
}

// BenchmarkRows relays results of 100 rows of 10 columns of 40 bytes, of which
// some are protected.
func BenchmarkRows(b *testing.B) {
	for _, layout := range []byte{encdb.Layout66, encdb.Layout64} {
		client, sealer := agreed(b, layout == encdb.Layout64)
		for _, protected := range []int{0, 1, 5, 10} {
			for _, binary := range []bool{false, true} {
				b.Run(fmt.Sprintf("layout=%d/protected=%d/binary=%t", layout, protected, binary), func(b *testing.B) {
					const rows = 100
					answer := result(b, sealer, rows, 40, protected, binary)
					in := bytes.NewReader(nil)
					s := logged(b, client, &bytes.Buffer{}, in, wire.Protocol41)
					b.SetBytes(rows * 10 * 40)
					b.ReportAllocs()
					for b.Loop() {
						in.Reset(answer)
						s.server.ResetSequence()
						if err := s.relay(wire.ComQuery+map[bool]wire.Command{true: wire.ComStmtExecute - wire.ComQuery}[binary], 1); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
				})
			}
		}
	}
}
