package report

import (
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/stat"
)

// serverRow is a row of a study on a server.
func serverRow(variant, workload string, threads int, est float64, headline bool) result.Row {
	return result.Row{Engine: "mariadb", Variant: variant, Baseline: "plain", Workload: workload, Threads: threads, Quads: 20, Headline: headline,
		OverheadPct: &result.Interval{Est: est, Lo: est - 1, Hi: est + 1}, Verdict: stat.Cost}
}

// TestServerHeadline reads server studies: by what they are about, best and worst.
func TestServerHeadline(t *testing.T) {
	none := serverRow("tde", "oltp_write_only", 64, 0, true)
	none.OverheadPct, none.Verdict, none.Quads = nil, stat.NotEnoughData, 0
	published := serverRow("cols100", "tpcc", 16, 7.3, true)
	published.Published = &result.Published{Study: "polardb-confidential", OverheadPct: 21.25}
	for _, c := range []struct {
		name string
		rows []result.Row
		want []string
		not  string
	}{
		{"best and worst of the headline, and what lies beyond", []result.Row{
			serverRow("tde", "oltp_point_select", 1, 0.1, false), serverRow("tde", "oltp_read_write", 1, 6, true),
			serverRow("tde", "oltp_read_write", 64, 13, true), serverRow("tde", "oltp_insert", 64, 22, false)},
			[]string{"read_write at 1 thread 6.0 % (5.0 to 7.0) (best)", "read_write at 64 threads 13.0 % (12.0 to 14.0) (worst)", "dearest comparison is another: insert at 64 threads 22.0 %"}, "point_select"},
		{"one headline comparison, with the study's figure", []result.Row{serverRow("cols20", "tpcc", 16, 2, false), published},
			[]string{"(cols100) cost 7.3 % of throughput on TPC-C at 16 threads", "publishes 21.2 %: more than measured here"}, "cols20"},
		{"a headline without an estimate", []result.Row{serverRow("tde", "oltp_read_write", 1, 6, true), none}, []string{"1 of 2 comparisons without an estimate"}, ""},
		{"no headline in the run: the whole range", []result.Row{serverRow("tde", "oltp_read_write", 1, -0.4, false), serverRow("tde", "oltp_read_write", 8, 18, false)},
			[]string{"from read_write at 1 thread", "18.0 % (17.0 to 19.0) (worst)"}, ""},
	} {
		got := strings.ReplaceAll(headline(&result.Summary{Rows: c.rows}), "\u00a0", " ")
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q lacks %q", c.name, got, w)
			}
		}
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %q speaks of %s", c.name, got, c.not)
		}
	}
}
