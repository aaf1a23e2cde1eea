// Package report turns the summary of a run into text, Markdown, CSV, JSON and HTML.
//
// Every format shows the same figures with the same wording. Figures are never
// recomputed here: estimates, intervals and verdicts come from the summary; the
// raw blocks serve only for the charts of throughput over time.
package report

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/veildb/veildb/internal/bench/result"
)

// Records are the parts of a run that a summary leaves out. The zero value is
// fine: the HTML report then has no charts over time and no configuration.
type Records struct {
	Config map[string]any // of the header
	Blocks []result.Block // in any order
	Voids  []result.Void
}

// RecordsOf picks the records out of a run.
func RecordsOf(run *result.Run) Records {
	return Records{
		Config: run.Header.Config,
		Blocks: result.All[result.Block](run),
		Voids:  result.All[result.Void](run),
	}
}

// JSON writes the summary as one indented JSON document.
func JSON(w io.Writer, s *result.Summary) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(s)
}

// title is the name of the study as a reader knows it.
func title(s *result.Summary) string {
	if t := clean(s.Title); t != "" {
		return t
	}
	return clean(s.Study)
}

// A naming says which parts of a cell's identity are needed to tell the cells
// of one summary apart.
type naming struct {
	engines bool            // more than one engine
	threads map[string]bool // workloads that ran with several thread counts
}

func namingOf(s *result.Summary) naming {
	n := naming{threads: map[string]bool{}}
	seen := map[string]int{}
	first := ""
	all := slices.Concat(s.Rows, s.AA)
	if len(all) > 0 {
		first = all[0].Engine
	}
	for _, r := range all {
		if r.Engine != first {
			n.engines = true
		}
		if t, ok := seen[r.Workload]; ok && t != r.Threads {
			n.threads[r.Workload] = true
		}
		seen[r.Workload] = r.Threads
	}
	return n
}

// workload names the workload of r, with engine and threads where they vary.
func (n naming) workload(r result.Row) string {
	name := workloadName(r.Workload)
	if n.threads[r.Workload] {
		name += " at " + plural(r.Threads, "thread")
	}
	if n.engines {
		name += " on " + engineName(r.Engine)
	}
	return name
}

// bare is the workload without the threads, for a table that has them apart.
func (n naming) bare(r result.Row) string {
	name := workloadName(r.Workload)
	if n.engines {
		name += " on " + engineName(r.Engine)
	}
	return name
}

func (n naming) cell(c result.Cell) string {
	return n.workload(result.Row{Engine: c.Engine, Workload: c.Workload, Threads: c.Threads})
}

// groupBy splits rows into runs of equal key, in order of first appearance.
func groupBy[K comparable](rows []result.Row, key func(result.Row) K) [][]result.Row {
	var groups [][]result.Row
	at := map[K]int{}
	for _, r := range rows {
		k := key(r)
		i, ok := at[k]
		if !ok {
			i = len(groups)
			at[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// A place is where a comparison ran: everything of a cell but its arms.
type place struct {
	engine, workload string
	threads          int
}

func placeOf(r result.Row) place { return place{r.Engine, r.Workload, r.Threads} }

// control finds the A/A control that fits a place best: same engine and
// workload, and the same thread count if there is one.
func control(s *result.Summary, p place) (result.Row, bool) {
	var found result.Row
	ok := false
	for _, r := range s.AA {
		if r.Engine != p.engine || r.Workload != p.workload || r.OverheadPct == nil {
			continue
		}
		if r.Threads == p.threads {
			return r, true
		}
		if !ok {
			found, ok = r, true
		}
	}
	return found, ok
}
