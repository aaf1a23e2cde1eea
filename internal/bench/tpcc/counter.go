package tpcc

import (
	"context"
	"database/sql"
	"sync/atomic"
	"time"

	"github.com/veildb/veildb/internal/bench/run"
)

// Counted is a Workload that also counts commits by transaction type, warm-up
// included, so that they can be compared with what the database says; see
// CheckTotals.
type Counted struct {
	*Workload
	commits [numKinds]atomic.Uint64
}

// Commits is the number of committed transactions of the kind so far.
func (c *Counted) Commits(kind int) uint64 { return c.commits[kind].Load() }

// Terminal implements run.Workload.
func (c *Counted) Terminal(ctx context.Context, db *sql.DB, n int, seed uint64) (run.Terminal, error) {
	t, err := c.Workload.Terminal(ctx, db, n, seed)
	if err != nil {
		return nil, err
	}
	return &countedTerminal{t, &c.commits}, nil
}

type countedTerminal struct {
	run.Terminal
	commits *[numKinds]atomic.Uint64
}

// Next implements run.Terminal.
func (t *countedTerminal) Next(ctx context.Context, tally *run.Tally) (int, error) {
	before := tally.Commits
	kind, err := t.Terminal.Next(ctx, tally)
	t.commits[kind].Add(tally.Commits - before)
	return kind, err
}

// Pause implements run.Pauser.
func (t *countedTerminal) Pause() time.Duration {
	if p, ok := t.Terminal.(run.Pauser); ok {
		return p.Pause()
	}
	return 0
}
