package failover

import (
	"testing"
	"time"
)

// TestGap takes a replica away after ten seconds and looks for the pause.
func TestGap(t *testing.T) {
	const s = time.Second
	at := func(seconds ...float64) (acks []ack) {
		for i, x := range seconds {
			end := time.Duration(x * float64(s))
			acks = append(acks, ack{id: int64(i), begun: end - s/10, at: end})
		}
		return acks
	}
	m := moments{killed: 10 * s, dead: 10 * s, recovered: 17 * s, rejoin: 20 * s, rejoined: 25 * s, end: 30 * s}
	for _, c := range []struct {
		name            string
		acks            []ack
		longest, served float64
	}{
		{"a pause after the kill", at(9, 9.9, 16, 17, 18, 19, 20), 6.1, 6},
		{"an answer on its way is no service", at(9.9, 10.05, 16, 18, 20), 5.95, 6},
		{"no pause", at(9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20), 1, 1},
		{"pauses before the kill and after the return do not count", at(1, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 29), 1, 1},
		{"nothing until the return", at(9, 21, 22), 0, 10},
	} {
		longest, served := gap(c.acks, m)
		if diff := longest - c.longest; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("%s: pause of %v s, want %v", c.name, longest, c.longest)
		}
		if diff := served - c.served; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("%s: served after %v s, want %v", c.name, served, c.served)
		}
	}
}

// TestAllSince waits for the slowest terminal.
func TestAllSince(t *testing.T) {
	l := &load{terminals: []*terminal{{}, {}}}
	l.terminals[0].last.Store(int64(5 * time.Second))
	l.terminals[1].last.Store(int64(time.Second))
	if l.allSince(2 * time.Second) {
		t.Error("a terminal that has committed nothing since counts as back")
	}
	l.terminals[1].last.Store(int64(3 * time.Second))
	if !l.allSince(2 * time.Second) {
		t.Error("all terminals have committed, and do not count as back")
	}
}
