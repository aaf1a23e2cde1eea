package report

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/stat"
)

// A fixture is a made-up run that looks like a real one: blocks drawn around
// true overheads, with drift and noise, and the summary of exactly those
// blocks. Everything follows from the seed.
type fixture struct {
	rng     *rand.Rand
	clock   time.Time
	quads   int
	blocks  []result.Block
	voids   []result.Void
	summary *result.Summary
}

type cost struct {
	variant   string
	loss      float64 // share of throughput lost
	published *result.Published
}

var fixtureWorkloads = []struct {
	name  string
	tps   float64
	costs []cost
}{
	{"tpcc", 812, []cost{
		{"tde", 0.027, nil},
		{"cols20", 0.031, &result.Published{Study: "polardb-confidential", OverheadPct: 8.8, Note: "8 terminals"}},
		{"cols50", 0.064, &result.Published{Study: "polardb-confidential", OverheadPct: 15.2, Note: "8 terminals"}},
		{"cols100", 0.114, &result.Published{Study: "polardb-confidential", OverheadPct: 22.6, Note: "8 terminals"}},
	}},
	{"oltp_read_write", 1460, []cost{
		{"tde", 0.019, &result.Published{Study: "oceanbase-tde", OverheadPct: 2}},
		{"cols100", 0.093, nil},
	}},
	{"oltp_write_only", 4120, []cost{{"tde", 0.041, &result.Published{Study: "oceanbase-tde", OverheadPct: 1}}, {"cols100", 0.058, nil}}},
	{"oltp_point_select", 61250, []cost{{"tde", 0.001, &result.Published{Study: "oceanbase-tde", OverheadPct: 3}}, {"cols100", 0.121, nil}}},
}

func newFixture(seed uint64, quads int) *fixture {
	f := &fixture{rng: rand.New(rand.NewPCG(seed, 1)), quads: quads, clock: time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)}
	f.summary = &result.Summary{
		Format: result.SummaryFormat, Study: "embedded", Title: "What encryption costs on an embedded database", Seed: seed,
		Started: f.clock, Complete: true,
		Environment: result.Environment{
			CPU: "AMD EPYC 7B13", Cores: 2, MemoryBytes: 8 << 30, Kernel: "Linux 6.1.0-18-cloud-amd64", OS: "Debian GNU/Linux 12",
			Go: "go1.26.8", Version: "0.1.0", Engines: map[string]string{"sqlite": "3.51.0"}, LoadAverage: [3]float64{0.41, 0.38, 0.3},
			Revision: "1f0c9d2", Filesystem: "ext4",
		},
	}
	for _, w := range fixtureWorkloads {
		for _, c := range w.costs {
			f.summary.Rows = append(f.summary.Rows, f.run(result.Cell{Engine: "sqlite", Variant: c.variant, Baseline: "plain", Workload: w.name, Threads: 1, Published: c.published}, w.tps, c.loss))
		}
	}
	for _, w := range fixtureWorkloads[:2] {
		f.summary.AA = append(f.summary.AA, f.run(result.Cell{Engine: "sqlite", Variant: "plain", Baseline: "plain", Workload: w.name, Threads: 1}, w.tps, 0))
	}
	for _, v := range []string{"plain", "tde", "cols20", "cols50", "cols100"} {
		f.summary.Checks = append(f.summary.Checks, result.Check{Name: "tpcc consistency 3.3.2.1-12", Engine: "sqlite", Variant: v, OK: true})
	}
	f.summary.Warnings = []string{"load average was 1.62 at the end: other programs were at work", "the processor's frequency governor is unknown"}
	return f
}

// run makes the blocks of one cell and the row that sums them up.
func (f *fixture) run(c result.Cell, tps, loss float64) result.Row {
	row := result.Row{Engine: c.Engine, Variant: c.Variant, Baseline: c.Baseline, Workload: c.Workload, Threads: c.Threads, Published: c.Published}
	var ratios []float64
	for q := range f.quads {
		order, d := "ABBA", 0.0
		if f.rng.IntN(2) == 1 {
			order = "BAAB"
		}
		void := q == 3 && c.Variant == "tde" && c.Workload == "tpcc"
		for pos, arm := range order {
			b := f.block(c, tps, loss, q, pos, order, arm == 'B')
			if void && pos == 2 {
				b.Commits /= 3
				b.Transactions /= 3
			}
			f.blocks = append(f.blocks, b)
			sign := 0.5
			if arm == 'A' {
				sign = -0.5
			}
			d += sign * math.Log(float64(b.Commits)/b.DurationS)
		}
		if void {
			row.Voided++
			f.voids = append(f.voids, result.Void{Type: result.TypeVoid, Cell: c, Quad: q, Cause: "foreign-load"})
			continue
		}
		ratios = append(ratios, d)
	}
	f.fill(&row, tps, ratios)
	return row
}

func (f *fixture) block(c result.Cell, tps, loss float64, quad, pos int, order string, variant bool) result.Block {
	at := float64(len(f.blocks))
	x := tps * (1 + 0.05*math.Sin(at/17)) * math.Exp(0.02*f.rng.NormFloat64())
	arm := "baseline"
	if variant {
		x *= 1 - loss
		arm = "variant"
	}
	b := result.Block{Type: result.TypeBlock, Cell: c, Arm: arm, Quad: quad, Position: pos, Order: order, Start: f.clock, DurationS: 0.5}
	b.Commits = uint64(x * b.DurationS)
	b.Transactions = b.Commits + b.Commits/100
	b.CPUS = result.CPU{Engine: 0.49}
	f.clock = f.clock.Add(520 * time.Millisecond)
	return b
}

func (f *fixture) fill(row *result.Row, tps float64, d []float64) {
	row.Quads = len(d)
	round := func(x float64) float64 { return math.Round(x*1e4) / 1e4 } // alike on every processor
	mean, sd := 0.0, 0.0
	for _, x := range d {
		mean += x / float64(len(d))
	}
	for _, x := range d {
		sd += (x - mean) * (x - mean) / float64(len(d)-1)
	}
	se := math.Sqrt(sd / float64(len(d)))
	over := func(k float64) float64 { return round(100 * (1 - math.Exp(mean+k*se))) }
	row.OverheadPct = &result.Interval{Est: over(0), Lo: over(2.02), Hi: over(-2.02)}
	boot := result.Interval{Est: over(0), Lo: over(1.9), Hi: over(-1.95)}
	median, mde := over(0.1), round(280*se)
	row.Bootstrap, row.MedianPct, row.MDEPct = &boot, &median, &mde
	row.TPS = result.Pair{Baseline: tps, Variant: round(tps * math.Exp(mean))}
	var pub *float64
	if row.Published != nil {
		pub = &row.Published.OverheadPct
	}
	row.Verdict = stat.Verdict(len(d), stat.Interval(*row.OverheadPct), mde, 0, false, pub)
	shift := func(us, extra float64) result.Pair {
		return result.Pair{Baseline: round(us), Variant: round(us * math.Exp(-mean) * (1 + extra))}
	}
	ivOf := func(p result.Pair) *result.Interval {
		est := 100 * (p.Variant/p.Baseline - 1)
		return &result.Interval{Est: round(est), Lo: round(est - 300*se), Hi: round(est + 300*se)}
	}
	us := 1e6 / tps
	cpu := shift(us*0.95, 0.004)
	row.CPUUSPerTx = result.CPUPair{Pair: cpu, OverheadPct: ivOf(cpu), Parts: map[string]result.Pair{"client": {}, "engine": cpu, "product": {}}}
	row.LatencyUS = map[string]result.LatencyPair{}
	for name, k := range map[string]float64{"mean": 1, "p50": 0.8, "p95": 1.9, "p99": 3.1, "max": 11} {
		p := shift(us*k, 0.003*k)
		row.LatencyUS[name] = result.LatencyPair{Pair: p, OverheadPct: ivOf(p)}
	}
	row.UserAborts, row.Retries = 41, 3
}

// interrupted is the fixture as a run stopped half-way would leave it.
func (f *fixture) interrupted() *fixture {
	f.summary.Complete = false
	for i := len(f.summary.Rows) - 3; i < len(f.summary.Rows); i++ {
		r := f.summary.Rows[i]
		f.summary.Rows[i] = result.Row{Engine: r.Engine, Variant: r.Variant, Baseline: r.Baseline, Workload: r.Workload, Threads: r.Threads,
			Published: r.Published, Verdict: stat.NotEnoughData, Note: "the run ended before this comparison"}
	}
	f.summary.AA = f.summary.AA[:1]
	f.summary.Checks = nil
	return f
}

func (f *fixture) records() Records {
	return Records{Blocks: f.blocks, Voids: f.voids, Config: map[string]any{
		"block": "500ms", "quads": f.quads, "warehouses": 1, "variants": []string{"plain", "tde", "cols20", "cols50", "cols100"}, "wal": true,
	}}
}
