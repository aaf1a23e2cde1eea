package wire

import (
	"testing"
	"time"
)

func TestBound(t *testing.T) {
	var b bound
	for _, tt := range []struct {
		name string
		d    time.Duration
		do   func()
		set  bool
	}{
		{"first", time.Hour, nil, true},
		{"again", time.Hour, nil, false},
		{"shorter", time.Minute, nil, true},
		{"longer", time.Hour, nil, true},
		{"none", 0, nil, true},
		{"after none", time.Hour, nil, true},
		{"another's", time.Hour, func() { b.foreign.Store(true) }, true},
		{"after another's", time.Hour, nil, false},
		{"old", time.Hour, func() { b.until = b.until.Add(-5 * time.Minute) }, true},
	} {
		if tt.do != nil {
			tt.do()
		}
		before := time.Now()
		until, set := b.renew(tt.d)
		if set != tt.set {
			t.Errorf("%s: set %t", tt.name, set)
		}
		if left := until.Sub(before); set && tt.d > 0 && left < tt.d || tt.d == 0 && !until.IsZero() {
			t.Errorf("%s: %v left", tt.name, left)
		}
	}
}
