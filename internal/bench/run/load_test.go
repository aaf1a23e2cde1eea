package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

func openCrew(tb testing.TB, e *engine, n int, kinds ...string) *Crew {
	tb.Helper()
	if len(kinds) == 0 {
		kinds = []string{"only"}
	}
	c, err := OpenCrew(context.Background(), fakeWorkload{e, kinds}, nil, n, 1)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Error(err)
		}
	})
	return c
}

func mustRun(tb testing.TB, c *Crew, w Window) LoadResult {
	tb.Helper()
	res, err := c.Run(context.Background(), w)
	if err != nil {
		tb.Fatal(err)
	}
	return res
}

func TestCountsAreExactPerTerminal(t *testing.T) {
	c := openCrew(t, &engine{}, 3, "a", "b", "c")
	counts := []uint64{5, 0, 700}
	for range 2 { // histograms are reused; nothing may leak over
		res := mustRun(t, c, Window{Counts: counts})
		if res.Transactions != 705 || res.Commits+res.UserAborts != 705 || res.Queries != 3*705 || res.Latency.Count() != 705 {
			t.Errorf("got %+v and %d latencies, want 705", res.Tally, res.Latency.Count())
		}
		var kinds uint64
		for _, k := range res.Kinds {
			kinds += k.Count()
		}
		if kinds != 705 || res.Kinds[1].Count() != res.UserAborts {
			t.Errorf("kinds hold %d, aborts %d of %d", kinds, res.Kinds[1].Count(), res.UserAborts)
		}
		for i, n := range counts {
			if res.Terminals[i].Transactions != n {
				t.Errorf("terminal %d ran %d, want %d", i, res.Terminals[i].Transactions, n)
			}
		}
	}
}

func TestEventsBoundAllTerminalsTogether(t *testing.T) {
	for _, rate := range []float64{0, 1e6} {
		c := openCrew(t, &engine{}, 4)
		if res := mustRun(t, c, Window{Events: 1001, Rate: rate}); res.Transactions != 1001 {
			t.Errorf("rate %v: %d transactions, want 1001", rate, res.Transactions)
		}
	}
}

func TestWarmupCountsNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, rate := range []float64{0, 1000} {
			e := &engine{work: func(int) time.Duration { return time.Millisecond }}
			c := openCrew(t, e, 2)
			res := mustRun(t, c, Window{Warmup: 60 * time.Millisecond, Duration: 40 * time.Millisecond, Rate: rate})
			all := e.done.Load()
			if res.Transactions == 0 || res.Transactions >= all {
				t.Errorf("rate %v: %d counted of %d", rate, res.Transactions, all)
			}
			if res.Latency.Count() != res.Transactions+res.Unserved || res.Queries != 3*res.Transactions {
				t.Errorf("rate %v: %d latencies, %d queries, %d transactions, %d unserved", rate, res.Latency.Count(), res.Queries, res.Transactions, res.Unserved)
			}
			if res.Elapsed < 30*time.Millisecond {
				t.Errorf("rate %v: elapsed %v", rate, res.Elapsed)
			}
		}
	})
}

// TestStallShowsInOpenLoad is the test for coordinated omission: an engine
// that hangs once for half the window must show in the tail when transactions
// are due at a rate, though only one transaction was in flight.
func TestStallShowsInOpenLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const window, stall = 600 * time.Millisecond, 300 * time.Millisecond
		run := func(rate float64, arrivals Arrivals) LoadResult {
			first := true
			e := &engine{work: func(int) time.Duration { return 100 * time.Microsecond }, stall: func() time.Duration {
				if first {
					first = false
					return stall
				}
				return 0
			}}
			return mustRun(t, openCrew(t, e, 1), Window{Duration: window, Rate: rate, Arrivals: arrivals})
		}
		for _, a := range []Arrivals{Exponential, Fixed} {
			open := run(1000, a)
			if p99 := open.Latency.Quantile(0.99); p99 < stall*9/10 {
				t.Errorf("arrivals %d: p99 = %v, hides a stall of %v", a, p99, stall)
			}
			if p50 := open.Latency.Quantile(0.5); p50 > stall*9/10 {
				t.Errorf("arrivals %d: median = %v", a, p50)
			}
		}
		// The same stall in a closed load is one slow transaction among many.
		if p99 := run(0, Fixed).Latency.Quantile(0.99); p99 > stall/2 {
			t.Errorf("closed load: p99 = %v", p99)
		}
	})
}

// TestOverloadIsNotHidden: half of what is due is never begun; its waiting
// belongs to the latencies, its number to Unserved.
func TestOverloadIsNotHidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &engine{work: func(int) time.Duration { return 10 * time.Millisecond }}
		res := mustRun(t, openCrew(t, e, 1), Window{Duration: 200 * time.Millisecond, Rate: 1000, Arrivals: Fixed})
		if res.Unserved == 0 || res.Unserved+res.Transactions != 199 && res.Unserved+res.Transactions != 200 {
			t.Errorf("%d served, %d unserved, want 199 or 200 together", res.Transactions, res.Unserved)
		}
		if res.Latency.Count() != res.Unserved+res.Transactions {
			t.Errorf("%d latencies", res.Latency.Count())
		}
		if got := res.Latency.Quantile(0.5); got < 80*time.Millisecond {
			t.Errorf("median %v, want about 100ms of waiting", got)
		}
	})
}

func TestArrivalsKeepTheRate(t *testing.T) {
	for _, a := range []Arrivals{Exponential, Fixed} {
		q := newQueue(Window{Rate: 5000, Arrivals: a, Duration: 10 * time.Second}, 3)
		var gaps, squares float64
		n, last := 0, time.Duration(0)
		for {
			at, ok := q.take(0)
			if !ok {
				break
			}
			if at < last {
				t.Fatalf("start %v after %v", at, last)
			}
			g := (at - last).Seconds()
			gaps, squares, last, n = gaps+g, squares+g*g, at, n+1
		}
		if math.Abs(float64(n)-50_000) > 1000 {
			t.Errorf("arrivals %d: %d in 10 s at 5000/s", a, n)
		}
		mean := gaps / float64(n)
		cv := math.Sqrt(squares/float64(n)-mean*mean) / mean
		if want := map[Arrivals]float64{Exponential: 1, Fixed: 0}[a]; math.Abs(cv-want) > 0.03 {
			t.Errorf("arrivals %d: gaps vary by %.3f of their mean, want %v", a, cv, want)
		}
	}
}

func TestFailureStopsAllTerminals(t *testing.T) {
	broken := errors.New("engine is gone")
	e := &engine{fail: func(done uint64) error {
		if done >= 100 {
			return broken
		}
		return nil
	}}
	c := openCrew(t, e, 4)
	res, err := c.Run(context.Background(), Window{})
	if !errors.Is(err, broken) {
		t.Fatalf("error = %v, want %v", err, broken)
	}
	if res.Transactions < 100 {
		t.Errorf("%d transactions kept, want at least 100", res.Transactions)
	}
}

func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, w := range []Window{{}, {Rate: 20}, {Warmup: time.Hour}, {Counts: []uint64{1e9, 1e9}}} {
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			res, err := openCrew(t, &engine{work: func(int) time.Duration { return time.Millisecond }}, 2).Run(ctx, w)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%+v: error = %v", w, err)
			}
			if w.Warmup > 0 {
				if res.Transactions != 0 || res.Latency.Count() != 0 {
					t.Errorf("%+v: warm-up was counted", w)
				}
			} else if w.Rate == 0 && res.Transactions == 0 {
				t.Errorf("%+v: nothing kept", w)
			}
		}
	})
}

func TestIntervalsAddUpToTheWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, rate := range []float64{0, 3000} {
			c := openCrew(t, &engine{work: func(int) time.Duration { return 200 * time.Microsecond }}, 2, "a", "b")
			for range 2 {
				var tally Tally
				var n, kinds uint64
				var length time.Duration
				lasts := 0
				res := mustRun(t, c, Window{Duration: 95 * time.Millisecond, Rate: rate, Interval: 20 * time.Millisecond, OnInterval: func(iv Interval) {
					tally.Add(iv.Tally)
					n += iv.Latency.Count()
					kinds += iv.Kinds[0].Count() + iv.Kinds[1].Count()
					length += iv.Length
					if iv.At != length {
						t.Errorf("interval ends at %v, lengths so far %v", iv.At, length)
					}
					if iv.Last {
						lasts++
					}
				}})
				if !reflect.DeepEqual(tally, res.Tally) || n != res.Latency.Count()-res.Unserved || kinds != n || lasts != 1 {
					t.Errorf("intervals hold %+v, %d, %d in %d pieces; the whole %+v, %d", tally, n, kinds, lasts, res.Tally, res.Latency.Count())
				}
			}
		}
	})
}

func TestBadWindows(t *testing.T) {
	c := openCrew(t, &engine{}, 2)
	for name, w := range map[string]Window{
		"counts and rate":        {Counts: []uint64{1, 1}, Rate: 5},
		"counts for others":      {Counts: []uint64{1}},
		"negative rate":          {Rate: -1},
		"interval without a use": {Interval: time.Second},
	} {
		if _, err := c.Run(context.Background(), w); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := OpenCrew(context.Background(), fakeWorkload{&engine{}, []string{"x"}}, nil, 0, 1); err == nil {
		t.Error("a crew of no terminals was opened")
	}
}

func TestLoadClosesItsTerminals(t *testing.T) {
	e := &engine{}
	ready := false
	res, err := Load(context.Background(), LoadConfig{
		Workload: fakeWorkload{e, []string{"x"}}, Terminals: 5, Window: Window{Events: 50}, Ready: func() { ready = true },
	})
	if err != nil || res.Transactions != 50 || !ready {
		t.Errorf("result %+v, ready %v, error %v", res, ready, err)
	}
	if e.opened.Load() != 5 || e.closed.Load() != 5 {
		t.Errorf("opened %d, closed %d, want 5", e.opened.Load(), e.closed.Load())
	}
}

// TestMemoryOf256Terminals measures what the load generator itself holds, with
// two crews of TPC-C's five types and intervals on.
func TestMemoryOf256Terminals(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kinds := []string{"a", "b", "c", "d", "e"}
	crews := []*Crew{openCrew(t, &engine{}, 256, kinds...), openCrew(t, &engine{}, 256, kinds...)}
	for _, c := range crews {
		mustRun(t, c, Window{Duration: 30 * time.Millisecond, Interval: 10 * time.Millisecond, OnInterval: func(Interval) {}})
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.Sys) - int64(before.Sys); grown > 64<<20 {
		t.Errorf("two crews of 256 terminals took %d MiB from the system, want at most 64", grown>>20)
	}
	runtime.KeepAlive(crews)
}

func TestRecordingDoesNotAllocate(t *testing.T) {
	r := recorder{live: newSample(5)}
	d := time.Microsecond
	if n := testing.AllocsPerRun(1000, func() { r.add(3, d, Tally{Commits: 1}); d += 991 }); n != 0 {
		t.Errorf("%v allocations a transaction, want 0", n)
	}
}

// BenchmarkLoop is what the loop adds to each transaction.
func BenchmarkLoop(b *testing.B) {
	for _, n := range []int{1, 2, 64} {
		for _, kinds := range []int{1, 5} {
			b.Run(fmt.Sprintf("terminals=%d/kinds=%d", n, kinds), func(b *testing.B) {
				c := openCrew(b, &engine{}, n, []string{"a", "b", "c", "d", "e"}[:kinds]...)
				b.ReportAllocs()
				b.ResetTimer()
				if _, err := c.Run(context.Background(), Window{Events: uint64(b.N)}); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// restless is a terminal that says how long it rests, and counts.
type restless struct {
	Terminal
	rests, calls int
}

func (r *restless) Pause() time.Duration { r.rests++; return time.Nanosecond }

func (r *restless) Next(context.Context, *Tally) (int, error) { r.calls++; return 0, nil }

// TestPauser rests before each transaction of a closed load, and never in an
// open one, whose transactions are due when they are.
func TestPauser(t *testing.T) {
	for _, c := range []struct {
		name  string
		w     Window
		rests bool
	}{
		{"closed", Window{Events: 20}, true},
		{"counted", Window{Counts: []uint64{20}}, true},
		{"open", Window{Events: 20, Rate: 1e6}, false},
	} {
		r := &restless{}
		crew := &Crew{kinds: []string{"x"}, terminals: []Terminal{r}, rec: &recorder{live: newSample(1)}}
		if _, err := crew.Run(context.Background(), c.w); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		want := 0
		if c.rests {
			want = r.calls
		}
		if r.calls != 20 || r.rests < want || r.rests > want+1 {
			t.Errorf("%s: %d rests before %d transactions", c.name, r.rests, r.calls)
		}
	}
}

func TestTallyAddsErrorCodes(t *testing.T) {
	var a, b, sum Tally
	a.GiveUp("1213")
	b.GiveUp("1213")
	b.GiveUp("1205")
	b.GiveUp("") // SQLite has none
	sum.Add(a)
	sum.Add(b)
	if want := (Tally{Errors: 4, ErrorCodes: map[string]uint64{"1213": 2, "1205": 1}}); !reflect.DeepEqual(sum, want) {
		t.Errorf("sum %+v, want %+v", sum, want)
	}
	if a.ErrorCodes["1213"] != 1 {
		t.Errorf("adding changed what was added: %+v", a)
	}
}
