package report

import (
	"strings"

	"github.com/veildb/veildb/internal/bench/result"
)

// notes says why rows lack figures, one line a reason: no row goes missing
// without a word.
func notes(s *result.Summary) []string {
	n := namingOf(s)
	var out []string
	for _, rows := range groupBy(s.Rows, func(r result.Row) string { return clean(r.Note) }) {
		note := clean(rows[0].Note)
		if note == "" {
			continue
		}
		var names []string
		for _, r := range rows {
			names = append(names, clean(r.Variant)+" on "+n.workload(r))
		}
		out = append(out, strings.Join(names, ", ")+": "+note)
	}
	return out
}
