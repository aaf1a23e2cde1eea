package wire

import (
	"sync/atomic"
	"time"
)

// A bound is a deadline on one direction of a connection. Setting one costs a
// good part of a round trip's processor time, so one that has lost less than a
// sixteenth of its time stays.
type bound struct {
	limit   time.Duration // 0: none stands that can stay
	until   time.Time
	foreign atomic.Bool // somebody else has set another
}

// renew reports whether a deadline must be set for a wait of d from now, and
// which: the zero time, for none, if d is 0.
func (b *bound) renew(d time.Duration) (t time.Time, set bool) {
	if d <= 0 {
		b.limit = 0
		return t, true
	}
	now := time.Now()
	if foreign := b.foreign.Load() && b.foreign.Swap(false); !foreign && b.limit == d && b.until.Sub(now) > d-d/16 {
		return t, false
	}
	b.limit, b.until = d, now.Add(d)
	return b.until, true
}
