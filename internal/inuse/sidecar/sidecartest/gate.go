// Package sidecartest is a small confidential server for tests: it stands
// before a real one and seals chosen columns, for every account alike.
package sidecartest

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// A Gate is one such server. Its fields must not change after Start.
type Gate struct {
	Backend string   // address of the real server
	Columns []string // "table.column" of the protected ones, by base names
	Encdb   encdb.Config
	TLS     *tls.Config // offered to clients, if set
	// Unmarked leaves the cipher mark out and denies the probe, like the
	// vendor's first servers.
	Unmarked bool
	// Stranger does not know what our own ends add to the protocol.
	Stranger bool
	// Lie, if set, changes the definitions of protected columns.
	Lie func(*wire.Column)
	// Tamper, if set, sees each cell's text before it is sent.
	Tamper func(cell []byte) []byte

	Addr string // set by Start

	ln net.Listener
	wg sync.WaitGroup

	mu      sync.Mutex
	events  []encdb.Event
	conns   map[net.Conn]net.Conn // of clients, with those to the backend
	errs    []error
	stopped bool
}

// Start starts a gate that stops when the test ends.
func Start(tb testing.TB, g *Gate) *Gate {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	g.ln, g.Addr, g.conns = ln, ln.Addr().String(), map[net.Conn]net.Conn{}
	g.wg.Add(1)
	go g.accept()
	tb.Cleanup(func() {
		g.Stop()
		for _, err := range g.errs {
			tb.Errorf("gate: %v", err)
		}
	})
	return g
}

// Stop ends the gate and its connections.
func (g *Gate) Stop() {
	g.ln.Close()
	g.mu.Lock()
	g.stopped = true
	for c, b := range g.conns {
		c.Close()
		b.Close()
	}
	g.mu.Unlock()
	g.wg.Wait()
}

// Drop ends the connections there are.
func (g *Gate) Drop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c, b := range g.conns {
		c.Close()
		b.Close()
	}
}

// Conns is the number of connections.
func (g *Gate) Conns() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.conns)
}

// Events are those of the protocol so far.
func (g *Gate) Events() []encdb.Event {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.events)
}

func (g *Gate) accept() {
	defer g.wg.Done()
	for {
		nc, err := g.ln.Accept()
		if err != nil {
			return
		}
		g.wg.Add(1)
		go func() {
			defer g.wg.Done()
			if err := g.handle(nc); err != nil {
				g.mu.Lock()
				g.errs = append(g.errs, err)
				g.mu.Unlock()
			}
		}()
	}
}

func (g *Gate) handle(nc net.Conn) error {
	defer nc.Close()
	bc, err := net.DialTimeout("tcp", g.Backend, 10*time.Second)
	if err != nil {
		return err
	}
	defer bc.Close()
	g.mu.Lock()
	if g.stopped {
		g.mu.Unlock()
		return nil
	}
	g.conns[nc] = bc
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		delete(g.conns, nc)
		g.mu.Unlock()
	}()
	g.serve(nc, bc)
	return nil
}

// serve returns when one of the ends has gone.
func (g *Gate) serve(nc, bc net.Conn) {
	lim := wire.Limits{Load: wire.MaxPacket}
	c := &conn{g: g, client: wire.NewConn(nc, lim), server: wire.NewBackend(bc, lim)}
	cfg := &wire.LoginConfig{ClientTLS: g.TLS}
	s, err := wire.RelayLogin(context.Background(), c.client, c.server, cfg)
	if err != nil {
		return // the client's own affair
	}
	account := encdb.Account{User: s.User, TLS: c.client.TLS() != nil}
	c.session = g.Encdb.NewSession(account)
	defer c.session.Close()
	for {
		p, err := c.client.ReadCommand(0)
		if err != nil {
			return
		}
		switch cmd := wire.Command(p[0]); cmd {
		case wire.ComQuit:
			return
		case wire.ComChangeUser:
			if s, err = wire.RelayChangeUser(context.Background(), p, c.client, c.server, s, cfg); err != nil {
				return
			}
			c.session.ChangeUser(encdb.Account{User: s.User, TLS: account.TLS})
		case wire.ComQuery:
			err = c.query(p)
		default:
			err = c.forward(cmd, p)
		}
		if err != nil {
			return
		}
	}
}
