package sysbench

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/veildb/veildb/internal/bench/hist"
	"github.com/veildb/veildb/internal/bench/run"
)

// ReportFormat names the JSON form of a Report.
const ReportFormat = "veildb.sysbench/1"

// A Report is what a run did: sysbench's figures, and in JSON more of them.
type Report struct {
	Format   string    `json:"format"`
	Workload string    `json:"workload"`
	Engine   string    `json:"dialect"`
	Threads  int       `json:"threads"`
	Seed     uint64    `json:"seed"`
	Rate     float64   `json:"rate,omitempty"` // intended events a second
	Start    time.Time `json:"started"`
	Complete bool      `json:"complete"` // false: it was interrupted
	// Unserved counts events that were due and never began (with a rate).
	Unserved uint64 `json:"unserved,omitempty"`

	// The whole run, or what followed the last checkpoint.
	Stretch
	Checkpoints []Stretch  `json:"checkpoints,omitempty"`
	Intervals   []Interval `json:"intervals,omitempty"`
}

// A Stretch is a run, or a part between two checkpoints.
type Stretch struct {
	TotalS  float64 `json:"total_time_s"` // since the start of the run
	WindowS float64 `json:"window_s"`     // since the last checkpoint; rates are over this
	Events  uint64  `json:"events"`
	Counts  Counts  `json:"queries"`
	TPS     float64 `json:"events_per_s"`
	QPS     float64 `json:"queries_per_s"`

	Latency   Latency  `json:"latency_ms"`
	EventsPer Fairness `json:"events_per_thread"`
	BusyPer   Fairness `json:"execution_time_per_thread_s"`

	hist *hist.Histogram
}

// Latency is in milliseconds. The percentile is sysbench's, rounded to one of
// its buckets; those named by number are accurate to 0.1 %.
type Latency struct {
	Min        float64 `json:"min"`
	Avg        float64 `json:"avg"`
	Max        float64 `json:"max"`
	Sum        float64 `json:"sum"`
	Percentile float64 `json:"percentile,omitempty"`
	Which      int     `json:"percentile_of,omitempty"` // 0: disabled
	P50        float64 `json:"p50"`
	P75        float64 `json:"p75"`
	P90        float64 `json:"p90"`
	P95        float64 `json:"p95"`
	P99        float64 `json:"p99"`
	P999       float64 `json:"p99_9"`
	P9999      float64 `json:"p99_99"`
}

// Fairness is the mean and standard deviation over the threads.
type Fairness struct {
	Avg    float64 `json:"avg"`
	Stddev float64 `json:"stddev"`
}

// Interval is one line of the running report; rates are over its length.
type Interval struct {
	AtS         float64 `json:"at_s"`
	TPS         float64 `json:"events_per_s"`
	ReadsPerS   float64 `json:"reads_per_s"`
	WritesPerS  float64 `json:"writes_per_s"`
	OthersPerS  float64 `json:"others_per_s"`
	Percentile  float64 `json:"percentile_ms"`
	ErrorsPerS  float64 `json:"ignored_errors_per_s"`
	ReconnPerS  float64 `json:"reconnects_per_s"`
	Queue       uint64  `json:"queue_length"`
	Concurrency int     `json:"concurrency"`
}

func newStretch(h *hist.Histogram, events uint64, c Counts, total, window time.Duration, percentile int, shares []run.TerminalResult) Stretch {
	s := Stretch{
		TotalS: total.Seconds(), WindowS: window.Seconds(), Events: events, Counts: c,
		TPS: perSecond(events, window), QPS: perSecond(c.Queries(), window),
		Latency: newLatency(h, percentile), hist: h,
	}
	n, busy := make([]float64, len(shares)), make([]float64, len(shares))
	for i, sh := range shares {
		n[i], busy[i] = float64(sh.Transactions), sh.Busy.Seconds()
	}
	s.EventsPer, s.BusyPer = fairness(n), fairness(busy)
	return s
}

func newLatency(h *hist.Histogram, percentile int) Latency {
	q := h.Quantiles(0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999)
	l := Latency{
		Min: millis(h.Min()), Avg: h.Mean() / 1e6, Max: millis(h.Max()), Sum: millis(h.Sum()),
		P50: millis(q[0]), P75: millis(q[1]), P90: millis(q[2]), P95: millis(q[3]),
		P99: millis(q[4]), P999: millis(q[5]), P9999: millis(q[6]),
	}
	if percentile > 0 {
		l.Percentile, l.Which = Percentile(h, percentile), percentile
	}
	return l
}

func millis(d time.Duration) float64 { return float64(d) / 1e6 }

func perSecond(n uint64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// fairness is the mean and the standard deviation of all of xs.
func fairness(xs []float64) Fairness {
	if len(xs) == 0 {
		return Fairness{}
	}
	sum, squares := 0.0, 0.0
	for _, x := range xs {
		sum += x
	}
	mean := sum / float64(len(xs))
	for _, x := range xs {
		squares += (x - mean) * (x - mean)
	}
	return Fairness{mean, math.Sqrt(squares / float64(len(xs)))}
}

// Text writes the stretch in sysbench's layout.
func (s *Stretch) Text(w io.Writer) {
	c := s.Counts
	window := time.Duration(s.WindowS * float64(time.Second))
	rate := func(name string, n uint64) {
		fmt.Fprintf(w, "    %-36s %-6d (%.2f per sec.)\n", name+":", n, perSecond(n, window))
	}
	fmt.Fprintln(w, "SQL statistics:")
	fmt.Fprintln(w, "    queries performed:")
	for _, q := range []struct {
		name string
		n    uint64
	}{{"read", c.Reads}, {"write", c.Writes}, {"other", c.Others}, {"total", c.Queries()}} {
		fmt.Fprintf(w, "        %-32s %d\n", q.name+":", q.n)
	}
	rate("transactions", s.Events)
	rate("queries", c.Queries())
	rate("ignored errors", c.Errors)
	rate("reconnects", c.Reconnects)

	fmt.Fprintf(w, "\nGeneral statistics:\n")
	fmt.Fprintf(w, "    %-36s %.4fs\n", "total time:", s.TotalS)
	fmt.Fprintf(w, "    %-36s %d\n", "total number of events:", s.Events)

	l := s.Latency
	line := func(name string, ms float64) { fmt.Fprintf(w, "         %-29s %14.2f\n", name+":", ms) }
	fmt.Fprintf(w, "\nLatency (ms):\n")
	line("min", l.Min)
	line("avg", l.Avg)
	line("max", l.Max)
	if l.Which == 0 {
		fmt.Fprintf(w, "         %-29s %10s\n", "percentile stats:", "disabled")
	} else {
		line(fmt.Sprintf("%dth percentile", l.Which), l.Percentile)
	}
	line("sum", l.Sum)

	fmt.Fprintf(w, "\nThreads fairness:\n")
	fmt.Fprintf(w, "    %-30s %.4f/%.2f\n", "events (avg/stddev):", s.EventsPer.Avg, s.EventsPer.Stddev)
	fmt.Fprintf(w, "    %-30s %.4f/%.2f\n\n", "execution time (avg/stddev):", s.BusyPer.Avg, s.BusyPer.Stddev)
}

// Text writes the interval in sysbench's layout.
func (iv *Interval) Text(w io.Writer, threads, percentile int, rate bool) {
	at := int(iv.AtS + 0.5)
	fmt.Fprintf(w, "[ %ds ] thds: %d tps: %.2f qps: %.2f (r/w/o: %.2f/%.2f/%.2f) lat (ms,%d%%): %.2f err/s: %.2f reconn/s: %.2f\n",
		at, threads, iv.TPS, iv.ReadsPerS+iv.WritesPerS+iv.OthersPerS, iv.ReadsPerS, iv.WritesPerS, iv.OthersPerS,
		percentile, iv.Percentile, iv.ErrorsPerS, iv.ReconnPerS)
	if rate {
		fmt.Fprintf(w, "[ %ds ] queue length: %d, concurrency: %d\n", at, iv.Queue, iv.Concurrency)
	}
}
