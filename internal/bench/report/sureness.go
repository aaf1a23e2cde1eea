package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/veildb/veildb/internal/bench/result"
)

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
	if places := len(groupBy(s.Rows, placeOf)); len(s.AA) > 0 && places > len(s.AA) {
		out = append(out, fmt.Sprintf("The control was made in %d of %d places, so that the other comparisons have the time; what it says of the machine holds for them as far as they are alike.", len(s.AA), places))
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
		out = append(out, variantName(rd.Variant)+": "+planFor(rd.Rows)+".")
	}
	return out
}

// planFor is the upper end of the intervals where a cost is told from zero,
// and what remains open.
func planFor(rows []result.Row) string {
	cost, possible := math.Inf(-1), math.Inf(-1)
	known, open := 0, 0
	for _, r := range rows {
		switch findingOf(r) {
		case noEstimate:
			continue
		case unclear:
			open++
			possible = max(possible, r.OverheadPct.Hi)
		default:
			cost = max(cost, r.OverheadPct.Hi)
		}
		known++
	}
	some := ""
	if known < len(rows) {
		some = fmt.Sprintf(" (%d of %d comparisons have an estimate)", known, len(rows))
	}
	switch {
	case known == 0:
		return "nothing can be concluded yet"
	case open == known:
		return fmt.Sprintf("no cost is told from zero%s; what is possible reaches up to %s %%, and a longer run would narrow that", some, pct(possible))
	case cost <= 0:
		return "no loss of throughput was seen" + some
	case open == 0:
		return fmt.Sprintf("plan for up to %s %% less throughput on workloads like these%s", pct(cost), some)
	}
	return fmt.Sprintf("plan for up to %s %% less throughput on workloads like these%s; in %d of %d the cost is not told from zero, where up to %s %% is possible",
		pct(cost), some, open, known, pct(possible))
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
