//go:build !linux

package dsn

import (
	"context"
	"net"
)

// Dial connects as net.Dialer does.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

// HangUp does nothing here: statements are waited for.
func HangUp() {}
