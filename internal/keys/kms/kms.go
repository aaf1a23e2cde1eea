// Package kms holds the providers of root keys.
package kms

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/keys/keyring"
)

var (
	// ErrUnknown means a URI names no provider that this program has.
	ErrUnknown = errors.New("unknown key provider")
	// ErrInsecure means a key or passphrase file can be read or changed by
	// others.
	ErrInsecure = errors.New("not protected from other users")
)

// Config is what providers need beside their URI. Its zero value serves those
// that ask nobody.
type Config struct {
	// Passphrase asks the user; provider "passphrase" needs it. isNew is true
	// when a new passphrase is set, which is best asked for twice.
	Passphrase func(ctx context.Context, isNew bool) (*secret.Bytes, error)

	// Argon2 is the cost of new passphrase wrappings; zero means Calibrate.
	Argon2 Argon2
}

// Open makes the provider that a URI names, without calling it:
//
//	file:PATH                    32 bytes in a file
//	passphrase                   asked for
//	passphrase-file:PATH         in a file
//	passphrase-credential:NAME   a credential of the systemd unit
//
// Errors: ErrUnknown.
func Open(uri string, c Config) (keyring.Provider, error) {
	scheme, rest, _ := strings.Cut(uri, ":")
	p := &Passphrase{argon2: c.Argon2}
	switch {
	case scheme == "file" && rest != "":
		return &File{path: rest}, nil
	case scheme == "passphrase" && rest == "" && c.Passphrase != nil:
		p.uri, p.read = "passphrase", p.asked(c.Passphrase)
		return p, nil
	case scheme == "passphrase-file" && rest != "":
		p.uri, p.read = uri, fromFile(rest)
		return p, nil
	case scheme == "passphrase-credential" && rest != "":
		p.uri, p.read = uri, fromCredential(rest)
		return p, nil
	}
	return nil, fmt.Errorf("use key provider %q: %w", uri, ErrUnknown)
}
