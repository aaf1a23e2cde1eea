package tpcc

import (
	"math"
	"time"

	"github.com/veildb/veildb/internal/bench/run"
)

var _ run.Pauser = (*terminal)(nil)

// Keying times, before a transaction, and means of the think times after it, in
// seconds (clause 5.2.5.7), in the order of Kinds.
var (
	keying   = [numKinds]float64{NewOrder: 18, Payment: 3, OrderStatus: 2, Delivery: 2, StockLevel: 2}
	thinking = [numKinds]float64{NewOrder: 12, Payment: 12, OrderStatus: 10, Delivery: 5, StockLevel: 5}
)

// maxThink is the highest think time in means.
const maxThink = 10

// Pause is how long the user thinks about the last transaction and keys in the
// next; see run.Pauser. It is a function of the seed, as the transactions are.
func (t *terminal) Pause() time.Duration {
	if !t.config.KeyingTime {
		return 0
	}
	if !t.drawn {
		t.kind, t.drawn = t.draw(), true
	}
	seconds := keying[t.kind]
	if t.seq > 0 {
		var r rng
		r.seed(t.seed, streamRest, uint64(t.number), t.seq)
		const steps = 1 << 30
		u := float64(r.between(1, steps)) / steps
		seconds += thinking[t.last] * min(-math.Log(u), maxThink)
	}
	return time.Duration(seconds * float64(time.Second))
}

// next is the type of the next transaction, drawn by Pause or here.
func (t *terminal) next() int {
	if !t.drawn {
		t.kind = t.draw()
	}
	t.drawn, t.last = false, t.kind
	return t.kind
}
