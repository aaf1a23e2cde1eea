//go:build !pkcs11

package kms

import (
	"fmt"

	"github.com/veildb/veildb/internal/keys/keyring"
)

// openPKCS11 refuses: a token's library can only be loaded by cgo. Errors:
// ErrConfig, ErrNotBuilt.
func openPKCS11(uri string, _ Config) (keyring.Provider, error) {
	if _, err := parsePKCS11(uri); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("use a token: %w: build with a C compiler and: go build -tags pkcs11 ./cmd/veildb", ErrNotBuilt)
}
