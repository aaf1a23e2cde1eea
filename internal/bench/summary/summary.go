// Package summary turns the records of a run into its summary: an estimate,
// interval and verdict for every comparison planned.
package summary

import (
	"slices"

	"github.com/veildb/veildb/internal/bench/result"
)

// Summarise sums up a run, finished or not. Every cell the run planned has a
// row, in the planned order, even one without a single block; its Note then
// says why figures are missing. The same run gives the same summary.
func Summarise(run *result.Run) *result.Summary {
	h := run.Header
	s := &result.Summary{
		Format: result.SummaryFormat, Study: h.Study, Title: h.Title, Seed: h.Seed, Started: h.Started,
		Environment: h.Environment,
		Rows:        []result.Row{}, AA: []result.Row{}, Checks: checks(run), Warnings: []string{},
	}
	ends := result.All[result.End](run)
	s.Complete = len(ends) > 0

	cells := gather(run)
	for _, c := range cells {
		c.estimate(h.Seed)
		row := c.row(s.Complete, h.Environment.Cores)
		row.Headline = slices.ContainsFunc(h.Headline, func(l result.Cell) bool { return keyOf(l) == keyOf(c.Cell) })
		if c.AA() {
			s.AA = append(s.AA, row)
		} else {
			s.Rows = append(s.Rows, row)
		}
	}
	s.Tables = tables(h.Tables, cells, s)
	for _, f := range result.All[result.Failover](run) {
		f.Type = ""
		s.Failovers = append(s.Failovers, f)
	}
	s.Warnings = warnings(run, s, cells)
	return s
}

// checks returns the checks of a run. Those of a study as a whole come once each:
// a resumed run may have made one twice.
func checks(run *result.Run) []result.Check {
	out := []result.Check{}
	for _, c := range result.All[result.Check](run) {
		c.Type = ""
		if c.Workload != "" || !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}
