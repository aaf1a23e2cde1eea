package sidecar

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"testing"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// canned is a server that says the same after each command.
type canned struct {
	stream
	answer []byte
	at     int
	sent   int
}

func (c *canned) Read(b []byte) (int, error) {
	if c.at == len(c.answer) {
		return 0, io.EOF
	}
	n := copy(b, c.answer[c.at:])
	c.at += n
	return n, nil
}

func (c *canned) Write(b []byte) (int, error) {
	c.at, c.sent = 0, c.sent+len(b)
	return len(b), nil
}

// attached is an Attachment that is logged in, before a server that answers as
// given.
func attached(tb testing.TB, client *encdb.Client, answer []byte) (*Attachment, *canned) {
	tb.Helper()
	for at := 0; at < len(answer); { // the command was packet 0
		answer[at+3]++
		size, _ := fragment(answer[at:])
		at += size
	}
	server := &canned{answer: answer}
	a := &Attachment{pipe: &stream{}, server: server, done: make(chan struct{})}
	a.out.Conn, a.out.inline = &stream{}, true
	close(a.done)
	a.session = (&Config{}).NewSession(&a.out, server)
	a.session.keys = client
	var err error
	if a.session.opener, err = client.Opener(); err != nil {
		tb.Fatal(err)
	}
	for _, c := range []*wire.Conn{a.session.client, a.session.server} {
		c.Caps = wire.Protocol41
	}
	wire.Link(a.session.client, a.session.server)
	return a, server
}

// framedCommand is a command as a driver writes it.
func framedCommand(cmd wire.Command, arg []byte) []byte {
	n := 1 + len(arg)
	return append([]byte{byte(n), byte(n >> 8), byte(n >> 16), 0, byte(cmd)}, arg...)
}

func execute(id uint32) []byte {
	return framedCommand(wire.ComStmtExecute, append(binary.LittleEndian.AppendUint32(nil, id), 0, 1, 0, 0, 0))
}

// exchange sends a command and reads the answer up to its end.
func exchange(tb testing.TB, a *Attachment, command, buf []byte) (total []byte) {
	tb.Helper()
	if _, err := a.Write(command); err != nil {
		tb.Fatal(err)
	}
	for !a.session.answer.done() || a.out.waiting() {
		n, err := a.Read(buf[len(total):])
		if err != nil {
			tb.Fatal(err)
		}
		total = buf[:len(total)+n]
	}
	return total
}

// TestAttachmentRepeats reads the same result by several ways of splitting
// commands and answers: what comes is always the same.
func TestAttachmentRepeats(t *testing.T) {
	client, sealer := agreed(t, false)
	answer := result(t, sealer, 3, 40, 4, true)
	a, server := attached(t, client, answer)
	want := bytes.Clone(exchange(t, a, execute(1), make([]byte, 1<<16)))
	if !bytes.Contains(want, bytes.Repeat([]byte("v"), 40)) {
		t.Fatal("no value came")
	}
	for i := range 3 { // by the definitions of the last time
		if got := exchange(t, a, execute(1), make([]byte, 1<<16)); !bytes.Equal(got, want) {
			t.Errorf("execution %d: %q, want %q", i, got, want)
		}
	}
	// Bytes one by one, in both directions.
	c := execute(1)
	for _, b := range c {
		if n, err := a.Write([]byte{b}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	var got []byte
	for one := make([]byte, 1); len(got) < len(want); {
		n, err := a.Read(one)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, one[:n]...)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("byte by byte: %q", got)
	}
	if server.sent != 5*len(c) {
		t.Errorf("%d bytes sent, want %d", server.sent, 5*len(c))
	}
}

// TestAttachmentOrder: a command before the end of an answer is refused, as is
// one that would end the login.
func TestAttachmentOrder(t *testing.T) {
	client, sealer := agreed(t, false)
	a, server := attached(t, client, result(t, sealer, 3, 40, 4, true))
	if _, err := a.Write(execute(1)); err != nil {
		t.Fatal(err)
	}
	if n, err := a.Write(execute(1)); n != 0 || err == nil {
		t.Errorf("second command: %d, %v", n, err)
	}
	exchangeRest(t, a)
	sent := server.sent
	for _, cmd := range []wire.Command{wire.ComChangeUser, wire.ComBinlogDump} {
		if n, err := a.Write(framedCommand(cmd, []byte("x"))); n != 0 || err == nil || server.sent != sent {
			t.Errorf("%v: %d, %v", cmd, n, err)
		}
	}
	a.Close()
	if _, err := a.Read(make([]byte, 1)); err == nil {
		t.Error("read after the end")
	}
	if a.session.keys != nil {
		t.Error("the keys are still there")
	}
}

func exchangeRest(t *testing.T, a *Attachment) {
	t.Helper()
	for buf := make([]byte, 1<<16); !a.session.answer.done() || a.out.waiting(); {
		if _, err := a.Read(buf); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAttachmentAllocatesNothing: a statement that was run before costs no memory.
func TestAttachmentAllocatesNothing(t *testing.T) {
	client, sealer := agreed(t, false)
	for _, protected := range []int{0, 3} {
		a, _ := attached(t, client, result(t, sealer, 20, 40, protected, true))
		buf, command := make([]byte, 1<<16), execute(1)
		// A pool may have been emptied in between.
		if n := testing.AllocsPerRun(100, func() { exchange(t, a, command, buf) }); n > 3 {
			t.Errorf("%d protected: %v allocations", protected, n)
		}
	}
}

// BenchmarkAttachment is what an execution of a prepared statement costs in
// veilsql, without system calls and the driver itself: one row of 10 columns.
func BenchmarkAttachment(b *testing.B) {
	client, sealer := agreed(b, false)
	for _, protected := range []int{0, 1, 10} {
		b.Run(fmt.Sprintf("protected=%d", protected), func(b *testing.B) {
			a, _ := attached(b, client, result(b, sealer, 1, 24, protected, true))
			buf, command := make([]byte, 1<<16), execute(1)
			b.ReportAllocs()
			for b.Loop() {
				exchange(b, a, command, buf)
			}
		})
	}
}
