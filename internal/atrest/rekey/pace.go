package rekey

import (
	"context"
	"time"
)

// A pace spreads bytes over time, for one goroutine. Rate 0 lets everything
// pass.
type pace struct {
	rate int64 // bytes a second
	free time.Time
}

func newPace(rate int64) *pace { return &pace{rate: rate} }

// wait returns when n more bytes may pass, or with the error of ctx.
func (p *pace) wait(ctx context.Context, n int) error {
	if p.rate <= 0 {
		return ctx.Err()
	}
	now := time.Now()
	if p.free.Before(now) {
		p.free = now
	}
	timer := time.NewTimer(p.free.Sub(now))
	defer timer.Stop()
	p.free = p.free.Add(time.Duration(float64(n) / float64(p.rate) * float64(time.Second)))
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
