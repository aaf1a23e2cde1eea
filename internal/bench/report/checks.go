package report

import (
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/bench/result"
)

// A checkGroup is one check that held, on several arms and after several
// comparisons, or one that did not.
type checkGroup struct {
	result.Check
	Arms  []string
	Times int
}

// Where says on which arms and how often: "plain, tde; 12 times".
func (g checkGroup) Where() string {
	where := strings.Join(g.Arms, ", ")
	if !g.OK && g.Workload != "" {
		return where + " after " + workloadName(g.Workload) + " at " + plural(g.Threads, "thread")
	}
	if g.Times > len(g.Arms) {
		where += "; " + plural(g.Times, "time")
	}
	return where
}

// checkGroups joins the checks of one name that held; failures stand alone, and
// first.
func checkGroups(s *result.Summary) []checkGroup {
	var bad, good []checkGroup
	for _, c := range s.Checks {
		arm := clean(c.Variant)
		if !c.OK {
			bad = append(bad, checkGroup{Check: c, Arms: []string{arm}, Times: 1})
			continue
		}
		i := slices.IndexFunc(good, func(g checkGroup) bool { return g.Name == c.Name && g.Engine == c.Engine })
		if i < 0 {
			i = len(good)
			good = append(good, checkGroup{Check: c})
		}
		g := &good[i]
		if !slices.Contains(g.Arms, arm) {
			g.Arms = append(g.Arms, arm)
		}
		if g.Times++; g.Detail != c.Detail {
			g.Detail = "" // each has its own
		}
	}
	return append(bad, good...)
}
