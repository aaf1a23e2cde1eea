package tpcc

import (
	"math/bits"
	"math/rand/v2"
)

// rng is a stream of random numbers. The streams of different keys are
// independent; the same key always gives the same stream.
type rng struct {
	pcg rand.PCG
}

// seed starts the stream named by the parts.
func (r *rng) seed(parts ...uint64) {
	h := uint64(0x9e3779b97f4a7c15)
	for _, p := range parts {
		h = mix(h ^ mix(p+0x9e3779b97f4a7c15))
	}
	r.pcg.Seed(h, mix(h))
}

// mix is the finalizer of splitmix64: a bijection that spreads every bit.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// between returns a uniform number in [lo, hi]; lo when hi < lo. The bias is
// below 2^-32 for any range used here.
func (r *rng) between(lo, hi int) int {
	if hi <= lo {
		return lo
	}
	n, _ := bits.Mul64(r.pcg.Uint64(), uint64(hi-lo+1))
	return lo + int(n)
}

// percent is true in n of 100 cases.
func (r *rng) percent(n int) bool { return r.between(1, 100) <= n }

// nurand is the specification's non-uniform distribution (clause 2.1.6) over
// [lo, hi] with the run's constant c.
func (r *rng) nurand(a, c, lo, hi int) int {
	return ((r.between(0, a)|r.between(lo, hi))+c)%(hi-lo+1) + lo
}

// shuffle makes p a uniform permutation of its values.
func (r *rng) shuffle(p []int) {
	for i := len(p) - 1; i > 0; i-- {
		j := r.between(0, i)
		p[i], p[j] = p[j], p[i]
	}
}

// sattolo makes p a uniform cyclic permutation of its values, so that none
// keeps its place.
func (r *rng) sattolo(p []int) {
	for i := len(p) - 1; i > 0; i-- {
		j := r.between(0, i-1)
		p[i], p[j] = p[j], p[i]
	}
}

// A pool is a long random text; random strings are cut out of it without
// copying, so that making one costs a random number and nothing else.
type pool string

const poolSize = 1 << 16

func newPool(alphabet string, key uint64) pool {
	var r rng
	r.seed(key)
	b := make([]byte, poolSize+512)
	for i := range b {
		b[i] = alphabet[r.between(0, len(alphabet)-1)]
	}
	return pool(b)
}

// text is a string of lo to hi characters.
func (p pool) text(r *rng, lo, hi int) string {
	n := r.between(lo, hi)
	at := r.between(0, poolSize-1)
	return string(p[at : at+n])
}

const (
	lower = "abcdefghijklmnopqrstuvwxyz"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digit = "0123456789"
)

var (
	lowerPool = newPool(lower, 1)
	upperPool = newPool(upper, 2)
	digitPool = newPool(digit, 3)
	alnumPool = newPool(digit+upper+lower, 4)
)

// lastNames holds the 1000 last names of clause 4.3.2.3.
var lastNames = func() (names [1000]string) {
	part := [10]string{"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"}
	for i := range names {
		names[i] = part[i/100] + part[i/10%10] + part[i%10]
	}
	return names
}()
