package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// machine is a shared computer as we measured them: its speed drifts (a random
// walk and a slow wave), jumps now and then, and each block adds noise.
type machine struct {
	rng   *rand.Rand
	level float64
	block int
}

func (m *machine) speed() float64 {
	m.block++
	m.level += 0.02 * m.rng.NormFloat64()
	if m.rng.IntN(50) == 0 {
		m.level += 0.2 * m.rng.NormFloat64()
	}
	wave := 0.05 * math.Sin(float64(m.block)/40)
	return m.level + wave + 0.05*m.rng.NormFloat64()
}

// quads simulates n quads of a variant whose rate is exp(effect) times the
// baseline's, in randomised ABBA and BAAB order.
func quads(n int, effect float64, seed uint64) []float64 {
	m := machine{rng: rand.New(rand.NewPCG(seed, 5))}
	d := make([]float64, n)
	for i := range d {
		var arms [2][]float64
		first := m.rng.IntN(2)
		for pos := range 4 {
			arm := first
			if pos == 1 || pos == 2 {
				arm = 1 - first
			}
			arms[arm] = append(arms[arm], 800*math.Exp(m.speed()+effect*float64(arm)))
		}
		d[i], _ = QuadLog(arms[0], arms[1])
	}
	return d
}

func TestAAContainsZero(t *testing.T) {
	contains := 0
	for seed := range uint64(20) {
		d := quads(30, 0, seed+1)
		iv, _ := Student(d, Level)
		if iv.Contains(0) {
			contains++
		}
	}
	if contains < 19 {
		t.Errorf("the A/A interval contains 0 in %d of 20 runs, want at least 19", contains)
	}
}

// TestCoverage injects slowdowns into drifting noise and counts how often the
// intervals cover the truth.
func TestCoverage(t *testing.T) {
	const runs = 1000
	for _, lossPct := range []float64{0, 5, 22} {
		student, bca, sum := 0, 0, 0.0
		for seed := range uint64(runs) {
			d := quads(20, math.Log1p(-lossPct/100), seed+1000)
			iv, _ := Student(d, Level)
			if loss := iv.Loss(); loss.Contains(lossPct) {
				student++
			}
			sum += iv.Loss().Est
			if lossPct == 5 && seed < 200 {
				if b, _ := Bootstrap(d, Level, seed); b.Loss().Contains(lossPct) {
					bca++
				}
			}
		}
		if student < 935 || student > 965 {
			t.Errorf("%v %% slower: Student's interval covers it in %d of %d runs", lossPct, student, runs)
		}
		if lossPct == 5 && (bca < 176 || bca > 198) {
			t.Errorf("%v %% slower: the bootstrap covers it in %d of 200 runs", lossPct, bca)
		}
		near(t, "mean estimate", sum/runs, lossPct, 0.2)
	}
}

// TestMDEIsWhatItClaims: an effect of the size of the MDE is found in four
// runs of five.
func TestMDEIsWhatItClaims(t *testing.T) {
	_, sd := MeanSD(quads(5000, 0, 42))
	found := 0
	for seed := range uint64(500) {
		if PValue(quads(15, MDE(sd, 15), seed+7000)) < Alpha {
			found++
		}
	}
	if found < 370 || found > 430 {
		t.Errorf("an effect of one MDE was found in %d of 500 runs, want about 400", found)
	}
}
