package run

import (
	"context"
	"fmt"
	"time"

	"github.com/veildb/veildb/internal/bench/result"
)

// quad runs four blocks. void says why they must not count, nil if they may.
// An error that costs only this quad is a *quadError.
func (s *session) quad(ctx context.Context, quad int) (blocks [4]result.Block, void *result.Void, err error) {
	before, err := s.generations()
	if err != nil {
		return blocks, nil, err
	}
	order, clock := s.order(quad), s.readClock()
	var ours float64
	for pos, arm := range order {
		cpu, err := s.cpu(arm)
		if err != nil {
			return blocks, nil, err
		}
		b, err := s.block(ctx, arm)
		if err != nil {
			return blocks, nil, s.failed(ctx, before, arm, err)
		}
		after, err := s.cpu(arm)
		if err != nil {
			return blocks, nil, err
		}
		ours += after.Sub(cpu).Total() // settling included
		b.Cell, b.Arm = s.key(), armNames[arm]
		b.Quad, b.Position, b.Order = quad, pos, order.String()
		blocks[pos] = b
		*armOf(&s.tps, arm) = float64(b.Commits) / b.DurationS
		if pos < 3 {
			s.report(PhaseMeasure)
		}
	}
	steal, foreign := s.readClock().since(clock, ours)
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

// failed turns an error in a block of one arm into the loss of this quad,
// unless the run is over anyway.
func (s *session) failed(ctx context.Context, before [2]string, arm int, err error) error {
	if ctx.Err() != nil {
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

// block settles one arm and measures one block on it.
func (s *session) block(ctx context.Context, arm int) (b result.Block, err error) {
	crew := s.crews[arm]
	settle, w := s.windows()
	if settle != nil {
		if _, err := crew.Run(ctx, *settle); err != nil {
			return b, fmt.Errorf("settle %s arm: %w", armNames[arm], err)
		}
	}
	clock := s.readClock()
	cpu, err := s.cpu(arm)
	if err != nil {
		return b, err
	}
	res, err := crew.Run(ctx, w)
	if err != nil {
		return b, fmt.Errorf("load %s arm: %w", armNames[arm], err)
	}
	after, err := s.cpu(arm)
	if err != nil {
		return b, err
	}
	used := after.Sub(cpu)
	b = result.Block{
		Type: result.TypeBlock, Start: res.Start.UTC().Round(time.Microsecond), DurationS: res.Elapsed.Seconds(),
		Transactions: res.Transactions, Commits: res.Commits, UserAborts: res.UserAborts,
		Retries: res.Retries, Errors: res.Errors, Queries: res.Queries,
		LatencyUS: Summarise(res.Latency), CPUS: used, Rate: s.Rate,
	}
	b.StealPct, b.ForeignPct = s.readClock().since(clock, used.Total())
	if kinds := crew.Kinds(); len(kinds) > 1 {
		b.KindsUS = make(map[string]result.Latency, len(kinds))
		for i, k := range kinds {
			b.KindsUS[k] = Summarise(res.Kinds[i])
		}
	}
	return b, nil
}

// windows are the settling load, nil if none, and the block itself.
func (s *session) windows() (settle *Window, block Window) {
	if !s.ByTime {
		if s.counts[0][0] > 0 {
			settle = &Window{Counts: s.counts[0]}
		}
		return settle, Window{Counts: s.counts[1]}
	}
	if s.Settle > 0 {
		settle = &Window{Duration: s.Settle}
	}
	return settle, Window{Duration: s.Block, Rate: s.Rate, Arrivals: s.Arrivals}
}
