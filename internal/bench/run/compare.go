package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/stat"
)

// maxFailures is how many quads in a row may fail before the failure is taken
// for permanent.
const maxFailures = 3

// Compare measures one cell: it opens the same terminals on both arms, warms
// both, and runs quads until p.Stop says enough. When ctx is done the quad at
// work is discarded, everything recorded stays valid, and ctx's error is
// returned; a later Compare with Prior goes on from there.
//
// The garbage collector is left alone on purpose. A collection is triggered by
// allocation, so over many switches each arm pays for as many as its own
// garbage causes; forcing one between blocks would take that cost out of the
// measurement.
func Compare(ctx context.Context, p Plan) (err error) {
	if err := p.validate(); err != nil {
		return err
	}
	if p.readClock == nil {
		p.readClock = readClock
	}
	s := &session{Plan: p, started: time.Now(), logs: append([]float64(nil), p.Prior.Logs...)}
	defer func() { err = errors.Join(err, s.close()) }()
	failures := 0
	for quad := p.Prior.NextQuad; s.more(); quad++ {
		err := s.step(ctx, quad)
		var failed *quadError
		switch {
		case err == nil:
			failures = 0
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !errors.As(err, &failed):
			return err
		default:
			if failures++; failures == maxFailures {
				return fmt.Errorf("compare: %d quads in a row failed: %w", failures, failed)
			}
			if err := s.withdraw(quad, failed); err != nil {
				return err
			}
		}
	}
	return nil
}

// A session is a comparison at work.
type session struct {
	Plan
	started  time.Time
	crews    [2]*Crew      // baseline, variant; nil until opened
	parts    [2][2]*part   // the blocks at work, by arm and visit
	pace     float64       // by work: seconds a transaction takes a terminal
	ours     float64       // processor time of the quad at work, seconds
	quads    int           // valid or void in this run
	voided   int           // of those
	spent    time.Duration // on them
	logs     []float64     // of all valid quads
	tps      result.Pair   // of the last quad
	reported time.Time
}

// A quadError is a failure that costs a quad, not the run.
type quadError struct {
	cause, arm string
	err        error
}

func (e *quadError) Error() string { return e.err.Error() }
func (e *quadError) Unwrap() error { return e.err }

func (s *session) close() error {
	var errs []error
	for i, c := range s.crews {
		if c != nil {
			errs = append(errs, c.Close())
			s.crews[i] = nil
		}
	}
	return errors.Join(errs...)
}

// more applies the stop rule.
func (s *session) more() bool {
	valid, stop := len(s.logs), s.Stop
	if stop.Quads > 0 && (valid >= stop.Quads || s.voided > 2*stop.Quads+10) {
		return false // done, or a machine where hardly a quad is valid
	}
	if stop.HalfWidthPct > 0 && valid >= MinQuadsForWidth {
		if t, ok := stat.Student(s.logs, stat.Level); ok && t.Loss().HalfWidth() <= stop.HalfWidthPct {
			return false
		}
	}
	if stop.Budget > 0 && s.quads >= max(stop.MinQuads, 1) {
		// A quad that would end mostly after the budget is not begun.
		return time.Since(s.started)+s.spent/time.Duration(2*s.quads) < stop.Budget
	}
	return true
}

// step runs one quad, opening and warming the arms first if need be.
func (s *session) step(ctx context.Context, quad int) error {
	if s.crews[0] == nil {
		if err := s.open(ctx, quad); err != nil {
			return err
		}
	}
	begun := time.Now()
	blocks, void, err := s.quad(ctx, quad)
	if err != nil {
		return err
	}
	s.quads++
	s.spent += time.Since(begun)
	for _, b := range blocks {
		if err := s.Record(b); err != nil {
			return fmt.Errorf("record block: %w", err)
		}
	}
	if void != nil {
		s.voided++
		if err := s.Record(*void); err != nil {
			return fmt.Errorf("record void: %w", err)
		}
	} else if d, ok := logOf(blocks); ok {
		s.logs = append(s.logs, d)
	}
	s.report(PhaseMeasure)
	return nil
}

// logOf is d of a quad: the log-ratio of the arms' commit rates.
func logOf(blocks [4]result.Block) (float64, bool) {
	var rates [2][]float64
	for _, b := range blocks {
		arm := 0
		if b.Arm == armNames[1] {
			arm = 1
		}
		rates[arm] = append(rates[arm], float64(b.Commits)/b.DurationS)
	}
	return stat.QuadLog(rates[0], rates[1])
}

// withdraw records a failed quad and closes the terminals, so that the next
// quad opens new ones.
func (s *session) withdraw(quad int, failed *quadError) error {
	s.quads++
	s.voided++
	_ = s.close() // their connections are suspect; what they say adds nothing
	c := s.Cell
	note := fmt.Sprintf("%s %s %s, %d threads: quad %d withdrawn: %v", c.Engine, c.Variant, c.Workload, c.Threads, quad, failed)
	for _, r := range []any{
		*s.void(quad, failed.cause, failed.arm),
		result.Note{Type: result.TypeNote, Text: note},
	} {
		if err := s.Record(r); err != nil {
			return fmt.Errorf("record void: %w", err)
		}
	}
	return nil
}

// open opens both arms' terminals, warms them and, by work, finds out how many
// transactions make a block. Both arms run the same work from the first
// transaction on, so their streams stay in step.
func (s *session) open(ctx context.Context, quad int) error {
	s.report(PhaseOpen)
	arms := [2]Arm{s.Baseline, s.Variant}
	first := s.orders(quad)()[0] // drawn, so that neither arm is always opened first
	for _, i := range [2]int{first, 1 - first} {
		arm := arms[i]
		c, err := OpenCrew(ctx, arm.Workload, arm.DB, s.Cell.Threads, s.streamSeed(quad))
		if err != nil {
			return fmt.Errorf("%s arm: %w", armNames[i], err)
		}
		s.crews[i] = c
		for visit := range s.parts[i] {
			s.parts[i][visit] = &part{sample: newSample(len(c.Kinds()))}
		}
	}
	s.report(PhaseWarmup)
	return s.warm(ctx, first)
}

func (s *session) warm(ctx context.Context, arm int) error {
	counts := make([]uint64, s.Cell.Threads)
	var total uint64
	var elapsed time.Duration
	for total == 0 { // on a busy machine a short window may pass before a terminal wakes
		res, err := s.crews[arm].Run(ctx, Window{Duration: max(s.Warmup, s.Block)})
		if err != nil {
			return fmt.Errorf("warm %s arm: %w", armNames[arm], err)
		}
		for i, t := range res.Terminals {
			counts[i] += t.Transactions
			total += t.Transactions
		}
		elapsed += res.Elapsed
	}
	second, err := s.crews[1-arm].Run(ctx, Window{Counts: counts})
	if err != nil {
		return fmt.Errorf("warm %s arm: %w", armNames[1-arm], err)
	}
	if s.ByTime {
		return nil
	}
	// The warm-up began cold; a pair of blocks of the size it suggests
	// corrects it.
	s.pace = (elapsed + second.Elapsed).Seconds() / 2 / (float64(total) / float64(s.Cell.Threads))
	n := max(1, s.transactions(s.Block))
	elapsed = 0
	for i, c := range s.crews {
		res, err := c.Run(ctx, Window{Counts: s.each(n)})
		if err != nil {
			return fmt.Errorf("warm %s arm: %w", armNames[i], err)
		}
		elapsed += res.Elapsed
	}
	s.pace = elapsed.Seconds() / 2 / float64(n)
	return nil
}

// each is n for every terminal.
func (s *session) each(n uint64) []uint64 {
	counts := make([]uint64, s.Cell.Threads)
	for i := range counts {
		counts[i] = n
	}
	return counts
}

func (s *session) report(phase Phase) { s.reportNow(phase, true) }

// reportEvery is how often progress within a quad is worth telling.
const reportEvery = 200 * time.Millisecond

func (s *session) reportNow(phase Phase, force bool) {
	if s.Progress == nil || !force && time.Since(s.reported) < reportEvery {
		return
	}
	s.reported = time.Now()
	p := Progress{
		Cell: s.Cell, Phase: phase, Quads: len(s.logs), Voided: s.voided,
		Elapsed: time.Since(s.started), TPS: s.tps,
	}
	p.Total = s.Stop.Budget
	if s.Stop.Quads > 0 && s.quads > 0 {
		left := time.Duration(max(0, s.Stop.Quads-len(s.logs)))
		if whole := p.Elapsed + left*s.spent/time.Duration(s.quads); p.Total == 0 || whole < p.Total {
			p.Total = whole
		}
	}
	if t, ok := stat.Student(s.logs, stat.Level); ok {
		l := t.Loss()
		p.Overhead = &result.Interval{Est: l.Est, Lo: l.Lo, Hi: l.Hi}
	}
	s.Progress(p)
}
