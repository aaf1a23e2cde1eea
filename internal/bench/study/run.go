package study

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/run"
	"github.com/veildb/veildb/internal/bench/stat"
)

// Config is one run of a study.
type Config struct {
	Definition *Definition
	Engine     Engine
	Seed       uint64
	// Prior holds the records of an interrupted run that this one goes on
	// from: same definition, same seed. nil begins anew.
	Prior []any
	// Record keeps a record: result.Header, Block, Void, Check, Note or End.
	Record func(record any) error
	// Progress, if set, is called often.
	Progress func(Progress)
}

// Progress is how far a run is. Runs have a time budget, so the fraction is of
// time.
type Progress struct {
	Fraction float64
	Label    string // what is being done
	Detail   string // how it goes: a rate, or the estimate so far
}

// Least time for one comparison: below it there are too few quads for an
// interval worth printing.
const minCell = time.Second

// Run runs the study to its end. It returns ErrDefinition for operations that the
// engine does not know. When ctx is done it returns its error; everything
// recorded stays valid and a later Run with Prior goes on from it.
func Run(ctx context.Context, c Config) error {
	s := &state{Config: c, started: time.Now(), done: progressOf(c.Prior),
		checkup: map[string]time.Duration{}, checked: map[string]bool{}}
	s.cells = c.Definition.turns()
	_, operates := c.Engine.(Operator)
	for _, cell := range s.cells {
		if !operates && s.workload(cell).operation() { // before it loads for hours
			return fmt.Errorf("%w: engine %s does not know the operation %s", ErrDefinition, cell.Engine, cell.Workload)
		}
		if !s.done.finished(cell) {
			s.weight += s.Definition.weightOf(cell)
		}
	}
	s.budget = c.Definition.Budget.Default
	if whole := s.totalWeight(); s.weight < whole {
		s.budget = time.Duration(float64(s.budget) * float64(s.weight) / float64(whole))
	}
	if err := s.load(ctx); err != nil {
		return err
	}
	if err := s.failovers(ctx); err != nil {
		return err
	}
	for _, cell := range s.cells {
		if s.done.finished(cell) {
			continue
		}
		if err := s.compare(ctx, cell); err != nil {
			return fmt.Errorf("%s %s with %d threads: %w", cell.Workload, cell.Variant, cell.Threads, err)
		}
		s.weight -= s.Definition.weightOf(cell)
	}
	return nil
}

// state is a run at work.
type state struct {
	Config
	started time.Time
	budget  time.Duration
	cells   []result.Cell
	done    progress
	weight  int                      // of the cells still to measure
	checkup map[string]time.Duration // what the longest checks of a workload took
	checked map[string]bool          // workload and variant, see verify
}

func (s *state) workload(cell result.Cell) Workload {
	i := slices.IndexFunc(s.Definition.Workloads, func(w Workload) bool { return w.Label() == cell.Workload })
	return s.Definition.Workloads[i]
}

func (s *state) totalWeight() int {
	sum := 0
	for _, cell := range s.cells {
		sum += s.Definition.weightOf(cell)
	}
	return sum
}

// load has every dataset filled that a cell to come needs.
func (s *state) load(ctx context.Context) error {
	seen := map[string]bool{}
	for _, w := range s.Definition.Workloads {
		name := w.dataset()
		if seen[name] {
			continue
		}
		seen[name] = true
		begun := time.Now()
		label := "loading " + w.Label()
		s.report(label, "")
		err := s.Engine.Dataset(ctx, name, func(ctx context.Context, db *sql.DB) error {
			return w.fill(ctx, db, s.Engine.Dialect(), s.Seed, func(done, total int64) {
				rate := float64(done) / time.Since(begun).Seconds()
				s.report(label, fmt.Sprintf("%d of %d rows, %.0f rows/s", done, total, rate))
			})
		})
		if err != nil {
			return fmt.Errorf("load %s: %w", name, err)
		}
	}
	return nil
}

// compare measures one cell, in several sittings.
func (s *state) compare(ctx context.Context, cell result.Cell) error {
	if s.workload(cell).operation() {
		return s.operate(ctx, cell)
	}
	share := s.share(cell)
	end := time.Now().Add(share)
	n := sittings(share, s.Definition.leastSitting())
	for i := range n {
		budget := time.Until(end) / time.Duration(n-i)
		if err := s.sit(ctx, cell, i, budget, i == n-1); err != nil {
			return err
		}
	}
	s.done.finish(cell)
	return nil
}

// sit measures one sitting of a cell on fresh copies; the last one is followed
// by the checks.
func (s *state) sit(ctx context.Context, cell result.Cell, number int, budget time.Duration, last bool) (err error) {
	begun := time.Now()
	w := s.workload(cell)
	label := cellLabel(cell)
	s.report(label, "copying data")
	arms, closeArms, err := s.open(ctx, w, cell, number%2 == 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeArms()) }()
	var loads [2]run.Arm
	for i, a := range arms {
		loads[i] = run.Arm{DB: a.DB, Workload: a.load, CPU: a.CPU, Generation: a.Generation}
	}
	if err := s.measure(ctx, cell, loads, begun.Add(budget)); err != nil || !last {
		return err
	}
	s.report(label, "checking consistency")
	begun = time.Now()
	err = s.verify(ctx, cell, w, arms)
	s.checkup[w.Label()] = max(s.checkup[w.Label()], time.Since(begun))
	return err
}

// measure runs the quads of a sitting until end. Where the study says reopen,
// every quad has connections of its own: the memory a connection happens to get
// is worth some percent on an embedded engine, and quads that share it would
// look more certain than they are.
func (s *state) measure(ctx context.Context, cell result.Cell, arms [2]run.Arm, end time.Time) error {
	reopen := s.Definition.Reopen
	if reopen {
		for _, arm := range arms {
			arm.DB.SetMaxIdleConns(-1)
		}
	}
	for {
		prior, stop := s.done.prior(cell), stopAfter(time.Until(end))
		if reopen {
			stop.Quads, stop.MinQuads = len(prior.Logs)+1, 1
		}
		err := run.Compare(ctx, run.Plan{
			Cell: cell, Baseline: arms[0], Variant: arms[1], Seed: s.Seed,
			Block: s.Definition.Block, Slice: slice(cell.Threads), Warmup: s.Definition.Block,
			Stop: stop, Prior: prior,
			Record: func(record any) error {
				s.done.add(record)
				return s.Record(record)
			},
			Progress: func(p run.Progress) {
				s.report(cellLabel(cell), detail(p))
			},
		})
		if err != nil || !reopen || !time.Now().Before(end) {
			return err
		}
	}
}

// stopAfter ends a sitting when the time left is over; if fresh copies took it
// all, the least number of quads is measured nevertheless.
func stopAfter(left time.Duration) run.Stop {
	return run.Stop{Budget: max(left, time.Millisecond), MinQuads: 2}
}

// slice is the length of the turns that the blocks of a quad advance in. The
// finer they interleave, the more of the machine's drift cancels; with several
// terminals every turn ends in waiting for the slowest, so there are none.
func slice(threads int) time.Duration {
	if threads > 1 {
		return 0
	}
	return 5 * time.Millisecond
}

// open opens the two arms of a cell, the variant first if so asked.
func (s *state) open(ctx context.Context, w Workload, cell result.Cell, variantFirst bool) (arms [2]*arm, closeAll func() error, err error) {
	var opened []*Database
	closeAll = func() error {
		var errs []error
		for _, d := range opened {
			errs = append(errs, d.Close())
		}
		return errors.Join(errs...)
	}
	order := []int{0, 1}
	if variantFirst {
		order = []int{1, 0}
	}
	for _, i := range order {
		variant := [2]string{cell.Baseline, cell.Variant}[i]
		d, err := s.Engine.Open(ctx, w.dataset(), variant, [2]string{"baseline", "variant"}[i])
		if err != nil {
			return arms, nil, errors.Join(fmt.Errorf("open %s: %w", variant, err), closeAll())
		}
		opened = append(opened, d)
		load, err := w.runner(s.Engine.Dialect(), cell.Threads)
		if err != nil {
			return arms, nil, errors.Join(err, closeAll())
		}
		arms[i] = &arm{Database: d, variant: variant, load: &counted{Workload: load}}
		if d.Private && s.Engine.Dialect() == dsn.MySQL && !w.orders() {
			if arms[i].before, err = readStatements(ctx, d.DB); err != nil {
				return arms, nil, errors.Join(err, closeAll())
			}
		}
	}
	return arms, closeAll, nil
}

func (s *state) report(label, detail string) {
	if s.Progress != nil {
		s.Progress(Progress{
			Fraction: time.Since(s.started).Seconds() / s.budget.Seconds(),
			Label:    label, Detail: detail,
		})
	}
}

func cellLabel(c result.Cell) string {
	if c.AA() {
		return fmt.Sprintf("%s A/A", c.Workload)
	}
	return fmt.Sprintf("%s %s", c.Workload, c.Variant)
}

// detail writes the pace and the running estimate.
func detail(p run.Progress) string {
	if p.Phase != run.PhaseMeasure || p.TPS.Variant == 0 { // or nothing is measured yet
		return string(p.Phase)
	}
	text := fmt.Sprintf("%.0f tx/s", p.TPS.Variant)
	if o := p.Overhead; o != nil {
		text += fmt.Sprintf(", overhead %+.1f %% [%.1f, %.1f], %d quads", o.Est, o.Lo, o.Hi, p.Quads)
	}
	return text
}

// progress is which comparisons a run has finished, and what the others have.
type progress struct {
	order []result.Cell            // in which cells first had a block
	quads map[cellKey]map[int]quad // recorded so far
	ended map[cellKey]bool
	// failovers is how many each arm has recorded.
	failovers map[string]int
}

type cellKey struct {
	engine, variant, baseline, workload string
	threads                             int
}

func keyOf(c result.Cell) cellKey {
	return cellKey{c.Engine, c.Variant, c.Baseline, c.Workload, c.Threads}
}

// quad collects what an earlier run recorded of one quad.
type quad struct {
	rates  [2][]float64 // commits a second: baseline, variant
	voided bool
}

// progressOf reads the records of an interrupted run. Cells run one after the
// other, so all but the last that has data are finished.
func progressOf(records []any) progress {
	p := progress{quads: map[cellKey]map[int]quad{}, ended: map[cellKey]bool{}, failovers: map[string]int{}}
	for _, r := range records {
		p.add(r)
	}
	for i, c := range p.order {
		if i < len(p.order)-1 {
			p.ended[keyOf(c)] = true
		}
	}
	return p
}

// add takes note of a record.
func (p *progress) add(record any) {
	switch r := record.(type) {
	case result.Block:
		q := p.at(r.Cell)[r.Quad]
		arm := 0
		if r.Arm == "variant" {
			arm = 1
		}
		q.rates[arm] = append(q.rates[arm], float64(r.Commits)/r.DurationS)
		p.at(r.Cell)[r.Quad] = q
	case result.Void:
		q := p.at(r.Cell)[r.Quad]
		q.voided = true
		p.at(r.Cell)[r.Quad] = q
	case result.Failover:
		p.failovers[r.Variant]++
	}
}

// at is what is known of the quads of cell c.
func (p *progress) at(c result.Cell) map[int]quad {
	k := keyOf(c)
	if p.quads[k] == nil {
		p.quads[k] = map[int]quad{}
		p.order = append(p.order, c)
	}
	return p.quads[k]
}

func (p *progress) finished(c result.Cell) bool { return p.ended[keyOf(c)] }
func (p *progress) finish(c result.Cell)        { p.ended[keyOf(c)] = true }

// prior is what is there of cell c, from this run or an interrupted one.
func (p *progress) prior(c result.Cell) run.Prior {
	var prior run.Prior
	quads := p.quads[keyOf(c)]
	for _, n := range slices.Sorted(maps.Keys(quads)) {
		q := quads[n]
		prior.NextQuad = n + 1
		if d, ok := stat.QuadLog(q.rates[0], q.rates[1]); ok && !q.voided {
			prior.Logs = append(prior.Logs, d)
		}
	}
	return prior
}
