package hist

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// samples draws n latencies whose logarithms are uniform from 1 ns to 1 h.
func samples(n int, seed uint64) []time.Duration {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = time.Duration(math.Exp(rng.Float64() * math.Log(float64(time.Hour))))
	}
	return out
}

func fill(ds []time.Duration) *Histogram {
	h := New()
	for _, d := range ds {
		h.Record(d)
	}
	return h
}

func TestQuantileErrorIsBelowOneInThousand(t *testing.T) {
	ds := samples(20_000, 7)
	h := fill(ds)
	slices.Sort(ds)
	for _, q := range []float64{0, 0.001, 0.25, 0.5, 0.95, 0.99, 0.999, 0.9999, 1} {
		rank := min(max(int(q*float64(len(ds))+0.5), 1), len(ds))
		want := ds[rank-1]
		if got := h.Quantile(q); got < want*999/1000 || float64(got) > float64(want)*1.001 {
			t.Errorf("Quantile(%v) = %d ns, want %d ns within 0.1 %%", q, got, want)
		}
	}
}

func TestMeanMinMaxAreExact(t *testing.T) {
	h := fill([]time.Duration{1_000_003, 3, 77_777_777_777})
	if got, want := h.Mean(), float64(1_000_003+3+77_777_777_777)/3; got != want {
		t.Errorf("Mean() = %v, want %v", got, want)
	}
	if h.Min() != 3 || h.Max() != 77_777_777_777 || h.Count() != 3 || h.Sum() != 77_778_777_783 {
		t.Errorf("min, max, count, sum = %d, %d, %d, %d", h.Min(), h.Max(), h.Count(), h.Sum())
	}
}

func TestOutsideTheRange(t *testing.T) {
	h := fill([]time.Duration{-5, 0, 100 * time.Hour})
	if h.Count() != 3 || h.Min() != 0 || h.Max() != 100*time.Hour || h.Quantile(1) != 100*time.Hour {
		t.Errorf("count %d, min %v, max %v, p100 %v", h.Count(), h.Min(), h.Max(), h.Quantile(1))
	}
	if got := h.Quantile(0.5); got != 0 {
		t.Errorf("median = %v, want 0", got)
	}
}

func TestEmpty(t *testing.T) {
	h := New()
	if h.Count() != 0 || h.Mean() != 0 || h.Min() != 0 || h.Max() != 0 || h.Quantile(0.99) != 0 {
		t.Errorf("an empty histogram is not all zero: %v %v %v %v %v", h.Count(), h.Mean(), h.Min(), h.Max(), h.Quantile(0.99))
	}
	for d, n := range h.Buckets() {
		t.Errorf("an empty histogram has a bucket %v: %d", d, n)
	}
}

// TestMergeEqualsRecordingTogether is the property that lets blocks, terminals
// and intervals be added up in any order.
func TestMergeEqualsRecordingTogether(t *testing.T) {
	a, b := samples(5_000, 1), samples(3_000, 2)
	merged, whole := fill(a), fill(append(slices.Clone(a), b...))
	merged.Merge(fill(b))
	same(t, merged, whole)
	if rel := merged.Mean()/whole.Mean() - 1; math.Abs(rel) > 1e-12 {
		t.Errorf("Mean() = %v, want %v", merged.Mean(), whole.Mean())
	}
	merged.Reset()
	same(t, merged, New())
	merged.Merge(whole)
	same(t, merged, whole)
}

func same(t *testing.T, got, want *Histogram) {
	t.Helper()
	if got.Count() != want.Count() || got.Max() != want.Max() || got.Min() != want.Min() {
		t.Fatalf("count, min, max = %d, %v, %v; want %d, %v, %v", got.Count(), got.Min(), got.Max(), want.Count(), want.Min(), want.Max())
	}
	for q := range 101 {
		if g, w := got.Quantile(float64(q)/100), want.Quantile(float64(q)/100); g != w {
			t.Fatalf("p%d = %v, want %v", q, g, w)
		}
	}
}

func TestBucketsHoldEveryLatency(t *testing.T) {
	h := fill(samples(2_000, 3))
	var n uint64
	last := time.Duration(-1)
	for d, c := range h.Buckets() {
		if d <= last {
			t.Fatalf("bucket %v follows %v", d, last)
		}
		last, n = d, n+c
	}
	if n != h.Count() {
		t.Errorf("buckets hold %d, want %d", n, h.Count())
	}
}

func TestExportImport(t *testing.T) {
	h := fill(samples(4_000, 4))
	text, err := h.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	var back Histogram
	if err := back.UnmarshalText(text); err != nil {
		t.Fatal(err)
	}
	if back.Count() != h.Count() {
		t.Errorf("count = %d, want %d", back.Count(), h.Count())
	}
	for _, q := range []float64{0.01, 0.5, 0.99, 1} {
		if g, w := float64(back.Quantile(q)), float64(h.Quantile(q)); math.Abs(g/w-1) > 0.001 {
			t.Errorf("Quantile(%v) = %v, want %v", q, g, w)
		}
	}
	if rel := back.Mean()/h.Mean() - 1; math.Abs(rel) > 0.001 {
		t.Errorf("Mean() = %v, want %v", back.Mean(), h.Mean())
	}
}

func TestImportRefusesDamage(t *testing.T) {
	text, err := fill(samples(100, 5)).MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string][]byte{
		"empty":     nil,
		"text":      []byte("not a histogram"),
		"truncated": text[:len(text)/2],
	} {
		h := fill([]time.Duration{42})
		if err := h.UnmarshalText(in); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: error = %v, want ErrCorrupt", name, err)
		}
		if h.Count() != 1 || h.Max() != 42 {
			t.Errorf("%s: a failed import changed the histogram", name)
		}
	}
}

func TestRecordDoesNotAllocate(t *testing.T) {
	h := New()
	d := time.Duration(1)
	if n := testing.AllocsPerRun(1000, func() { h.Record(d); d = d*3 + 1 }); n != 0 {
		t.Errorf("%v allocations a record, want 0", n)
	}
}

func FuzzUnmarshalText(f *testing.F) {
	text, err := fill(samples(50, 6)).MarshalText()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(""))
	f.Add([]byte("HISTFAAAAA=="))
	f.Fuzz(func(t *testing.T, in []byte) {
		var h Histogram
		if err := h.UnmarshalText(in); err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("error %v does not match ErrCorrupt", err)
			}
			return
		}
		if h.Quantile(0.5) > h.Max() || h.Min() > h.Max() {
			t.Fatalf("min %v, median %v, max %v", h.Min(), h.Quantile(0.5), h.Max())
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	h := New()
	ds := samples(1024, 8)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		h.Record(ds[i&1023])
		i++
	}
}

func BenchmarkQuantiles(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("count=%d", n), func(b *testing.B) {
			h := fill(samples(n, 9))
			for b.Loop() {
				h.Quantiles(0.5, 0.95, 0.99, 0.999)
			}
		})
	}
}

func BenchmarkMerge(b *testing.B) {
	h, o := New(), fill(samples(10_000, 10))
	for b.Loop() {
		h.Merge(o)
	}
}
