package sysbench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/veildb/veildb/internal/bench/hist"
	"github.com/veildb/veildb/internal/bench/run"
)

// RunConfig is sysbench's general options for one run. Durations are whole
// seconds, as its are.
type RunConfig struct {
	Seed uint64
	// Events and Time end the run, whichever comes first; 0 is no limit.
	Events uint64
	Time   time.Duration
	// Forced, if not negative, ends a run that is so long past Time with an
	// error, whatever its statements are waiting for.
	Forced time.Duration
	Rate   float64 // events a second, at random distances; 0: as fast as it goes

	ReportInterval time.Duration
	Checkpoints    []time.Duration
	Percentile     int // 1 to 100; 0: none
	Histogram      bool
	// Out receives the report as it grows; nil: nobody.
	Out io.Writer
	// Ready, if set, is called when all connections are open.
	Ready func()
}

// Validate returns an error matching ErrOption that names each option with a
// value that cannot be used. Run begins with it.
func (c *RunConfig) Validate() error {
	whole := func(name string, d time.Duration) error {
		if d < 0 || d%time.Second != 0 {
			return fmt.Errorf("%w: --%s=%v: want whole seconds", ErrOption, name, d)
		}
		return nil
	}
	errs := []error{whole("time", c.Time), whole("report-interval", c.ReportInterval)}
	for _, at := range c.Checkpoints {
		errs = append(errs, whole("report-checkpoints", at))
		if at == 0 {
			errs = append(errs, fmt.Errorf("%w: --report-checkpoints: 0 is the start", ErrOption))
		}
	}
	if c.Percentile < 0 || c.Percentile > 100 {
		errs = append(errs, fmt.Errorf("%w: --percentile=%d: want 0 to 100", ErrOption, c.Percentile))
	}
	if !run.ValidRate(c.Rate) {
		errs = append(errs, fmt.Errorf("%w: --rate=%v: want 0 or %v to %v", ErrOption, c.Rate, run.MinRate, run.MaxRate))
	}
	return errors.Join(errs...)
}

// ErrForcedShutdown ends a run that outlived RunConfig.Forced. Connections may
// still be waiting then; the program should end.
var ErrForcedShutdown = errors.New("the time limit has passed and statements still run")

// Run puts the workload's load on db with as many terminals as its options have
// threads. An interrupted run returns its report so far, marked incomplete,
// with the error.
func (w *Workload) Run(ctx context.Context, db *sql.DB, c RunConfig) (*Report, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	w.watched.Store(len(c.Checkpoints) > 0 || c.Rate > 0)
	if err := w.CheckLimits(ctx, db); err != nil {
		return nil, err
	}
	l := &loading{w: w, c: c, since: hist.New(), lastPoint: w.Counts(), lastLine: w.Counts()}
	l.shares = make([]run.TerminalResult, w.o.Threads)
	slices.Sort(l.c.Checkpoints)
	cfg := run.LoadConfig{Workload: w, DB: db, Terminals: w.o.Threads, Seed: c.Seed, Ready: c.Ready,
		Window: run.Window{Duration: c.Time, Events: c.Events, Rate: c.Rate, Interval: l.tick(), OnInterval: l.interval}}
	res, err := l.load(ctx, cfg)
	if err != nil && (ctx.Err() == nil || res.Sample == nil) {
		return nil, err // as in sysbench, a run that failed has no report
	}
	return l.report(res, err == nil), err
}

// loading is a run under way. run calls interval from one goroutine at a time
// and has stopped doing so when load returns.
type loading struct {
	w *Workload
	c RunConfig

	ticks     int
	first     int             // the index of the run's first terminal in w.counts
	since     *hist.Histogram // since the last checkpoint
	events    uint64
	lastAt    time.Duration        // of the last checkpoint
	lastPoint Counts               // at the last checkpoint
	lastLine  Counts               // at the last interval line
	shares    []run.TerminalResult // at the last checkpoint
	lineHist  *hist.Histogram
	lineLen   time.Duration
	lineN     uint64

	intervals   []Interval
	checkpoints []Stretch
}

// tick is the longest step that meets every interval and checkpoint.
func (l *loading) tick() time.Duration {
	gcd := func(a, b time.Duration) time.Duration {
		for b != 0 {
			a, b = b, a%b
		}
		return a
	}
	step := l.c.ReportInterval
	for _, at := range l.c.Checkpoints {
		step = gcd(step, at)
	}
	return step
}

// load is run.Load, given up after the forced shutdown's time.
func (l *loading) load(ctx context.Context, cfg run.LoadConfig) (run.LoadResult, error) {
	l.first = l.w.opened()
	if l.c.Forced < 0 || l.c.Time == 0 {
		return run.Load(ctx, cfg)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type outcome struct {
		res run.LoadResult
		err error
	}
	done := make(chan outcome, 1)
	ready := make(chan struct{})
	then := cfg.Ready
	cfg.Ready = func() {
		close(ready)
		if then != nil {
			then()
		}
	}
	go func() {
		res, err := run.Load(ctx, cfg)
		done <- outcome{res, err}
	}()
	select {
	case o := <-done: // it did not start
		return o.res, o.err
	case <-ready:
	}
	select {
	case o := <-done:
		return o.res, o.err
	case <-time.After(l.c.Time + l.c.Forced):
	}
	cancel(ErrForcedShutdown)
	return run.LoadResult{}, ErrForcedShutdown
}

// interval takes one step of the run.
func (l *loading) interval(iv run.Interval) {
	l.since.Merge(iv.Latency)
	l.events += iv.Transactions
	if l.lineHist == nil {
		l.lineHist = hist.New()
	}
	l.lineHist.Merge(iv.Latency)
	l.lineLen += iv.Length
	l.lineN += iv.Transactions
	l.ticks++
	at := time.Duration(l.ticks) * l.tick()
	// The run's last moments make no line and no checkpoint, unless they are
	// most of the interval that the time limit was to end.
	if iv.Last && (at != l.c.Time || 2*l.lineLen < l.c.ReportInterval) {
		return
	}
	if l.c.ReportInterval > 0 && at%l.c.ReportInterval == 0 {
		l.line(at, iv.Queue)
	}
	if !iv.Last && slices.Contains(l.c.Checkpoints, at) {
		l.checkpoint(at, iv.At)
	}
}

// line reports what happened since the last line.
func (l *loading) line(at time.Duration, queue uint64) {
	now := l.w.Counts()
	c := now.Sub(l.lastLine)
	iv := Interval{
		AtS: at.Seconds(), TPS: perSecond(l.lineN, l.lineLen),
		ReadsPerS: perSecond(c.Reads, l.lineLen), WritesPerS: perSecond(c.Writes, l.lineLen), OthersPerS: perSecond(c.Others, l.lineLen),
		ErrorsPerS: perSecond(c.Errors, l.lineLen), ReconnPerS: perSecond(c.Reconnects, l.lineLen),
		Queue: queue, Concurrency: l.w.concurrency(l.first),
	}
	if l.c.Percentile > 0 {
		iv.Percentile = Percentile(l.lineHist, l.c.Percentile)
	}
	l.lastLine, l.lineLen, l.lineN = now, 0, 0
	l.lineHist.Reset()
	l.intervals = append(l.intervals, iv)
	if l.c.Out != nil {
		iv.Text(l.c.Out, l.w.o.Threads, l.c.Percentile, l.c.Rate > 0)
	}
}

// checkpoint reports what happened since the last one and starts anew. at is
// when it was due, now when it is.
func (l *loading) checkpoint(at, now time.Duration) {
	counts, shares := l.w.Counts(), l.w.shares(l.first)
	s := newStretch(l.since, l.events, counts.Sub(l.lastPoint), now, now-l.lastAt, l.c.Percentile, subShares(shares, l.shares))
	if l.c.Out != nil {
		fmt.Fprintf(l.c.Out, "[ %.0fs ] Checkpoint report:\n", at.Seconds())
		l.print(&s)
	}
	l.checkpoints = append(l.checkpoints, s)
	l.since, l.events = hist.New(), 0
	l.lastAt, l.lastPoint, l.shares = now, counts, shares
}

func (l *loading) print(s *Stretch) {
	if l.c.Histogram {
		writeHistogram(l.c.Out, s.hist)
	}
	s.Text(l.c.Out)
}

// report makes and prints the final report.
func (l *loading) report(res run.LoadResult, complete bool) *Report {
	w := l.w
	r := &Report{
		Format: ReportFormat, Workload: w.Name(), Engine: w.dialect.String(), Threads: w.o.Threads,
		Seed: l.c.Seed, Rate: l.c.Rate, Start: res.Start, Complete: complete, Unserved: res.Unserved,
		Checkpoints: l.checkpoints, Intervals: l.intervals,
	}
	h, events, shares := res.Latency, res.Transactions, res.Terminals
	if len(l.checkpoints) > 0 {
		h, events, shares = l.since, l.events, subShares(w.shares(l.first), l.shares)
	}
	r.Stretch = newStretch(h, events, w.Counts().Sub(l.lastPoint), res.Elapsed, res.Elapsed-l.lastAt, l.c.Percentile, shares)
	if l.c.Out != nil {
		if !complete {
			fmt.Fprintf(l.c.Out, "Interrupted: these figures cover the first %.1f s only.\n", res.Elapsed.Seconds())
		}
		l.print(&r.Stretch)
		if r.Unserved > 0 {
			fmt.Fprintf(l.c.Out, "%d events were due and never began; what they had waited is in the latency.\n", r.Unserved)
		}
	}
	return r
}

// opened is the number of terminals opened so far.
func (w *Workload) opened() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.counts)
}

// shares reads the terminals opened since first.
func (w *Workload) shares(first int) []run.TerminalResult {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []run.TerminalResult
	for _, c := range w.counts[first:] {
		out = append(out, run.TerminalResult{Transactions: c.events.Load(), Busy: time.Duration(c.inside.Load())})
	}
	return out
}

func subShares(a, b []run.TerminalResult) []run.TerminalResult {
	out := slices.Clone(a)
	for i := range min(len(a), len(b)) {
		out[i].Transactions -= b[i].Transactions
		out[i].Busy -= b[i].Busy
	}
	return out
}

// concurrency is the number of terminals inside an event, of those opened since
// first.
func (w *Workload) concurrency(first int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, c := range w.counts[first:] {
		if c.busy.Load() {
			n++
		}
	}
	return n
}
