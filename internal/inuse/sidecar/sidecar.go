// Package sidecar is the revealing end of a MySQL connection: between an
// application and a confidential server it relays the protocol, hands the
// application's master key over, and opens the cells of protected columns.
//
// To the application it is the server without protection: column definitions
// get their own types back, rows their values. What that means depends on what
// the two ends agreed on (see package encdb):
//
//	own ones   the server's definition says the column's own type in its first
//	           filler byte and leaves all else as it was; so the application
//	           gets the very packets of an unprotected server
//	Layout64   the column's type is in each cell only; the application gets
//	           VAR_STRING and the values as text
//
// A cell that does not open ends the statement with an error; it is never
// passed on as if it were a value.
package sidecar

import (
	"context"
	"crypto/tls"
	"errors"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// Errors of the key exchange. Beside them come encdb.ErrPin and the other
// errors of encdb.Client.
var (
	// ErrNotConfidential means the server does not know the protocol.
	ErrNotConfidential = errors.New("server is not confidential")
	// ErrUnmarked means the server does not say which columns are protected.
	ErrUnmarked = errors.New("server does not mark protected columns")
	// ErrWrongKey means the server does not accept the master key.
	ErrWrongKey = errors.New("master key not accepted by the server")
	// ErrInsecure means nothing says that the other end is the server: no
	// verified certificate, no pinned key, no unix socket.
	ErrInsecure = errors.New("server not verified; the master key stays here")
	// ErrNoKey means a protected column came from a server that was not
	// given the key.
	ErrNoKey = errors.New("protected column without a key exchange")
)

// StateCell is the SQLSTATE of the error, 1105, that ends a statement whose
// cells do not open.
const StateCell = "VD001"

// A Config is common to sessions. Its zero value, with a Key, serves an
// application without TLS and a server on a unix socket. It must not change
// once a session has it.
type Config struct {
	// Key returns the master key, 16 or 32 bytes, for one key exchange; the
	// session closes it.
	Key       func(context.Context) (*secret.Bytes, error)
	Algorithm encdb.Algorithm // what cells should be under
	Pin       string          // see encdb.ClientConfig
	AllowWeak bool            // see encdb.ClientConfig
	Only64    bool            // see encdb.ClientConfig

	// Insecure lets the master key go to a server that is neither verified
	// nor pinned.
	Insecure bool
	// Plain serves a server without the protocol as it is.
	Plain bool
	// Guess tries each string of a server that does not mark protected
	// columns for a cell, and passes on what has not the form of one. A
	// string that only looks like a cell is an error then.
	Guess bool
	// Tag, for an application in this process, is appended to the name of
	// each column of Layout64 that holds cells; its values begin with a byte
	// that is the cell's type.
	Tag string

	TLS         *tls.Config // towards the server; nil is without TLS
	ClientTLS   *tls.Config // offered to applications; nil does not
	RequireTLS  bool        // refuse applications without TLS, unix sockets excepted
	Passwords   wire.PasswordPolicy
	AllowSocket bool // the server may be on a unix socket; see wire.LoginConfig
	Limits      wire.Limits
	Idle        time.Duration // longest wait for a command; 0 is for ever
	LoginTime   time.Duration // for login and key exchange; 0 is no limit
}

func (c *Config) login() wire.LoginConfig {
	return wire.LoginConfig{
		ClientTLS: c.ClientTLS, RequireTLS: c.RequireTLS, ServerTLS: c.TLS, Passwords: c.Passwords, AllowSocket: c.AllowSocket,
	}
}

// limits lets packets be as large as the protocol has them: they are the
// application's own, and memory grows only with what comes.
func (c *Config) limits() wire.Limits {
	lim := c.Limits
	if lim.Load == 0 {
		lim.Load = wire.MaxPacket
	}
	return lim
}

// verified reports whether the certificate of the server is checked.
func (c *Config) verified() bool {
	t := c.TLS
	return t != nil && (!t.InsecureSkipVerify || t.VerifyConnection != nil || t.VerifyPeerCertificate != nil)
}
