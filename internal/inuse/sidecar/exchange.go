package sidecar

import (
	"context"
	"errors"
	"fmt"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// Errors of a server that does not have the protocol's function.
const (
	codeNoDatabase = 1046 // a function's name is looked up in the database
	codeNoFunction = 1305
	codeNoExecute  = 1370 // MySQL does not tell who may not execute functions there
)

// exchange hands the master key to the server, which has no answer pending.
func (s *Session) exchange(ctx context.Context) error {
	s.forget()
	key, err := s.cfg.Key(ctx)
	if err != nil {
		return fmt.Errorf("get master key: %w", err)
	}
	defer key.Close()
	s.keys, err = encdb.NewClient(encdb.ClientConfig{
		MEK: key, Algorithm: s.cfg.Algorithm, Pin: s.cfg.Pin, AllowWeak: s.cfg.AllowWeak, Only64: s.cfg.Only64,
	})
	if err != nil {
		return err
	}
	info, err := s.ask(s.keys.Hello())
	if missing(err) {
		if s.cfg.Plain {
			return nil
		}
		return fmt.Errorf("get server info: %w", ErrNotConfidential)
	}
	if err != nil {
		return fmt.Errorf("get server info: %w", err)
	}
	if !s.cfg.Insecure && s.cfg.Pin == "" && !s.cfg.verified() && !s.onSocket() {
		return fmt.Errorf("hand over key: %w", ErrInsecure)
	}
	if err := s.provision(info); err != nil {
		return err
	}
	s.opener, err = s.keys.Opener()
	return err
}

// forget wipes what the last exchange left.
func (s *Session) forget() {
	if s.keys != nil {
		s.keys.Close()
	}
	s.keys, s.opener, s.marked = nil, nil, true
	s.answer.heads, s.answer.defs.known = heads{}, nil
	s.answer.sets.Clear()
}

// provision hands the key over and finds out whether columns are marked.
func (s *Session) provision(info []byte) error {
	request, err := s.keys.Provision(info)
	if err != nil {
		return err
	}
	answer, err := s.ask(request)
	if err == nil {
		err = s.keys.Finish(answer)
	}
	if errors.Is(err, encdb.ErrRefused) {
		return fmt.Errorf("%w: %w", ErrWrongKey, err)
	}
	if err != nil {
		return fmt.Errorf("hand over key: %w", err)
	}
	probed := false
	if !s.keys.Marked(false) {
		probe := func([]wire.Column, [][]byte) error { probed = true; return nil }
		if err := wire.RunQuery(s.server, encdb.ProbeStatement, probe); err != nil {
			return fmt.Errorf("probe server: %w", err)
		}
	}
	if s.marked = s.keys.Marked(probed); !s.marked && !s.cfg.Guess {
		return ErrUnmarked
	}
	return nil
}

// ask runs one of the protocol's statements and returns the one value of its
// answer.
func (s *Session) ask(sql []byte) (cell []byte, err error) {
	rows := 0
	err = wire.RunQuery(s.server, string(sql), func(_ []wire.Column, values [][]byte) error {
		if rows++; rows > 1 || len(values) != 1 {
			return encdb.ErrMessage
		}
		cell = append(cell, values[0]...)
		return nil
	})
	if err == nil && rows == 0 {
		err = encdb.ErrMessage
	}
	return cell, err
}

// missing reports whether err says that the server has no such function.
func missing(err error) bool {
	var e *wire.ServerError
	return errors.As(err, &e) && (e.Code == codeNoDatabase || e.Code == codeNoFunction || e.Code == codeNoExecute)
}

func (s *Session) onSocket() bool {
	a := s.server.NetConn().RemoteAddr()
	return a != nil && a.Network() == "unix"
}
