package run

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// A Crew is a set of terminals on one database, opened once and used for any
// number of windows of load. It is used by one goroutine at a time.
type Crew struct {
	kinds     []string
	terminals []Terminal
	rec       *recorder
	seed      uint64
	windows   uint64 // run so far; each gets its own arrivals
}

// OpenCrew opens n terminals of w on db. Two crews opened with the same seed
// send the same streams.
func OpenCrew(ctx context.Context, w Workload, db *sql.DB, n int, seed uint64) (*Crew, error) {
	if n < 1 {
		return nil, fmt.Errorf("open terminals: %d terminals, want at least 1", n)
	}
	c := &Crew{kinds: w.Kinds(), seed: seed, rec: &recorder{}}
	if len(c.kinds) == 0 {
		return nil, fmt.Errorf("open terminals: workload %s has no transaction types", w.Name())
	}
	c.rec.live = newSample(len(c.kinds))
	for i := range n {
		t, err := w.Terminal(ctx, db, i, seed)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open terminal %d: %w", i, err), c.Close())
		}
		c.terminals = append(c.terminals, t)
	}
	return c, nil
}

// Kinds names the transaction types, in the order of Sample.Kinds.
func (c *Crew) Kinds() []string { return c.kinds }

// Close closes all terminals and returns what went wrong with any of them.
func (c *Crew) Close() error {
	var errs []error
	for i, t := range c.terminals {
		if err := t.Close(); err != nil {
			errs = append(errs, fmt.Errorf("close terminal %d: %w", i, err))
		}
	}
	c.terminals = nil
	return errors.Join(errs...)
}

// A Window bounds one stretch of load. Whichever of Duration and Events comes
// first ends it; with neither, only the context does. A transaction that has
// begun is always finished and counted, and Elapsed includes it.
type Window struct {
	// Warmup runs first and counts nowhere.
	Warmup   time.Duration
	Duration time.Duration // after the warm-up
	Events   uint64        // transactions of all terminals together, after the warm-up
	// Counts gives each terminal exactly that many transactions, whatever
	// the time they take. It excludes all other fields but Interval.
	Counts []uint64

	// Rate makes the load open: so many transactions a second are due,
	// whether or not a terminal is free. Latency then counts from the
	// intended start. 0 means closed: each terminal starts its next
	// transaction when the last one ended.
	Rate     float64
	Arrivals Arrivals

	// Interval, if set, calls OnInterval so often, from another goroutine
	// than the caller's. Run waits for the call before it returns.
	Interval   time.Duration
	OnInterval func(Interval)
}

// Interval is one step of the running display, warm-up excluded.
type Interval struct {
	*Sample               // of this interval; valid during the call
	At      time.Duration // end of the interval, from the start of the window
	Length  time.Duration
	Queue   uint64 // open load: transactions due and not begun
	Last    bool   // the shorter piece after the last full interval
}

// LoadResult is what a window did.
type LoadResult struct {
	*Sample // valid until the crew's next Run
	Start   time.Time
	Elapsed time.Duration // from Start, warm-up excluded, to the end of the last transaction
	// Terminals splits the sample by terminal; valid until the next Run.
	Terminals []TerminalResult
	// Unserved counts transactions that were due in the window and never
	// began. What they had waited when it ended is in Latency, so that an
	// overloaded engine cannot look fast; they are in no other counter.
	Unserved uint64
}

// TerminalResult is one terminal's share.
type TerminalResult struct {
	Transactions uint64
	Busy         time.Duration // inside Next
	end          time.Duration // of the last transaction, from the start of the shift
}

func (w Window) validate(terminals int) error {
	switch {
	case w.Counts != nil && (w.Rate != 0 || w.Duration != 0 || w.Events != 0 || w.Warmup != 0):
		return errors.New("run load: Counts excludes Rate, Duration, Events and Warmup")
	case w.Counts != nil && len(w.Counts) != terminals:
		return fmt.Errorf("run load: %d counts for %d terminals", len(w.Counts), terminals)
	case w.Duration < 0 || w.Warmup < 0 || w.Interval < 0:
		return errors.New("run load: negative duration or interval")
	case !ValidRate(w.Rate):
		return fmt.Errorf("run load: rate %v is neither 0 nor %v to %v a second", w.Rate, MinRate, MaxRate)
	case w.Interval > 0 && w.OnInterval == nil:
		return errors.New("run load: Interval without OnInterval")
	}
	return nil
}

// Run puts one window of load on the database. When ctx is done it returns
// what was recorded so far together with ctx's error; when a terminal fails it
// stops the others and returns that terminal's error.
func (c *Crew) Run(ctx context.Context, w Window) (LoadResult, error) {
	if err := w.validate(len(c.terminals)); err != nil {
		return LoadResult{}, err
	}
	if w.Warmup > 0 && w.Rate == 0 {
		// All terminals finish their warm-up before the window starts, so
		// none enters it with half a transaction behind it.
		warm := w
		warm.Warmup, warm.Duration, warm.Events, warm.Interval = 0, w.Warmup, 0, 0
		c.rec.reset()
		if res, err := c.window(ctx, warm); err != nil {
			c.rec.reset()
			return LoadResult{Sample: c.rec.live, Start: res.Start, Terminals: make([]TerminalResult, len(c.terminals))}, err
		}
		w.Warmup = 0
	}
	c.rec.reset()
	return c.window(ctx, w)
}

// addTo runs a window without intervals and adds what it did to sample.
func (c *Crew) addTo(ctx context.Context, sample *Sample, w Window) (LoadResult, error) {
	own := c.rec
	c.rec = &recorder{live: sample}
	defer func() { c.rec = own }()
	return c.window(ctx, w)
}

// A shift is one window at work.
type shift struct {
	Window
	rec     *recorder
	queue   *queue        // nil when closed
	tickets atomic.Uint64 // transactions begun, when Events bounds them
	start   time.Time     // of the warm-up, if any
}

func (c *Crew) window(ctx context.Context, w Window) (LoadResult, error) {
	c.windows++
	s := &shift{Window: w, rec: c.rec}
	if w.Rate > 0 {
		s.queue = newQueue(w, c.seed^c.windows)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	shares := make([]TerminalResult, len(c.terminals))
	ready := make(chan struct{})
	var wg sync.WaitGroup
	for i, t := range c.terminals {
		wg.Go(func() {
			<-ready
			if err := s.work(ctx, i, t, &shares[i]); err != nil {
				cancel(fmt.Errorf("terminal %d: %w", i, err))
			}
		})
	}
	stop, ticking := make(chan struct{}), make(chan struct{})
	s.start = time.Now()
	go hangUp(ctx, stop)
	close(ready)
	go func() {
		defer close(ticking)
		if w.Interval > 0 {
			s.tick(stop)
		}
	}()
	wg.Wait()
	elapsed := s.elapsed(ctx, shares)
	close(stop)
	<-ticking

	res := LoadResult{
		Sample: c.rec.finish(), Start: s.start.Add(w.Warmup),
		Elapsed: elapsed, Terminals: shares,
	}
	if s.queue != nil && ctx.Err() == nil && !s.exhausted() {
		res.Unserved = s.queue.backlog(elapsed+w.Warmup, res.Latency.Record)
	}
	return res, context.Cause(ctx)
}

// patience is how long statements under way may go on after a load was stopped.
// Most end at once; the others wait for a lock, or for a server that hangs.
var patience = 5 * time.Second // shorter in a test

// hangUp ends the connections of terminals that have not ended in time.
func hangUp(ctx context.Context, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	select {
	case <-ended:
	case <-time.After(patience):
		dsn.HangUp()
	}
}

// elapsed is the time from the end of the warm-up to the end of the last
// transaction. An open load that kept to its schedule lasts as long as that,
// though nothing may have been due at its very end.
func (s *shift) elapsed(ctx context.Context, shares []TerminalResult) time.Duration {
	if ctx.Err() != nil {
		return max(0, time.Since(s.start)-s.Warmup)
	}
	var end time.Duration
	for _, t := range shares {
		end = max(end, t.end-s.Warmup)
	}
	if s.queue != nil && !s.exhausted() {
		end = max(end, s.Duration)
	}
	return end
}

// exhausted reports whether Events ended the shift.
func (s *shift) exhausted() bool { return s.Events > 0 && s.tickets.Load() >= s.Events }

// work is the life of one terminal in a window.
func (s *shift) work(ctx context.Context, n int, t Terminal, share *TerminalResult) error {
	var tally Tally // outside the loop: it escapes through Next
	now := time.Since(s.start)
	pauser, _ := t.(Pauser)
	for ctx.Err() == nil {
		if pauser != nil && s.queue == nil {
			if rest := pauser.Pause(); rest > 0 {
				if s.Duration > 0 {
					rest = min(rest, s.Warmup+s.Duration-now)
				}
				sleep(ctx, rest)
				now = time.Since(s.start)
			}
		}
		begin := now // the intended start
		switch {
		case s.Counts != nil:
			if share.Transactions == s.Counts[n] {
				return nil
			}
		case s.queue != nil:
			at, ok := s.queue.take(now)
			if !ok || !sleep(ctx, at-now) {
				return nil
			}
			begin = at
		case s.Duration > 0 && now >= s.Duration:
			return nil
		}
		counts := begin >= s.Warmup
		if counts && s.Events > 0 && s.tickets.Add(1) > s.Events {
			return nil
		}
		busy := now
		if s.queue != nil {
			busy = time.Since(s.start)
		}
		tally = Tally{}
		kind, err := t.Next(ctx, &tally)
		if err != nil {
			if ctx.Err() != nil { // the window was stopped; its cause is known
				return nil
			}
			return err
		}
		now = time.Since(s.start)
		share.end = now
		if counts {
			s.rec.add(kind, now-begin, tally)
			share.Transactions++
			share.Busy += now - busy
		}
	}
	return nil
}

// sleep waits for d and reports whether the context is still alive.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// tick reports an interval at every multiple of Interval and the rest at stop.
func (s *shift) tick(stop <-chan struct{}) {
	origin := s.start.Add(s.Warmup)
	last := time.Duration(0)
	for due := s.Interval; ; due += s.Interval {
		timer := time.NewTimer(time.Until(origin.Add(due)))
		ended := false
		select {
		case <-timer.C:
		case <-stop:
			ended = true
		}
		timer.Stop()
		at := time.Since(origin)
		if at <= 0 || ended && at == last {
			return
		}
		iv := Interval{Sample: s.rec.cut(), At: at, Length: at - last, Last: ended}
		if s.queue != nil {
			iv.Queue = s.queue.backlog(s.Warmup+at, nil)
		}
		s.OnInterval(iv)
		if ended {
			return
		}
		last = at
	}
}
