// Package stat estimates the ratio of two arms from paired quads.
//
// Everything works on d, one number a quad: the mean of ln(rate) over the
// quad's two variant blocks minus the mean over its two baseline blocks. A
// mean of d estimates the log of a ratio, so machine drift that both arms
// share cancels, and no ratio of grand means is ever formed (Kalibera and
// Jones, "Rigorous benchmarking in reasonable time", ISMM 2013).
package stat

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Level is the coverage of every interval unless a function says otherwise.
const Level = 0.95

// Resamples is the number of bootstrap draws.
const Resamples = 10_000

// Interval is an estimate and the bounds that cover the true value.
type Interval struct{ Est, Lo, Hi float64 }

// Contains reports whether v lies in the interval, bounds included.
func (i Interval) Contains(v float64) bool { return i.Lo <= v && v <= i.Hi }

// HalfWidth is half the distance between the bounds.
func (i Interval) HalfWidth() float64 { return (i.Hi - i.Lo) / 2 }

// Loss turns an interval of a log-ratio of rates (variant over baseline) into
// the overhead 1-exp(d) in percent: positive when the variant is slower.
func (i Interval) Loss() Interval {
	f := func(d float64) float64 { return -100 * math.Expm1(d) }
	return Interval{f(i.Est), f(i.Hi), f(i.Lo)}
}

// Increase turns an interval of a log-ratio of costs (variant over baseline),
// such as latency or processor time, into exp(d)-1 in percent: positive when
// the variant is dearer.
func (i Interval) Increase() Interval {
	f := func(d float64) float64 { return 100 * math.Expm1(d) }
	return Interval{f(i.Est), f(i.Lo), f(i.Hi)}
}

// QuadLog is d of one quad: the mean log of the variant's blocks minus that of
// the baseline's. It is false if a value is not positive and finite, so that
// its log means nothing.
func QuadLog(baseline, variant []float64) (float64, bool) {
	b, okB := meanLog(baseline)
	v, okV := meanLog(variant)
	return v - b, okB && okV
}

func meanLog(xs []float64) (float64, bool) {
	sum := 0.0
	for _, x := range xs {
		if !(x > 0) || math.IsInf(x, 1) {
			return 0, false
		}
		sum += math.Log(x)
	}
	return sum / float64(len(xs)), len(xs) > 0
}

// MeanSD returns the mean and the sample standard deviation (n-1); the latter
// is NaN for fewer than two values.
func MeanSD(d []float64) (mean, sd float64) {
	n := float64(len(d))
	for _, x := range d {
		mean += x / n
	}
	if len(d) < 2 {
		return mean, math.NaN()
	}
	ss := 0.0
	for _, x := range d {
		ss += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(ss / (n - 1))
}

func student(n int) distuv.StudentsT {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}
}

// Student is the mean of d with its Student t interval. It is false for fewer
// than two values.
func Student(d []float64, level float64) (Interval, bool) {
	if len(d) < 2 {
		return Interval{}, false
	}
	mean, sd := MeanSD(d)
	half := student(len(d)).Quantile((1+level)/2) * sd / math.Sqrt(float64(len(d)))
	return Interval{mean, mean - half, mean + half}, true
}

// PValue is the two-sided Student test of "the mean of d is 0". It is 1 for
// fewer than two values.
func PValue(d []float64) float64 {
	if len(d) < 2 {
		return 1
	}
	mean, sd := MeanSD(d)
	if sd == 0 {
		if mean == 0 {
			return 1
		}
		return 0
	}
	return 2 * student(len(d)).CDF(-math.Abs(mean)/sd*math.Sqrt(float64(len(d))))
}

// MinBootstrap is the number of values below which a bootstrap interval is too
// narrow to be worth stating.
const MinBootstrap = 5

// Bootstrap is the mean of d with its bias-corrected and accelerated interval
// (Efron 1987) over resamples of whole quads. The same d and seed give the
// same interval. It is false for fewer than MinBootstrap values.
func Bootstrap(d []float64, level float64, seed uint64) (Interval, bool) {
	n := len(d)
	if n < MinBootstrap {
		return Interval{}, false
	}
	mean, sd := MeanSD(d)
	if sd == 0 {
		return Interval{mean, mean, mean}, true
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	means := make([]float64, Resamples)
	below := 0.0
	for i := range means {
		sum := 0.0
		for range n {
			sum += d[rng.IntN(n)]
		}
		means[i] = sum / float64(n)
		switch {
		case means[i] < mean:
			below++
		case means[i] == mean:
			below += 0.5
		}
	}
	slices.Sort(means)

	// The jackknife values of a mean are (sum-d[i])/(n-1), so its
	// acceleration is the skewness of d over 6 sqrt(n).
	cubes, squares := 0.0, 0.0
	for _, x := range d {
		squares += (x - mean) * (x - mean)
		cubes += math.Pow(x-mean, 3)
	}
	accel := cubes / (6 * math.Pow(squares, 1.5))
	z0 := distuv.UnitNormal.Quantile(min(max(below, 1), Resamples-1) / Resamples)
	bound := func(p float64) float64 {
		z := z0 + distuv.UnitNormal.Quantile(p)
		q := distuv.UnitNormal.CDF(z0 + z/(1-accel*z))
		return means[min(max(int(q*Resamples), 0), Resamples-1)]
	}
	return Interval{mean, bound((1 - level) / 2), bound((1 + level) / 2)}, true
}

// HodgesLehmann is the median of all averages of two values of d, a value with
// itself included: a centre that a single wild quad cannot move. It is NaN for
// no values, and takes n log n time.
func HodgesLehmann(d []float64) float64 {
	n := len(d)
	if n == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(d))
	pairs := n * (n + 1) / 2
	return (average(sorted, (pairs+1)/2) + average(sorted, pairs/2+1)) / 2
}

// average is the k-th smallest, from 1, of the averages of two values of d,
// which is sorted: the least number that k averages do not exceed.
func average(d []float64, k int) float64 {
	lo, hi := d[0], d[len(d)-1]
	for range 200 { // more than enough to halve any float64 range to nothing
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if countAverages(d, mid) >= k {
			hi = mid
		} else {
			lo = mid
		}
	}
	if countAverages(d, lo) >= k {
		return lo
	}
	return hi
}

// countAverages counts the averages of two values of d, sorted, up to x.
func countAverages(d []float64, x float64) int {
	count, j := 0, len(d)-1
	for i := range d {
		for j >= i && (d[i]+d[j])/2 > x {
			j--
		}
		if j < i {
			break
		}
		count += j - i + 1
	}
	return count
}

// Disagree reports whether the bootstrap says something else than Student's
// interval: 0 lies in one only, or a bound is off by more than half of
// Student's half-width. With few quads or wild ones this means that the
// normal theory behind t should not be trusted.
func Disagree(t, bootstrap Interval) bool {
	tolerance := t.HalfWidth() / 2
	return t.Contains(0) != bootstrap.Contains(0) ||
		math.Abs(t.Lo-bootstrap.Lo) > tolerance || math.Abs(t.Hi-bootstrap.Hi) > tolerance
}

// Holm adjusts p-values for the number of comparisons made (Holm 1979): an
// adjusted value below 0.05 is significant at a family-wise 5 %.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return a - b
	})
	out := make([]float64, len(p))
	running := 0.0
	for rank, i := range order {
		running = max(running, min(1, p[i]*float64(len(p)-rank)))
		out[i] = running
	}
	return out
}
