package wire

import (
	"errors"
	"fmt"
	"sync"
)

const outSize = 16 << 10

var outPool = sync.Pool{New: func() any { return new([outSize]byte) }}

// WritePacket appends a packet with payload p to the write buffer, which is
// sent when full, on Flush and before a wait. It keeps no reference to p.
func (c *Conn) WritePacket(p []byte) error {
	for {
		n := min(len(p), maxFragment)
		if err := c.writeHeader(n); err != nil {
			return err
		}
		if err := c.write(p[:n]); err != nil {
			return err
		}
		p = p[n:]
		if n < maxFragment {
			return nil
		}
	}
}

// WriteFramed is WritePacket for bytes that have their headers, whole fragments
// with sequence numbers of their own. next is the number that follows theirs.
func (c *Conn) WriteFramed(p []byte, next byte) error {
	if err := c.write(p); err != nil {
		return err
	}
	c.seq = next
	return nil
}

// WriteFramedCommand is WriteFramed for a command as a whole, which is sent at the
// latest when its answer is waited for.
func (c *Conn) WriteFramedCommand(p []byte, next byte) error {
	c.asks = c.client && c.out == nil && c.r == c.w
	return c.WriteFramed(p, next)
}

func (c *Conn) writeHeader(n int) error {
	if c.werr != nil {
		return c.werr
	}
	if len(c.out)+headerSize > outSize {
		if err := c.Flush(); err != nil {
			return err
		}
	}
	c.takeOut()
	c.out = append(c.out, byte(n), byte(n>>8), byte(n>>16), c.seq)
	c.seq++
	return nil
}

// write appends p to the write buffer, or sends both when they are large.
func (c *Conn) write(p []byte) error {
	if len(c.out)+len(p) <= outSize {
		if len(p) > 0 {
			c.takeOut()
			c.out = append(c.out, p...)
		}
		return c.werr
	}
	if err := c.Flush(); err != nil {
		return err
	}
	if len(p) < outSize {
		c.takeOut()
		c.out = append(c.out, p...)
		return nil
	}
	return c.send(p)
}

func (c *Conn) takeOut() {
	if c.out == nil {
		c.out = outPool.Get().(*[outSize]byte)[:0]
	}
}

// Flush sends the write buffer. After an error the Conn writes nothing more
// and returns the same error.
func (c *Conn) Flush() error {
	if c.out == nil {
		return c.werr
	}
	err := c.send(c.out)
	c.drop()
	return err
}

// drop lets the write buffer go.
func (c *Conn) drop() {
	outPool.Put((*[outSize]byte)(c.out[:outSize]))
	c.out, c.asks = nil, false
}

func (c *Conn) send(p []byte) error {
	c.asks = false
	if c.werr != nil {
		return c.werr
	}
	if c.lim.Write > 0 {
		if t, set := c.wd.renew(c.lim.Write); set {
			c.werr = c.nc.SetWriteDeadline(t)
		}
	}
	if c.werr == nil {
		_, c.werr = c.nc.Write(p)
	}
	if c.werr != nil {
		c.werr = fmt.Errorf("write packet: %w", c.werr)
	}
	return c.werr
}

// CopyTo passes the packet that Next began, loaded or not, on to dst with
// dst's sequence numbers. It holds no more than a buffer of it and allocates
// nothing. Should c fail in the middle of a packet larger than that, dst can
// write no more: whatever followed would be taken for the packet's rest.
func (c *Conn) CopyTo(dst *Conn) error {
	p := &c.pkt
	if p.loaded || !p.more && p.left == p.size && p.left <= len(c.buf) {
		data, err := c.Load()
		if err != nil {
			return err
		}
		return dst.WritePacket(data)
	}
	err := c.stream(dst)
	if err != nil && dst.werr == nil {
		dst.werr = fmt.Errorf("write packet: %w", errCutShort)
	}
	return err
}

var errCutShort = errors.New("its source failed in the middle")

func (c *Conn) stream(dst *Conn) error {
	p := &c.pkt
	for {
		if err := dst.writeHeader(p.left); err != nil {
			return err
		}
		for p.left > 0 {
			if c.r == c.w {
				if err := c.fill(); err != nil {
					return midPacket(err)
				}
			}
			n := min(p.left, c.w-c.r)
			if err := dst.write(c.buf[c.r : c.r+n]); err != nil {
				return err
			}
			c.r += n
			p.left -= n
		}
		if !p.more {
			return nil
		}
		if err := c.fragment(); err != nil {
			return midPacket(err)
		}
	}
}
