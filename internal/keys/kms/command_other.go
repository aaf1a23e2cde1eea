//go:build !unix

package kms

import (
	"context"
	"fmt"

	"github.com/veildb/veildb/internal/crypto/secret"
)

// run needs a Unix shell and process groups.
func (p *Command) run(context.Context, string, string, string, *secret.Bytes) (*secret.Bytes, error) {
	return nil, fmt.Errorf("run key command: %w", ErrNotBuilt)
}
