package wire

import (
	"crypto/tls"
	"fmt"
	"net"
	"time"
)

// Sizes of the framing.
const (
	headerSize  = 4
	maxFragment = 1<<24 - 1 // a fragment of this size is continued by the next

	// MaxPacket is the largest packet MySQL and MariaDB servers send or take.
	MaxPacket = 1 << 30
)

// Limits bound what a peer can make a Conn hold or wait for. The zero value of
// a field means its default.
type Limits struct {
	// Load is the largest packet, in bytes, read into memory as a whole.
	// Default 64 MiB. Copying packets holds a buffer's worth, whatever Load.
	Load int
	// Packet is the largest packet, in bytes, passed on. Default 1 GiB.
	Packet int
	// Read bounds every wait for a peer that is to send, Write every wait
	// for a peer that is to take. Default 0: no limit. A backend at work on
	// a long statement is such a wait. The bounds are kept but for a
	// sixteenth: a wait can end that much earlier.
	Read, Write time.Duration
	// Buffer is the size, in bytes, of the read buffer. Default 16 KiB, and
	// then only the side that a command is awaited on has one all the time.
	// The write buffer of 16 KiB exists only while something is in it.
	Buffer int
}

const (
	defaultBuffer = 16 << 10
	defaultLoad   = 64 << 20
	keepLoaded    = 64 << 10 // a larger buffer of a loaded packet is not kept
	handshakeLoad = 64 << 10 // largest packet of a login
)

// A Conn frames packets over one network connection. A packet is a payload of
// any size up to the limits; on the wire it is split into fragments
//
//	length 3 bytes LE | sequence 1 byte | length bytes
//
// where a fragment of 2^24-1 bytes is followed by another of the same packet,
// which may be empty. The sequence counts the fragments of one command and its
// answer, both directions together.
//
// A Conn never waits for its peer while something written to it, or to the
// Conn it is linked to, is still in a buffer; see [Link]. It is used by one
// goroutine at a time; only Close, SetReadDeadline and SetWriteDeadline may be
// called by others.
type Conn struct {
	// Caps are the capabilities agreed on; set by RelayLogin and Login.
	Caps Capabilities

	nc     net.Conn
	lim    Limits
	tls    *tls.Conn // nc, if it is one
	peer   *Conn     // flushed before a wait
	seq    byte      // of the next fragment, in either direction
	idle   bool      // a deadline of ReadCommand stands
	rd, wd bound     // deadlines that stand
	client bool      // we play the client on this connection

	buf  []byte // read buffer, nil when empty and released; buf[r:w] is unread
	r, w int
	pkt  packet

	exchange *exchange // nil for one that cannot be

	asks bool   // out holds a command, and nothing of an answer has come
	out  []byte // write buffer, nil when empty; from outPool
	werr error  // first write error, final
}

// NewConn frames packets over nc, which it owns from now on, for a relay that
// plays the server on it.
func NewConn(nc net.Conn, lim Limits) *Conn { return newConn(nc, lim, false) }

// NewBackend is NewConn for a relay that plays the client on nc.
func NewBackend(nc net.Conn, lim Limits) *Conn { return newConn(nc, lim, true) }

func newConn(nc net.Conn, lim Limits, client bool) *Conn {
	if lim.Load <= 0 || lim.Load > MaxPacket {
		lim.Load = defaultLoad
	}
	if lim.Packet <= 0 || lim.Packet > MaxPacket {
		lim.Packet = MaxPacket
	}
	if lim.Buffer < 1024 {
		lim.Buffer = defaultBuffer
	}
	c := &Conn{nc: nc, lim: lim, client: client, buf: make([]byte, lim.Buffer)}
	if client {
		c.exchange = newExchange(nc)
	}
	return c
}

// Link makes each Conn send what the other has buffered before it waits for
// its own peer. A relay so needs no Flush, and cannot sit waiting for an answer
// to bytes it still holds.
func Link(a, b *Conn) { a.peer, b.peer = b, a }

// NetConn is the connection beneath, TLS included.
func (c *Conn) NetConn() net.Conn { return c.nc }

// Close closes the connection; what was not flushed is lost.
func (c *Conn) Close() error { return c.nc.Close() }

// SetReadDeadline bounds reads by a point in time, until the next wait that
// Limits.Read bounds or a ReadCommand; the zero time means none.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.rd.foreign.Store(true)
	return c.nc.SetReadDeadline(t)
}

// SetWriteDeadline is SetReadDeadline for writes.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.wd.foreign.Store(true)
	return c.nc.SetWriteDeadline(t)
}

// Buffered is the number of received bytes not yet read.
func (c *Conn) Buffered() int { return c.w - c.r }

// ResetSequence begins a new command: the next packet, of either direction,
// has sequence number 0.
func (c *Conn) ResetSequence() { c.seq = 0 }

// Sequence is the number of the next fragment, of either direction.
func (c *Conn) Sequence() byte { return c.seq }

// SetSequence makes n that number.
func (c *Conn) SetSequence(n byte) { c.seq = n }

// NextCommand waits up to idle (0: for ever) for the next command, begins its
// packet as Next does, and returns the size of its first fragment, at least 1,
// and which command it is. Load reads it; CopyTo, after a ResetSequence of the
// other side, passes it on unread.
func (c *Conn) NextCommand(idle time.Duration) (size int, cmd Command, err error) {
	if err := c.finish(); err != nil {
		return 0, 0, err
	}
	c.seq = 0
	if err := c.awaitByte(idle); err != nil {
		return 0, 0, err
	}
	size, first, err := c.Next()
	if err == nil && size == 0 {
		err = fmt.Errorf("read command: %w: empty", ErrMalformed)
	}
	return size, Command(first), err
}

// ReadCommand is NextCommand and Load.
func (c *Conn) ReadCommand(idle time.Duration) ([]byte, error) {
	if _, _, err := c.NextCommand(idle); err != nil {
		return nil, err
	}
	return c.Load()
}

// WriteCommand begins a new command with payload p.
func (c *Conn) WriteCommand(p []byte) error {
	c.seq = 0
	c.asks = c.client && c.out == nil && c.r == c.w
	return c.WritePacket(p)
}
