package summary

import (
	"slices"

	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/stat"
)

// tables puts our figures beside those of the published tables. A line whose
// comparison was not made keeps its place, without figures.
func tables(published []result.Table, cells []*cell, s *result.Summary) []result.Table {
	out := slices.Clone(published)
	for i := range out {
		t := &out[i]
		t.Rows = slices.Clone(t.Rows)
		for k := range t.Rows {
			line := &t.Rows[k]
			at := slices.IndexFunc(s.Rows, func(r result.Row) bool {
				return r.Workload == line.Workload && r.Threads == line.Threads && r.Variant == line.Variant
			})
			if at < 0 {
				continue
			}
			c := cells[slices.IndexFunc(cells, func(c *cell) bool {
				r := s.Rows[at]
				return keyOf(c.Cell) == key{r.Engine, r.Variant, r.Baseline, r.Workload, r.Threads}
			})]
			measure(line, t.Metric, s.Rows[at], len(c.d))
		}
	}
	return out
}

// measure fills a line with our figures.
func measure(line *result.TableRow, m result.Metric, r result.Row, quads int) {
	line.Baseline, line.Verdict = r.Baseline, stat.NotEnoughData
	mde := r.MDEPct
	switch m {
	case result.MetricTPS:
		line.Measured, line.Change = &r.TPS, r.OverheadPct
	case result.MetricNOPM: // new orders are a fixed share of all transactions
		line.Measured, line.Change = r.NOPM, r.OverheadPct
	case result.MetricUtilisation:
		mde = nil
		if u := r.UtilisationPct; u != nil {
			line.Measured, line.Change = &u.Pair, u.Points
		}
	case result.MetricCPU:
		line.Measured, line.Change = &r.CPUUSPerTx.Pair, r.CPUUSPerTx.OverheadPct
		mde = nil
	case result.MetricTime:
		mean := r.LatencyUS["mean"]
		line.Measured = &result.Pair{Baseline: mean.Baseline / 1e6, Variant: mean.Variant / 1e6}
		line.Change = mean.OverheadPct
	}
	if line.Measured != nil && *line.Measured == (result.Pair{}) {
		line.Measured = nil
	}
	if line.Change == nil || quads < stat.MinQuads {
		return
	}
	line.MDEPct = mde
	iv := stat.Interval(*line.Change)
	switch p := line.Published; {
	case p.Change != nil && mde != nil:
		line.Verdict = stat.Verdict(quads, iv, *mde, 0, false, p.Change)
	case p.Change != nil: // half the interval stands for what could be seen
		line.Verdict = stat.Verdict(quads, iv, iv.HalfWidth(), 0, false, p.Change)
	case p.AtMost != nil:
		line.Verdict = stat.Limit(iv, *p.AtMost)
	case p.Between != nil:
		line.Verdict = stat.Range(iv, p.Between[0], p.Between[1])
	}
}
