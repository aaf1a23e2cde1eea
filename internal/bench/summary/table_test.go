package summary

import (
	"testing"

	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/stat"
)

// TestTables puts a run that loses 5 % and takes twice the processor time
// beside what a study could have said.
func TestTables(t *testing.T) {
	c := cellOf("tpcc", "tde")
	records := blocks(c, 40, 5, 0.01, 1)
	for i, r := range records {
		b := r.(result.Block)
		b.KindsUS = map[string]result.Latency{result.KindNewOrder: {Count: 184}, "payment": {Count: 220}}
		b.CPUS = result.CPU{Client: 0.1, Engine: 0.2 * b.DurationS, Product: 0.1 * b.DurationS}
		if b.Arm == "variant" {
			b.CPUS.Engine *= 2
		}
		records[i] = b
	}
	number := func(x float64) *float64 { return &x }
	line := func(f result.Figures) []result.TableRow {
		return []result.TableRow{{Variant: "tde", Workload: "tpcc", Threads: 1, Published: f}, {Variant: "tde", Workload: "tpcc", Threads: 8, Published: f}}
	}
	run := runOf([]result.Cell{c}, records, end)
	cases := []struct {
		metric         result.Metric
		says           result.Figures
		base, variant  float64
		change, within float64
		verdict        string
	}{
		{result.MetricTPS, result.Figures{Change: number(5)}, 0, 0, 5, 1, stat.Reproduced},
		{result.MetricTPS, result.Figures{AtMost: number(2)}, 0, 0, 5, 1, stat.Different},
		{result.MetricNOPM, result.Figures{AtMost: number(20)}, 0, 0, 5, 1, stat.Reproduced},
		{result.MetricUtilisation, result.Figures{Between: &[2]float64{0.06, 4.22}}, 15, 25, 10, 0.01, stat.Consistent},
		{result.MetricTime, result.Figures{Change: number(-10)}, 1e-4, 2e-4, 100, 0.01, stat.Different},
	}
	for _, x := range cases {
		run.Header.Tables = append(run.Header.Tables, result.Table{Study: "s", Title: "t", Metric: x.metric, Rows: line(x.says)})
	}
	s := Summarise(run)
	for i, x := range cases {
		got, absent := s.Tables[i].Rows[0], s.Tables[i].Rows[1]
		if absent.Measured != nil || absent.Verdict != "" {
			t.Errorf("%s: a line without comparison has %+v", x.metric, absent)
		}
		if got.Measured == nil || got.Change == nil || got.Verdict != x.verdict || got.Baseline != "plain" {
			t.Errorf("%s: %+v, want verdict %s", x.metric, got, x.verdict)
			continue
		}
		near(t, string(x.metric)+" change", got.Change.Est, x.change, x.within)
		if x.base != 0 {
			near(t, string(x.metric)+" baseline", got.Measured.Baseline, x.base, x.base/1e6)
			near(t, string(x.metric)+" variant", got.Measured.Variant, x.variant, x.variant/1e6)
		}
	}
	nopm, tps := s.Rows[0].NOPM, s.Rows[0].TPS
	near(t, "NOPM", nopm.Baseline/tps.Baseline, 60*180.0/400, 0.001)
	if run.Header.Tables[0].Rows[0].Measured != nil {
		t.Error("the run's own table was written to")
	}
}
