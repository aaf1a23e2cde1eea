package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Power and Alpha are what MDE and Quads are computed for.
const (
	Alpha = 0.05 // two-sided
	Power = 0.80
)

// power is the probability that a two-sided t test of n values calls a mean of
// ncp/sqrt(n) standard deviations significant: the noncentral t distribution,
// taken as the average over the sample variance's quantiles.
func power(n int, ncp float64, ratios []float64) float64 {
	crit := student(n).Quantile(1 - Alpha/2)
	sum := 0.0
	for _, r := range ratios {
		sum += distuv.UnitNormal.CDF(ncp-crit*r) + distuv.UnitNormal.CDF(-ncp-crit*r)
	}
	return sum / float64(len(ratios))
}

// sdRatios returns equally likely values of sample over true standard
// deviation for n values.
func sdRatios(n int) []float64 {
	chi := distuv.ChiSquared{K: float64(n - 1)}
	out := make([]float64, 200)
	for i := range out {
		p := (float64(i) + 0.5) / float64(len(out))
		out[i] = math.Sqrt(chi.Quantile(p) / chi.K)
	}
	return out
}

// MDE is the smallest mean that n values of standard deviation sd detect at a
// two-sided 5 % with a power of 80 %: 2.8 sd/sqrt(n) when n is large, more when
// it is small. It is NaN for fewer than two values.
func MDE(sd float64, n int) float64 {
	if n < 2 || math.IsNaN(sd) {
		return math.NaN()
	}
	ratios := sdRatios(n)
	lo, hi := 0.0, 1.0
	for power(n, hi, ratios) < Power {
		hi *= 2
	}
	for range 40 {
		if mid := (lo + hi) / 2; power(n, mid, ratios) < Power {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi * sd / math.Sqrt(float64(n))
}

// Quads is the number of values of standard deviation sd needed to detect a
// mean of delta, on the terms of MDE: 7.85 (sd/delta)^2 + 1.9. Below five, where
// that approximation ends, it says five.
func Quads(sd, delta float64) int {
	r := sd / delta
	return max(5, int(math.Ceil(7.85*r*r+1.9)))
}
