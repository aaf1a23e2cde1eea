package run

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// Arrivals says how transactions are spaced when a rate is set.
type Arrivals int

const (
	// Exponential spaces them as independent clients would, as sysbench does.
	Exponential Arrivals = iota
	// Fixed spaces them evenly.
	Fixed
)

// Rates that a schedule can keep, in transactions a second: with a lower one the
// next start is weeks away, and a higher one is beyond what one process can
// start, or count when the load has fallen behind.
const (
	MinRate = 1e-6
	MaxRate = 1e6
)

// ValidRate reports whether rate is one of a Window: 0, or MinRate to MaxRate.
func ValidRate(rate float64) bool {
	return rate == 0 || rate >= MinRate && rate <= MaxRate // and so no NaN
}

// A schedule yields the intended starts of a window, in order, as offsets from
// its start. It computes them when they are taken: a backlog of any length
// costs no memory. A copy continues on its own.
type schedule struct {
	gap      float64 // mean distance, ns
	arrivals Arrivals
	rng      rand.PCG
	at       float64 // ns, the last intended start
}

func (s *schedule) next() time.Duration {
	if s.arrivals == Exponential {
		u := float64(s.rng.Uint64()>>11) / (1 << 53)
		s.at -= s.gap * math.Log(1-u)
	} else {
		s.at += s.gap
	}
	return time.Duration(s.at)
}

// A queue hands one schedule to all terminals: whoever is free takes the next
// intended start, waits for it if it lies ahead, and is late if it does not.
type queue struct {
	from, end time.Duration // the window; starts at or after end (0: none) belong to nobody

	mu   sync.Mutex
	s    schedule      // guarded by mu
	head time.Duration // guarded by mu: the next start to hand out
}

func newQueue(w Window, seed uint64) *queue {
	q := &queue{from: w.Warmup, s: schedule{
		gap:      float64(time.Second) / w.Rate,
		arrivals: w.Arrivals,
		rng:      *rand.NewPCG(seed, 0),
	}}
	if w.Duration > 0 {
		q.end = w.Warmup + w.Duration
	}
	q.head = q.s.next()
	return q
}

// take returns the next intended start, or false when the rest belongs to
// nobody: the schedule ended, or now has passed its end.
func (q *queue) take(now time.Duration) (time.Duration, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.end > 0 && (q.head >= q.end || now >= q.end) {
		return 0, false
	}
	at := q.head
	q.head = q.s.next()
	return at, true
}

// backlog counts the starts of the window that were due before now and not
// taken. late, if given, receives how long each has waited.
func (q *queue) backlog(now time.Duration, late func(time.Duration)) uint64 {
	q.mu.Lock()
	s, at := q.s, q.head
	q.mu.Unlock()
	var n uint64
	for ; at < now && (q.end == 0 || at < q.end); at = s.next() {
		if at < q.from {
			continue
		}
		if n++; late != nil {
			late(now - at)
		}
	}
	return n
}
