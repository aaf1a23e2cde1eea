//go:build !race

package gate

import (
	"math"
	"runtime/debug"
	"testing"
)

// The race detector has pools lose things at random, so nothing is counted under it.

// leastAllocs is what f allocates when nothing else does: no collection empties
// pools, and of several tries, in some of which other goroutines were at work, the
// least counts.
func leastAllocs(f func()) float64 {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	least := math.Inf(1)
	for range 10 {
		if least = min(least, testing.AllocsPerRun(10, f)); least == 0 {
			break
		}
	}
	return least
}

// TestRowsAllocateNothing: neither a row nor a statement that has run before
// costs memory.
func TestRowsAllocateNothing(t *testing.T) {
	for _, protected := range []int{-1, 0, 1, 10} {
		for _, rows := range []int{1, 500} {
			ss, _, execute := cannedSession(t, rows, protected)
			if n := leastAllocs(func() { ss.run(t, execute) }); n > 0 {
				t.Errorf("%d protected, %d rows: %v allocations", protected, rows, n)
			}
			if cells := ss.srv.count.cells.Load(); protected > 0 && cells < int64(protected*rows) {
				t.Errorf("%d cells", cells)
			}
		}
	}
}
