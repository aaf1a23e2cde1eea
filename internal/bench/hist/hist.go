// Package hist records latencies at nanosecond resolution with three
// significant digits.
//
// It is a thin layer over HdrHistogram (Gil Tene's log-linear histogram, here
// 270 KiB for 1 ns to 2 h). The layer keeps the sum, the minimum and the
// maximum beside the buckets, so those and the mean are exact, and clamps what
// lies beyond the range instead of refusing it.
package hist

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// Highest is the largest latency with a bucket of its own. Longer ones
	// count in the last bucket; Max and Mean still see their true length.
	Highest = 2 * time.Hour
	digits  = 3
)

// ErrCorrupt reports an export that UnmarshalText cannot read.
var ErrCorrupt = errors.New("damaged histogram")

// A Histogram counts latencies. It is not safe for concurrent use.
type Histogram struct {
	h        *hdr.Histogram
	sum      float64 // ns; exact up to 2^53 ns, 104 days of latency
	min, max int64   // ns; min is math.MaxInt64 while empty
}

// New returns an empty histogram.
func New() *Histogram {
	return &Histogram{h: hdr.New(1, int64(Highest), digits), min: math.MaxInt64}
}

// Record counts d once, without allocating. A negative d counts as zero.
func (h *Histogram) Record(d time.Duration) {
	ns := max(int64(d), 0)
	h.sum += float64(ns)
	h.min = min(h.min, ns)
	h.max = max(h.max, ns)
	if h.h.RecordValue(min(ns, int64(Highest))) != nil {
		panic("hist: internal error: latency out of range")
	}
}

// Merge adds o's counts to h. o is unchanged.
func (h *Histogram) Merge(o *Histogram) {
	if h.h.Merge(o.h) != 0 {
		panic("hist: internal error: merge dropped counts")
	}
	h.sum += o.sum
	h.min = min(h.min, o.min)
	h.max = max(h.max, o.max)
}

// Reset forgets everything.
func (h *Histogram) Reset() {
	if h.h.TotalCount() > 0 { // clearing takes 10 us
		h.h.Reset()
	}
	h.sum, h.min, h.max = 0, math.MaxInt64, 0
}

// Count is the number of latencies recorded.
func (h *Histogram) Count() uint64 { return uint64(h.h.TotalCount()) }

// Sum is the exact sum of the latencies.
func (h *Histogram) Sum() time.Duration { return time.Duration(h.sum) }

// Mean is the exact mean in nanoseconds, 0 when empty.
func (h *Histogram) Mean() float64 {
	if h.h.TotalCount() == 0 {
		return 0
	}
	return h.sum / float64(h.h.TotalCount())
}

// Min is the exact smallest latency, 0 when empty.
func (h *Histogram) Min() time.Duration {
	if h.h.TotalCount() == 0 {
		return 0
	}
	return time.Duration(h.min)
}

// Max is the exact largest latency, 0 when empty.
func (h *Histogram) Max() time.Duration { return time.Duration(h.max) }

// Quantile is the latency at rank floor(q*Count+0.5), q from 0 to 1, at most
// 0.1 % above the true one and never outside [Min, Max]. It is 0 when empty.
func (h *Histogram) Quantile(q float64) time.Duration {
	return h.Quantiles(q)[0]
}

// Quantiles is Quantile for several, in one pass over the buckets.
func (h *Histogram) Quantiles(qs ...float64) []time.Duration {
	percents := make([]float64, len(qs))
	for i, q := range qs {
		percents[i] = q * 100
	}
	out := make([]time.Duration, len(qs))
	for i, v := range h.h.ValueAtPercentilesSlice(percents) {
		// The last bucket also holds what lies beyond its upper end.
		if qs[i] >= 1 {
			v = h.max
		}
		out[i] = min(max(time.Duration(v), h.Min()), h.Max())
	}
	return out
}

// Buckets yields the middle of each bucket that holds something and its count,
// in ascending order.
func (h *Histogram) Buckets() iter.Seq2[time.Duration, uint64] {
	return func(yield func(time.Duration, uint64) bool) {
		for _, b := range h.h.Distribution() {
			if b.Count != 0 && !yield(time.Duration(b.From+(b.To-b.From)/2), uint64(b.Count)) {
				return
			}
		}
	}
}

// MarshalText exports the buckets in HdrHistogram's V2 compressed format
// (base64), which the tools of that family read.
func (h *Histogram) MarshalText() ([]byte, error) {
	b, err := h.h.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, fmt.Errorf("encode histogram: %w", err)
	}
	return b, nil
}

// UnmarshalText replaces h by an exported histogram. Sum, minimum and maximum
// are not part of the format; they come back with the accuracy of the buckets.
// The error matches ErrCorrupt.
func (h *Histogram) UnmarshalText(b []byte) error {
	in, err := hdr.Decode(b)
	if err != nil {
		return fmt.Errorf("decode histogram: %w: %w", ErrCorrupt, err)
	}
	out := New()
	if out.h.Merge(in) != 0 {
		return fmt.Errorf("decode histogram: %w: latencies beyond %v", ErrCorrupt, Highest)
	}
	if n := out.h.TotalCount(); n > 0 {
		out.sum = out.h.Mean() * float64(n)
		out.min, out.max = out.h.Min(), out.h.Max()
	}
	*h = *out
	return nil
}
