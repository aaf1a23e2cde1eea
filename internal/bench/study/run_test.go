package study

import (
	"testing"
	"time"
)

// TestStopAfter spends more on copies than a sitting has: quads still end it.
func TestStopAfter(t *testing.T) {
	for _, c := range []struct{ budget, spent, want time.Duration }{
		{time.Second, 400 * time.Millisecond, 600 * time.Millisecond},
		{time.Second, time.Second, time.Millisecond},
		{time.Second, time.Minute, time.Millisecond},
		{-time.Second, time.Second, time.Millisecond},
	} {
		if got := stopAfter(c.budget, c.spent); got.Budget != c.want || got.MinQuads < 2 {
			t.Errorf("budget %v, %v spent: %+v, want budget %v and 2 quads or more", c.budget, c.spent, got, c.want)
		}
	}
}
