// Package kms holds the providers of root keys.
package kms

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/keys/keyring"
)

var (
	// ErrUnknown means a URI names no provider that this program has.
	ErrUnknown = errors.New("unknown key provider")
	// ErrInsecure means a key or passphrase file can be read or changed by
	// others.
	ErrInsecure = errors.New("not protected from other users")
	// ErrConfig means a provider cannot be used as it is set up.
	ErrConfig = errors.New("key provider is not set up")
	// ErrNotBuilt means this program was built without the provider.
	ErrNotBuilt = errors.New("not part of this build")
)

// Config is what providers need beside their URI. Its zero value serves those
// that ask nobody.
type Config struct {
	// Passphrase asks the user; provider "passphrase" needs it. isNew is true
	// when a new passphrase is set, which is best asked for twice.
	Passphrase func(ctx context.Context, isNew bool) (*secret.Bytes, error)

	// Argon2 is the cost of new passphrase wrappings; zero means Calibrate.
	Argon2 Argon2

	// WrapCommand and UnwrapCommand are those of provider "command"; "" means
	// EnvWrapCommand and EnvUnwrapCommand.
	WrapCommand, UnwrapCommand string

	// PIN asks the user for the PIN of a token; nil if nobody can be asked.
	PIN func(ctx context.Context, token string) (*secret.Bytes, error)

	// Timeout bounds each call of a key manager or command; zero means 30 s.
	Timeout time.Duration
}

// Open makes the provider that a URI names, without calling it:
//
//	file:PATH                    32 bytes in a file
//	passphrase                   asked for
//	passphrase-file:PATH         in a file
//	passphrase-credential:NAME   a credential of the systemd unit
//	command                      two shell commands, see Command
//	vault:URL#KEY                a transit key of Vault or OpenBao, see Vault
//	aws:ARN                      a key of a cloud, see Cloud
//	gcp:NAME
//	azure:URL
//	alicloud:ID
//	pkcs11:URI                   a key of a token, see PKCS11
//
// Errors: ErrUnknown, ErrConfig, ErrNotBuilt.
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
	case uri == "command":
		return provider(openCommand(c))
	case scheme == "vault" && rest != "":
		return provider(openVault(rest, c))
	case cloudKinds[scheme] != 0 && rest != "":
		return provider(openCloud(scheme, rest, c))
	case scheme == "pkcs11" && rest != "":
		return provider(openPKCS11(uri, c))
	}
	return nil, fmt.Errorf("use key provider %q: %w", uri, ErrUnknown)
}

// provider keeps a nil pointer from becoming a provider.
func provider[P keyring.Provider](p P, err error) (keyring.Provider, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}
