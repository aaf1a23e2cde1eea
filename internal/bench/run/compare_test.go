package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/stat"
)

// records collects what a comparison emits.
type records struct {
	blocks []result.Block
	voids  []result.Void
	notes  []result.Note
}

func (r *records) record(v any) error {
	switch v := v.(type) {
	case result.Block:
		r.blocks = append(r.blocks, v)
	case result.Void:
		r.voids = append(r.voids, v)
	case result.Note:
		r.notes = append(r.notes, v)
	default:
		return fmt.Errorf("unexpected record %T", v)
	}
	return nil
}

// logs computes d of every quad from the records alone.
func (r *records) logs() []float64 {
	var d []float64
	for i := 0; i+4 <= len(r.blocks); i += 4 {
		if x, ok := logOf([4]result.Block(r.blocks[i : i+4])); ok {
			d = append(d, x)
		}
	}
	return d
}

func plan(e *engine, lossPct float64, threads int, r *records) Plan {
	w := fakeWorkload{e, []string{"only"}}
	variant := "plain"
	if lossPct != 0 {
		variant = "tde"
	}
	return Plan{
		Cell:     result.Cell{Engine: "fake", Variant: variant, Baseline: "plain", Workload: "fake", Threads: threads},
		Baseline: Arm{Workload: w},
		Variant:  Arm{Workload: slower{w, lossPct}},
		Seed:     1,
		Block:    100 * time.Millisecond,
		Warmup:   200 * time.Millisecond,
		Settle:   10 * time.Millisecond,
		Stop:     Stop{Quads: 20},
		Record:   r.record,
	}
}

func mustCompare(t *testing.T, p Plan) {
	t.Helper()
	if err := Compare(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}

func TestQuadsAreWellFormed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r records
		p := plan(&engine{work: drifting(time.Millisecond, 1)}, 5, 2, &r)
		p.Baseline.Workload = fakeWorkload{&engine{work: drifting(time.Millisecond, 1)}, []string{"a", "b", "c", "d", "e"}}
		p.Variant.Workload = p.Baseline.Workload
		mustCompare(t, p)
		orders := map[string]int{}
		for i, b := range r.blocks {
			if b.Type != result.TypeBlock || b.Quad != i/4 || b.Position != i%4 || b.DurationS <= 0 || b.Start.IsZero() {
				t.Fatalf("block %d: %+v", i, b)
			}
			if want := armNames[map[byte]int{'A': 0, 'B': 1}[b.Order[b.Position]]]; b.Arm != want {
				t.Errorf("block %d of %s is of the %s arm", b.Position, b.Order, b.Arm)
			}
			if i%4 == 0 {
				orders[b.Order]++
			}
			var kinds uint64
			for _, k := range b.KindsUS {
				kinds += k.Count
			}
			if len(b.KindsUS) != 5 || kinds != b.Transactions || b.LatencyUS.Count != b.Transactions {
				t.Errorf("block %d: %d transactions, kinds hold %d, latencies %d", i, b.Transactions, kinds, b.LatencyUS.Count)
			}
			if first := r.blocks[i/4*4]; b.Transactions != first.Transactions {
				t.Errorf("block %d ran %d transactions, the first of its quad %d", i, b.Transactions, first.Transactions)
			}
			if d := time.Duration(b.DurationS * 1e9); d < 30*time.Millisecond || d > 300*time.Millisecond {
				t.Errorf("block %d took %v, aimed at 100ms", i, d)
			}
		}
		if len(r.blocks) != 80 || orders["ABBA"] < 4 || orders["BAAB"] < 4 {
			t.Errorf("%d blocks, orders %v", len(r.blocks), orders)
		}
	})
}

// TestPairedWorkIsTheSameWork: after any number of quads both arms have drawn
// the same streams, warm-up and settling included.
func TestPairedWorkIsTheSameWork(t *testing.T) {
	for _, slice := range []time.Duration{0, 15 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			work := drifting(time.Millisecond, 2)
			a := &engine{work: work, log: map[int][]uint64{}}
			b := &engine{work: work, log: map[int][]uint64{}}
			var r records
			p := plan(a, 5, 3, &r)
			p.Variant.Workload = fakeWorkload{b, []string{"only"}}
			p.Stop.Quads, p.Slice = 5, slice
			mustCompare(t, p)
			for n := range 3 {
				if len(a.log[n]) < 1000 || !slices.Equal(a.log[n], b.log[n]) {
					t.Errorf("slice %v, terminal %d: the arms drew %d and %d values, not the same", slice, n, len(a.log[n]), len(b.log[n]))
				}
			}
		})
	}
}

func TestInterruptAndResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var whole, parts records
		mustCompare(t, plan(&engine{work: drifting(time.Millisecond, 3)}, 5, 1, &whole))

		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		e := &engine{work: drifting(time.Millisecond, 3)}
		p := plan(e, 5, 1, &parts)
		if err := Compare(ctx, p); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("error = %v, want %v", err, context.DeadlineExceeded)
		}
		done := len(parts.blocks) / 4
		if done == 0 || done >= 20 || len(parts.blocks)%4 != 0 {
			t.Fatalf("%d blocks kept", len(parts.blocks))
		}
		if e.opened.Load() != 2 || e.closed.Load() != 2 {
			t.Errorf("%d terminals opened, %d closed", e.opened.Load(), e.closed.Load())
		}

		p.Prior = Prior{NextQuad: done, Logs: parts.logs()}
		mustCompare(t, p)
		if len(parts.blocks) != len(whole.blocks) {
			t.Fatalf("%d blocks after resuming, want %d", len(parts.blocks), len(whole.blocks))
		}
		for i, b := range parts.blocks {
			if w := whole.blocks[i]; b.Quad != w.Quad || b.Position != w.Position || b.Order != w.Order {
				t.Errorf("block %d is %d/%d %s, uninterrupted %d/%d %s", i, b.Quad, b.Position, b.Order, w.Quad, w.Position, w.Order)
			}
		}
	})
}

func TestResumedTerminalsDrawFreshStreams(t *testing.T) {
	p := Plan{Seed: 4, Cell: result.Cell{Engine: "x", Threads: 1}}
	seen := map[uint64]int{}
	abbas := 0
	for quad := range 1000 {
		s := p.streamSeed(quad)
		if old, ok := seen[s]; ok {
			t.Fatalf("quads %d and %d share a stream", old, quad)
		}
		seen[s] = quad
		if p.orders(quad)() == abba {
			abbas++
		}
	}
	if abbas < 440 || abbas > 560 {
		t.Errorf("%d of 1000 quads are ABBA", abbas)
	}
	q := p
	q.Cell.Workload = "other"
	if p.streamSeed(0) == q.streamSeed(0) {
		t.Error("two cells share a stream")
	}
}

func TestClientErrorVoidsOneQuad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := errors.New("connection lost")
		failed := false
		e := &engine{work: drifting(time.Millisecond, 4), fail: func(done uint64) error {
			if done >= 2500 && !failed {
				failed = true
				return lost
			}
			return nil
		}}
		var r records
		mustCompare(t, plan(e, 5, 1, &r))
		if len(r.voids) != 1 || r.voids[0].Cause != CauseClientError || r.voids[0].Arm == "" || len(r.notes) != 1 {
			t.Fatalf("voids %+v, notes %+v", r.voids, r.notes)
		}
		if len(r.blocks) != 80 {
			t.Errorf("%d blocks of 20 valid quads, want 80", len(r.blocks))
		}
		for _, b := range r.blocks {
			if b.Quad == r.voids[0].Quad {
				t.Errorf("the failed quad %d left a block", b.Quad)
			}
		}
		if e.opened.Load() != 4 || e.closed.Load() != 4 {
			t.Errorf("%d terminals opened, %d closed, want 4", e.opened.Load(), e.closed.Load())
		}
	})
}

func TestLastingFailureEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		base := uint64(0)
		e := &engine{work: drifting(time.Millisecond, 5)}
		var r records
		p := plan(e, 5, 1, &r)
		p.Progress = func(pr Progress) { // fail in the second block of every quad
			if pr.Phase == PhaseMeasure {
				base = e.done.Load()
			} else {
				base = math.MaxUint64 / 2
			}
		}
		e.fail = func(done uint64) error {
			if done > base {
				return full
			}
			return nil
		}
		err := Compare(t.Context(), p)
		if !errors.Is(err, full) {
			t.Fatalf("error = %v, want %v", err, full)
		}
		if len(r.blocks) != 0 || len(r.voids) != maxFailures-1 {
			t.Errorf("%d blocks, %d voids", len(r.blocks), len(r.voids))
		}
	})
}

func TestEngineRestartVoids(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r records
		p := plan(&engine{work: drifting(time.Millisecond, 6)}, 5, 1, &r)
		calls := 0
		p.Variant.Generation = func() (string, error) {
			calls++
			return fmt.Sprint(calls > 5), nil // changes inside the third quad
		}
		mustCompare(t, p)
		if len(r.voids) != 1 || r.voids[0] != (result.Void{Type: result.TypeVoid, Cell: p.Cell, Quad: 2, Cause: CauseEngineRestart, Arm: "variant"}) {
			t.Errorf("voids = %+v", r.voids)
		}
		if len(r.blocks) != 84 {
			t.Errorf("%d blocks, want those of the void quad kept: 84", len(r.blocks))
		}
	})
}

func TestForeignLoadAndStealVoid(t *testing.T) {
	for cause, step := range map[string]clock{
		CauseSteal:       {steal: 0.1, total: 1},
		CauseForeignLoad: {busy: 0.5, total: 1},
		"":               {busy: 0.01, steal: 0.01, total: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			var r records
			p := plan(&engine{work: drifting(time.Millisecond, 7)}, 5, 1, &r)
			p.Stop.Quads = 3
			p.Void = VoidRules{StealPct: 5, ForeignPct: 20}
			var now clock
			p.readClock = func() clock {
				now = clock{now.busy + step.busy, now.steal + step.steal, now.total + step.total}
				return now
			}
			cpu := func() (result.CPU, error) { return result.CPU{}, nil }
			p.Baseline.CPU, p.Variant.CPU = cpu, cpu
			mustCompare(t, p)
			if cause == "" {
				if len(r.voids) != 0 || len(r.blocks) != 12 {
					t.Errorf("quiet machine: %d voids, %d blocks", len(r.voids), len(r.blocks))
				}
				return
			}
			// Where no quad is valid, the cell must still end.
			if len(r.voids) != 17 || r.voids[0].Cause != cause {
				t.Errorf("%s: %d voids, first %+v", cause, len(r.voids), r.voids[0])
			}
		})
	}
}

func TestStopRules(t *testing.T) {
	for _, c := range []struct {
		name     string
		stop     Stop
		min, max int // quads
	}{
		{"quads", Stop{Quads: 7}, 7, 7},
		{"budget", Stop{Budget: 5 * time.Second}, 8, 13},
		{"budget too small for one quad", Stop{Budget: time.Millisecond}, 1, 1},
		{"budget and least quads", Stop{Budget: time.Millisecond, MinQuads: 4}, 4, 4},
		{"half-width reached at once", Stop{HalfWidthPct: 90, Quads: 50}, MinQuadsForWidth, MinQuadsForWidth},
		{"half-width", Stop{HalfWidthPct: 1, Quads: 400}, MinQuadsForWidth + 1, 399},
		{"half-width never reached", Stop{HalfWidthPct: 0.001, Quads: 12}, 12, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r records
				p := plan(&engine{work: drifting(time.Millisecond, 8)}, 5, 1, &r)
				p.Stop = c.stop
				var last Progress
				p.Progress = func(pr Progress) { last = pr }
				begin := time.Now()
				mustCompare(t, p)
				if n := len(r.blocks) / 4; n < c.min || n > c.max || last.Quads != n {
					t.Errorf("%d quads, progress says %d, want %d to %d", n, last.Quads, c.min, c.max)
				}
				if took := time.Since(begin); c.stop.MinQuads == 0 && c.stop.Budget > time.Second && took > c.stop.Budget*11/10 {
					t.Errorf("took %v of a budget of %v", took, c.stop.Budget)
				}
				if last.Quads >= 2 && (last.Overhead == nil || last.TPS.Baseline <= 0 || last.Total <= 0) {
					t.Errorf("last progress: %+v", last)
				}
			})
		})
	}
}

func TestRateComparesLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r records
		p := plan(&engine{work: func(int) time.Duration { return time.Millisecond }}, 50, 1, &r)
		p.ByTime, p.Rate, p.Stop.Quads = true, 200, 5
		mustCompare(t, p)
		var ms [2][]float64
		for _, b := range r.blocks {
			if b.Rate != 200 {
				t.Fatalf("block without its rate: %+v", b)
			}
			i := slices.Index(armNames[:], b.Arm)
			ms[i] = append(ms[i], b.LatencyUS.Mean)
		}
		if d, _ := stat.QuadLog(ms[0], ms[1]); d < math.Log(2) {
			t.Errorf("twice the service time at a set rate: latency ratio %.2f, want above 2", math.Exp(d))
		}
	})
}

func TestBadPlans(t *testing.T) {
	var r records
	good := plan(&engine{}, 5, 1, &r)
	for name, spoil := range map[string]func(*Plan){
		"no threads":       func(p *Plan) { p.Cell.Threads = 0 },
		"no block":         func(p *Plan) { p.Block = 0 },
		"no end":           func(p *Plan) { p.Stop = Stop{HalfWidthPct: 1} },
		"rate by work":     func(p *Plan) { p.Rate = 100 },
		"negative warm-up": func(p *Plan) { p.Warmup = -1 },
		"no records":       func(p *Plan) { p.Record = nil },
	} {
		p := good
		spoil(&p)
		if err := Compare(t.Context(), p); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestRecordErrorEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("no space left")
		p := plan(&engine{work: drifting(time.Millisecond, 9)}, 5, 1, nil)
		p.Record = func(any) error { return full }
		if err := Compare(t.Context(), p); !errors.Is(err, full) {
			t.Errorf("error = %v, want %v", err, full)
		}
	})
}
