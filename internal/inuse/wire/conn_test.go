package wire

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"testing"
	"time"
)

// feed is a connection that gives out data in pieces of at most step bytes
// and takes what is written.
type feed struct {
	net.Conn
	data []byte
	step int
	out  bytes.Buffer
}

func (f *feed) Read(b []byte) (int, error) {
	if len(f.data) == 0 {
		return 0, io.EOF
	}
	if f.step > 0 && len(b) > f.step {
		b = b[:f.step]
	}
	n := copy(b, f.data)
	f.data = f.data[n:]
	return n, nil
}

func (f *feed) Write(b []byte) (int, error)      { return f.out.Write(b) }
func (f *feed) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (f *feed) SetDeadline(time.Time) error      { return nil }
func (f *feed) SetReadDeadline(time.Time) error  { return nil }
func (f *feed) SetWriteDeadline(time.Time) error { return nil }
func (f *feed) Close() error                     { return nil }

func frame(seq byte, p []byte) []byte {
	return append([]byte{byte(len(p)), byte(len(p) >> 8), byte(len(p) >> 16), seq}, p...)
}

func pattern(n int) []byte {
	p := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(n)})
	r.Read(p)
	return p
}

// TestPacketSizes sends packets of sizes around every limit and reads them back
// loaded and copied, with reads of all of a buffer and of a few bytes.
func TestPacketSizes(t *testing.T) {
	const buf = 1024
	for _, size := range []int{0, 1, 3, 4, 250, buf - 5, buf - 4, buf - 3, buf, buf + 1, outSize - 4, outSize - 3, outSize, outSize + 1,
		maxFragment - 1, maxFragment, maxFragment + 1} {
		want := pattern(size)
		w := &feed{}
		c := NewConn(w, Limits{})
		for _, p := range [][]byte{{7}, want, {8}} {
			if err := c.WritePacket(p); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		bytesOnWire := w.out.Bytes()
		if n := size/maxFragment + 1; len(bytesOnWire) != size+4*n+10 {
			t.Fatalf("size %d: %d bytes on the wire, want %d fragments", size, len(bytesOnWire), n)
		}
		for _, step := range []int{0, 1, 5, 1000} {
			if step > 0 && size > 100_000 {
				continue
			}
			in := newConn(&feed{data: bytesOnWire, step: step}, Limits{Buffer: buf}, true)
			for i, p := range [][]byte{{7}, want, {8}} {
				got, err := in.ReadPacket()
				if err != nil || !bytes.Equal(got, p) {
					t.Fatalf("size %d step %d: packet %d: %d bytes, %v; want %d", size, step, i, len(got), err, len(p))
				}
				if again, err := in.Load(); err != nil || !bytes.Equal(again, p) {
					t.Fatalf("size %d step %d: second Load differs", size, step)
				}
			}
			if _, _, err := in.Next(); err != io.EOF {
				t.Fatalf("after the last packet: %v, want io.EOF", err)
			}
			in = newConn(&feed{data: bytesOnWire, step: step}, Limits{Buffer: buf}, true)
			out := &feed{}
			dst := NewConn(out, Limits{})
			for i := range 3 {
				if n, _, err := in.Next(); err != nil || i == 1 && n != min(size, maxFragment) {
					t.Fatalf("size %d: Next = %d, %v", size, n, err)
				}
				if err := in.CopyTo(dst); err != nil {
					t.Fatal(err)
				}
			}
			if dst.Flush(); !bytes.Equal(out.out.Bytes(), bytesOnWire) {
				t.Fatalf("size %d step %d: the copy differs", size, step)
			}
			in = newConn(&feed{data: bytesOnWire, step: step}, Limits{Buffer: buf}, true)
			in.Next()
			in.Next()
			if p, err := in.ReadPacket(); err != nil || len(p) != 1 || p[0] != 8 {
				t.Fatalf("size %d: skipping led to %x, %v", size, p, err)
			}
		}
	}
}

func TestHostilePackets(t *testing.T) {
	for _, tc := range []struct {
		name   string
		data   []byte
		lim    Limits
		client bool
		want   error
	}{
		{"nothing", nil, Limits{}, false, io.EOF},
		{"half a header", []byte{1, 0}, Limits{}, false, io.ErrUnexpectedEOF},
		{"header only", []byte{1, 0, 0, 0}, Limits{}, false, io.ErrUnexpectedEOF},
		{"half a packet", frame(0, pattern(100))[:50], Limits{}, false, io.ErrUnexpectedEOF},
		{"half a large packet", frame(0, pattern(100_000))[:50_000], Limits{}, false, io.ErrUnexpectedEOF},
		{"no continuation", frame(0, pattern(maxFragment)), Limits{}, false, io.ErrUnexpectedEOF},
		{"sequence too high", frame(1, []byte{1}), Limits{}, false, ErrOutOfOrder},
		{"sequence too high with error header", frame(1, []byte{0xff}), Limits{}, true, ErrOutOfOrder},
		{"continuation out of order", append(frame(0, pattern(maxFragment)), frame(2, []byte{1})...), Limits{}, false, ErrOutOfOrder},
		{"continuation that is an error packet", append(frame(0, pattern(maxFragment)), frame(0, []byte{0xff, 1})...), Limits{}, true, ErrOutOfOrder},
		{"larger than Load", frame(0, pattern(5000)), Limits{Load: 4999}, false, ErrTooLarge},
		{"larger than Load, continued", append(frame(0, pattern(maxFragment)), frame(1, pattern(10))...), Limits{Load: maxFragment + 9}, false, ErrTooLarge},
		{"larger than Packet", frame(0, pattern(5000)), Limits{Packet: 4999}, false, ErrTooLarge},
		{"claims 16 MiB", []byte{0xff, 0xff, 0xff, 0, 1}, Limits{Load: 1 << 30}, false, io.ErrUnexpectedEOF},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newConn(&feed{data: tc.data}, tc.lim, tc.client)
			if _, err := c.ReadPacket(); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

// TestErrorOutOfTurn: a server that gives up says so with sequence 0.
func TestErrorOutOfTurn(t *testing.T) {
	p := Err{Code: 4031, State: []byte("HY000"), Message: []byte("idle")}.Append(nil)
	c := NewBackend(&feed{data: frame(0, p)}, Limits{})
	c.WriteCommand([]byte{byte(ComPing)})
	var r Response
	r.Start(ComPing, 0)
	if kind, err := r.Next(c); kind != KindErr || err != nil {
		t.Errorf("got kind %d, %v; want the error packet", kind, err)
	}
}

// TestLoadGrowsWithData: a header that promises 1 GiB must not take it.
func TestLoadGrowsWithData(t *testing.T) {
	data := append([]byte{0xff, 0xff, 0xff, 0}, pattern(1000)...)
	c := NewConn(&feed{data: data}, Limits{Load: 1 << 30})
	if _, err := c.ReadPacket(); err == nil {
		t.Fatal("no error")
	}
	if cap(c.pkt.own) > 64<<10 {
		t.Errorf("%d bytes held for 1000 received", cap(c.pkt.own))
	}
}

func TestDeadlines(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	c := NewConn(a, Limits{})
	if _, err := c.ReadCommand(10 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("idle: %v", err)
	}
	idleEnds(t, c, b)
	c.lim.Read = 10 * time.Millisecond
	go b.Write([]byte{1, 0, 0, 0})
	if _, err := c.ReadCommand(time.Minute); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("slow packet with Limits.Read: %v", err)
	}
	c.lim.Write = 10 * time.Millisecond
	c.WritePacket([]byte{1})
	if err := c.Flush(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("peer that does not read: %v", err)
	}
	if err := c.WritePacket([]byte{1}); err == nil {
		t.Fatal("writing went on after an error")
	}
}

// idleEnds expects the idle deadline of c to end with the first byte that its peer
// sends.
func idleEnds(t *testing.T, c *Conn, peer net.Conn) {
	t.Helper()
	for idle := 30 * time.Millisecond; ; idle *= 2 {
		begun := make(chan struct{})
		go func() {
			peer.Write([]byte{1, 0, 0, 0}) // is taken by a read of c
			close(begun)
			time.Sleep(2 * idle)
			peer.Write([]byte{byte(ComPing)})
		}()
		p, err := c.ReadCommand(idle)
		if err == nil && len(p) == 1 {
			return
		}
		select {
		case <-begun:
			t.Fatalf("slow packet without Limits.Read: %x, %v", p, err)
		default: // not even the first byte came in time, on a busy machine
		}
		if idle > time.Minute {
			t.Fatalf("no byte came within %v: %v", idle, err)
		}
		if p, err := c.ReadCommand(0); err != nil || len(p) != 1 {
			t.Fatalf("late packet: %x, %v", p, err)
		}
	}
}

// TestLinkFlushes: waiting on one side sends what the other has.
func TestLinkFlushes(t *testing.T) {
	a, b := net.Pipe()
	x, y := net.Pipe()
	client, server := NewConn(a, Limits{}), NewBackend(x, Limits{})
	Link(client, server)
	go b.Write(frame(0, []byte{byte(ComPing)}))
	p, err := client.ReadCommand(0)
	if err != nil {
		t.Fatal(err)
	}
	server.WriteCommand(p)
	got := make([]byte, 5)
	go func() {
		io.ReadFull(y, got)
		y.Write(frame(1, OK{}.Append(nil, 0)))
	}()
	var r Response
	r.Start(ComPing, 0)
	go func() { // the client's next command comes only after the answer
		ok := make([]byte, 11)
		io.ReadFull(b, ok)
		b.Write(frame(0, []byte{byte(ComQuit)}))
	}()
	if err := RelayResponse(&r, server, client); err != nil {
		t.Fatal(err)
	}
	if p, err := client.ReadCommand(0); err != nil || Command(p[0]) != ComQuit {
		t.Fatalf("got %x, %v", p, err)
	}
	if !bytes.Equal(got, frame(0, []byte{byte(ComPing)})) {
		t.Errorf("server got %x", got)
	}
}

// TestCutShort: when the source of a packet fails, nothing that could pass for
// its rest, nor for the end of the answer, is written after it.
func TestCutShort(t *testing.T) {
	full := rows(3, 100)
	big := append(bytes.Clone(full[:len(full)-9]), frame(byte(7), pattern(100_000))...)
	for _, tc := range []struct {
		name string
		data []byte
		want bool // an error packet can still be sent
	}{
		{"between packets", full[:len(full)-9], true},
		{"in a small packet", full[:len(full)-50], true},
		{"in a header", full[:len(full)-7], true},
		{"in a large packet", big[:len(big)-10], false},
	} {
		sink := &feed{}
		server, client := NewBackend(&feed{data: tc.data, step: 700}, Limits{}), NewConn(sink, Limits{})
		Link(client, server)
		server.seq, client.seq = 1, 1
		var r Response
		r.Start(ComQuery, 0)
		if err := RelayResponse(&r, server, client); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: relay says %v", tc.name, err)
		}
		if err := client.WriteErr(CodeServerLost, "HY000", "lost"); (err == nil) != tc.want {
			t.Errorf("%s: error packet: %v", tc.name, err)
		}
		client.Flush()
		got := newConn(&feed{data: sink.out.Bytes()}, Limits{}, true)
		got.seq = 1
		r.Start(ComQuery, 0)
		var last Kind
		var err error
		for err == nil && !r.Done() {
			if last, err = r.Next(got); err == nil {
				_, err = got.Load()
			}
		}
		if tc.want && (err != nil || last != KindErr) {
			t.Errorf("%s: client sees kind %d, %v; want the error packet", tc.name, last, err)
		}
		if !tc.want && err == nil {
			t.Errorf("%s: client sees the answer end", tc.name)
		}
	}
}

// TestIdleMemory: a pair of connections at rest holds its two read buffers.
func TestIdleMemory(t *testing.T) {
	const pairs = 500
	var before, after runtime.MemStats
	keep := make([]*Conn, 0, 2*pairs)
	data := rows(1, 100)
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range pairs {
		src := &feed{data: data}
		server, client := NewBackend(src, Limits{}), NewConn(&discard{}, Limits{})
		Link(client, server)
		server.seq, client.seq = 1, 1
		var r Response
		r.Start(ComQuery, 0)
		if err := RelayResponse(&r, server, client); err != nil {
			t.Fatal(err)
		}
		client.Flush()
		keep = append(keep, server, client)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	per := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / pairs
	t.Logf("%d bytes per idle pair", per)
	if per > 40<<10 {
		t.Errorf("an idle pair holds %d bytes", per)
	}
	runtime.KeepAlive(keep)
}

func TestEmptyCommand(t *testing.T) {
	c := NewConn(&feed{data: frame(0, nil)}, Limits{})
	if _, err := c.ReadCommand(0); !errors.Is(err, ErrMalformed) {
		t.Errorf("got %v, want ErrMalformed", err)
	}
}

// rows is an answer with n rows of one text column.
func rows(n, size int) []byte {
	w := &feed{}
	c := NewConn(w, Limits{})
	c.seq = 1
	col := Column{Name: []byte("a"), Type: TypeVarString}
	c.WritePacket([]byte{1})
	c.WritePacket(col.Append(nil, 0))
	c.WritePacket(EOF{}.Append(nil))
	row := AppendTextRow(nil, bytes.Repeat([]byte{'x'}, size))
	for range n {
		c.WritePacket(row)
	}
	c.WritePacket(EOF{}.Append(nil))
	c.Flush()
	return w.out.Bytes()
}

type discard struct{ feed }

func (*discard) Write(b []byte) (int, error) { return len(b), nil }

// TestStreamingAllocatesNothing per row, relayed or rewritten. Under the race
// detector a sync.Pool loses some of what it is given.
func TestStreamingAllocatesNothing(t *testing.T) {
	data := rows(5000, 60)
	src, sink := &feed{}, &discard{}
	server, client := NewBackend(src, Limits{}), NewConn(sink, Limits{})
	Link(client, server)
	var r Response
	relay := func() {
		src.data = data
		server.WriteCommand([]byte{byte(ComQuery)})
		client.ResetSequence()
		client.seq = 1
		src.out.Reset()
		r.Start(ComQuery, 0)
		if err := RelayResponse(&r, server, client); err != nil {
			t.Fatal(err)
		}
		client.Flush()
	}
	relay()
	if n := testing.AllocsPerRun(5, relay); n > 50 {
		t.Errorf("relaying 5000 rows allocates %v times", n)
	}
	var fields []Field
	var out []byte
	rewrite := func() {
		src.data = data
		server.WriteCommand([]byte{byte(ComQuery)})
		client.seq = 1
		src.out.Reset()
		r.Start(ComQuery, 0)
		for !r.Done() {
			kind, err := r.Next(server)
			if err != nil {
				t.Fatal(err)
			}
			if kind != KindRow {
				server.CopyTo(client)
				continue
			}
			row, _ := server.Load()
			fields, _ = DecodeTextRow(row, 1, fields)
			out, _ = ReplaceFields(out[:0], row, fields, []int{0}, double)
			client.WritePacket(out)
		}
		client.Flush()
	}
	rewrite()
	if n := testing.AllocsPerRun(5, rewrite); n > 50 {
		t.Errorf("rewriting 5000 rows allocates %v times", n)
	}
}

func double(dst []byte, _ int, v []byte) ([]byte, error) {
	return append(append(dst, v...), v...), nil
}

func BenchmarkRelay(b *testing.B) {
	for _, bc := range []struct {
		name       string
		rows, size int
	}{{"rows=1/size=100", 1, 100}, {"rows=10000/size=100", 10000, 100}, {"rows=4/size=1048576", 4, 1 << 20}} {
		b.Run(bc.name, func(b *testing.B) {
			data := rows(bc.rows, bc.size)
			src, sink := &feed{}, &discard{}
			server, client := NewBackend(src, Limits{}), NewConn(sink, Limits{})
			Link(client, server)
			var r Response
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				src.data = data
				src.out.Reset()
				server.WriteCommand([]byte{byte(ComQuery)})
				client.seq = 1
				r.Start(ComQuery, 0)
				if err := RelayResponse(&r, server, client); err != nil {
					b.Fatal(err)
				}
				client.Flush()
			}
		})
	}
}

func BenchmarkReplaceFields(b *testing.B) {
	for _, bc := range []struct {
		name  string
		value int
	}{{"columns=20/size=20/replaced=4", 20}, {"columns=20/size=300/replaced=4", 300}} {
		b.Run(bc.name, func(b *testing.B) {
			v := bytes.Repeat([]byte{'x'}, bc.value)
			values := make([][]byte, 20)
			for i := range values {
				values[i] = v
			}
			row := AppendTextRow(nil, values...)
			var fields []Field
			var out []byte
			b.SetBytes(int64(len(row)))
			b.ReportAllocs()
			for b.Loop() {
				fields, _ = DecodeTextRow(row, 20, fields)
				out, _ = ReplaceFields(out[:0], row, fields, []int{1, 5, 9, 19}, double)
			}
		})
	}
}
