package report

import (
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/stat"
)

func rowOf(variant, workload string, est, lo, hi float64) result.Row {
	mde := (hi - lo) / 1.4
	return result.Row{Engine: "sqlite", Variant: variant, Baseline: "plain", Workload: workload, Threads: 1, Quads: 30,
		OverheadPct: &result.Interval{Est: est, Lo: lo, Hi: hi}, MDEPct: &mde}
}

func TestReadings(t *testing.T) {
	published := func(r result.Row, pct float64) result.Row {
		r.Published = &result.Published{Study: "some-study", OverheadPct: pct}
		return r
	}
	verdict := func(r result.Row, v string) result.Row { r.Verdict = v; return r }
	claim := func(r result.Row, margin float64, holds bool) result.Row {
		r.Equivalence = &result.Equivalence{MarginPct: margin, Interval: *r.OverheadPct, Holds: holds}
		return r
	}
	without := result.Row{Engine: "sqlite", Variant: "tde", Baseline: "plain", Workload: "tpcc", Threads: 1, Verdict: stat.NotEnoughData, Note: "not measured"}
	thin := verdict(rowOf("tde", "tpcc", 4, 1, 7), stat.NotEnoughData)
	thin.Note = "only 2 valid quads: at least 3 are needed for a verdict"
	behind := rowOf("cols20", "tpcc", 5, 4, 6)
	behind.Baseline = "gate"

	for _, c := range []struct {
		name     string
		row      result.Row
		want     []string
		wantNone []string
	}{
		{"a cost", rowOf("tde", "tpcc", 2.7, 1.9, 3.4), []string{"Encryption at rest (tde) cost 2.7 % of TPC-C throughput (95 % interval 1.9 to 3.4)."}, []string{"zero"}},
		{"an interval over zero", rowOf("tde", "tpcc", 0.4, -0.6, 1.4), []string{"can tell from zero: 0.4 % (95 % interval -0.6 to 1.4)", "so a cost of up to 1.4 % is possible"}, []string{" cost 0.4"}},
		{"faster", rowOf("tde", "tpcc", -2, -3, -1), []string{"ran 2.0 % faster", "interval 1.0 to 3.0", "the arms are not alike"}, []string{"cost"}},
		{"no data", without, []string{"has no estimate for TPC-C: not measured."}, []string{"cost", "0.0"}},
		{"too few quads", thin, []string{"has no estimate for TPC-C: only 2 valid quads"}, []string{"cost 4"}},
		{"another baseline", behind, []string{"cost 5.0 % of TPC-C throughput against gate"}, nil},
		{"an unknown variant", rowOf("mine", "my_load", 2, 1, 3), []string{"mine cost 2.0 % of my_load throughput"}, nil},
		{"published inside", published(rowOf("tde", "tpcc", 2.7, 1.9, 3.4), 3), []string{"some-study publishes 3.0 %: inside our interval."}, nil},
		{"published above", published(rowOf("tde", "tpcc", 2.7, 1.9, 3.4), 9), []string{"publishes 9.0 %: more than measured here."}, nil},
		{"published below", published(rowOf("tde", "tpcc", 2.7, 1.9, 3.4), 1), []string{"publishes 1.0 %: less than measured here."}, nil},
		{"published too small to see", verdict(published(rowOf("tde", "tpcc", 0, -3, 3), 1), stat.Inconclusive), []string{"too small for this run to see"}, []string{"inside"}},
		{"published without an estimate", published(without, 1), []string{"publishes 1.0 %."}, []string{"measured here"}},
		{"no impact holds", claim(rowOf("tde", "tpcc", 0.4, -0.6, 1.4), 5, true), []string{`"no impact beyond ± 5.0 %" holds`}, nil},
		{"no impact is not shown", claim(rowOf("tde", "tpcc", 3, -0.1, 6.1), 5, false), []string{"is not shown"}, nil},
		{"no impact is out of sight", claim(rowOf("tde", "tpcc", 3, -30, 36), 5, false), nil, []string{"no impact"}},
		{"no impact is absurd", claim(rowOf("tde", "tpcc", 20, 18, 22), 5, false), nil, []string{"no impact"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rs := readings(&result.Summary{Rows: []result.Row{c.row}})
			if len(rs) != 1 {
				t.Fatalf("got %d readings", len(rs))
			}
			got := strings.ReplaceAll(rs[0].Text, "\u00a0", " ")
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("got %q, want %q in it", got, w)
				}
			}
			for _, w := range c.wantNone {
				if strings.Contains(got, w) {
					t.Errorf("got %q, want no %q in it", got, w)
				}
			}
		})
	}
}

func TestLeadPrefersTPCCWithAnEstimate(t *testing.T) {
	without := result.Row{Variant: "tde", Workload: "tpcc", Verdict: stat.NotEnoughData}
	for _, c := range []struct {
		name string
		rows []result.Row
		want string
	}{
		{"TPC-C first", []result.Row{rowOf("tde", "oltp_read_write", 1, 0, 2), rowOf("tde", "tpcc", 1, 0, 2)}, "tpcc"},
		{"an estimate before TPC-C", []result.Row{without, rowOf("tde", "oltp_read_write", 1, 0, 2)}, "oltp_read_write"},
		{"else the first", []result.Row{rowOf("tde", "a", 1, 0, 2), rowOf("tde", "b", 1, 0, 2)}, "a"},
	} {
		if got := lead(c.rows).Workload; got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestAlarmsComeFirst(t *testing.T) {
	control := rowOf("plain", "tpcc", 3, 2, 4)
	s := &result.Summary{
		Rows: []result.Row{rowOf("tde", "tpcc", 2.7, 1.9, 3.4)}, AA: []result.Row{control},
		Checks: []result.Check{{Name: "c", Variant: "tde"}},
	}
	lines := strings.SplitN(textOf(t, s, 200, false), "\n", 7)
	for i, want := range map[int]string{0: "INCOMPLETE RUN", 2: "THE A/A CONTROL FAILED on TPC-C", 4: "1 OF 1 CHECK FAILED"} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is %q, want %q", i+1, lines[i], want)
		}
	}
	s.AA[0] = rowOf("plain", "tpcc", 0, -1, 1)
	s.Checks[0].OK, s.Complete = true, true
	if got := alarms(s); len(got) != 0 {
		t.Errorf("a sound run raises %q", got)
	}
}

func TestConclusionsNameTheUpperBound(t *testing.T) {
	s := &result.Summary{Rows: []result.Row{
		rowOf("tde", "tpcc", 2.7, 1.9, 3.4), rowOf("tde", "oltp_write_only", 4, 2.5, 5.6), rowOf("tde", "oltp_point_select", 0.1, -0.5, 0.7),
		{Variant: "cols20", Workload: "tpcc", Verdict: stat.NotEnoughData},
	}}
	got := conclusions(s)
	if len(got) != 2 || !strings.Contains(got[0], "plan for up to 5.6\u00a0%") || !strings.Contains(got[0], "in 1 of 3 the cost is not told from zero, where up to 0.7\u00a0% is possible") {
		t.Errorf("got %q", got)
	}
	if !strings.HasSuffix(got[1], "nothing can be concluded yet.") {
		t.Errorf("got %q", got[1])
	}
}

func TestSureness(t *testing.T) {
	for _, c := range []struct {
		name string
		aa   []result.Row
		want string
	}{
		{"no control", nil, "no A/A control in this run"},
		{"holds", []result.Row{rowOf("plain", "tpcc", 0.2, -0.6, 0.9)}, "contains 0 as it should: TPC-C 0.2 % (-0.6 to 0.9)"},
		{"fails", []result.Row{rowOf("plain", "tpcc", 2, 1, 3)}, "does not contain 0: TPC-C 2.0 % (1.0 to 3.0)"},
		{"no data", []result.Row{{Variant: "plain", Baseline: "plain", Workload: "tpcc", Quads: 1}}, "no estimate (not enough data, 1 quad)"},
	} {
		got := strings.ReplaceAll(strings.Join(sureness(&result.Summary{AA: c.aa}), " "), "\u00a0", " ")
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q in it", c.name, got, c.want)
		}
	}
}

func TestHeadline(t *testing.T) {
	tde, zero := rowOf("tde", "tpcc", 2.7, 1.9, 3.4), rowOf("tde", "tpcc", 0.3, -1, 1.6)
	c20, c100 := rowOf("cols20", "tpcc", 3.7, 3, 4), rowOf("cols100", "tpcc", 11.6, 11, 12)
	elsewhere := rowOf("tde", "oltp_read_write", 9, 8, 10)
	for _, c := range []struct {
		name string
		rows []result.Row
		want string
	}{
		{"both", []result.Row{tde, elsewhere, c20, c100}, "On TPC-C, encryption at rest cost 2.7 % of throughput; column protection cost 3.7 % (cols20) to 11.6 % (cols100)."},
		{"one tier", []result.Row{tde, c100}, "On TPC-C, encryption at rest cost 2.7 % of throughput; column protection cost 11.6 %."},
		{"covers zero", []result.Row{zero}, "On TPC-C, encryption at rest showed no cost that can be told from zero, and at most 1.6 % by its 95 % interval."},
		{"one tier unclear", []result.Row{rowOf("cols20", "tpcc", 1, -1, 3), c100}, "On TPC-C, column protection cost up to 11.6 % (cols100) of throughput."},
		{"too noisy", []result.Row{rowOf("tde", "tpcc", 4, -56, 42), rowOf("cols20", "tpcc", -17, -121, 37)}, "On TPC-C, this run is too noisy to say: it would have seen no cost below 70.0 %. Measure longer, on a quieter machine."},
		{"different places", []result.Row{elsewhere, c100}, "On read_write, encryption at rest cost 9.0 % of throughput."},
		{"another variant", []result.Row{rowOf("fuse", "tpcc", 1, 0.5, 2)}, ""},
		{"nothing yet", []result.Row{{Variant: "tde", Workload: "tpcc", Verdict: stat.NotEnoughData}}, ""},
		{"no rows", nil, ""},
	} {
		got := strings.ReplaceAll(headline(&result.Summary{Rows: c.rows}), "\u00a0", " ")
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
