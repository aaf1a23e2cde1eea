//go:build !linux

package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/atrest/fusefs"
)

func isRoot() bool { return false }

func (o *mountOptions) run(*cobra.Command, *Env) error {
	return &Error{Code: ExitMissing, Op: "mount volume", Err: fusefs.ErrUnavailable, Hint: "mount it on a Linux machine"}
}

func runUmount(context.Context, *Env, string) error {
	return &Error{Code: ExitMissing, Op: "unmount volume", Err: fusefs.ErrUnavailable, Hint: "mount it on a Linux machine"}
}
