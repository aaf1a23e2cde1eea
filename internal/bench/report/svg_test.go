package report

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/result"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		n      int
		want   string
	}{
		{-1.2, 23.4, 8, "[0 5 10 15 20]"},
		{-7, 7, 5, "[-5 0 5]"},
		{0, 0.004, 4, "[0 0.001 0.002 0.003 0.004]"},
		{98, 103, 6, "[98 99 100 101 102 103]"},
		{5, 5, 4, "[5]"},
	} {
		var got []float64
		for _, x := range (scale{lo: c.lo, hi: c.hi}).ticks(c.n) {
			got = append(got, math.Round(x*1e9)/1e9)
		}
		if s := fmt.Sprint(got); s != c.want {
			t.Errorf("%v to %v in %d: got %s, want %s", c.lo, c.hi, c.n, s, c.want)
		}
		if len(got) > c.n+1 {
			t.Errorf("%v to %v: %d ticks, want at most %d", c.lo, c.hi, len(got), c.n+1)
		}
	}
}

func TestScale(t *testing.T) {
	s := scale{lo: 0, hi: 10, from: 100, to: 200}
	if got := s.at(2.5); got != 125 {
		t.Errorf("got %v, want 125", got)
	}
	if got, out := s.clamp(12); got != 200 || !out {
		t.Errorf("got %v, %v, want 200, true", got, out)
	}
	l := scale{lo: 1, hi: 100, from: 0, to: 100, log: true}
	if got := l.at(10); math.Abs(got-50) > 1e-9 {
		t.Errorf("got %v, want 50", got)
	}
}

func TestFormats(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{pct(-0.04), "0.0"}, {pct(2.66), "2.7"}, {pct(-12.34), "-12.3"}, {pct(math.NaN()), absent}, {signedPct(0.3), "+0.3"}, {signedPct(0.01), "0.0"},
		{decimal(1234567.8, 0), "1,234,568"}, {decimal(-1000, 1), "-1,000.0"}, {decimal(999, 0), "999"},
		{rate(0), absent}, {rate(8.128), "8.13"}, {rate(81.28), "81.3"}, {rate(61250), "61,250"},
		{duration(812), "812 µs"}, {duration(12345), "12.3 ms"}, {duration(2.5e6), "2.50 s"},
		{pairOf(result.Pair{Baseline: 950, Variant: 1040}), "0.95 → 1.04 ms"},
		{tickLabel(0.5, 0.5), "0.5"}, {tickLabel(20, 5), "20"}, {tickLabel(-0.02, 0.01), "-0.02"},
		{plural(1, "quad"), "1 quad"}, {plural(1200, "quad"), "1,200 quads"},
		{minus("-1.5 to -0.4 (-3) 6.1.0-18 ABBA-2"), "−1.5 to −0.4 (−3) 6.1.0-18 ABBA-2"},
		{clean(" a\x1b[31m\nb\u202e "), "a[31m b"}, {bytesOf(8 << 30), "8.0 GiB"}, {fit("abcdef", 30, 10), "ab…"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestOverheadDomain(t *testing.T) {
	wild := rowOf("tde", "tpcc", 2, -80, 90)
	lo, hi := overheadDomain([]result.Row{rowOf("tde", "tpcc", 10, 9, 11), wild})
	if lo > 0 || lo < -15 || hi < 11 || hi > 25 {
		t.Errorf("got %v to %v: one wild interval must not flatten the rest", lo, hi)
	}
	if lo, hi := overheadDomain(nil); !(lo < 0 && hi > 0) {
		t.Errorf("got %v to %v for no rows", lo, hi)
	}
}

func TestSeriesOf(t *testing.T) {
	f := newFixture(7, 24)
	all := seriesOf(f.records())
	if got, want := len(all), len(f.summary.Rows)+len(f.summary.AA); got != want {
		t.Fatalf("got %d series, want %d", got, want)
	}
	s := all[0]
	if len(s.arms[0]) != 48 || len(s.arms[1]) != 48 || s.averaged != 1 {
		t.Errorf("got %d and %d points of %d blocks, want 48, 48, 1", len(s.arms[0]), len(s.arms[1]), s.averaged)
	}
	voids := 0
	for _, p := range slices.Concat(s.arms[0], s.arms[1]) {
		if p.void {
			voids++
		}
	}
	if voids != 4 {
		t.Errorf("got %d voided blocks, want the 4 of one quad", voids)
	}

	// A long run is thinned, keeping its mean.
	var blocks []result.Block
	at := time.Now()
	for i := range 1000 {
		blocks = append(blocks, result.Block{Arm: "baseline", Start: at.Add(time.Duration(i) * time.Second), DurationS: 1, Commits: uint64(100 + i%2)})
	}
	slices.Reverse(blocks) // any order will do
	long := seriesOf(Records{Blocks: blocks})[0]
	if n := len(long.arms[0]); n > seriesLimit || long.averaged != 7 {
		t.Errorf("got %d points of %d blocks", n, long.averaged)
	}
	if first := long.arms[0][0]; math.Abs(first.at-3) > 1e-9 || math.Abs(first.tps-100.43) > 0.01 {
		t.Errorf("the first point is %+v", first)
	}
}
