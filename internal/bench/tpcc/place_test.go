package tpcc

import (
	"math"
	"slices"
	"testing"
)

func TestDistrictRanges(t *testing.T) {
	for _, tt := range []struct {
		terminals int
		mean      float64 // districts a Delivery delivers
		none      int     // terminals that deliver nothing
	}{{1, 10, 0}, {8, 5.25, 0}, {10, 5.5, 0}, {16, 4.875, 1}, {24, 4.75, 2}, {32, 4.6875, 3}} {
		sum, none := 0, 0
		for i := range tt.terminals {
			low, top := districtRange(i, tt.terminals)
			if low < 1 || top > 10 {
				t.Errorf("%d terminals: terminal %d has districts %d to %d", tt.terminals, i, low, top)
			}
			if sum += top; top == 0 {
				none++
			}
		}
		if mean := float64(sum) / float64(tt.terminals); math.Abs(mean-tt.mean) > 0.005 || none != tt.none {
			t.Errorf("%d terminals deliver %.4f districts and %d none, want %.4f and %d", tt.terminals, mean, none, tt.mean, tt.none)
		}
	}
}

func TestTerminalsSpreadOverWarehouses(t *testing.T) {
	counts := make([]int, 7)
	for n := range 10 {
		w, first, count := homeWarehouse(n, 10, 7)
		if counts[w-1]++; n < first || n >= first+count {
			t.Errorf("terminal %d is not among the %d from %d", n, count, first)
		}
	}
	if want := []int{1, 1, 2, 1, 2, 1, 2}; !slices.Equal(counts, want) {
		t.Errorf("got %v, want %v", counts, want)
	}
	for _, all := range []int{1, 3, 16, 100} {
		for _, warehouses := range []int{1, 2, 7, 100} {
			for n := range all {
				if w, _, count := homeWarehouse(n, all, warehouses); w < 1 || w > warehouses || count < 1 {
					t.Errorf("terminal %d of %d over %d warehouses: warehouse %d of %d terminals", n, all, warehouses, w, count)
				}
			}
		}
	}
}

func TestConstantsAreLegal(t *testing.T) {
	for _, f := range []Flavor{BenchBase, Spec} {
		p := profiles[f]
		d := p.runLast - p.loadLast // clause 2.1.6.1
		if d = max(d, -d); d < 65 || d > 119 || d == 96 || d == 112 {
			t.Errorf("%s: last name constants differ by %d", f, d)
		}
	}
}

func TestMixWithinThreeSigma(t *testing.T) {
	const n = 46_000
	for _, f := range Flavors {
		w := newWorkload(t, Config{Dialect: 1, Flavor: f, Warehouses: 1, Terminals: 1})
		term := &terminal{Workload: w}
		term.kinds.seed(1)
		var got [numKinds]int
		for range n {
			got[term.draw()]++
		}
		for k, weight := range w.weights {
			share := float64(weight) / float64(w.total)
			sigma := math.Sqrt(n * share * (1 - share))
			if f == Spec { // cards: n is a whole number of decks
				sigma = 0
			}
			if d := math.Abs(float64(got[k]) - n*share); d > 3*sigma+1e-6 {
				t.Errorf("%s: %d of %d are %s, off by %.1f, more than 3 sigma", f, got[k], n, kindNames[k], d)
			}
		}
	}
}

// TestInputs draws orders without a database.
func TestInputs(t *testing.T) {
	const n = 200_000
	w := newWorkload(t, Config{Dialect: 1, Warehouses: 5, Terminals: 5})
	term := &terminal{Workload: w, seed: 1}
	term.place()
	var invalid, lines, remote, local float64
	var buf [maxLines]line
	for range n {
		term.seq++
		term.input.seed(term.seed, streamInput, 0, term.seq, 1)
		order, all := term.orderInput(buf[:0])
		local += float64(all)
		for i, l := range order {
			lines++
			remote += float64(l.remote(term.home))
			if l.item == invalidItem && i == len(order)-1 {
				invalid++
			} else if l.item < 1 || l.item > numItems || l.quantity < 1 || l.quantity > 10 || l.supply < 1 || l.supply > 5 {
				t.Fatalf("impossible line %+v", l)
			}
		}
	}
	near := func(name string, got, want, of float64) {
		if sigma := math.Sqrt(of * want * (1 - want)); math.Abs(got-of*want) > 4*sigma {
			t.Errorf("%s: %.0f of %.0f, want %.4f of them", name, got, of, want)
		}
	}
	near("invalid orders", invalid, 0.01, n)
	near("remote lines", remote, 0.01, lines)
	if mean := lines / n; math.Abs(mean-10) > 0.03 {
		t.Errorf("%.3f lines an order, want 10", mean)
	}
	if share := local / n; share < 0.90 || share > 0.91 { // 0.99^5 to 0.99^15
		t.Errorf("%.3f of orders are local", share)
	}
}

func TestNURandStaysInRange(t *testing.T) {
	var r rng
	r.seed(1)
	seen := make([]int, 3001)
	for range 300_000 {
		seen[r.nurand(1023, 259, 1, 3000)]++
	}
	slices.Sort(seen[1:])
	if seen[0] != 0 {
		t.Errorf("0 was drawn %d times", seen[0])
	}
	if hot := seen[3000]; hot < 5*seen[1500] {
		t.Errorf("the hottest of 3000 was drawn %d times, the median %d: not skewed", hot, seen[1500])
	}
}

func TestFixed(t *testing.T) {
	for _, tt := range []struct {
		name  string
		src   any
		scale int
		whole bool
		want  int64
	}{
		{"decimal", []byte("123.45"), 2, false, 12345},
		{"negative", "-10.00", 2, false, -1000},
		{"small negative", "-0.01", 2, false, -1},
		{"rate", "0.1234", 4, false, 1234},
		{"no point", "300000", 2, false, 30000000},
		{"longer than the scale", "1.005", 2, false, 101},
		{"shorter than the scale", "1.5", 2, false, 150},
		{"exponent", "1e3", 2, false, 100000},
		{"float", float64(12.34), 2, false, 1234},
		{"float of 24 bits", float32(4999.99), 2, false, 499999},
		{"whole number", int64(1234), 2, true, 1234},
		{"whole number as text", "1234", 2, true, 1234},
		{"whole number as float", float64(1234), 2, true, 1234},
		{"sum of nothing", nil, 2, false, 0},
	} {
		f := fixed{scale: tt.scale, whole: tt.whole}
		if err := f.Scan(tt.src); err != nil || f.n != tt.want {
			t.Errorf("%s: Scan(%v) = %d, %v; want %d", tt.name, tt.src, f.n, err, tt.want)
		}
	}
	for _, bad := range []any{"", "abc", "1.2x", "--1", []byte{0xff}, true} {
		if err := (&fixed{scale: 2}).Scan(bad); err == nil {
			t.Errorf("Scan(%v) succeeded", bad)
		}
	}
	for _, n := range []int64{0, 1, -1, 99, -12345, 1e15} {
		if got, err := parseFixed(string(appendFixed(nil, n, 2)), 2); err != nil || got != n {
			t.Errorf("%d reads back as %d, %v", n, got, err)
		}
	}
}

func FuzzFixed(f *testing.F) {
	for _, s := range []string{"1.23", "-0.01", "1e300", "999999999999999.99", "."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := parseFixed(s, 2)
		if err != nil || n > 1<<60 || n < -1<<60 {
			return
		}
		if again, err := parseFixed(string(appendFixed(nil, n, 2)), 2); err != nil || again != n {
			t.Fatalf("%q is %d, which reads back as %d, %v", s, n, again, err)
		}
	})
}

// BenchmarkInput is the load generator's own work for a New-Order: everything
// but the statements.
func BenchmarkInput(b *testing.B) {
	w := newWorkload(b, Config{Dialect: 1, Warehouses: 10, Terminals: 10})
	t := &terminal{Workload: w}
	t.place()
	var lines [maxLines]line
	b.ReportAllocs()
	for b.Loop() {
		t.seq++
		t.input.seed(1, streamInput, 0, t.seq, 1)
		t.ourDistrict()
		t.customerID()
		t.orderInput(lines[:0])
	}
}

func BenchmarkPopulation(b *testing.B) {
	p := profiles[BenchBase]
	pop := population{profile: &p, seed: 1}
	v := values{dialect: 1}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		v.reset()
		pop.stock(&v, 1, i)
	}
}
