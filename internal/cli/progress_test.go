package cli

import (
	"strings"
	"testing"
	"time"
)

func TestProgressLines(t *testing.T) {
	var b strings.Builder
	clock := time.Unix(1000, 0)
	p := &progress{w: &b, started: clock, now: func() time.Time { return clock }}
	p.update(0, "loading", "")
	clock = clock.Add(5 * time.Second)
	p.update(0.2, "loading", "too soon for another line")
	clock = clock.Add(5 * time.Second)
	p.update(0.25, "loading", "50,000 rows/s")
	want := "  0 %  loading\n 25 %  loading  30s to go  50,000 rows/s\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestProgressBarErasesLongerLine(t *testing.T) {
	var b strings.Builder
	clock := time.Unix(1000, 0)
	p := &progress{w: &b, terminal: true, started: clock, now: func() time.Time { return clock }}
	p.update(0.5, "a rather long label", "")
	clock = clock.Add(time.Second)
	p.update(1, "short", "")
	p.clear()
	lines := strings.Split(b.String(), "\r")
	if len([]rune(lines[2])) < len([]rune(lines[1])) {
		t.Errorf("second line %q does not cover the first %q", lines[2], lines[1])
	}
	if strings.TrimSpace(lines[3]) != "" || lines[4] != "" {
		t.Errorf("clear left %q", lines[3:])
	}
}
