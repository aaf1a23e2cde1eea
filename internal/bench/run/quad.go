package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/veildb/veildb/internal/bench/result"
)

// A part is a block in the making, the sum of its slices.
type part struct {
	sample  *Sample
	start   time.Time
	elapsed time.Duration
	cpu     result.CPU
}

func (p *part) reset() {
	p.sample.reset()
	*p = part{sample: p.sample}
}

// quad runs four blocks, in one piece or in slices. void says why they must
// not count, nil if they may. An error that costs only this quad is a
// *quadError.
func (s *session) quad(ctx context.Context, quad int) (blocks [4]result.Block, void *result.Void, err error) {
	before, err := s.generations()
	if err != nil {
		return blocks, nil, err
	}
	for _, arm := range s.parts {
		arm[0].reset()
		arm[1].reset()
	}
	draw, clock := s.orders(quad), s.readClock()
	s.ours = 0
	first := draw() // gives the blocks their places; a small quad has the same two visits to each arm
	rounds, _ := s.rounds()
	for round, order := 0, first; round < rounds; round, order = round+1, draw() {
		var visits [2]int
		for _, arm := range order {
			if err := s.slice(ctx, arm, s.parts[arm][visits[arm]]); err != nil {
				return blocks, nil, s.failed(ctx, before, arm, err)
			}
			visits[arm]++
			s.reportNow(PhaseMeasure, false)
		}
	}
	steal, foreign := s.readClock().since(clock, s.ours)
	now, err := s.generations()
	switch {
	case err != nil:
		return blocks, nil, err
	case now != before:
		void = s.void(quad, CauseEngineRestart, restarted(before, now))
	case s.Void.StealPct > 0 && steal > s.Void.StealPct:
		void = s.void(quad, CauseSteal, "")
	case s.Void.ForeignPct > 0 && foreign > s.Void.ForeignPct:
		void = s.void(quad, CauseForeignLoad, "")
	}
	var visits [2]int
	for pos, arm := range first {
		b := s.record(s.parts[arm][visits[arm]])
		b.Arm, b.Quad, b.Position, b.Order = armNames[arm], quad, pos, first.String()
		b.StealPct, b.ForeignPct = steal, foreign
		blocks[pos] = b
		visits[arm]++
		*armOf(&s.tps, arm) = float64(b.Commits) / b.DurationS
	}
	s.correctPace()
	return blocks, void, nil
}

func (s *session) void(quad int, cause, arm string) *result.Void {
	return &result.Void{Type: result.TypeVoid, Cell: s.key(), Quad: quad, Cause: cause, Arm: arm}
}

// key is the cell as records carry it: its identity, without what the header
// says about it once.
func (s *session) key() result.Cell {
	c := s.Cell
	c.Published, c.ClaimPct = nil, 0
	return c
}

// restarted names the arm whose engine changed, "" if both did.
func restarted(before, now [2]string) string {
	switch {
	case before[0] == now[0]:
		return armNames[1]
	case before[1] == now[1]:
		return armNames[0]
	}
	return ""
}

func armOf(p *result.Pair, arm int) *float64 {
	if arm == 0 {
		return &p.Baseline
	}
	return &p.Variant
}

// A loadError is a failure of the load itself, as opposed to accounting.
type loadError struct{ error }

func (e *loadError) Unwrap() error { return e.error }

// failed turns an error in a block of one arm into the loss of this quad,
// unless the run is over anyway.
func (s *session) failed(ctx context.Context, before [2]string, arm int, err error) error {
	var load *loadError
	if ctx.Err() != nil || !errors.As(err, &load) {
		return err
	}
	cause := CauseClientError
	if now, genErr := s.generations(); genErr != nil || now != before {
		cause = CauseEngineRestart
	}
	return &quadError{cause, armNames[arm], err}
}

func (s *session) arm(i int) Arm {
	if i == 0 {
		return s.Baseline
	}
	return s.Variant
}

func (s *session) generations() (g [2]string, err error) {
	for i := range g {
		if s.arm(i).Generation != nil {
			if g[i], err = s.arm(i).Generation(); err != nil {
				return g, fmt.Errorf("identify engine of %s arm: %w", armNames[i], err)
			}
		}
	}
	return g, nil
}

func (s *session) cpu(arm int) (result.CPU, error) {
	read := s.arm(arm).CPU
	if read == nil {
		read = EmbeddedCPU
	}
	c, err := read()
	if err != nil {
		return c, fmt.Errorf("account %s arm: %w", armNames[arm], err)
	}
	return c, nil
}

// slice settles one arm and adds one slice of load on it to p.
func (s *session) slice(ctx context.Context, arm int, p *part) error {
	crew := s.crews[arm]
	settle, w := s.windows()
	begin, err := s.cpu(arm)
	if err != nil {
		return err
	}
	before := begin
	if settle != nil {
		if _, err := crew.Run(ctx, *settle); err != nil {
			return &loadError{fmt.Errorf("settle %s arm: %w", armNames[arm], err)}
		}
		if before, err = s.cpu(arm); err != nil {
			return err
		}
	}
	res, err := crew.addTo(ctx, p.sample, w)
	if err != nil {
		return &loadError{fmt.Errorf("load %s arm: %w", armNames[arm], err)}
	}
	after, err := s.cpu(arm)
	if err != nil {
		return err
	}
	if p.start.IsZero() {
		p.start = res.Start
	}
	p.elapsed += res.Elapsed
	used := after.Sub(before)
	p.cpu = result.CPU{Client: p.cpu.Client + used.Client, Engine: p.cpu.Engine + used.Engine, Product: p.cpu.Product + used.Product}
	s.ours += after.Sub(begin).Total()
	return nil
}

// record makes the block of a part.
func (s *session) record(p *part) result.Block {
	b := result.Block{
		Type: result.TypeBlock, Cell: s.key(),
		Start: p.start.UTC().Round(time.Microsecond), DurationS: p.elapsed.Seconds(),
		Transactions: p.sample.Transactions, Commits: p.sample.Commits, UserAborts: p.sample.UserAborts,
		Retries: p.sample.Retries, Errors: p.sample.Errors, ErrorCodes: p.sample.ErrorCodes, Queries: p.sample.Queries,
		LatencyUS: Summarise(p.sample.Latency), CPUS: p.cpu, Rate: s.Rate,
	}
	if kinds := s.crews[0].Kinds(); len(kinds) > 1 {
		b.KindsUS = make(map[string]result.Latency, len(kinds))
		for i, k := range kinds {
			b.KindsUS[k] = Summarise(p.sample.Kinds[i])
		}
	}
	return b
}

// windows are the settling load, nil if none, and the slice itself.
func (s *session) windows() (settle *Window, slice Window) {
	_, length := s.rounds()
	if !s.ByTime {
		if n := s.transactions(s.Settle); n > 0 {
			settle = &Window{Counts: s.each(n)}
		}
		return settle, Window{Counts: s.each(max(1, s.transactions(length)))}
	}
	if s.Settle > 0 {
		settle = &Window{Duration: s.Settle}
	}
	return settle, Window{Duration: length, Rate: s.Rate, Arrivals: s.Arrivals}
}

// transactions is how many transactions each terminal runs in d at the pace so
// far.
func (s *session) transactions(d time.Duration) uint64 {
	return uint64(d.Seconds()/s.pace + 0.5)
}

// correctPace takes the quad just run into account. It looks at both arms
// together, so the length of the next quad does not depend on which was faster.
func (s *session) correctPace() {
	if s.ByTime {
		return
	}
	var elapsed time.Duration
	var done uint64
	for _, arm := range s.parts {
		for _, p := range arm {
			elapsed += p.elapsed
			done += p.sample.Transactions
		}
	}
	now := elapsed.Seconds() / (float64(done) / float64(s.Cell.Threads))
	s.pace += (now - s.pace) / 4
}
