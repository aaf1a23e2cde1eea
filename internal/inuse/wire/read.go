package wire

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// A packet is the state of the one being read.
type packet struct {
	left   int    // bytes of the current fragment still unread
	total  int    // bytes of the fragments begun so far
	size   int    // of the first fragment
	more   bool   // another fragment follows the current
	loaded bool   // data is the whole payload, nothing is left
	data   []byte // view of buf or of own
	own    []byte // memory of a packet larger than buf
}

// Next begins the next packet, skipping what is unread of the last, and returns
// the size of its first fragment and its first byte (0 for an empty packet).
// Then Load, CopyTo or Skip deals with it. It returns ErrOutOfOrder, ErrTooLarge
// or the connection's error; io.EOF only between packets.
func (c *Conn) Next() (size int, first byte, err error) {
	if err := c.finish(); err != nil {
		return 0, 0, err
	}
	if cap(c.pkt.own) > keepLoaded {
		c.pkt.own = nil
	}
	c.pkt.loaded, c.pkt.data, c.pkt.total = false, nil, 0
	if err := c.fragment(); err != nil {
		return 0, 0, err
	}
	c.pkt.size = c.pkt.left
	if c.pkt.left == 0 {
		return 0, 0, nil
	}
	if err := c.need(1); err != nil {
		return 0, 0, err
	}
	return c.pkt.size, c.buf[c.r], nil
}

// fragment reads the header of the packet's next fragment.
func (c *Conn) fragment() error {
	if c.w-c.r < headerSize {
		if err := c.need(headerSize); err != nil {
			return err
		}
	}
	h := c.buf[c.r : c.r+headerSize : c.r+headerSize]
	n := int(h[0]) | int(h[1])<<8 | int(h[2])<<16
	if h[3] != c.seq {
		// A server that ends an idle connection says why in an error
		// packet of its own, which answers nothing: sequence 0.
		if !(c.client && h[3] == 0 && c.pkt.total == 0 && n > 0 && c.need(headerSize+1) == nil && c.buf[c.r+headerSize] == errHeader) {
			return fmt.Errorf("read packet: %w", ErrOutOfOrder)
		}
		c.seq = 0
	}
	if c.pkt.total+n > c.lim.Packet {
		return fmt.Errorf("read packet: %w", ErrTooLarge)
	}
	c.r += headerSize
	c.seq++
	c.pkt.left, c.pkt.more = n, n == maxFragment
	c.pkt.total += n
	return nil
}

// Load reads the rest of the packet Next began and returns its whole payload,
// valid until the next Next; afterwards Payload returns it again, and CopyTo
// still copies it. It returns ErrTooLarge beyond Limits.Load, where the packet
// can still be skipped.
func (c *Conn) Load() ([]byte, error) {
	p := &c.pkt
	if p.loaded {
		return p.data, nil
	}
	if p.total > c.lim.Load {
		return nil, fmt.Errorf("load packet: %w", ErrTooLarge)
	}
	if !p.more && p.left <= len(c.buf) {
		if c.w-c.r < p.left {
			if err := c.need(p.left); err != nil {
				return nil, err
			}
		}
		p.data = c.buf[c.r : c.r+p.left : c.r+p.left]
		c.r += p.left
		p.left, p.loaded = 0, true
		return p.data, nil
	}
	return c.loadLarge()
}

// loadLarge gathers a packet that does not fit the read buffer. Memory grows
// with what has come, not with what the header says.
func (c *Conn) loadLarge() ([]byte, error) {
	p := &c.pkt
	p.own = p.own[:0]
	for {
		for p.left > 0 {
			if c.r == c.w {
				if err := c.fill(); err != nil {
					return nil, midPacket(err)
				}
			}
			n := min(p.left, c.w-c.r)
			p.own = append(p.own, c.buf[c.r:c.r+n]...)
			c.r += n
			p.left -= n
		}
		if !p.more {
			break
		}
		if err := c.fragment(); err != nil {
			return nil, midPacket(err)
		}
		if p.total > c.lim.Load {
			return nil, fmt.Errorf("load packet: %w", ErrTooLarge)
		}
	}
	p.data, p.loaded = p.own, true
	return p.data, nil
}

// Payload is the payload of the packet, if it is loaded; otherwise nil.
func (c *Conn) Payload() []byte { return c.pkt.data }

// Peek waits for the next packet and returns its payload's first byte, which
// stays unread. It is for a packet that must not be empty: it waits for a byte.
func (c *Conn) Peek() (first byte, err error) {
	if err := c.finish(); err != nil {
		return 0, err
	}
	if err := c.need(headerSize + 1); err != nil {
		return 0, err
	}
	return c.buf[c.r+headerSize], nil
}

// ReadPacket is Next and Load.
func (c *Conn) ReadPacket() ([]byte, error) {
	if _, _, err := c.Next(); err != nil {
		return nil, err
	}
	return c.Load()
}

// Skip reads the rest of the packet and forgets it.
func (c *Conn) Skip() error { return c.finish() }

// finish skips what is unread of the current packet.
func (c *Conn) finish() error {
	p := &c.pkt
	for p.left > 0 || p.more && !p.loaded {
		if p.left == 0 {
			if err := c.fragment(); err != nil {
				return midPacket(err)
			}
			continue
		}
		if c.r == c.w {
			if err := c.fill(); err != nil {
				return midPacket(err)
			}
		}
		n := min(p.left, c.w-c.r)
		c.r += n
		p.left -= n
	}
	p.more = false
	return nil
}

// need makes at least n bytes, at most the buffer's size, available at
// buf[r:w]. An end in their midst is io.ErrUnexpectedEOF.
func (c *Conn) need(n int) error {
	if c.w-c.r >= n {
		return nil
	}
	if c.r > 0 {
		c.w = copy(c.buf, c.buf[c.r:c.w])
		c.r = 0
	}
	for c.w < n {
		if err := c.fill(); err != nil {
			if err == io.EOF && (c.w > 0 || c.pkt.left > 0) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// fill reads once, after sending what is buffered on either side.
func (c *Conn) fill() error {
	asks := c.asks && c.out != nil && c.werr == nil && c.exchange != nil
	if err := c.beforeWait(asks); err != nil {
		return err
	}
	if c.lim.Read > 0 || c.idle {
		if err := c.waitUpTo(c.lim.Read); err != nil {
			return err
		}
		c.idle = false
	}
	if asks {
		return c.ask()
	}
	return c.read()
}

// ask sends the command in the write buffer and reads once.
func (c *Conn) ask() error {
	c.room()
	out := c.out
	wrote, n, err := c.exchange.run(out, c.buf[c.w:])
	if wrote < len(out) && err == nil {
		c.out = out[:copy(out, out[wrote:])]
		if err := c.Flush(); err != nil {
			return err
		}
		return c.read()
	}
	c.drop()
	c.w += n
	return err
}

// waitUpTo bounds the next reads by d from now; 0 unbinds them.
func (c *Conn) waitUpTo(d time.Duration) error {
	if t, set := c.rd.renew(d); set {
		return c.nc.SetReadDeadline(t)
	}
	return nil
}

// beforeWait sends what is buffered on either side, but for a command on this one
// if it asks.
func (c *Conn) beforeWait(asks bool) error {
	if !asks && (c.out != nil || c.werr != nil) {
		if err := c.Flush(); err != nil {
			return err
		}
	}
	if c.peer != nil && (c.peer.out != nil || c.peer.werr != nil) {
		return c.peer.Flush()
	}
	return nil
}

// room makes room in the read buffer.
func (c *Conn) room() {
	if c.buf == nil {
		c.buf = inPool.Get().(*[defaultBuffer]byte)[:]
	}
	if c.r == c.w {
		c.r, c.w = 0, 0
	}
}

func (c *Conn) read() error {
	c.room()
	for range 100 { // a Reader may return 0, nil; net.Conns do not
		n, err := c.nc.Read(c.buf[c.w:])
		c.w += n
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// awaitByte waits up to d (0: for ever) until a byte can be read.
func (c *Conn) awaitByte(d time.Duration) error {
	if c.r < c.w {
		return nil
	}
	if err := c.beforeWait(false); err != nil {
		return err
	}
	c.forget()
	if c.peer != nil {
		c.peer.forget()
		c.peer.release()
	}
	if d > 0 || c.lim.Read > 0 {
		if err := c.waitUpTo(d); err != nil {
			return err
		}
		c.idle = true
	}
	return c.read()
}

// forget lets the memory of a large packet go: the connection may be idle for
// long.
func (c *Conn) forget() {
	if c.pkt.own != nil {
		c.pkt.own, c.pkt.data, c.pkt.loaded = nil, nil, false
	}
}

// inPool holds read buffers of the default size.
var inPool = sync.Pool{New: func() any { return new([defaultBuffer]byte) }}

// release lets the read buffer go if nothing is in it; read takes another.
func (c *Conn) release() {
	if c.r == c.w && c.pkt.left == 0 && len(c.buf) == defaultBuffer {
		inPool.Put((*[defaultBuffer]byte)(c.buf))
		c.buf, c.r, c.w = nil, 0, 0
		c.pkt.data, c.pkt.loaded = nil, false
	}
}

// midPacket is err for a peer that ended in the middle of a packet.
func midPacket(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
