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
	clock = clock.Add(5 * time.Second)
	p.update(1, "loading", "its end, however soon")
	p.update(1, "loading", "its end again")
	want := "  0 %  loading\n 25 %  loading  30s to go  50,000 rows/s\n100 %  loading  its end, however soon\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestProgressBarErasesLongerLine(t *testing.T) {
	var b strings.Builder
	clock := time.Unix(1000, 0)
	p := &progress{w: &b, terminal: true, started: clock, now: func() time.Time { return clock }, columns: func() int { return 80 }}
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

// TestProgressFits draws on terminals of any width: no line reaches the end,
// where the terminal would begin another one.
func TestProgressFits(t *testing.T) {
	for _, columns := range []int{0, 1, 10, 40, 79, 80, 200} {
		var b strings.Builder
		clock := time.Unix(1000, 0)
		p := &progress{w: &b, terminal: true, started: clock, now: func() time.Time { return clock }, columns: func() int { return columns }}
		p.update(0.5, "oltp_read_write cols100", "12345 tx/s, overhead +12.3 % [-4.5, 67.8], 123 quads")
		clock = clock.Add(time.Second)
		p.update(1, "short", "")
		for _, line := range strings.Split(b.String(), "\r") {
			if n := len([]rune(line)); n > 0 && n >= columns {
				t.Errorf("%d columns: line of %d characters: %q", columns, n, line)
			}
		}
		if columns >= 40 && !strings.Contains(b.String(), "short") {
			t.Errorf("%d columns: %q lacks its label", columns, b.String())
		}
	}
}
