package run

import (
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/veildb/veildb/internal/bench/result"
)

// An Arm is one side of a comparison: a prepared database, up and warm for the
// whole comparison.
type Arm struct {
	DB       *sql.DB
	Workload Workload
	// CPU returns the processor time used so far on behalf of this arm,
	// client included. Only differences matter. nil counts this process,
	// which is all there is with an embedded engine.
	CPU func() (result.CPU, error)
	// Generation identifies the engine's process, for example its pid and
	// start time; when it changes the engine was restarted. nil: never.
	Generation func() (string, error)
}

// A Plan is one cell of a study: which arms, how long, when to stop.
type Plan struct {
	Cell     result.Cell // Threads is the number of terminals of each arm
	Baseline Arm
	Variant  Arm
	Seed     uint64 // of the study; the cell's streams and orders derive from it and Cell

	// Block is the length of a block: exact with ByTime, aimed at otherwise.
	Block time.Duration
	// Slice, if set, has the four blocks of a quad advance in turns: they are
	// run as many small quads of slices this long, each in an order of its
	// own, and added up. What the machine does for longer than a few slices
	// then hits both arms alike, and a block is still long enough for
	// percentiles: on a machine four times overbooked, slices of 5 ms cut the
	// spread of TPC-C quads with one terminal from 45 to 14 %. Every slice ends with all terminals idle, so it suits few
	// terminals and short transactions. 0 runs each block in one piece.
	Slice time.Duration
	// ByTime ends blocks by the clock. Otherwise both arms of a pair run
	// exactly the same transactions from the same streams (n a terminal,
	// found in the warm-up and corrected from quad to quad), so the chance in
	// the mix cancels and only the time they take differs.
	ByTime bool
	Warmup time.Duration // load on each arm before the first quad; at least Block is run
	Settle time.Duration // load after every switch of arms that counts nowhere

	// Rate, with ByTime, sends so many transactions a second and counts
	// latency from the intended start. The throughput of the arms is then
	// equal by design; compare latency and processor time.
	Rate     float64
	Arrivals Arrivals

	Stop  Stop
	Void  VoidRules
	Prior Prior

	// Record takes a result.Block, result.Void or result.Note. The four
	// blocks of a quad come together, after its last.
	Record func(record any) error
	// Progress, if set, is called between blocks.
	Progress func(Progress)

	readClock func() clock // set by tests
}

// Stop fixes beforehand when a cell ends: at the first limit reached. A zero
// field sets no limit; at least one of Quads and Budget must be set. Nothing
// here looks at whether a difference is significant.
type Stop struct {
	Quads  int           // valid quads, those of Prior included
	Budget time.Duration // since Compare began, terminals and warm-up included
	// HalfWidthPct ends the cell when the 95 % interval of the overhead is
	// this narrow, after MinQuadsForWidth valid quads at the earliest.
	HalfWidthPct float64
	// MinQuads quads, void ones included, are measured even if Budget is
	// over; 0 means 1.
	MinQuads int
}

// MinQuadsForWidth is the least number of quads for the half-width rule: a
// narrow interval of fewer is chance.
const MinQuadsForWidth = 10

// VoidRules withdraw a whole quad for causes seen outside its result. Errors
// of the client and restarts of the engine always do. The percentages are of
// the whole machine's capacity over the quad; 0 switches a rule off.
type VoidRules struct {
	StealPct   float64 // time the hypervisor took
	ForeignPct float64 // time other programs took
}

// Causes of a Void record.
const (
	CauseClientError   = "client-error"
	CauseEngineRestart = "engine-restart"
	CauseSteal         = "steal"
	CauseForeignLoad   = "foreign-load"
)

// Prior is what an earlier, interrupted run of the same cell left. Its quads
// count on; the next gets the number NextQuad. The terminals start a stream of
// their own for that number, because the databases have moved on and the old
// position would not mean the same work.
type Prior struct {
	NextQuad int
	Logs     []float64 // ln(variant rate / baseline rate) of each valid quad
}

// Progress is the state of a comparison.
type Progress struct {
	Cell   result.Cell
	Phase  Phase
	Quads  int // valid so far
	Voided int // in this run
	// Elapsed counts from the start of Compare. Total is when it should end
	// by the plan and the pace so far, 0 while unknown.
	Elapsed, Total time.Duration
	TPS            result.Pair      // commits a second in the last quad
	Overhead       *result.Interval // so far, in percent; nil until two quads are valid
}

// Phase is what a comparison is doing.
type Phase string

// Phases, in order.
const (
	PhaseOpen    Phase = "opening terminals"
	PhaseWarmup  Phase = "warming up"
	PhaseMeasure Phase = "measuring"
)

func (p *Plan) validate() error {
	switch {
	case p.Cell.Threads < 1:
		return fmt.Errorf("compare: %d threads, want at least 1", p.Cell.Threads)
	case p.Block <= 0:
		return errors.New("compare: no block length")
	case p.Warmup < 0 || p.Settle < 0 || p.Slice < 0 || p.Rate < 0:
		return errors.New("compare: negative warm-up, settle time, slice or rate")
	case p.Rate > 0 && !p.ByTime:
		return errors.New("compare: a rate needs blocks by time")
	case p.Stop.Quads <= 0 && p.Stop.Budget <= 0:
		return errors.New("compare: nothing ends the cell: neither quads nor budget")
	case p.Record == nil:
		return errors.New("compare: nowhere to record")
	}
	return nil
}

// id is the same for the same comparison in every run of a study.
func (p *Plan) id() uint64 {
	h := fnv.New64a()
	c := p.Cell
	fmt.Fprintf(h, "%s|%s|%s|%s|%d", c.Engine, c.Variant, c.Baseline, c.Workload, c.Threads)
	return h.Sum64()
}

// streamSeed is the seed of both arms' terminals when they are opened for the
// given quad.
func (p *Plan) streamSeed(quad int) uint64 {
	return rand.NewPCG(p.Seed^p.id(), uint64(quad)<<1).Uint64()
}

// orders draws, for one quad, which arm begins and ends it, and then the same
// for each of its small quads.
func (p *Plan) orders(quad int) func() order {
	rng := rand.NewPCG(p.Seed^p.id(), uint64(quad)<<1|1)
	return func() order {
		if rng.Uint64()>>63 == 0 {
			return abba
		}
		return baab
	}
}

// rounds is the number of small quads in a quad, slice their blocks' length.
func (p *Plan) rounds() (n int, slice time.Duration) {
	if p.Slice == 0 || p.Slice >= p.Block {
		return 1, p.Block
	}
	n = int((p.Block + p.Slice/2) / p.Slice)
	return n, p.Block / time.Duration(n)
}

// An order lists the arms of a quad's four blocks: 0 is the baseline. Both
// cancel a linear drift; which comes is drawn, so that no periodic job of the
// machine can keep hitting one arm.
type order [4]int

var (
	abba = order{0, 1, 1, 0}
	baab = order{1, 0, 0, 1}
)

func (o order) String() string {
	if o == abba {
		return "ABBA"
	}
	return "BAAB"
}

var armNames = [2]string{"baseline", "variant"}
