package summary

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/stat"
)

func cellOf(workload, variant string) result.Cell {
	return result.Cell{Engine: "sqlite", Variant: variant, Baseline: "plain", Workload: workload, Threads: 1}
}

// blocks makes n quads whose variant loses lossPct of throughput and takes
// twice the processor time and latency, with sd of noise in each block.
func blocks(c result.Cell, n int, lossPct, sd float64, seed uint64) []any {
	rng := rand.New(rand.NewPCG(seed, 3))
	var out []any
	for quad := range n {
		order := [4]int{0, 1, 1, 0}
		name := "ABBA"
		if rng.IntN(2) == 1 {
			order, name = [4]int{1, 0, 0, 1}, "BAAB"
		}
		level := 0.3 * rng.NormFloat64()
		for pos, arm := range order {
			factor := float64(1 + arm)
			rate := 1000 * math.Exp(level+sd*rng.NormFloat64()) * (1 - float64(arm)*lossPct/100)
			out = append(out, result.Block{
				Type: result.TypeBlock, Cell: c, Arm: [2]string{"baseline", "variant"}[arm], Quad: quad, Position: pos, Order: name,
				DurationS: 400 / rate, Transactions: 404, Commits: 400, UserAborts: 4, Retries: 2, Errors: 1, ErrorCodes: map[string]uint64{"1213": 1},
				LatencyUS: result.Latency{Count: 404, Mean: 100 * factor, P50: 90 * factor, P95: 200 * factor, P99: 300 * factor, Max: 1000*factor + float64(quad)},
				CPUS:      result.CPU{Client: 0.1 * factor, Engine: 0.3 * factor},
			})
		}
	}
	return out
}

func runOf(cells []result.Cell, records ...[]any) *result.Run {
	return &result.Run{
		Header:  result.Header{Study: "embedded", Title: "T", Seed: 11, Cells: cells, Environment: result.Environment{Cores: 2, LoadAverage: [3]float64{0.1}}},
		Records: slices.Concat(records...),
	}
}

var end = []any{result.End{Type: result.TypeEnd}}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v within %v", what, got, want, tolerance)
	}
}

func TestRow(t *testing.T) {
	c := cellOf("tpcc", "tde")
	c.Published = &result.Published{Study: "s", OverheadPct: 5}
	c.ClaimPct = 10
	aa := cellOf("tpcc", "plain")
	s := Summarise(runOf([]result.Cell{c, aa}, blocks(c, 40, 5, 0.01, 1), blocks(aa, 40, 0, 0.01, 2), end))
	if !s.Complete || len(s.Rows) != 1 || len(s.AA) != 1 || s.Format != result.SummaryFormat || s.Seed != 11 {
		t.Fatalf("summary = %+v", s)
	}
	r := s.Rows[0]
	if r.Quads != 40 || r.Voided != 0 || r.Errors != 160 || r.Retries != 320 || r.UserAborts != 640 || r.Note != "" {
		t.Errorf("row = %+v", r)
	}
	near(t, "overhead", r.OverheadPct.Est, 5, 0.6)
	if r.OverheadPct.Lo > 5 || r.OverheadPct.Hi < 5 || r.OverheadPct.Hi-r.OverheadPct.Lo > 1.5 {
		t.Errorf("overhead = %+v", *r.OverheadPct)
	}
	near(t, "overhead from the two rates", 100*(1-r.TPS.Variant/r.TPS.Baseline), r.OverheadPct.Est, 1e-9)
	near(t, "bootstrap", r.Bootstrap.Est, r.OverheadPct.Est, 1e-9)
	near(t, "median", *r.MedianPct, 5, 0.6)
	near(t, "MDE", *r.MDEPct, 100*2.8*0.01/math.Sqrt(40), 0.15)
	near(t, "CPU", r.CPUUSPerTx.Baseline, 1e6*0.4/404, 1e-6)
	near(t, "CPU overhead", r.CPUUSPerTx.OverheadPct.Est, 100, 1e-6)
	near(t, "engine CPU", r.CPUUSPerTx.Parts["engine"].Variant, 1e6*0.6/404, 1e-6)
	if _, ok := r.CPUUSPerTx.Parts["product"]; ok {
		t.Error("a part that was never used is listed")
	}
	near(t, "p95", r.LatencyUS["p95"].Variant, 400, 1e-6)
	near(t, "p95 overhead", r.LatencyUS["p95"].OverheadPct.Est, 100, 1e-6)
	near(t, "longest", r.LatencyUS["max"].Baseline, 1039, 1e-6)
	if r.LatencyUS["max"].OverheadPct != nil {
		t.Error("the maximum has an interval")
	}
	if r.Verdict != stat.Reproduced || !r.Equivalence.Holds || r.Equivalence.MarginPct != 10 || r.Published.OverheadPct != 5 {
		t.Errorf("verdict %q, equivalence %+v, published %+v", r.Verdict, r.Equivalence, r.Published)
	}
	if s.AA[0].Verdict != stat.AAHolds {
		t.Errorf("A/A verdict = %q, %+v", s.AA[0].Verdict, s.AA[0].OverheadPct)
	}
	if want := []string{"transactions were given up after errors (1213: 320 times): tpcc tde, tpcc A/A"}; !slices.Equal(s.Warnings, want) {
		t.Errorf("warnings = %q, want %q", s.Warnings, want)
	}
}

// TestRowsWithoutData: nothing planned is ever dropped, and each row says why
// its figures are missing.
func TestRowsWithoutData(t *testing.T) {
	c := cellOf("tpcc", "tde")
	idle := blocks(c, 4, 0, 0.01, 1)
	for i := range idle {
		b := idle[i].(result.Block)
		b.Commits = 0
		idle[i] = b
	}
	for _, x := range []struct {
		name     string
		run      *result.Run
		verdict  string
		interval bool
		note     string
	}{
		{"nothing at all", runOf([]result.Cell{c}), stat.NotEnoughData, false, "the run ended before this comparison"},
		{"finished without", runOf([]result.Cell{c}, end), stat.NotEnoughData, false, "not measured"},
		{"within the first quad", runOf([]result.Cell{c}, blocks(c, 1, 5, 0.01, 1)[:3]), stat.NotEnoughData, false, "the run ended within the first quad"},
		{"one quad", runOf([]result.Cell{c}, blocks(c, 1, 5, 0.01, 1)), stat.NotEnoughData, false, "only 1 valid quad: at least 3 are needed for a verdict"},
		{"two quads", runOf([]result.Cell{c}, blocks(c, 2, 5, 0.01, 1)), stat.NotEnoughData, true, "only 2 valid quads: at least 3 are needed for a verdict"},
		{"two and a half", runOf([]result.Cell{c}, blocks(c, 3, 5, 0.01, 1)[:10]), stat.NotEnoughData, true, "only 2 valid quads: at least 3 are needed for a verdict"},
		{"no commits", runOf([]result.Cell{c}, idle), stat.NotEnoughData, false, "no transaction committed in some block of every quad"},
		{"not planned", runOf(nil, blocks(c, 5, 5, 0.001, 1)), stat.Cost, true, ""},
	} {
		s := Summarise(x.run)
		if len(s.Rows) != 1 {
			t.Errorf("%s: %d rows", x.name, len(s.Rows))
			continue
		}
		r := s.Rows[0]
		if r.Verdict != x.verdict || r.Note != x.note || (r.OverheadPct != nil) != x.interval {
			t.Errorf("%s: verdict %q, note %q, overhead %v", x.name, r.Verdict, r.Note, r.OverheadPct)
		}
		if _, err := json.Marshal(s); err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
	}
}

func TestVoidedQuads(t *testing.T) {
	c := cellOf("tpcc", "tde")
	good := blocks(c, 20, 5, 0.01, 1)
	wild := blocks(c, 1, 90, 0.01, 2)
	for i := range wild {
		b := wild[i].(result.Block)
		b.Quad = 20
		wild[i] = b
	}
	void := func(quad int, cause string) any {
		return result.Void{Type: result.TypeVoid, Cell: c, Quad: quad, Cause: cause}
	}
	s := Summarise(runOf([]result.Cell{c}, good, wild, []any{void(20, "steal"), void(21, "client-error")}, end))
	r := s.Rows[0]
	if r.Quads != 20 || r.Voided != 2 {
		t.Errorf("%d quads, %d voided", r.Quads, r.Voided)
	}
	near(t, "without the void quads", r.OverheadPct.Est, 5, 1)
	if r.WithVoided == nil || r.WithVoided.Est < 8 {
		t.Errorf("with the void quads: %+v", r.WithVoided)
	}
	if w := strings.Join(s.Warnings, "\n"); !strings.Contains(w, "tpcc tde: 2 of 22 quads withdrawn (client-error 1, steal 1)") {
		t.Errorf("warnings = %s", w)
	}
	s = Summarise(runOf([]result.Cell{c}, []any{void(0, "steal")}))
	if got := s.Rows[0].Note; got != "1 quad withdrawn, none valid" {
		t.Errorf("note = %q", got)
	}
}

func TestWarnings(t *testing.T) {
	c, aa := cellOf("tpcc", "tde"), cellOf("tpcc", "plain")
	quiet := blocks(aa, 20, 0, 0.01, 5)
	outlier := blocks(c, 20, 5, 0.01, 1)
	for i := range 4 {
		b := outlier[i].(result.Block)
		if b.Arm == "variant" {
			b.DurationS *= 5
		}
		outlier[i] = b
	}
	loaded := blocks(c, 20, 5, 0.01, 1)
	for i := range loaded {
		b := loaded[i].(result.Block)
		b.StealPct, b.ForeignPct = 7, 30
		loaded[i] = b
	}
	var many []any
	cells := []result.Cell{aa}
	for i := range 12 {
		x := cellOf("tpcc", fmt.Sprintf("v%d", i))
		cells = append(cells, x)
		many = append(many, blocks(x, 12, 0, 0.05, uint64(i))...)
	}
	borderline := cellOf("tpcc", "edge")
	many = append(many, blocks(borderline, 12, 4.2, 0.05, 77)...)

	busy := runOf([]result.Cell{c}, loaded, end)
	busy.Header.Environment.LoadAverage = [3]float64{1.5}
	busy.Header.Environment.Governor = "powersave"
	cut := runOf([]result.Cell{aa, c}, quiet)
	cut.Torn = true

	for _, x := range []struct {
		name string
		run  *result.Run
		want string
	}{
		{"no control", runOf([]result.Cell{c}, blocks(c, 20, 5, 0.01, 1), end), "there is no A/A control"},
		{"biased control", runOf([]result.Cell{aa}, blocks(aa, 20, 5, 0.01, 1), end), "the A/A control tpcc A/A shows a difference of"},
		{"failed check", runOf([]result.Cell{aa}, quiet, []any{result.Check{Name: "sums", Variant: "tde", Detail: "3 rows"}}, end), "check sums failed on tde: 3 rows"},
		{"outlier", runOf([]result.Cell{aa, c}, quiet, outlier, end), "tpcc tde: the bootstrap interval"},
		{"few", runOf([]result.Cell{aa, c}, quiet, blocks(c, 5, 5, 0.001, 1), end), "fewer than 10 quads, so the intervals lean on the noise being normal: tpcc tde"},
		{"noisy", runOf([]result.Cell{aa, c}, quiet, blocks(c, 20, 5, 0.2, 1), end), "too noisy to see an effect below 5 %: tpcc tde"},
		{"interrupted", cut, "the run was interrupted: 1 of 2 comparisons without data"},
		{"torn", cut, "the last record of the run was cut off"},
		{"steal", busy, "the hypervisor took 7.0 % of the machine's time"},
		{"foreign", busy, "other programs used 30 % of the machine's processor time"},
		{"load", busy, "load average 1.50 on 2 cores"},
		{"governor", busy, "governor is powersave"},
		{"many", runOf(append(cells, borderline), quiet, many, end), "significant alone, but not among 13 comparisons (Holm): tpcc "},
		{"note", runOf([]result.Cell{aa}, quiet, []any{result.Note{Text: "the disk was slow"}}, end), "the disk was slow"},
	} {
		s := Summarise(x.run)
		if !slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, x.want) }) {
			t.Errorf("%s: warnings %q lack %q", x.name, s.Warnings, x.want)
		}
	}
	if s := Summarise(runOf([]result.Cell{aa}, quiet, end)); slices.ContainsFunc(s.Warnings, func(w string) bool { return !strings.Contains(w, "given up") }) {
		t.Errorf("a quiet run is warned of: %q", s.Warnings)
	}
}

func TestNamesTellCellsApart(t *testing.T) {
	a, b := cellOf("tpcc", "tde"), cellOf("tpcc", "tde")
	b.Threads, b.Engine = 8, "mariadb"
	s := Summarise(runOf([]result.Cell{a, b}, blocks(a, 3, 5, 0.01, 1), blocks(b, 3, 5, 0.01, 1), end))
	if w := strings.Join(s.Warnings, "\n"); !strings.Contains(w, "tpcc tde on sqlite at 1 thread, tpcc tde on mariadb at 8 threads") {
		t.Errorf("warnings = %s", w)
	}
}

func TestOrderOfRecordsDoesNotMatter(t *testing.T) {
	c, aa := cellOf("tpcc", "tde"), cellOf("tpcc", "plain")
	cells := []result.Cell{c, aa}
	records := slices.Concat(blocks(c, 12, 5, 0.02, 1), blocks(aa, 12, 0, 0.02, 2), end)
	want := Summarise(runOf(cells, records))
	rng := rand.New(rand.NewPCG(1, 1))
	rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	got := Summarise(runOf(cells, records))
	// Sums of the same numbers in another order differ in the last bit.
	for i := range want.Rows {
		near(t, "estimate", got.Rows[i].OverheadPct.Est, want.Rows[i].OverheadPct.Est, 1e-9)
		near(t, "rate", got.Rows[i].TPS.Variant, want.Rows[i].TPS.Variant, 1e-6)
	}
	if !reflect.DeepEqual(got.Warnings, want.Warnings) {
		t.Errorf("warnings = %q, want %q", got.Warnings, want.Warnings)
	}
}

func TestRepeatedChecksCountOnce(t *testing.T) {
	check := func(ok bool) any { return result.Check{Type: result.TypeCheck, Name: "sums", Variant: "tde", OK: ok} }
	s := Summarise(runOf(nil, []any{check(true), check(true), check(false)}))
	if len(s.Checks) != 2 || s.Checks[0].Type != "" {
		t.Errorf("checks = %+v", s.Checks)
	}
}

// FuzzSummarise: whatever is a readable run has a summary that can be written,
// with a row for every cell.
func FuzzSummarise(f *testing.F) {
	c := cellOf("tpcc", "tde")
	run := runOf([]result.Cell{c}, blocks(c, 3, 5, 0.01, 1), end)
	run.Header.Type, run.Header.Format = result.TypeHeader, result.RunFormat
	var seed bytes.Buffer
	enc := json.NewEncoder(&seed)
	for _, r := range append([]any{run.Header}, run.Records...) {
		if err := enc.Encode(r); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(seed.Bytes())
	f.Add([]byte(`{"type":"header","format":"veildb.run/1","cells":[{},{"variant":"x"}]}` + "\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		run, err := result.Read(bytes.NewReader(in))
		if err != nil {
			return
		}
		s := Summarise(run)
		distinct := map[key]bool{}
		for _, c := range run.Header.Cells {
			distinct[keyOf(c)] = true
		}
		if len(s.Rows)+len(s.AA) < len(distinct) {
			t.Fatalf("%d rows for %d cells", len(s.Rows)+len(s.AA), len(distinct))
		}
		if _, err := json.Marshal(s); err != nil {
			t.Fatalf("write summary: %v", err)
		}
	})
}
