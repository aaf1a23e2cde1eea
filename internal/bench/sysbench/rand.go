package sysbench

import (
	"math"
	"math/bits"
)

// rng is xoroshiro128+ (Blackman and Vigna, 2018: rotations 24, 16, 37), the
// generator sysbench gives each thread. sysbench seeds it from the C library,
// which makes only a run with one thread repeatable; here it is seeded by
// splitmix64 from the seed and the stream's number, so every stream is.
type rng struct{ s0, s1 uint64 }

// Streams below dataStreams belong to terminals, those from there to tables.
const dataStreams = 1 << 32

func newRNG(seed, stream uint64) rng {
	x := mix(seed) ^ mix(stream+0x632be59bd9b4e019)
	r := rng{mix(x), mix(x + golden)}
	if r.s0|r.s1 == 0 {
		r.s1 = golden // the one state that would stay zero
	}
	return r
}

const golden = 0x9e3779b97f4a7c15

// mix is the output function of splitmix64 on the state after x.
func mix(x uint64) uint64 {
	x += golden
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (r *rng) uint64() uint64 {
	s0, s1 := r.s0, r.s1
	out := s0 + s1
	s1 ^= s0
	r.s0 = bits.RotateLeft64(s0, 24) ^ s1 ^ s1<<16
	r.s1 = bits.RotateLeft64(s1, 37)
	return out
}

// float is uniform in [0, 1).
func (r *rng) float() float64 { return float64(r.uint64()>>11) / (1 << 53) }

// uniform is an integer in [a, b].
func (r *rng) uniform(a, b int) int { return a + int(r.float()*float64(b-a+1)) }

// mean is the average of n uniforms.
func (r *rng) mean(n int) float64 {
	sum := 0.0
	for range n {
		sum += r.float()
	}
	return sum / float64(n)
}

// A distribution draws integers in [a, b] with one of sysbench's formulas.
type distribution struct {
	Rand
	power float64 // pareto
}

func newDistribution(r Rand) distribution {
	return distribution{r, math.Log(r.ParetoH) / math.Log(1-r.ParetoH)}
}

func (d *distribution) draw(r *rng, a, b int) int {
	switch d.Type {
	case "uniform":
		return r.uniform(a, b)
	case "gaussian":
		return a + int(r.mean(d.SpecIter)*float64(b-a+1))
	case "pareto":
		return a + int(float64(b-a+1)*math.Pow(r.float(), d.power))
	}
	return d.special(r, a, b)
}

// special keeps sysbench's formula with its slip: the uniform that decided for
// the hot band is used again inside it, where it cannot be below 1-res/100. So
// the lowest quarter of the band is never hit, and 75 % of the draws fall in
// 0.75 % of the range, not 1 %.
func (d *distribution) special(r *rng, a, b int) int {
	t := float64(b - a)
	u := r.float()
	if u*t*100/float64(100-d.SpecRes) < t {
		return a + int(r.mean(d.SpecIter)*t)
	}
	width := t * float64(d.SpecPct) / 100
	return a + int(u*(width+1)+t/2-t*float64(d.SpecPct)/200)
}

// Lengths of the two string columns' values: groups of 11 digits joined by "-".
const (
	cLength   = 119
	padLength = 59
)

// appendDigits appends groups of 11 random digits, n bytes in all.
func (r *rng) appendDigits(dst []byte, n int) []byte {
	var pool uint64 // decimal digits not yet used
	left := 0
	for i := range n {
		if i%12 == 11 {
			dst = append(dst, '-')
			continue
		}
		if left == 0 {
			// The upper half of the product is uniform below 10^15, but
			// for one part in 2^64/10^15.
			pool, _ = bits.Mul64(r.uint64(), 1e15)
			left = 15
		}
		dst = append(dst, '0'+byte(pool%10))
		pool /= 10
		left--
	}
	return dst
}

// unique permutes the 32-bit integers: different i give different results.
// Squares modulo a prime p = 3 mod 4 are distinct below p/2, and their
// complements above; the prime is the largest below 2^32.
func unique(i uint32) uint32 {
	return residue(residue(i+0x682f0161) ^ 0x5bf03635)
}

func residue(x uint32) uint32 {
	const prime = 4294967291
	if x >= prime {
		return x
	}
	q := uint32(uint64(x) * uint64(x) % prime)
	if x <= prime/2 {
		return q
	}
	return prime - q
}
