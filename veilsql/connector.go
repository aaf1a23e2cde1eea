package veilsql

import (
	"context"
	"crypto/rand"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/go-sql-driver/mysql"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/inuse/sidecar"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// connector is a Connector. It does not change once NewConnector has made it.
type connector struct {
	mysql *mysql.Config
	side  sidecar.Config
	key   func(context.Context) (*secret.Bytes, error)
}

// Driver is for driver.Connector.
func (c *connector) Driver() driver.Driver { return Driver{} }

// Connect connects, logs in and hands the key over. Errors: ErrNoKey,
// ErrWrongKey, ErrPinMismatch, ErrNotConfidential, ErrUnmarked, ErrInsecure, and
// those of go-sql-driver/mysql.
//
// The MySQL driver talks to a sidecar in this process, which talks to the
// server:
//
//	go-sql-driver ◄── plain protocol ──► sidecar ◄── TLS, cells ──► server
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	l := &link{c: c, side: c.side}
	l.side.Tag = newTag()
	cfg := c.mysql.Clone()
	cfg.TLS, cfg.TLSConfig, cfg.Net = nil, "", "unix"
	cfg.DialFunc = l.dial
	inner, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("veilsql: %w", err)
	}
	defer func() { l.key.Close() }() // by then the session has ended or has had it
	raw, err := inner.Connect(ctx)
	if err != nil {
		return nil, l.fail(err)
	}
	mc, ok := raw.(mysqlConn)
	if !ok {
		raw.Close()
		return nil, fmt.Errorf("veilsql: %T lacks interfaces of driver.Conn", raw)
	}
	return &conn{mysqlConn: mc, watcher: watcher{close: l.attached.Close}, tag: l.side.Tag, parseTime: cfg.ParseTime, loc: cfg.Loc}, nil
}

// newTag returns a name no column has.
func newTag() string { return "\x00" + rand.Text() }

// A link is one connection in the making.
type link struct {
	c        *connector
	side     sidecar.Config
	key      *secret.Bytes
	attached *sidecar.Attachment
}

// dial connects to the server, and returns the connection to a sidecar that
// stands before it.
func (l *link) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	var err error
	if l.key, err = l.c.key(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoKey, err)
	}
	dial := l.c.mysql.DialFunc
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	server, err := dial(ctx, l.c.mysql.Net, addr)
	if err != nil {
		return nil, err
	}
	l.side.Key = func(context.Context) (*secret.Bytes, error) { return l.key.Clone() }
	l.attached = l.side.Attach(server)
	return l.attached, nil
}

// fail returns the error of a connection that was not made: the sidecar's, if
// it knows more than the driver, which sees a connection that ends.
func (l *link) fail(err error) error {
	if l.attached != nil {
		l.attached.Close()
		if end := l.attached.Wait(); end != nil && !errors.Is(end, wire.ErrDenied) && !ended(end) {
			err = end
		}
	}
	return fmt.Errorf("veilsql: connect: %w", err)
}

// ended reports whether err only says that a connection has ended.
func ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, context.Canceled) || errors.Is(err, os.ErrDeadlineExceeded)
}
