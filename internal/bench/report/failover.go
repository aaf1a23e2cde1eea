package report

import (
	"fmt"
	"slices"

	"github.com/veildb/veildb/internal/bench/result"
)

// failoverTable says what losing a replica cost, one line a failover; false if
// the run had none.
func failoverTable(s *result.Summary) (studyTable, bool) {
	if len(s.Failovers) == 0 {
		return studyTable{}, false
	}
	t := studyTable{Title: "Losing a replica under load", Lede: failoverWords(s), Columns: []studyColumn{
		{"variant", false, 0}, {"no.", true, 0}, {"TPS before", true, 3}, {"pause", true, 0}, {"served after", true, 2}, {"all back after", true, 1},
		{"TPS without", true, 3}, {"return", true, 0}, {"TPS again", true, 4}, {"failed", true, 0}, {"unanswered", true, 1}, {"by", false, 0}, {"lost", true, 0},
	}}
	for _, f := range s.Failovers {
		t.Rows = append(t.Rows, []string{clean(f.Variant), fmt.Sprint(f.Number), rate(f.TPS.Before), seconds(f.GapS), seconds(f.ServedS), seconds(f.AllBackS),
			rate(f.TPS.After), seconds(f.RejoinS), rate(f.TPS.Rejoined), decimal(float64(f.Errors), 0),
			decimal(float64(f.Unanswered), 0), clean(f.Transfer), decimal(float64(f.Lost), 0)})
	}
	return t, true
}

func seconds(x float64) string { return duration(1e6 * x) }

// failoverWords reads the failovers out, and says what the columns are.
func failoverWords(s *result.Summary) string {
	arms := map[string][]result.Failover{}
	var names []string
	bad := 0
	var acknowledged uint64
	for _, f := range s.Failovers {
		if !slices.Contains(names, f.Variant) {
			names = append(names, f.Variant)
		}
		arms[f.Variant] = append(arms[f.Variant], f)
		acknowledged += f.Acknowledged
		if !f.OK() {
			bad++
		}
	}
	text := ""
	for i, name := range names {
		lo, hi := span2(arms[name], func(f result.Failover) float64 { return f.GapS })
		if i > 0 {
			text += ", "
		}
		text += "on " + clean(name) + " for " + between(lo, hi)
	}
	text = "Replica " + clean(s.Failovers[0].Replica) + " was killed under load. Nothing was committed " + text + ". "
	if bad == 0 {
		text += fmt.Sprintf("Of %s acknowledged transactions none was lost, and the replica came back equal. ", decimal(float64(acknowledged), 0))
	} else {
		text += fmt.Sprintf("%d of %s did not end well: see the checks. ", bad, plural(len(s.Failovers), "failover"))
	}
	return text + "Pause: longest time without a commit. Served after: until a transaction begun after the failure was committed. " +
		"TPS without: on the survivors. Return: from the replica's start until it was in step; by: incremental (IST) or whole (SST) transfer. " +
		"Failed: transactions that ended in an error; unanswered: of these, COMMITs without an answer, committed or not."
}

// span2 is the least and the highest of a figure.
func span2(fs []result.Failover, figure func(result.Failover) float64) (lo, hi float64) {
	lo, hi = figure(fs[0]), figure(fs[0])
	for _, f := range fs[1:] {
		lo, hi = min(lo, figure(f)), max(hi, figure(f))
	}
	return lo, hi
}

func between(lo, hi float64) string {
	if seconds(lo) == seconds(hi) {
		return seconds(lo)
	}
	return seconds(lo) + " to " + seconds(hi)
}
