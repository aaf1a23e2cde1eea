package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/stat"
)

// withTables is the fixture of a study whose tables are to be made again.
func withTables() *fixture {
	f := newFixture(7, 24)
	number := func(x float64) *float64 { return &x }
	f.summary.Tables = []result.Table{{
		Study: "polardb-confidential", Title: "Scenario 1: 20 % of the columns", Head: "terminals", Metric: result.MetricTPS,
		Rows: []result.TableRow{
			{Workload: "tpcc", Threads: 8, Variant: "cols20", Published: result.Figures{Baseline: number(260.55), Variant: number(237.64), Change: number(8.79)},
				Baseline: "gate", Measured: &result.Pair{Baseline: 812, Variant: 741.5}, Change: &result.Interval{Est: 8.68, Lo: 7.1, Hi: 10.2}, MDEPct: number(2.3), Verdict: stat.Reproduced},
			{Workload: "tpcc", Threads: 16, Variant: "cols20", Published: result.Figures{Baseline: number(302.78), Variant: number(280.28), Change: number(7.43)}},
		},
	}, {
		Study: "rds-tde", Title: "Processor use", Note: "4 cores.", Metric: result.MetricUtilisation,
		Rows: []result.TableRow{
			{Workload: "oltp_read_write/uniform", Threads: 8, Variant: "tde", Published: result.Figures{Between: &[2]float64{0.06, 4.22}},
				Baseline: "plain", Measured: &result.Pair{Baseline: 51.2, Variant: 54.9}, Change: &result.Interval{Est: 3.7, Lo: 1.9, Hi: 5.5}, Verdict: stat.Inconclusive},
			{Workload: "oltp_read_write", Threads: 1, Variant: "tde", Published: result.Figures{AtMost: number(20)},
				Baseline: "plain", Measured: &result.Pair{Baseline: 12, Variant: 13}, Verdict: stat.NotEnoughData},
		},
	}}
	f.summary.Rows[0].NOPM = &result.Pair{Baseline: 21900, Variant: 21340}
	f.summary.Rows[0].UtilisationPct = &result.Utilisation{Pair: result.Pair{Baseline: 51.2, Variant: 54.9}, Points: &result.Interval{Est: 3.7, Lo: 1.9, Hi: 5.5}}
	return f
}

func TestStudyTables(t *testing.T) {
	f := withTables()
	var md, html bytes.Buffer
	if err := Markdown(&md, f.summary); err != nil {
		t.Fatal(err)
	}
	golden(t, "study.md", md.String())
	golden(t, "study-80.txt", textOf(t, f.summary, 80, false))
	if err := HTML(&html, f.summary, f.records()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"261 → 238", "not in this run", "0.06 to 4.22", "≤ 20.0", "Of 1 line measured: 1 reproduced.", "21,900", "3.7 points (1.9 to 5.5)"} {
		if !strings.Contains(html.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
