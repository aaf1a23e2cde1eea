package wire

import (
	"bytes"
	"fmt"
)

// Marks of the exchanges that can need the password itself.
const (
	cachingFastOK   = 3 // server: the answer was right
	cachingFull     = 4 // server: send the password
	cachingAskKey   = 2 // client: send the public key
	sha256AskKey    = 1 // client: the same
	maxAuthRounds   = 16
	maxPasswordSize = 1024 // bytes
)

// exchange passes the packets of the plugins on until the server says yes or
// no, and fills l.session.
func (l *login) exchange() error {
	for range maxAuthRounds {
		p, err := l.server.ReadPacket()
		if err != nil {
			return err
		}
		if len(p) == 0 {
			return malformed("authentication packet")
		}
		switch p[0] {
		case okHeader:
			return l.accepted(p)
		case errHeader:
			return l.denied(p)
		case authSwitchHeader:
			err = l.switchPlugin(p)
		default:
			err = l.more(p)
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("authenticate: %w: too many rounds", ErrMalformed)
}

// accepted ends the login.
func (l *login) accepted(p []byte) error {
	p = clone(p)
	ok, err := DecodeOK(p, l.server.Caps)
	if err != nil {
		return err
	}
	l.session.OK, l.session.Plugin = ok, l.plugin
	if l.cfg.Accepted != nil {
		if err := l.cfg.Accepted(&l.session); err != nil {
			return &refusal{CodeUnknown, "HY000", err.Error(), err}
		}
	}
	if err := l.client.WritePacket(p); err != nil {
		return err
	}
	return l.client.Flush()
}

// denied passes the server's refusal on.
func (l *login) denied(p []byte) error {
	e, err := DecodeErr(p)
	if err != nil {
		return err
	}
	l.told = true
	if err := l.server.CopyTo(l.client); err != nil {
		return err
	}
	return fmt.Errorf("%w (error %d)", ErrDenied, e.Code)
}

func (l *login) switchPlugin(p []byte) error {
	sw, err := DecodeAuthSwitch(p)
	if err != nil {
		return err
	}
	if !relayablePlugin(string(sw.Plugin)) {
		return refusePlugin(sw.Plugin)
	}
	l.plugin, l.session.scramble = string(sw.Plugin), clone(sw.Challenge())
	if l.plugin == PluginSHA256 {
		if err := l.server.CopyTo(l.client); err != nil {
			return err
		}
		return l.password(sha256AskKey)
	}
	return l.round()
}

// round passes the server's packet to the client and its answer back.
func (l *login) round() error {
	if err := l.server.CopyTo(l.client); err != nil {
		return err
	}
	if _, err := l.client.ReadPacket(); err != nil {
		return err
	}
	return l.client.CopyTo(l.server)
}

// more deals with data of the plugin. MariaDB sends it bare if its first byte
// cannot be mistaken.
func (l *login) more(p []byte) error {
	switch l.plugin {
	case PluginCaching:
		switch {
		case bytes.Equal(p, []byte{authMoreHeader, cachingFastOK}):
			return l.server.CopyTo(l.client) // an OK follows
		case bytes.Equal(p, []byte{authMoreHeader, cachingFull}):
			if err := l.server.CopyTo(l.client); err != nil {
				return err
			}
			return l.password(cachingAskKey)
		}
		return malformed("authentication packet")
	case PluginParsec:
		return l.round()
	}
	// A plugin of one answer has nothing to add.
	return malformed("authentication packet")
}
