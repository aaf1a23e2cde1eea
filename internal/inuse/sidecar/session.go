package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// A Session is one connection of an application:
//
//	login ──► key exchange ──► commands ──► end
//	               ▲              │
//	               └─ change user ┘
//
// Serve runs it in one goroutine; Ready, Drain and Close are for others.
type Session struct {
	cfg            *Config
	client, server *wire.Conn
	user           *wire.Session
	cancel         context.CancelFunc // of key exchanges
	stopped        context.Context

	keys   *encdb.Client
	opener *encdb.Opener // nil without a key exchange
	marked bool          // the server marks protected columns

	ready    chan struct{} // closed when the first key exchange is over
	readyErr error         // final before ready is closed
	once     sync.Once

	mu       sync.Mutex
	idle     bool // waiting for a command outside a transaction
	draining bool

	answer  answer
	cursors map[uint32]*resultSet // by statement: open cursors on cells
	last    uint32                // the statement prepared last
}

// NewSession makes a session of an application, just accepted, and a server,
// just connected, both of which it owns from now on.
func (c *Config) NewSession(application, server net.Conn) *Session {
	lim := c.limits()
	s := &Session{
		cfg: c, client: wire.NewConn(application, lim), server: wire.NewBackend(server, lim),
		ready: make(chan struct{}), marked: true,
	}
	s.stopped, s.cancel = context.WithCancel(context.Background())
	s.answer.defs.tag = c.Tag
	return s
}

// Ready waits until the key exchange is over and returns its error, ErrNotReady
// if the session ended before.
func (s *Session) Ready(ctx context.Context) error {
	select {
	case <-s.ready:
		return s.readyErr
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the session at once. Serve returns soon.
func (s *Session) Close() {
	s.cancel()
	s.client.Close()
	s.server.Close()
}

// Drain ends the session as soon as it waits for a command outside a
// transaction.
func (s *Session) Drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
	if s.idle {
		s.client.Close()
	}
}

// Serve runs the session until one side ends it, which is no error, or until
// ctx is done. Errors hold no key and no value.
func (s *Session) Serve(ctx context.Context) error {
	defer s.finish()
	defer context.AfterFunc(ctx, s.Close)()
	if err := s.begin(); err != nil {
		return err
	}
	for {
		p, err := s.await()
		if err != nil || p == nil {
			return err
		}
		if more, err := s.command(p); err != nil || !more {
			return err
		}
	}
}

// finish ends both connections and wipes the keys.
func (s *Session) finish() {
	s.Close()
	s.end(ErrNotReady)
	s.forget()
}

// end makes err the result of the first key exchange, unless there is one.
func (s *Session) end(err error) {
	s.once.Do(func() {
		s.readyErr = err
		close(s.ready)
	})
}

// begin takes the application through login and key exchange.
func (s *Session) begin() error {
	ctx := s.stopped
	if t := s.cfg.LoginTime; t > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t)
		defer cancel()
	}
	defer context.AfterFunc(ctx, s.Close)()
	cfg := s.cfg.login()
	user, err := wire.RelayLogin(ctx, s.client, s.server, &cfg)
	if err != nil {
		return err
	}
	s.user = user
	return s.handOver(ctx)
}

// handOver exchanges keys. The application learns of a failure by the answer to
// its first command: at this point it is logged in.
func (s *Session) handOver(ctx context.Context) error {
	err := s.exchange(ctx)
	s.end(err)
	if err == nil {
		return nil
	}
	if _, rerr := s.client.ReadCommand(s.cfg.Idle); rerr == nil {
		s.tell(StateExchange, err)
	}
	return fmt.Errorf("exchange keys: %w", err)
}

// tell answers the application with an error of our own.
func (s *Session) tell(state string, err error) error {
	if werr := s.client.WriteErr(wire.CodeUnknown, state, "veildb: "+err.Error()); werr != nil {
		return werr
	}
	return s.client.Flush()
}

// await waits for the next command. It returns nil at the session's end.
func (s *Session) await() ([]byte, error) {
	s.mu.Lock()
	free := !s.answer.resp.Status.Has(wire.StatusInTransaction)
	if s.draining && free {
		s.mu.Unlock()
		return nil, s.client.Flush()
	}
	s.idle = free
	s.mu.Unlock()
	p, err := s.client.ReadCommand(s.cfg.Idle)
	s.mu.Lock()
	s.idle = false
	drained := s.draining && free
	s.mu.Unlock()
	switch {
	case drained, errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed), errors.Is(err, io.ErrClosedPipe):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read command: %w", err)
	}
	return p, nil
}

// command passes a command on and its answer back. It reports whether another
// command can follow.
func (s *Session) command(p []byte) (more bool, err error) {
	cmd := wire.Command(p[0])
	switch {
	case cmd == wire.ComQuit:
		s.server.WriteCommand(p)
		return false, s.server.Flush()
	case cmd == wire.ComChangeUser:
		return true, s.changeUser(p)
	case cmd.Shape() == wire.ShapeRefused:
		return true, s.client.WriteErr(wire.CodeUnknownCommand, "08S01", "Unknown command")
	}
	id, err := s.statement(cmd, p)
	if err != nil {
		return false, err
	}
	if err := s.server.WriteCommand(p); err != nil {
		return false, fmt.Errorf("pass on command: %w", err)
	}
	if err := s.relay(cmd, id); err != nil {
		return false, fmt.Errorf("relay answer to %v: %w", cmd, err)
	}
	return true, nil
}

// statement is the prepared statement a command is about, and keeps the books
// of cursors.
func (s *Session) statement(cmd wire.Command, p []byte) (uint32, error) {
	switch cmd {
	case wire.ComStmtExecute, wire.ComStmtFetch, wire.ComStmtClose:
	case wire.ComResetConnection:
		clear(s.cursors)
		return 0, nil
	default:
		return 0, nil
	}
	id, err := wire.StmtID(p)
	if err != nil {
		return 0, err
	}
	if id == wire.LastPrepared {
		id = s.last
	}
	if cmd != wire.ComStmtFetch {
		delete(s.cursors, id)
	}
	return id, nil
}

// changeUser logs in anew on the same connection, with a key exchange: the
// server has dropped the key.
func (s *Session) changeUser(p []byte) error {
	clear(s.cursors)
	cfg := s.cfg.login()
	user, err := wire.RelayChangeUser(s.stopped, p, s.client, s.server, s.user, &cfg)
	if err != nil {
		return err
	}
	s.user = user
	s.answer.resp = wire.Response{}
	return s.handOver(s.stopped)
}
