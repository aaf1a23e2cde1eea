package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/bench/result"
)

// noisyPct is the effect a run must be able to see for its headline to speak
// of the cost and not of the noise.
const noisyPct = 5

// headline answers the question of the page in a few words: for the comparisons
// that the study is about or, where it names none or this run has none of them,
// for encryption at rest and column protection. It is empty if the run has
// neither.
func headline(s *result.Summary) string {
	n := namingOf(s)
	for _, r := range s.Rows { // a figure of so many threads is not one of another number
		if r.Headline || several(s.Rows) {
			n.threads[r.Workload] = true
		}
	}
	var parts []string
	for _, rows := range groupBy(s.Rows, func(r result.Row) string { return r.Variant }) {
		if h := slices.DeleteFunc(slices.Clone(rows), func(r result.Row) bool { return !r.Headline }); len(h) > 0 {
			parts = append(parts, n.headlineOf(h, rows))
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts, " ")
	}
	if several(s.Rows) {
		for _, rows := range groupBy(s.Rows, func(r result.Row) string { return r.Variant }) {
			if v := rows[0].Variant; v == "tde" || strings.HasPrefix(v, "cols") {
				parts = append(parts, n.rangeOf(rows))
			}
		}
		return strings.Join(parts, " ")
	}
	return n.embeddedHeadline(s)
}

// several reports whether some variant ran with several numbers of threads, so
// that no single row speaks for it.
func several(rows []result.Row) bool {
	for _, of := range groupBy(rows, func(r result.Row) [2]string { return [2]string{r.Variant, r.Workload} }) {
		if len(of) > 1 {
			return true
		}
	}
	return false
}

// headlineOf reads the headline rows of a variant, best and worst by name, and
// what the variant's other rows reach beyond them.
func (n naming) headlineOf(rows, all []result.Row) string {
	text := n.rangeOf(rows)
	if len(rows) == 1 && rows[0].Published != nil && findingOf(rows[0]) != noEstimate {
		text += " " + publishedWords(rows[0])
	}
	_, worst := extremes(rows)
	if _, beyond := extremes(all); worst != nil && beyond != nil && beyond.OverheadPct.Est > worst.OverheadPct.Est {
		text += fmt.Sprintf(" Its dearest comparison is another: %s.", n.brief(*beyond))
	}
	return text
}

// rangeOf says what a variant costs over rows: from the best to the worst.
func (n naming) rangeOf(rows []result.Row) string {
	name := variantName(rows[0].Variant)
	if rows[0].Baseline != "plain" {
		name += ", against " + clean(rows[0].Baseline) + ","
	}
	if len(rows) == 1 && operation(rows[0]) && findingOf(rows[0]) != noEstimate {
		return name + " " + tookWords(rows[0])
	}
	best, worst := extremes(rows)
	if best == nil {
		if len(rows) == 1 {
			return fmt.Sprintf("%s has no estimate for %s: %s.", name, n.workload(rows[0]), whyAbsent(rows[0]))
		}
		return fmt.Sprintf("%s has no estimate: none of %s has enough data.", name, plural(len(rows), "comparison"))
	}
	var text string
	switch {
	case len(rows) == 1 && findingOf(*best) == costs:
		text = fmt.Sprintf("%s cost %s %% of throughput on %s (95 %% interval %s)", name, pct(best.OverheadPct.Est), n.workload(*best), span(*best.OverheadPct))
	case len(rows) == 1:
		return name + " " + n.effect(withPlain(*best)) + "."
	case best == worst:
		text = fmt.Sprintf("%s: %s", name, n.brief(*best))
	default:
		text = fmt.Sprintf("%s cost from %s (best) to %s (worst)", name, n.brief(*best), n.brief(*worst))
	}
	without := 0
	for _, r := range rows {
		if findingOf(r) == noEstimate {
			without++
		}
	}
	if without > 0 {
		text += fmt.Sprintf("; %d of %s without an estimate", without, plural(len(rows), "comparison"))
	}
	return text + "."
}

// operation reports whether a transaction of r is one long operation.
func operation(r result.Row) bool { return r.Workload == "pg_upgrade" || r.Workload == "convert" }

// tookWords is the predicate of a sentence about one operation: its time and
// its processor time.
func tookWords(r result.Row) string {
	words := func(iv *result.Interval, unit string) string {
		switch {
		case iv == nil:
			return "no figure for " + unit
		case iv.Lo <= 0 && iv.Hi >= 0:
			return fmt.Sprintf("no more %s that this run can tell from zero (%s %%, 95 %% interval %s)", unit, pct(iv.Est), span(*iv))
		case iv.Est > 0:
			return fmt.Sprintf("%s %% more %s (95 %% interval %s)", pct(iv.Est), unit, span(*iv))
		}
		return fmt.Sprintf("%s %% less %s (95 %% interval %s)", pct(-iv.Est), unit, span(result.Interval{Lo: -iv.Hi, Hi: -iv.Lo}))
	}
	return fmt.Sprintf("took %s for %s, and %s.", words(r.LatencyUS["mean"].OverheadPct, "time"), workloadName(r.Workload), words(r.CPUUSPerTx.OverheadPct, "processor time"))
}

// withPlain is r for a sentence that has named the baseline already.
func withPlain(r result.Row) result.Row {
	r.Baseline = "plain"
	return r
}

// extremes are the cheapest and the dearest row with an estimate, nil if none
// has one.
func extremes(rows []result.Row) (best, worst *result.Row) {
	for i, r := range rows {
		if findingOf(r) == noEstimate {
			continue
		}
		if best == nil || r.OverheadPct.Est < best.OverheadPct.Est {
			best = &rows[i]
		}
		if worst == nil || r.OverheadPct.Est > worst.OverheadPct.Est {
			worst = &rows[i]
		}
	}
	return best, worst
}

// embeddedHeadline is one sentence for encryption at rest and column protection
// on the workload that leads both.
func (n naming) embeddedHeadline(s *result.Summary) string {
	var tde, cols []result.Row
	var at *result.Row
	for _, rd := range readings(s) {
		r := rd.Lead
		if findingOf(r) == noEstimate || at != nil && placeOf(r) != placeOf(*at) {
			continue
		}
		switch {
		case r.Variant == "tde":
			tde = append(tde, r)
		case strings.HasPrefix(r.Variant, "cols"):
			cols = append(cols, r)
		default:
			continue
		}
		at = &r
	}
	if at == nil {
		return ""
	}
	on := "On " + n.workload(*at) + ", "
	all := slices.Concat(tde, cols)
	if sharpest := slices.MinFunc(all, func(a, b result.Row) int { return cmp.Compare(mdeOf(a), mdeOf(b)) }); !slices.ContainsFunc(all, told) && blunt(sharpest, noisyPct) {
		return fmt.Sprintf("%sthis run is too noisy to say: it would have seen no cost below %s %%. Measure longer, on a quieter machine.", on, pct(*sharpest.MDEPct))
	}
	var parts []string
	for i, rows := range [][]result.Row{tde, cols} {
		if len(rows) > 0 {
			parts = append(parts, []string{"encryption at rest ", "column protection "}[i]+costWords(rows, i == 0 || len(tde) == 0))
		}
	}
	return on + strings.Join(parts, "; ") + "."
}

// told reports whether the row is told from zero.
func told(r result.Row) bool { f := findingOf(r); return f == costs || f == gains }

func mdeOf(r result.Row) float64 {
	if r.MDEPct == nil {
		return math.Inf(1)
	}
	return *r.MDEPct
}

// costWords sums up the rows of one kind of protection, dearest last.
func costWords(rows []result.Row, first bool) string {
	of := ""
	if first {
		of = " of throughput"
	}
	clear := slices.DeleteFunc(slices.Clone(rows), func(r result.Row) bool { return findingOf(r) != costs })
	low, high := rows[0], rows[len(rows)-1]
	switch {
	case len(clear) == 0:
		hi := slices.MaxFunc(rows, func(a, b result.Row) int { return cmp.Compare(a.OverheadPct.Hi, b.OverheadPct.Hi) })
		return fmt.Sprintf("showed no cost that can be told from zero, and at most %s %% by its 95 %% interval", pct(hi.OverheadPct.Hi))
	case len(rows) == 1:
		return fmt.Sprintf("cost %s %%%s", pct(low.OverheadPct.Est), of)
	case len(clear) == len(rows):
		return fmt.Sprintf("cost %s %% (%s) to %s %% (%s)%s", pct(low.OverheadPct.Est), clean(low.Variant), pct(high.OverheadPct.Est), clean(high.Variant), of)
	}
	most := slices.MaxFunc(clear, func(a, b result.Row) int { return cmp.Compare(a.OverheadPct.Est, b.OverheadPct.Est) })
	return fmt.Sprintf("cost up to %s %% (%s)%s", pct(most.OverheadPct.Est), clean(most.Variant), of)
}
