package study

import (
	"fmt"
	"slices"
	"strings"
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

// TestPlanOfStudies sees what an hour, and a quick run, give the comparisons.
func TestPlanOfStudies(t *testing.T) {
	for _, c := range []struct {
		study          string
		quick          bool
		comparisons    int
		each, headline time.Duration // at least, in an hour
		thin           bool
	}{
		{"polardb-confidential", false, 21, 2 * time.Minute, 6 * time.Minute, false},
		{"rds-tde", true, 16, 100 * time.Second, 5 * time.Minute, false},
		{"rds-tde", false, 340, 10 * time.Second, 30 * time.Second, true},
		{"edb-tde", false, 13, 3 * time.Minute, 10 * time.Minute, false},
		{"edb-upgrade", false, 3, 20 * time.Minute, 20 * time.Minute, false},
		{"embedded", false, 20, 2 * time.Minute, 0, false},
	} {
		d, err := Find(c.study)
		if err != nil {
			t.Fatal(err)
		}
		if c.quick {
			if d, err = d.Scaled(d.Quick); err != nil {
				t.Fatal(err)
			}
		}
		if d, err = d.Narrow(Choice{Budget: time.Hour}); err != nil {
			t.Fatal(err)
		}
		got := d.Outline()
		if got.Comparisons != c.comparisons || got.Each < c.each || got.Headline < c.headline || got.Thin != c.thin {
			t.Errorf("%s in an hour: %+v, want at least %+v", c.study, got, c)
		}
	}
}

// TestTurns has the headline and its controls first, and otherwise the order of
// the report.
func TestTurns(t *testing.T) {
	d, err := Parse([]byte(strings.Replace(scaled, "tables:\n", `controls: headline
headline: [{workloads: [oltp_delete], threads: [8], variants: [cols20], weight: 4}]
tables:
`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range d.turns()[:3] {
		got = append(got, fmt.Sprintf("%s %s %d: %d", c.Workload, c.Variant, c.Threads, d.weightOf(c)))
	}
	want := []string{"oltp_delete plain 8: 4", "oltp_delete cols20 8: 4", "tprocc tde 1: 1"}
	if !slices.Equal(got, want) || len(d.turns()) != len(d.Cells()) {
		t.Errorf("turns %q, want %q", got, want)
	}
}
