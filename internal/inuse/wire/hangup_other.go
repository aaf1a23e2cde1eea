//go:build !linux

package wire

import (
	"syscall"
	"time"
)

type hangupWatch struct {
	socket syscall.RawConn
	secure bool
	f      func(Hangup) time.Duration
}

func (w *hangupWatch) begin() (stop func()) { return func() {} }
