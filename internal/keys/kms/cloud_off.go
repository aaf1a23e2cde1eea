//go:build !cloudkms

package kms

import (
	"fmt"

	"github.com/veildb/veildb/internal/keys/keyring"
)

// openCloud refuses: the clouds' libraries triple the build. Errors:
// ErrConfig, ErrNotBuilt.
func openCloud(scheme, name string, _ Config) (keyring.Provider, error) {
	k, err := parseCloud(scheme, name)
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("use %s: %w: build with: go build -tags cloudkms ./cmd/veildb", k.uri(), ErrNotBuilt)
}
