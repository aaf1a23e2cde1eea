package run

import (
	"sync"
	"time"

	"github.com/veildb/veildb/internal/bench/hist"
	"github.com/veildb/veildb/internal/bench/result"
)

// A Sample is what the terminals did during some stretch of load.
type Sample struct {
	Tally
	// Latency holds every transaction, whatever its end: committed, aborted
	// or given up.
	Latency *hist.Histogram
	// Kinds splits Latency by transaction type. A workload of one type has
	// one entry, which is Latency itself.
	Kinds []*hist.Histogram
}

func newSample(kinds int) *Sample {
	s := &Sample{Latency: hist.New(), Kinds: make([]*hist.Histogram, kinds)}
	if kinds == 1 {
		s.Kinds[0] = s.Latency
		return s
	}
	for i := range s.Kinds {
		s.Kinds[i] = hist.New()
	}
	return s
}

func (s *Sample) add(kind int, latency time.Duration, t Tally) {
	s.Tally.Add(t)
	s.Latency.Record(latency)
	if len(s.Kinds) > 1 {
		s.Kinds[kind].Record(latency)
	}
}

func (s *Sample) merge(o *Sample) {
	s.Tally.Add(o.Tally)
	s.Latency.Merge(o.Latency)
	if len(s.Kinds) > 1 {
		for i := range s.Kinds {
			s.Kinds[i].Merge(o.Kinds[i])
		}
	}
}

func (s *Sample) reset() {
	s.Tally = Tally{}
	s.Latency.Reset()
	if len(s.Kinds) > 1 {
		for _, h := range s.Kinds {
			h.Reset()
		}
	}
}

// Summarise reduces a histogram to the figures of a record, in microseconds.
func Summarise(h *hist.Histogram) result.Latency {
	q := h.Quantiles(0.5, 0.95, 0.99, 0.999)
	us := func(d time.Duration) float64 { return float64(d) / 1e3 }
	return result.Latency{
		Count: h.Count(),
		Mean:  h.Mean() / 1e3,
		P50:   us(q[0]),
		P95:   us(q[1]),
		P99:   us(q[2]),
		P999:  us(q[3]),
		Max:   us(h.Max()),
	}
}

// A recorder gathers what all terminals of a crew report. One lock suffices:
// it is held for some 30 ns a transaction. Histograms are reused from window
// to window, so recording leaves no garbage for either arm to collect.
type recorder struct {
	mu   sync.Mutex
	live *Sample // guarded by mu: since the last cut

	spare *Sample // swapped with live by cut; nil until the first interval
	total *Sample // everything cut so far; nil until the first interval
}

func (r *recorder) add(kind int, latency time.Duration, t Tally) {
	r.mu.Lock()
	r.live.add(kind, latency, t)
	r.mu.Unlock()
}

// reset starts a window.
func (r *recorder) reset() {
	r.live.reset()
	if r.total != nil {
		r.total.reset()
	}
}

// cut returns what was recorded since the last cut, valid until the next.
// Once a window is cut, finish must be used to read the whole.
func (r *recorder) cut() *Sample {
	if r.total == nil {
		r.spare, r.total = newSample(len(r.live.Kinds)), newSample(len(r.live.Kinds))
	}
	r.spare.reset()
	r.mu.Lock()
	r.live, r.spare = r.spare, r.live
	r.mu.Unlock()
	r.total.merge(r.spare)
	return r.spare
}

// finish returns the whole window. The terminals have stopped.
func (r *recorder) finish() *Sample {
	if r.total == nil {
		return r.live
	}
	r.total.merge(r.live)
	r.live.reset()
	return r.total
}
