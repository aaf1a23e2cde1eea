package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/bench/result"
)

// A reading is what the rows of one variant say, in plain words.
type reading struct {
	Variant string
	Lead    result.Row // the row that speaks for the variant
	Worst   *result.Row
	Rows    []result.Row
	Text    string // one or a few sentences
}

// readings returns one reading a variant, in the order of the rows.
func readings(s *result.Summary) []reading {
	n := namingOf(s)
	var out []reading
	for _, rows := range groupBy(s.Rows, func(r result.Row) [2]string { return [2]string{r.Variant, r.Baseline} }) {
		rd := reading{Variant: rows[0].Variant, Lead: lead(rows), Worst: worst(rows), Rows: rows}
		rd.Text = n.describe(rd)
		out = append(out, rd)
	}
	return out
}

// lead picks the row to name first: of the study's headline the dearest or, where
// the rows have several numbers of threads, the dearest of all; else one with an
// estimate, then TPC-C, then one a vendor published a figure for, then the first.
func lead(rows []result.Row) result.Row {
	if h := slices.DeleteFunc(slices.Clone(rows), func(r result.Row) bool { return !r.Headline }); len(h) > 0 {
		rows = h
	}
	if _, dearest := extremes(rows); dearest != nil && (dearest.Headline || several(rows)) {
		return *dearest
	}
	score := func(r result.Row) (n int) {
		if findingOf(r) != noEstimate {
			n += 4
		}
		if strings.HasPrefix(r.Workload, "tp") {
			n += 2
		}
		if r.Published != nil {
			n++
		}
		return n
	}
	best := rows[0]
	for _, r := range rows[1:] {
		if score(r) > score(best) {
			best = r
		}
	}
	return best
}

// worst is the row with the highest cost that is told from zero, nil if none is.
func worst(rows []result.Row) *result.Row {
	var w *result.Row
	for i, r := range rows {
		if findingOf(r) == costs && (w == nil || r.OverheadPct.Est > w.OverheadPct.Est) {
			w = &rows[i]
		}
	}
	return w
}

func (n naming) describe(rd reading) string {
	text := variantName(rd.Variant) + " " + n.effect(rd.Lead) + "."
	for _, more := range []string{processorWords(rd.Lead), equivalence(rd.Lead)} {
		if more != "" {
			text += " " + more
		}
	}
	if p := publishedWords(rd.Lead); p != "" {
		text += " " + p
	}
	others := slices.DeleteFunc(slices.Clone(rd.Rows), func(r result.Row) bool { return placeOf(r) == placeOf(rd.Lead) })
	switch {
	case len(others) == 0:
	case len(others) <= 4:
		text += n.elsewhere(others)
	default:
		text += n.across(others)
	}
	return text
}

// elsewhere is a sentence about a few further rows.
func (n naming) elsewhere(rows []result.Row) string {
	var parts, without []string
	told := false
	for _, r := range rows {
		f := findingOf(r)
		if f == noEstimate {
			without = append(without, n.workload(r))
			continue
		}
		told = told || f != unclear
		parts = append(parts, n.brief(r))
	}
	text := " Elsewhere: "
	switch {
	case parts == nil:
		return " No estimate elsewhere: " + strings.Join(without, "; ") + "."
	case !told:
		text = " Elsewhere nothing is told from zero either: "
		for i := range parts {
			parts[i] = strings.ReplaceAll(parts[i], ", not told from zero", "")
		}
	}
	if without != nil {
		parts = append(parts, "no estimate for "+strings.Join(without, ", "))
	}
	return text + strings.Join(parts, "; ") + "."
}

// effect is the predicate of a sentence about one row.
func (n naming) effect(r result.Row) string {
	iv, w, against := r.OverheadPct, n.workload(r), ""
	if r.Baseline != "plain" {
		against = " against " + clean(r.Baseline)
	}
	throughput := w + " throughput"
	if w != workloadName(r.Workload) {
		throughput = "throughput on " + w
	}
	switch findingOf(r) {
	case costs:
		return fmt.Sprintf("cost %s %% of %s%s (95 %% interval %s)", pct(iv.Est), throughput, against, span(*iv))
	case gains:
		return fmt.Sprintf("ran %s %% faster%s on %s (95 %% interval %s); either its code does something better than the baseline, or the arms are not alike",
			pct(-iv.Est), against, w, span(result.Interval{Lo: -iv.Hi, Hi: -iv.Lo}))
	case unclear:
		return fmt.Sprintf("showed no cost on %s%s that this run can tell from zero: %s %% (95 %% interval %s), so a cost of up to %s %% is possible",
			throughput, against, pct(iv.Est), span(*iv), pct(iv.Hi))
	}
	return "has no estimate for " + w + ": " + whyAbsent(r)
}

// brief is effect in a few words, of a row with an estimate.
func (n naming) brief(r result.Row) string {
	iv, w := r.OverheadPct, n.workload(r)
	if findingOf(r) == unclear {
		return fmt.Sprintf("%s %s %% (%s, not told from zero)", w, pct(iv.Est), span(*iv))
	}
	return fmt.Sprintf("%s %s %% (%s)", w, pct(iv.Est), span(*iv))
}

// across sums up many rows by their extremes.
func (n naming) across(rows []result.Row) string {
	lo, hi := extremes(rows)
	if lo == nil {
		return fmt.Sprintf(" None of %s has an estimate.", plural(len(rows), "further comparison"))
	}
	clear, without := 0, 0
	for _, r := range rows {
		switch findingOf(r) {
		case noEstimate:
			without++
		case costs:
			clear++
		}
	}
	t := fmt.Sprintf(" Across %s the estimate runs from %s %% (%s) to %s %% (%s); the interval lies above zero in %d of them",
		plural(len(rows), "further comparison"), pct(lo.OverheadPct.Est), n.workload(*lo), pct(hi.OverheadPct.Est), n.workload(*hi), clear)
	if without > 0 {
		t += fmt.Sprintf(", and %d have no estimate", without)
	}
	return t + "."
}

func whyAbsent(r result.Row) string {
	if note := clean(r.Note); note != "" {
		return strings.TrimSuffix(note, ".")
	}
	return "not enough data, " + plural(r.Quads, "quad")
}

// processorWords says what a transaction costs in processor time, if that is
// told from zero.
func processorWords(r result.Row) string {
	iv := r.CPUUSPerTx.OverheadPct
	switch {
	case iv == nil || findingOf(r) == noEstimate || iv.Lo <= 0 && iv.Hi >= 0:
		return ""
	case iv.Lo > 0:
		return fmt.Sprintf("A transaction took %s %% more processor time (%s).", pct(iv.Est), span(*iv))
	}
	return fmt.Sprintf("A transaction took %s %% less processor time (%s).", pct(-iv.Est), span(result.Interval{Lo: -iv.Hi, Hi: -iv.Lo}))
}

// equivalence says whether a claim of "no impact" holds, where somebody could
// have made it.
func equivalence(r result.Row) string {
	e := r.Equivalence
	switch {
	case e == nil || findingOf(r) == noEstimate:
		return ""
	case e.Holds:
		return fmt.Sprintf("The claim \"no impact beyond ± %s %%\" holds (90 %% interval %s).", pct(e.MarginPct), span(e.Interval))
	case math.Abs(r.OverheadPct.Est) > e.MarginPct || blunt(r, e.MarginPct):
		return "" // refuted, or out of sight: said already
	}
	return fmt.Sprintf("The claim \"no impact beyond ± %s %%\" is not shown (90 %% interval %s).", pct(e.MarginPct), span(e.Interval))
}

// blunt reports whether the run could not have seen an effect of pct percent.
func blunt(r result.Row, pct float64) bool { return r.MDEPct != nil && *r.MDEPct > pct }

func publishedWords(r result.Row) string {
	if r.Published == nil {
		return ""
	}
	t := fmt.Sprintf("The study %s publishes %s %%", clean(r.Published.Study), pct(r.Published.OverheadPct))
	if note := clean(r.Published.Note); note != "" {
		t += " (" + note + ")"
	}
	if w := relationOf(r).words(); w != "" {
		t += ": " + w
	}
	return t + "."
}
