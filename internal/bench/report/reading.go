package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/stat"
)

// A finding is what an interval allows to say about a row.
type finding int

const (
	noEstimate finding = iota // too little data for an interval or a verdict
	costs                     // the whole interval is above zero
	unclear                   // the interval contains zero
	gains                     // the whole interval is below zero
)

func findingOf(r result.Row) finding {
	iv := r.OverheadPct
	switch {
	case iv == nil || r.Verdict == stat.NotEnoughData:
		return noEstimate
	case iv.Lo > 0:
		return costs
	case iv.Hi < 0:
		return gains
	}
	return unclear
}

// Word is the finding in a word or two, for a badge.
func (f finding) Word() string {
	return [...]string{"not enough data", "measurable cost", "not told from zero", "faster, suspect"}[f]
}

// Effect is the finding as a caption of the estimate.
func (f finding) Effect() string {
	return [...]string{"no estimate", "less throughput", "less throughput, within noise,", "less throughput"}[f]
}

// Mark is a sign to go with the word.
func (f finding) Mark() string { return [...]string{"?", "▲", "≈", "▼"}[f] }

// Class is the finding as a CSS class.
func (f finding) Class() string { return [...]string{"none", "cost", "unclear", "gain"}[f] }

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

// lead picks the row to name first: one with an estimate, then TPC-C, then one
// a vendor published a figure for, then the first.
func lead(rows []result.Row) result.Row {
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

// worst is the row with the highest estimate, nil if none has one.
func worst(rows []result.Row) *result.Row {
	var w *result.Row
	for i, r := range rows {
		if findingOf(r) != noEstimate && (w == nil || r.OverheadPct.Est > w.OverheadPct.Est) {
			w = &rows[i]
		}
	}
	return w
}

func (n naming) describe(rd reading) string {
	text := variantName(rd.Variant) + " " + n.effect(rd.Lead) + "."
	if e := equivalence(rd.Lead); e != "" {
		text += " " + e
	}
	if p := publishedWords(rd.Lead); p != "" {
		text += " " + p
	}
	others := slices.DeleteFunc(slices.Clone(rd.Rows), func(r result.Row) bool { return placeOf(r) == placeOf(rd.Lead) })
	switch {
	case len(others) == 0:
	case len(others) <= 4:
		var parts []string
		for _, r := range others {
			parts = append(parts, n.brief(r))
		}
		text += " Elsewhere: " + strings.Join(parts, "; ") + "."
	default:
		text += n.across(others)
	}
	return text
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
		return fmt.Sprintf("ran %s %% faster%s on %s (95 %% interval %s); protection cannot make a database faster, so suspect an imbalance between the arms",
			pct(-iv.Est), against, w, span(result.Interval{Lo: -iv.Hi, Hi: -iv.Lo}))
	case unclear:
		return fmt.Sprintf("showed no cost on %s%s that this run can tell from zero: %s %% (95 %% interval %s). That is not proof of no cost: up to %s %% is compatible with the data",
			throughput, against, pct(iv.Est), span(*iv), pct(iv.Hi))
	}
	return "has no estimate for " + w + ": " + whyAbsent(r)
}

// brief is effect in a few words.
func (n naming) brief(r result.Row) string {
	iv, w := r.OverheadPct, n.workload(r)
	switch findingOf(r) {
	case noEstimate:
		return w + " has no estimate (" + whyAbsent(r) + ")"
	case unclear:
		return fmt.Sprintf("%s %s %% (%s, not told from zero)", w, pct(iv.Est), span(*iv))
	}
	return fmt.Sprintf("%s %s %% (%s)", w, pct(iv.Est), span(*iv))
}

// across sums up many rows by their extremes.
func (n naming) across(rows []result.Row) string {
	var lo, hi *result.Row
	clear, without := 0, 0
	for i, r := range rows {
		f := findingOf(r)
		if f == noEstimate {
			without++
			continue
		}
		if f == costs {
			clear++
		}
		if lo == nil || r.OverheadPct.Est < lo.OverheadPct.Est {
			lo = &rows[i]
		}
		if hi == nil || r.OverheadPct.Est > hi.OverheadPct.Est {
			hi = &rows[i]
		}
	}
	if lo == nil {
		return fmt.Sprintf(" None of %s has an estimate.", plural(len(rows), "further comparison"))
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

func equivalence(r result.Row) string {
	e := r.Equivalence
	switch {
	case e == nil:
		return ""
	case findingOf(r) != unclear && !e.Holds && math.Abs(r.OverheadPct.Est) > e.MarginPct:
		return "" // nobody would claim it
	case e.Holds:
		return fmt.Sprintf("The claim \"no impact beyond ± %s %%\" holds (90 %% interval %s).", pct(e.MarginPct), span(e.Interval))
	}
	return fmt.Sprintf("The claim \"no impact beyond ± %s %%\" is not shown (90 %% interval %s).", pct(e.MarginPct), span(e.Interval))
}

// A relation says how our interval lies to a published figure.
type relation int

const (
	unrelated relation = iota // nothing published, or no estimate
	agrees                    // the published figure is inside the interval
	below                     // we measured less
	above                     // we measured more
	blind                     // the run could not have seen an effect that small
)

func relationOf(r result.Row) relation {
	p, iv := r.Published, r.OverheadPct
	switch {
	case p == nil || findingOf(r) == noEstimate:
		return unrelated
	case iv.Hi < p.OverheadPct:
		return below
	case iv.Lo > p.OverheadPct:
		return above
	case r.Verdict == stat.Inconclusive:
		return blind
	}
	return agrees
}

func (rel relation) words() string {
	return [...]string{"", "inside our interval", "more than measured here", "less than measured here",
		"smaller than this run could detect, so it is neither confirmed nor refuted"}[rel]
}

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

// sureness says what the controls and checks allow to believe.
func sureness(s *result.Summary) []string {
	n := namingOf(s)
	var out, hold, fail []string
	var widest *result.Row
	for i, r := range s.AA {
		switch iv, w := r.OverheadPct, n.workload(r); findingOf(r) {
		case noEstimate:
			out = append(out, fmt.Sprintf("The A/A control on %s has no estimate (%s), so the noise of the method is unknown there.", w, whyAbsent(r)))
		case unclear:
			hold = append(hold, fmt.Sprintf("%s %s %% (%s)", w, pct(iv.Est), span(*iv)))
			if widest == nil || iv.Hi-iv.Lo > widest.OverheadPct.Hi-widest.OverheadPct.Lo {
				widest = &s.AA[i]
			}
		default:
			fail = append(fail, fmt.Sprintf("%s %s %% (%s)", w, pct(iv.Est), span(*iv)))
		}
	}
	const control = "The A/A control, the baseline against a copy of itself, contains 0 as it should"
	switch {
	case len(hold) > 4:
		out = append(out, fmt.Sprintf("%s in %d of %s; its widest interval is %s %% (%s). Smaller differences than that are noise.",
			control, len(hold), plural(len(s.AA), "place"), span(*widest.OverheadPct), n.workload(*widest)))
	case len(hold) > 0:
		out = append(out, control+": "+strings.Join(hold, "; ")+". Smaller differences than these are noise.")
	}
	if len(fail) > 0 {
		out = append(out, "The A/A control does not contain 0: "+strings.Join(fail, "; ")+". The two places differ by more than chance; trust no difference of that size.")
	}
	if len(s.AA) == 0 {
		out = append(out, "There is no A/A control in this run, so the noise of the method is unknown.")
	}
	if n := len(s.Rows); n > 1 {
		out = append(out, fmt.Sprintf("There are %d comparisons, each with its own 95 %% interval: expect about one interval in twenty to miss the true value.", n))
	}
	return append(out, checkWords(s))
}

func failedChecks(s *result.Summary) int {
	failed := 0
	for _, c := range s.Checks {
		if !c.OK {
			failed++
		}
	}
	return failed
}

func checkWords(s *result.Summary) string {
	failed := failedChecks(s)
	switch {
	case len(s.Checks) == 0:
		return "No consistency check is recorded, so nothing vouches that the arms did the same work."
	case failed > 0:
		return fmt.Sprintf("%d of %s did not hold: do not use the figures of those arms.", failed, plural(len(s.Checks), "consistency check"))
	}
	return fmt.Sprintf("All %s hold: every arm did the work it was paid for.", plural(len(s.Checks), "consistency check"))
}

// conclusions says what to plan with.
func conclusions(s *result.Summary) []string {
	var out []string
	for _, rd := range readings(s) {
		hi, known, unclearRows := math.Inf(-1), 0, 0
		for _, r := range rd.Rows {
			switch findingOf(r) {
			case noEstimate:
				continue
			case unclear:
				unclearRows++
			}
			known++
			hi = max(hi, r.OverheadPct.Hi)
		}
		switch {
		case known == 0:
			out = append(out, variantName(rd.Variant)+": nothing can be concluded yet.")
		case hi <= 0:
			out = append(out, variantName(rd.Variant)+": no loss of throughput was seen.")
		default:
			t := fmt.Sprintf("%s: plan for up to %s %% less throughput on workloads like these", variantName(rd.Variant), pct(hi))
			if known < len(rd.Rows) {
				t += fmt.Sprintf(" (%d of %d comparisons have an estimate)", known, len(rd.Rows))
			}
			if unclearRows > 0 {
				t += fmt.Sprintf("; in %d of %d the cost cannot be told from zero, and a longer run would narrow it", unclearRows, known)
			}
			out = append(out, t+".")
		}
	}
	return out
}

// alarms are what a reader must know before any figure.
func alarms(s *result.Summary) []string {
	var out []string
	if i := incomplete(s); i != "" {
		out = append(out, i)
	}
	n := namingOf(s)
	for _, r := range s.AA {
		if f := findingOf(r); f == costs || f == gains {
			out = append(out, fmt.Sprintf("THE A/A CONTROL FAILED on %s: two copies of %s differ by %s %% (%s). Differences of that size mean nothing in this run.",
				n.workload(r), clean(r.Baseline), pct(r.OverheadPct.Est), span(*r.OverheadPct)))
		}
	}
	if failed := failedChecks(s); failed > 0 {
		out = append(out, fmt.Sprintf("%d OF %s FAILED: the figures of those arms are not valid.", failed, strings.ToUpper(plural(len(s.Checks), "check"))))
	}
	return out
}

// incomplete is the banner of a run that did not end as planned, "" otherwise.
func incomplete(s *result.Summary) string {
	if s.Complete {
		return ""
	}
	planned, have := len(s.Rows), 0
	for _, r := range s.Rows {
		if findingOf(r) != noEstimate {
			have++
		}
	}
	return fmt.Sprintf("INCOMPLETE RUN: it was interrupted or is still going. %d of %s have an estimate so far, and every figure may still change. This is not the result of the study.",
		have, plural(planned, "planned comparison"))
}
