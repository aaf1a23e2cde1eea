package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/veildb/veildb/internal/bench/result"
)

// Brief writes a page for who decides: what was asked, what it costs from best
// to worst beside what the vendor says, what is certain, and what is not. It is
// Markdown.
func Brief(w io.Writer, s *result.Summary) error {
	m := &markdown{bufio.NewWriter(w)}
	m.line("# " + mdEscape(title(s)))
	for _, a := range alarms(s) {
		m.line("> **" + mdEscape(a) + "**")
	}
	if h := headline(s); h != "" {
		m.line("**" + mdEscape(h) + "**")
	}
	var lines [][]string
	for _, rows := range groupBy(s.Rows, func(r result.Row) [2]string { return [2]string{r.Variant, r.Baseline} }) {
		lines = append(lines, briefLine(namingOf(s), rows))
	}
	m.lines([]string{"protection", "against", "cheapest", "dearest", "processor time", "told from zero:"}, lines)
	var verdicts []string
	for _, t := range s.Tables {
		verdicts = append(verdicts, clean(t.Study)+", "+clean(t.Title)+". "+tally(t.Rows))
	}
	m.list("Beside what the study says", verdicts)
	if f, ok := failoverTable(s); ok {
		words, _, _ := strings.Cut(f.Lede, " Pause: ")
		m.list("Losing a replica", []string{words})
	}
	m.list("What to plan with", conclusions(s))
	m.list("How sure", sureness(s))
	if n := len(s.Warnings); n > 3 {
		m.list("Warnings", append(s.Warnings[:3:3], fmt.Sprintf("and %d more in the report", n-3)))
	} else {
		m.list("Warnings", s.Warnings)
	}
	m.line(mdEscape(strings.Join(machine(s), " · ")))
	return m.Flush()
}

// briefLine is one variant over all its comparisons.
func briefLine(n naming, rows []result.Row) []string {
	best, worst := extremes(rows)
	line := []string{variantName(rows[0].Variant), clean(rows[0].Baseline), absent, absent, absent, ""}
	told := 0
	var cpu []*result.Interval
	for _, r := range rows {
		if findingOf(r) == costs {
			told++
		}
		if iv := r.CPUUSPerTx.OverheadPct; iv != nil && findingOf(r) != noEstimate {
			cpu = append(cpu, iv)
		}
	}
	line[5] = fmt.Sprintf("%d of %d", told, len(rows))
	if best != nil {
		line[2], line[3] = n.brief(*best), n.brief(*worst)
	}
	if len(cpu) > 0 {
		lo, hi := cpu[0].Est, cpu[0].Est
		for _, iv := range cpu[1:] {
			lo, hi = min(lo, iv.Est), max(hi, iv.Est)
		}
		line[4] = pct(lo) + " to " + pct(hi) + " % more a transaction"
		if len(cpu) == 1 {
			line[4] = pct(lo) + " % more a transaction"
		}
	}
	return line
}
