package run

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// An engine is an in-memory stand-in for a database. Real engines are driven
// in the tests of the workloads; here the engine must misbehave on demand.
type engine struct {
	work  func(n int) time.Duration // service time of a transaction of terminal n; nil: none
	stall func() time.Duration      // once per transaction, while holding the lock
	fail  func(done uint64) error   // nil: never

	mu     sync.Mutex
	done   atomic.Uint64
	opened atomic.Int64
	closed atomic.Int64

	logMu sync.Mutex
	log   map[int][]uint64 // stream drawn by each terminal, if not nil
}

type fakeWorkload struct {
	e     *engine
	kinds []string
}

func (w fakeWorkload) Name() string    { return "fake" }
func (w fakeWorkload) Kinds() []string { return w.kinds }

func (w fakeWorkload) Terminal(_ context.Context, _ *sql.DB, n int, seed uint64) (Terminal, error) {
	w.e.opened.Add(1)
	return &fakeTerminal{w: w, n: n, rng: rand.New(rand.NewPCG(seed, uint64(n)))}, nil
}

type fakeTerminal struct {
	w   fakeWorkload
	n   int
	rng *rand.Rand
}

func (t *fakeTerminal) Close() error { t.w.e.closed.Add(1); return nil }

func (t *fakeTerminal) Next(ctx context.Context, tally *Tally) (int, error) {
	e := t.w.e
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	draw := t.rng.Uint64()
	if e.log != nil {
		e.logMu.Lock()
		e.log[t.n] = append(e.log[t.n], draw)
		e.logMu.Unlock()
	}
	if e.stall != nil {
		e.mu.Lock()
		time.Sleep(e.stall())
		e.mu.Unlock()
	}
	if e.work != nil {
		time.Sleep(e.work(t.n))
	}
	if e.fail != nil {
		if err := e.fail(e.done.Load()); err != nil {
			return 0, err
		}
	}
	e.done.Add(1)
	kind := int(draw % uint64(len(t.w.kinds)))
	tally.Transactions++
	tally.Queries += 3
	if kind == 1 {
		tally.UserAborts++
	} else {
		tally.Commits++
	}
	return kind, nil
}
