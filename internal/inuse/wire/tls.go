package wire

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
)

// StartTLS goes on over TLS: as its server after the client's SSLRequest, as
// its client after sending one, whichever the relay plays on c. Bytes received
// after the request belong to the TLS handshake, so nothing sent in the clear
// is taken for part of the login.
func (c *Conn) StartTLS(ctx context.Context, cfg *tls.Config) error {
	if err := c.Flush(); err != nil {
		return err
	}
	raw := net.Conn(c.nc)
	if c.r < c.w {
		raw = &preread{Conn: c.nc, rest: append([]byte(nil), c.buf[c.r:c.w]...)}
	}
	c.r, c.w = 0, 0
	var t *tls.Conn
	if c.client {
		t = tls.Client(raw, cfg)
	} else {
		t = tls.Server(raw, cfg)
	}
	if err := t.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("start TLS: %w", err)
	}
	c.nc, c.tls, c.exchange = t, t, nil
	return nil
}

// TLS is the state of the TLS connection, or nil without one.
func (c *Conn) TLS() *tls.ConnectionState {
	if c.tls == nil {
		return nil
	}
	s := c.tls.ConnectionState()
	return &s
}

// private reports whether both ends of a connection regard it as safe for a
// password: TLS or a unix socket.
func (c *Conn) private() bool { return c.tls != nil || c.unix() }

func (c *Conn) unix() bool {
	a := c.nc.LocalAddr()
	return a != nil && a.Network() == "unix"
}

// preread is a connection of which rest has been read already.
type preread struct {
	net.Conn
	rest []byte
}

func (p *preread) Read(b []byte) (int, error) {
	if len(p.rest) > 0 {
		n := copy(b, p.rest)
		p.rest = p.rest[n:]
		return n, nil
	}
	return p.Conn.Read(b)
}
