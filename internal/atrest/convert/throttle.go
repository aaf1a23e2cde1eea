package convert

import (
	"context"
	"sync"
	"time"
)

// A throttle spreads bytes over time. Its zero rate lets everything pass.
type throttle struct {
	rate int64 // bytes a second

	mu   sync.Mutex
	free time.Time // when the next bytes may pass
}

func newThrottle(rate int64) *throttle { return &throttle{rate: rate} }

// wait returns when n more bytes may pass, or with the error of ctx.
func (t *throttle) wait(ctx context.Context, n int) error {
	if t.rate <= 0 {
		return ctx.Err()
	}
	t.mu.Lock()
	now := time.Now()
	if t.free.Before(now) {
		t.free = now
	}
	delay := t.free.Sub(now)
	t.free = t.free.Add(time.Duration(float64(n) / float64(t.rate) * float64(time.Second)))
	t.mu.Unlock()
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
