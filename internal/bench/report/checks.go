package report

import (
	"strings"

	"github.com/veildb/veildb/internal/bench/result"
)

// A checkGroup is one check with equal outcome on several arms.
type checkGroup struct {
	result.Check
	Arms []string
}

// Where lists the arms: "plain, tde".
func (g checkGroup) Where() string { return strings.Join(g.Arms, ", ") }

// checkGroups joins checks that differ only in the arm, in order of first
// appearance.
func checkGroups(s *result.Summary) []checkGroup {
	var out []checkGroup
	at := map[result.Check]int{}
	for _, c := range s.Checks {
		key := c
		key.Variant = ""
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, checkGroup{Check: key})
		}
		out[i].Arms = append(out[i].Arms, clean(c.Variant))
	}
	return out
}
