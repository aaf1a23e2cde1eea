package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v within %v", what, got, want, tolerance)
	}
}

func TestStudentAgainstTables(t *testing.T) {
	iv, ok := Student([]float64{1, 2, 3, 4, 5}, 0.95)
	if !ok {
		t.Fatal("no interval")
	}
	half := 2.776445 * math.Sqrt(2.5) / math.Sqrt(5) // t(0.975, 4) of the printed tables
	near(t, "est", iv.Est, 3, 1e-12)
	near(t, "lo", iv.Lo, 3-half, 1e-5)
	near(t, "hi", iv.Hi, 3+half, 1e-5)

	// t = mean/(sd/sqrt n) = 3/(1.5811/2.2361) = 4.2426; p(4 df) = 0.01324
	near(t, "p", PValue([]float64{1, 2, 3, 4, 5}), 0.013236, 1e-5)
}

func TestTooFewValues(t *testing.T) {
	for _, d := range [][]float64{nil, {0.1}} {
		if _, ok := Student(d, Level); ok {
			t.Errorf("Student(%v) gave an interval", d)
		}
		if _, ok := Bootstrap(d, Level, 1); ok {
			t.Errorf("Bootstrap(%v) gave an interval", d)
		}
		if _, _, ok := Equivalence(d, 1); ok {
			t.Errorf("Equivalence(%v) gave an interval", d)
		}
		if p := PValue(d); p != 1 {
			t.Errorf("PValue(%v) = %v", d, p)
		}
		if m := MDE(1, len(d)); !math.IsNaN(m) {
			t.Errorf("MDE with %d values = %v", len(d), m)
		}
	}
	if !math.IsNaN(HodgesLehmann(nil)) {
		t.Error("HodgesLehmann of nothing is a number")
	}
}

func TestQuadLog(t *testing.T) {
	d, ok := QuadLog([]float64{100, 400}, []float64{100, 100})
	if !ok {
		t.Fatal("refused")
	}
	near(t, "d", d, math.Log(100)-math.Log(200), 1e-12)
	for name, bad := range map[string][]float64{"zero": {0, 1}, "nan": {math.NaN(), 1}, "inf": {math.Inf(1), 1}, "none": nil} {
		if _, ok := QuadLog([]float64{1, 1}, bad); ok {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestPercentOfLogRatios(t *testing.T) {
	iv := Interval{math.Log(0.95), math.Log(0.9), math.Log(1.01)}
	loss := iv.Loss()
	near(t, "loss", loss.Est, 5, 1e-9)
	near(t, "loss lo", loss.Lo, -1, 1e-9)
	near(t, "loss hi", loss.Hi, 10, 1e-9)
	dear := Interval{math.Log(1.2), math.Log(1.1), math.Log(1.3)}.Increase()
	near(t, "increase", dear.Est, 20, 1e-9)
	near(t, "increase lo", dear.Lo, 10, 1e-9)
	near(t, "increase hi", dear.Hi, 30, 1e-9)
}

func TestHodgesLehmann(t *testing.T) {
	near(t, "odd", HodgesLehmann([]float64{5, 1, 4, 2, 3}), 3, 0)
	near(t, "ties", HodgesLehmann([]float64{0, 10, 0}), 2.5, 0)
	near(t, "one value", HodgesLehmann([]float64{7}), 7, 0)
	near(t, "a million pairs", HodgesLehmann(normals(1500, 0.25, 0.1, 5)), 0.25, 0.01)
	for seed := range uint64(50) {
		d := normals(1+int(seed), 0, 1, seed)
		var all []float64
		for i, x := range d {
			for _, y := range d[i:] {
				all = append(all, (x+y)/2)
			}
		}
		slices.Sort(all)
		want := (all[(len(all)-1)/2] + all[len(all)/2]) / 2
		near(t, "against every pair", HodgesLehmann(d), want, 1e-12)
	}
	near(t, "one wild value", HodgesLehmann([]float64{1, 1, 1, 1, 1, 1, 1, 1, 1000}), 1, 0)
}

func TestHolm(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		near(t, "adjusted p", got[i], want, 1e-12)
	}
	if got := Holm([]float64{0.9, 0.8}); !slices.Equal(got, []float64{1, 1}) {
		t.Errorf("large p = %v, want capped at 1", got)
	}
}

func TestBootstrapIsSeeded(t *testing.T) {
	d := normals(20, 0.01, 0.05, 3)
	a, _ := Bootstrap(d, Level, 9)
	b, _ := Bootstrap(d, Level, 9)
	c, _ := Bootstrap(d, Level, 10)
	if a != b || a == c {
		t.Errorf("seed 9 gave %v and %v, seed 10 %v", a, b, c)
	}
	s, _ := Student(d, Level)
	if Disagree(s, a) {
		t.Errorf("normal data: Student %v, bootstrap %v", s, a)
	}
	if iv, ok := Bootstrap([]float64{2, 2, 2, 2, 2}, Level, 1); !ok || iv != (Interval{2, 2, 2}) {
		t.Errorf("constant data: %v, %v", iv, ok)
	}
}

func TestDisagree(t *testing.T) {
	wild := append(normals(20, 0, 0.01, 4), 1.5) // one quad far out
	s, _ := Student(wild, Level)
	b, _ := Bootstrap(wild, Level, 1)
	if !Disagree(s, b) {
		t.Errorf("Student %v and bootstrap %v should disagree", s, b)
	}
}

func normals(n int, mean, sd float64, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 77))
	d := make([]float64, n)
	for i := range d {
		d[i] = mean + sd*rng.NormFloat64()
	}
	return d
}

// TestPowerAgainstKnownValues uses the noncentral t values that power
// calculators give for one-sample tests.
func TestPowerAgainstKnownValues(t *testing.T) {
	for _, c := range []struct {
		n          int
		sdPerDelta float64
		want       float64
	}{{10, 1, 0.803}, {34, 2, 0.808}, {130, 4, 0.81}, {5, 0.5, 0.91}} {
		got := power(c.n, math.Sqrt(float64(c.n))/c.sdPerDelta, sdRatios(c.n))
		near(t, "power", got, c.want, 0.01)
	}
}

func TestMDEInvertsPower(t *testing.T) {
	for _, n := range []int{2, 3, 5, 10, 40, 400} {
		mde := MDE(0.03, n)
		near(t, "power at the MDE", power(n, mde/0.03*math.Sqrt(float64(n)), sdRatios(n)), Power, 1e-6)
	}
	near(t, "MDE of many quads", MDE(1, 1000)*math.Sqrt(1000), 2.8, 0.02)
	if MDE(1, 5)*math.Sqrt(5) < 3.2 {
		t.Error("with five quads the MDE must exceed the large-sample formula")
	}
}

// TestQuadsTable is the table of required quads: rows are the standard
// deviation of d, columns the effect, both in percent.
func TestQuadsTable(t *testing.T) {
	effects := []float64{1, 2, 3, 5}
	for sd, want := range map[float64][]int{
		1:  {10, 5, 5, 5},
		2:  {34, 10, 6, 5},
		3:  {73, 20, 10, 5},
		5:  {199, 51, 24, 10},
		8:  {505, 128, 58, 22},
		10: {787, 199, 90, 34},
		15: {1769, 444, 199, 73},
	} {
		for i, delta := range effects {
			if got := Quads(sd, delta); got != want[i] {
				t.Errorf("Quads(%v, %v) = %d, want %d", sd, delta, got, want[i])
			}
		}
	}
}

func TestVerdict(t *testing.T) {
	published := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		name       string
		quads      int
		loss       Interval
		mde        float64
		margin     float64
		equivalent bool
		published  *float64
		want       string
	}{
		{"two quads", 2, Interval{5, 4, 6}, 1, 0, false, nil, NotEnoughData},
		{"no spread known", 9, Interval{5, 4, 6}, math.NaN(), 0, false, published(5), NotEnoughData},
		{"published inside", 20, Interval{5, 4, 6}, 1, 0, false, published(5.5), Reproduced},
		{"published inside a wide interval", 20, Interval{5, -4, 14}, 13, 0, false, published(5.5), Inconclusive},
		{"larger than published", 20, Interval{15, 12, 18}, 4, 0, false, published(5), Consistent},
		{"smaller than published", 20, Interval{3, 1, 5}, 3, 0, false, published(22), Consistent},
		{"nothing where much was published", 20, Interval{0, -1, 1}, 1.5, 0, false, published(22), Different},
		{"opposite", 20, Interval{-5, -6, -4}, 1, 0, false, published(22), Different},
		{"published 0 within the margin", 40, Interval{0.1, -0.5, 0.7}, 0.9, 1, true, published(0), Reproduced},
		{"published 0, too noisy", 40, Interval{0.1, -5, 5}, 7, 1, false, published(0), Inconclusive},
		{"published 0, clear cost", 40, Interval{5, 4, 6}, 1, 1, false, published(0), Different},
		{"cost", 20, Interval{5, 4, 6}, 1, 0, false, nil, Cost},
		{"gain", 20, Interval{-5, -6, -4}, 1, 0, false, nil, Gain},
		{"nothing shown", 20, Interval{1, -1, 3}, 3, 0, false, nil, NoDifference},
		{"equivalent", 20, Interval{0.5, 0.1, 0.9}, 0.6, 2, true, nil, "equivalent within 2 %"},
	} {
		if got := Verdict(c.quads, c.loss, c.mde, c.margin, c.equivalent, c.published); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestEquivalence(t *testing.T) {
	tight := normals(40, 0.002, 0.005, 1)
	if iv, holds, ok := Equivalence(tight, 1); !ok || !holds {
		t.Errorf("0.2 %% ± 0.1 %% is not within 1 %%: %v", iv)
	}
	if iv, holds, _ := Equivalence(tight, 0.2); holds {
		t.Errorf("0.2 %% was found to be within 0.2 %%: %v", iv)
	}
	// Wide data contain 0 and still prove nothing.
	if iv, holds, _ := Equivalence(normals(10, 0, 0.1, 2), 1); holds {
		t.Errorf("noise was found equivalent: %v", iv)
	}
}

func TestClaims(t *testing.T) {
	for _, c := range []struct {
		lo, hi      float64
		limit, span string // of at most 5, of 1 to 4
	}{
		{1.5, 3, Reproduced, Reproduced},
		{0.5, 3, Reproduced, Inconclusive},
		{4.5, 5.5, Inconclusive, Consistent},
		{6, 7, Different, Consistent},
		{-3, -1, Reproduced, Different},
		{-1, 0.5, Reproduced, Different},
	} {
		iv := Interval{Est: (c.lo + c.hi) / 2, Lo: c.lo, Hi: c.hi}
		if got := Limit(iv, 5); got != c.limit {
			t.Errorf("Limit(%v to %v, 5) = %s, want %s", c.lo, c.hi, got, c.limit)
		}
		if got := Range(iv, 1, 4); got != c.span {
			t.Errorf("Range(%v to %v, 1, 4) = %s, want %s", c.lo, c.hi, got, c.span)
		}
	}
}
