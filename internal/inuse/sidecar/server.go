package sidecar

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// A Server serves applications that connect.
type Server struct {
	Config *Config
	// Dial connects to the confidential server.
	Dial func(context.Context) (net.Conn, error)
	// Most is the most applications at once; 0 is no limit. More wait to be
	// accepted.
	Most int
	// Grace is how long applications have, when the server stops, to end
	// their transactions; then they are cut off.
	Grace time.Duration
	Log   *slog.Logger // nil is silent

	mu       sync.Mutex
	sessions map[*Session]struct{}
	stopping bool
	wg       sync.WaitGroup
}

// Serve accepts applications on ln until ctx is done; then it lets them end what
// they began, at most Grace long, and returns nil. It closes ln.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	s.sessions = map[*Session]struct{}{}
	defer context.AfterFunc(ctx, func() { ln.Close() })()
	err := s.accept(ctx, ln)
	ln.Close()
	s.drain()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// accept accepts until ln is closed.
func (s *Server) accept(ctx context.Context, ln net.Listener) error {
	var slots chan struct{}
	if s.Most > 0 {
		slots = make(chan struct{}, s.Most)
	}
	for {
		if slots != nil {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return nil
			}
		}
		nc, err := ln.Accept()
		if err != nil && !errors.Is(err, net.ErrClosed) {
			s.log("accept", err)
			if slots != nil {
				<-slots
			}
			time.Sleep(50 * time.Millisecond) // files or memory may come free
			continue
		}
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		s.wg.Go(func() {
			s.serve(nc)
			if slots != nil {
				<-slots
			}
		})
	}
}

// serve serves one application.
func (s *Server) serve(nc net.Conn) {
	defer nc.Close()
	ctx := context.Background()
	dctx := ctx
	if t := s.Config.LoginTime; t > 0 {
		var cancel context.CancelFunc
		dctx, cancel = context.WithTimeout(ctx, t)
		defer cancel()
	}
	server, err := s.Dial(dctx)
	if err != nil {
		c := wire.NewConn(nc, wire.Limits{Write: time.Second})
		c.WriteErr(wire.CodeUnknown, "", "veildb: the server cannot be reached")
		c.Flush()
		s.log("connect to server", err)
		return
	}
	session := s.Config.NewSession(nc, server)
	if !s.add(session) {
		session.Close()
		return
	}
	err = session.Serve(ctx)
	s.remove(session)
	if err != nil {
		s.log("serve application", err)
	}
}

func (s *Server) add(session *Session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return false
	}
	s.sessions[session] = struct{}{}
	return true
}

func (s *Server) remove(session *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, session)
}

// drain ends all sessions, and takes no more.
func (s *Server) drain() {
	s.each((*Session).Drain)
	cut := time.AfterFunc(s.Grace, func() { s.each((*Session).Close) })
	defer cut.Stop()
	s.wg.Wait()
}

// each calls f with the sessions there are; there will be no others.
func (s *Server) each(f func(*Session)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	for session := range s.sessions {
		f(session)
	}
}

func (s *Server) log(what string, err error) {
	if s.Log != nil {
		s.Log.Warn(what, "error", err)
	}
}
