package tpcc

import (
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// TestPause rests as clause 5.2.5.7 has it: keying before each transaction,
// thinking after, the mean about right and never more than ten of them.
func TestPause(t *testing.T) {
	w := newWorkload(t, Config{Dialect: dsn.SQLite, Flavor: Spec, Warehouses: 1, Terminals: 1, KeyingTime: true})
	user := &terminal{Workload: w, seed: 5}
	user.kinds.seed(5, streamKind, 0)
	twin := &terminal{Workload: w, seed: 5}
	twin.kinds.seed(5, streamKind, 0)
	var sum, mean float64
	const n = 20000
	for range n {
		last := user.last
		rest := user.Pause().Seconds()
		if other := twin.Pause().Seconds(); other != rest {
			t.Fatalf("equal seeds rest %v and %v s", rest, other)
		}
		kind := user.next()
		twin.next()
		if user.seq > 0 {
			think := rest - keying[kind]
			if think < 0 || think > maxThink*thinking[last]+1e-6 {
				t.Fatalf("after type %d and before type %d a rest of %v s", last, kind, rest)
			}
			sum, mean = sum+think, mean+thinking[last]
		} else if rest != keying[kind] {
			t.Fatalf("the first rest is %v s, want %v", rest, keying[kind])
		}
		user.seq++
		twin.seq++
	}
	if sum < 0.97*mean || sum > 1.03*mean {
		t.Errorf("thinking took %.0f s in all, want about %.0f", sum, mean)
	}
	w.config.KeyingTime = false
	if got := user.Pause(); got != time.Duration(0) {
		t.Errorf("without keying times a rest of %v", got)
	}
}
