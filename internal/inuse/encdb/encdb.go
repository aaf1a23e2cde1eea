// Package encdb speaks the client protocol of confidential MySQL services: the
// messages by which a client hands over its master key, and the encrypted
// cells it gets for that.
//
// A server keeps one Session for a connection, a client one Client. Both turn
// bytes into bytes and know nothing of the connection that carries them.
//
// Terms: the MEK is the client's master key. A cell key (DEK) is derived from
// it and the 8-byte nonce that every cell carries:
//
//	DEK = HKDF(hash of the suite, MEK, salt nonce, info "")
//
// Two layouts of cells exist. Version 64 is what existing clients read; it
// binds a cell to nothing. Version 65 is ours and is agreed on between our own
// ends; see Layout65.
package encdb

import (
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"

	"github.com/veildb/veildb/internal/crypto/sm"
)

// Version is the protocol version a Session reports. Clients look for marked
// columns only if it is exactly this one.
const Version = "1.1.14"

// ClientVersion is the client version a Client reports.
const ClientVersion = "1.2.15"

// CipherMark is set in the second filler byte, the last one, of the column
// definition (protocol 4.1) of a protected column. Where the ends agreed on
// Layout65, the first filler byte holds the column's own type; the definition
// itself says VAR_STRING in both layouts. A column nobody can open
// (Session.Blocked) is VAR_STRING without the mark, so that no client tries.
const CipherMark = 0x80

var (
	// ErrNotCell means a value has not the form of a cell.
	ErrNotCell = errors.New("not an encrypted cell")
	// ErrTampered means a cell does not open: another key, another place, or
	// altered. Which of them cannot be known.
	ErrTampered = errors.New("cell damaged, of another column or under another key")
	// ErrWeak means a cell is under a cipher without authentication and the
	// client was not told to accept those.
	ErrWeak = errors.New("cell under a cipher without authentication")
	// ErrUnsupported means the peer wants an algorithm, suite or layout that
	// is unknown or refused.
	ErrUnsupported = errors.New("not supported")
	// ErrValue means a value is not one of its column's type.
	ErrValue = errors.New("value does not fit its column type")
	// ErrEnvelope means an envelope does not open or holds no key. It says no
	// more, so that it serves no oracle.
	ErrEnvelope = errors.New("envelope does not open")
	// ErrMessage means a protocol message is malformed.
	ErrMessage = errors.New("malformed message")
	// ErrRefused means the server answered with a failure.
	ErrRefused = errors.New("refused by the server")
	// ErrPin means the server's key is not the one the client was told to expect.
	ErrPin = errors.New("key of the server is not the pinned one")
	// ErrNoKey means cells are to be opened before a key was handed over.
	ErrNoKey = errors.New("no master key handed over yet")
	// ErrClosed means a session was used after Close.
	ErrClosed = errors.New("session is closed")
)

// A Hash is the hash of a suite.
type Hash byte

// The hashes.
const (
	SHA256 Hash = iota
	SM3
)

func (h Hash) new() hash.Hash {
	if h == SM3 {
		return sm.NewSM3()
	}
	return sha256.New()
}

func (h Hash) sum(b []byte) []byte {
	d := h.new()
	d.Write(b)
	return d.Sum(nil)
}

// derive returns n bytes of HKDF. The caller wipes them.
func (h Hash) derive(key, salt []byte, info string, n int) ([]byte, error) {
	out, err := hkdf.Key(h.new, key, salt, info, n)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	return out, nil
}
