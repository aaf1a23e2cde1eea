package study

import (
	"testing"
	"time"
)

// TestStopAfter spends more on copies than a sitting has: quads still end it.
func TestStopAfter(t *testing.T) {
	for _, c := range []struct{ left, want time.Duration }{
		{600 * time.Millisecond, 600 * time.Millisecond},
		{0, time.Millisecond},
		{-time.Minute, time.Millisecond},
	} {
		if got := stopAfter(c.left); got.Budget != c.want || got.MinQuads < 2 {
			t.Errorf("%v left: %+v, want budget %v and 2 quads or more", c.left, got, c.want)
		}
	}
}
