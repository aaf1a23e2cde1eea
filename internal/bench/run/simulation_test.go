package run

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/veildb/veildb/internal/bench/stat"
)

// The comparisons below run inside a synctest bubble: the engine's service
// times pass on a simulated clock, so a machine that drifts by tens of percent
// is reproduced exactly, and in milliseconds.

// drifting returns service times around mean on a machine whose speed wanders,
// jumps and jitters. Both arms share it.
func drifting(mean time.Duration, seed uint64) func(int) time.Duration {
	rng := rand.New(rand.NewPCG(seed, 9))
	start := time.Now()
	level, last := 0.0, start
	var mu sync.Mutex
	return func(int) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		step := time.Since(last).Seconds()
		last = time.Now()
		level += 0.08 * math.Sqrt(step) * rng.NormFloat64()
		if rng.Float64() < step/5 {
			level += 0.3 * rng.NormFloat64()
		}
		wave := 0.1 * math.Sin(time.Since(start).Seconds()/3)
		return time.Duration(float64(mean) * math.Exp(level+wave+0.3*rng.NormFloat64()))
	}
}

// slower is a workload that takes longer than the one inside it, as an
// encrypting engine would.
type slower struct {
	fakeWorkload
	lossPct float64 // of throughput
}

func (w slower) Terminal(ctx context.Context, db *sql.DB, n int, seed uint64) (Terminal, error) {
	t, err := w.fakeWorkload.Terminal(ctx, db, n, seed)
	return slowTerminal{t, w.lossPct}, err
}

type slowTerminal struct {
	Terminal
	lossPct float64
}

func (t slowTerminal) Next(ctx context.Context, tally *Tally) (int, error) {
	begin := time.Now()
	kind, err := t.Terminal.Next(ctx, tally)
	time.Sleep(time.Duration(float64(time.Since(begin)) * (1/(1-t.lossPct/100) - 1)))
	return kind, err
}

func TestInjectedSlowdownIsReported(t *testing.T) {
	for _, c := range []struct {
		byTime  bool
		threads int
		runs    uint64
	}{{false, 1, 20}, {false, 4, 6}, {true, 1, 6}, {true, 4, 6}} {
		t.Run(fmt.Sprintf("byTime=%v/threads=%d", c.byTime, c.threads), func(t *testing.T) {
			const loss = 5.0
			covered, mean, half := uint64(0), 0.0, 0.0
			for seed := range c.runs {
				synctest.Test(t, func(t *testing.T) {
					var r records
					p := plan(&engine{work: drifting(4*time.Millisecond, seed)}, loss, c.threads, &r)
					p.ByTime = c.byTime
					mustCompare(t, p)
					iv, ok := stat.Student(r.logs(), stat.Level)
					if !ok || len(r.logs()) != 20 {
						t.Fatalf("%d quads, want 20", len(r.logs()))
					}
					if iv.Loss().Contains(loss) {
						covered++
					}
					mean += iv.Loss().Est / float64(c.runs)
					half += iv.Loss().HalfWidth() / float64(c.runs)
				})
			}
			// The mean of all runs must be right to 3 of its standard errors.
			tolerance := 1.5 * half / math.Sqrt(float64(c.runs))
			if covered+2+c.runs/10 < c.runs || math.Abs(mean-loss) > tolerance {
				t.Errorf("a loss of 5 %% is covered in %d of %d runs, mean estimate %.2f %%, want within %.2f", covered, c.runs, mean, tolerance)
			}
			t.Logf("covered in %d of %d runs, mean estimate %.2f %%, mean half-width %.2f", covered, c.runs, mean, half)
		})
	}
}

func TestAAContainsZero(t *testing.T) {
	contains := 0
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			var r records
			p := plan(&engine{work: drifting(4*time.Millisecond, 100+seed)}, 0, 1, &r)
			p.Seed = seed
			mustCompare(t, p)
			iv, _ := stat.Student(r.logs(), stat.Level)
			if iv.Contains(0) {
				contains++
			}
		})
	}
	if contains < 19 {
		t.Errorf("the A/A interval contains 0 in %d of 20 runs, want at least 19", contains)
	}
}

// TestSlicesCancelFasterDrift: on a machine that wanders within a block, blocks
// in slices agree better than blocks in one piece, and mean the same.
func TestSlicesCancelFasterDrift(t *testing.T) {
	sd := map[time.Duration]float64{}
	for _, slice := range []time.Duration{0, 10 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			wander := func(int) time.Duration {
				phase := time.Since(begin).Seconds() * 2 * math.Pi / 0.33
				return time.Duration(1e6 * math.Exp(0.5*math.Sin(phase)))
			}
			var r records
			p := plan(&engine{work: wander}, 5, 1, &r)
			p.Slice, p.Settle, p.Stop.Quads = slice, 0, 30
			mustCompare(t, p)
			for i, b := range r.blocks {
				if d := time.Duration(b.DurationS * 1e9); d < 40*time.Millisecond || d > 200*time.Millisecond {
					t.Errorf("slice %v: block %d took %v, aimed at 100ms", slice, i, d)
				}
			}
			d := r.logs()
			iv, _ := stat.Student(d, stat.Level)
			if !iv.Loss().Contains(5) || len(d) != 30 {
				t.Errorf("slice %v: loss %+v of %d quads, injected 5", slice, iv.Loss(), len(d))
			}
			_, sd[slice] = stat.MeanSD(d)
		})
	}
	if sd[10*time.Millisecond] > sd[0]/3 {
		t.Errorf("standard deviation of quads: %.4f in slices, %.4f in one piece", sd[10*time.Millisecond], sd[0])
	}
}
