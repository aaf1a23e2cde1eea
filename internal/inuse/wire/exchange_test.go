package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// socketPair returns the two ends of a connection through the kernel.
func socketPair(t *testing.T, network string) (near, far net.Conn) {
	t.Helper()
	addr := "127.0.0.1:0"
	if network == "unix" {
		addr = filepath.Join(t.TempDir(), "s")
	}
	ln, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if near, err = net.Dial(network, ln.Addr().String()); err == nil {
		far, err = ln.Accept()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close(); far.Close() })
	return near, far
}

// TestExchange sends commands of all sizes to a peer that answers each at once,
// in one piece or byte by byte.
func TestExchange(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			near, far := socketPair(t, network)
			go func() {
				peer := NewConn(far, Limits{})
				for n := 0; ; n++ {
					p, err := peer.ReadCommand(0)
					if err != nil {
						return
					}
					peer.WritePacket(p)
					if len(p) < 100 && n%3 == 0 {
						out := peer.out
						for i := range out {
							far.Write(out[i : i+1])
						}
						peer.drop()
					} else {
						peer.Flush()
					}
				}
			}()
			c := NewBackend(near, Limits{})
			sizes := []int{1, 7, 60, 1000, outSize - headerSize, outSize, 3 * outSize, 20 << 20, 5}
			for i := range 2000 {
				size := sizes[i%len(sizes)]
				if size > 1<<20 && i > 10 {
					size = 9
				}
				want := bytes.Repeat([]byte{byte(i)}, size)
				if err := c.WriteCommand(want); err != nil {
					t.Fatal(err)
				}
				if got, err := c.ReadPacket(); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("command %d of %d bytes: answer of %d bytes, %v", i, size, len(got), err)
				}
			}
		})
	}
}

// TestExchangeEnds: whatever ends the connection ends the wait.
func TestExchangeEnds(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(near, far net.Conn)
		want error
	}{
		{"peer closed before", func(near, far net.Conn) { far.Close() }, nil},
		{"peer closes", func(near, far net.Conn) {
			go func() {
				io.ReadFull(far, make([]byte, 5))
				far.Close()
			}()
		}, io.EOF},
		{"closed here before", func(near, far net.Conn) { near.Close() }, net.ErrClosed},
		{"closed here", func(near, far net.Conn) {
			go func() {
				io.ReadFull(far, make([]byte, 5))
				near.Close()
			}()
		}, net.ErrClosed},
		{"past deadline", func(near, far net.Conn) { near.SetReadDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
		{"deadline", func(near, far net.Conn) {
			go func() {
				io.ReadFull(far, make([]byte, 5))
				near.SetReadDeadline(time.Unix(1, 0))
			}()
		}, os.ErrDeadlineExceeded},
	} {
		t.Run(test.name, func(t *testing.T) {
			near, far := socketPair(t, "tcp")
			c := NewBackend(near, Limits{})
			test.do(near, far)
			err := c.WriteCommand([]byte{1})
			if err == nil {
				_, err = c.ReadPacket()
			}
			if err == nil || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
			if len(c.out) > 0 {
				t.Errorf("%d bytes are still to be sent", len(c.out))
			}
		})
	}
}

// TestExchangeSpeaksFirst: what a peer has sent unasked does not keep an answer
// from being noticed.
func TestExchangeSpeaksFirst(t *testing.T) {
	near, far := socketPair(t, "tcp")
	c := NewBackend(near, Limits{})
	if _, err := far.Write([]byte{1, 0, 0, 1, 'x'}); err != nil {
		t.Fatal(err)
	}
	go func() {
		io.ReadFull(far, make([]byte, 5))
		far.Write([]byte{1, 0, 0, 2, 'y'})
	}()
	if err := c.WriteCommand([]byte{1}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"x", "y"} {
		if p, err := c.ReadPacket(); err != nil || string(p) != want {
			t.Fatalf("%q, %v, want %q", p, err, want)
		}
	}
}
