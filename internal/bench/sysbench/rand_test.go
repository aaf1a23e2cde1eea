package sysbench

import (
	"math"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/hist"
)

const draws = 200_000

func drawn(kind string, a, b int) []int {
	o := Defaults()
	o.Rand.Type = kind
	d := newDistribution(o.Rand)
	r := newRNG(1, 2)
	out := make([]int, draws)
	for i := range out {
		out[i] = d.draw(&r, a, b)
	}
	return out
}

func share(xs []int, lo, hi int) float64 {
	n := 0
	for _, x := range xs {
		if x >= lo && x <= hi {
			n++
		}
	}
	return float64(n) / float64(len(xs))
}

func TestDistributions(t *testing.T) {
	for _, tc := range []struct {
		kind         string
		lo, hi       int
		want, within float64
	}{
		// The formula of special puts 75 % into 4975..5051, and what is left
		// around the middle of the range; a few of those fall there too.
		{"special", 4975, 5051, 0.755, 0.01},
		{"special", 1, 1700, 0, 0.0001},
		{"special", 8301, 10000, 0, 0.0001},
		{"special", 4951, 4974, 0.0029, 0.002}, // the quarter of the band that is never hot
		{"pareto", 1, 2000, 0.80, 0.01},
		{"uniform", 1, 2000, 0.20, 0.01},
		{"uniform", 1, 10000, 1, 0},
		{"gaussian", 4168, 5833, 0.68, 0.01}, // one standard deviation, 10000/12
	} {
		got := share(drawn(tc.kind, 1, 10000), tc.lo, tc.hi)
		if math.Abs(got-tc.want) > tc.within {
			t.Errorf("%s: share of %d..%d is %.4f, want %.4f within %.4f", tc.kind, tc.lo, tc.hi, got, tc.want, tc.within)
		}
	}
	for _, kind := range RandTypes {
		for _, b := range []int{1, 2, 3, 7} {
			if got := share(drawn(kind, 1, b), 1, b); got != 1 {
				t.Errorf("%s: %.4f of the draws are in 1..%d", kind, got, b)
			}
		}
	}
}

// TestGenerator compares with numbers computed from the published definition,
// in Python's unbounded integers.
func TestGenerator(t *testing.T) {
	r := rng{1, 2}
	for i, want := range generatorVector {
		if got := r.uint64(); got != want {
			t.Errorf("number %d is %#x, want %#x", i, got, want)
		}
	}
}

func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(100) {
		for _, stream := range []uint64{0, 1, 2, 255, dataStreams + 1, dataStreams + 2} {
			r := newRNG(seed, stream)
			seen[r.uint64()] = true
		}
	}
	if len(seen) != 600 {
		t.Errorf("%d different first numbers of 600 streams", len(seen))
	}
}

func TestDigits(t *testing.T) {
	r := newRNG(1, 1)
	var count [10]int
	for range 2000 {
		b := r.appendDigits(nil, cLength)
		if len(b) != 119 {
			t.Fatalf("%d bytes: %s", len(b), b)
		}
		for i, c := range b {
			switch {
			case i%12 == 11 && c == '-':
			case i%12 != 11 && c >= '0' && c <= '9':
				count[c-'0']++
			default:
				t.Fatalf("byte %d of %s", i, b)
			}
		}
	}
	for d, n := range count {
		if n < 21_300 || n > 22_700 { // 220,000 digits; five standard deviations
			t.Errorf("digit %d came %d times", d, n)
		}
	}
}

func TestUnique(t *testing.T) {
	seen := make(map[uint32]bool, 1<<18)
	for i := range uint32(1 << 18) {
		seen[unique(i)] = true
		seen[unique(-i-1)] = true
	}
	if len(seen) != 1<<19 {
		t.Errorf("%d different of %d", len(seen), 1<<19)
	}
}

func TestPercentile(t *testing.T) {
	h := hist.New()
	for i := 1; i <= 1000; i++ {
		h.Record(time.Duration(i) * time.Millisecond)
	}
	for p, want := range map[int]float64{1: 10, 50: 500, 95: 950, 99: 990, 100: 1000} {
		if got := Percentile(h, p); math.Abs(got/want-1) > 0.0092 {
			t.Errorf("percentile %d: %.3f ms, want %v within half a bucket", p, got, want)
		}
	}
	if got := Percentile(hist.New(), 95); got != 0 {
		t.Errorf("percentile of nothing: %v", got)
	}
	// The ends clamp.
	h.Reset()
	h.Record(time.Nanosecond)
	if got := Percentile(h, 95); got != 0.001 {
		t.Errorf("1 ns: %v", got)
	}
	h.Reset()
	h.Record(time.Hour)
	if got := Percentile(h, 95); math.Abs(got-100_000) > 1e-6 {
		t.Errorf("1 h: %v", got)
	}
	// Values seen in sysbench's own histograms.
	for bucket, want := range map[int]float64{372: 0.811, 413: 1.697, 514: 10.460, 543: 17.633} {
		if got := bucketMS(bucket); math.Abs(got-want) > 0.0006 {
			t.Errorf("bucket %d stands for %.4f ms, want %.3f", bucket, got, want)
		}
	}
}
