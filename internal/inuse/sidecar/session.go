package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// A Session is one connection of an application:
//
//	login ──► key exchange ──► commands ──► end
//	               ▲              │
//	               └─ change user ┘
//
// Serve runs it in one goroutine; Drain and Close are for others. The
// application is logged in only when the key has been handed over.
type Session struct {
	cfg            *Config
	client, server *wire.Conn
	user           *wire.Session
	cancel         context.CancelFunc // of key exchanges
	stopped        context.Context

	keys   *encdb.Client
	opener *encdb.Opener // nil without a key exchange
	marked bool          // the server marks protected columns

	mu       sync.Mutex
	idle     bool // waiting for a command outside a transaction
	draining bool
	waiting  bool  // waiting for a command
	lost     bool  // the server has ended its side
	turn     int64 // commands so far
	seen     int64 // when it was looked at last whether the application is there
	sent     uint64

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
		marked: true,
	}
	s.stopped, s.cancel = context.WithCancel(context.Background())
	s.answer.defs.tag = c.Tag
	return s
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
	defer wire.OnHangup(s.client, s.applicationLeft)()
	defer wire.OnHangup(s.server, s.serverLeft)()
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
	s.forget()
}

// begin takes the application through login and key exchange. If the exchange
// fails so does the login, with its error.
func (s *Session) begin() error {
	ctx := s.stopped
	if t := s.cfg.LoginTime; t > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t)
		defer cancel()
	}
	return s.login(ctx, func(cfg *wire.LoginConfig) (*wire.Session, error) {
		return wire.RelayLogin(ctx, s.client, s.server, cfg)
	})
}

// changeUser does the same on the connection there is: the server has dropped
// the key.
func (s *Session) changeUser(p []byte) error {
	clear(s.cursors)
	s.answer.resp = wire.Response{}
	return s.login(s.stopped, func(cfg *wire.LoginConfig) (*wire.Session, error) {
		return wire.RelayChangeUser(s.stopped, p, s.client, s.server, s.user, cfg)
	})
}

func (s *Session) login(ctx context.Context, relay func(*wire.LoginConfig) (*wire.Session, error)) (err error) {
	cfg := s.cfg.login()
	var failed error
	cfg.Accepted = func(*wire.Session) error {
		if failed = s.exchange(ctx); failed != nil {
			return fmt.Errorf("veildb: %w", failed)
		}
		return nil
	}
	if s.user, err = relay(&cfg); failed != nil {
		return failed
	}
	return err
}

// await waits for the next command. It returns nil at the session's end.
func (s *Session) await() ([]byte, error) {
	s.mu.Lock()
	free := !s.answer.resp.Status.Has(wire.StatusInTransaction)
	if s.lost || s.draining && free {
		s.mu.Unlock()
		return nil, s.client.Flush()
	}
	s.idle, s.waiting = free, true
	s.mu.Unlock()
	p, err := s.client.ReadCommand(s.cfg.Idle)
	s.mu.Lock()
	s.idle, s.waiting = false, false
	s.turn++
	drained := s.lost || s.draining && free
	s.mu.Unlock()
	switch {
	case drained, errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed), errors.Is(err, io.ErrClosedPipe):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read command: %w", err)
	}
	return p, nil
}

// serverLeft ends a session that waits for a command: the application should not
// learn of it from the next one, of which it would not know whether it was done.
func (s *Session) serverLeft(wire.Hangup) (again time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = true
	if s.waiting {
		go s.client.Close()
	}
	return 0
}

// applicationLeft ends a session at work for nobody, so that the gate notices. An
// application that has ended its side has a second more, as at the gate.
func (s *Session) applicationLeft(h wire.Hangup) (again time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.waiting && (h.Gone || h.Quiet && s.turn == s.seen && h.Sent == s.sent) {
		go s.Close()
		return 0
	}
	s.seen, s.sent = s.turn, h.Sent
	if s.waiting {
		s.seen = -1
	}
	return time.Second
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
		s.answer.sets.Clear()
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
	if cmd == wire.ComStmtClose {
		s.answer.heads.drop(id)
		s.answer.sets.Drop(id)
	}
	return id, nil
}
