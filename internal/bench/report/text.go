package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/veildb/veildb/internal/bench/result"
)

// Text writes the summary for a terminal width columns wide, which should be
// at least 80; color adds ANSI styles. The wide table, one line a row with
// everything, needs about 120 columns; narrower ones group rows by workload
// and show changes instead of pairs.
func Text(w io.Writer, s *result.Summary, width int, color bool) error {
	buf := bufio.NewWriter(w)
	t := &text{Writer: buf, s: s, n: namingOf(s), width: max(width, 60), ink: ink(color)}
	t.head()
	if h := headline(s); h != "" {
		t.println("", "")
		t.println(sgrBold, wrap(h, t.width, ""))
	}
	t.rows()
	t.list("Without full figures", notes(s), sgrDim)
	t.studyTables()
	t.controls()
	t.list("In plain words", texts(readings(s)), "")
	t.list("What to plan with", conclusions(s), "")
	t.list("How sure", sureness(s), "")
	t.checks()
	t.list("Warnings", s.Warnings, sgrYellow)
	t.legend()
	return buf.Flush()
}

// studyTables writes the published tables with our figures beside theirs.
func (t *text) studyTables() {
	tables := studyTables(t.s, false)
	if f, ok := failoverTable(t.s); ok {
		tables = append(tables, f)
	}
	for _, st := range tables {
		t.println("", "")
		t.println(sgrBold, wrap(st.Title, t.width, "  "))
		st.fit(t.width).write(t, t.ink)
		t.println("", wrap(st.Lede, t.width, ""))
	}
}

func texts(rs []reading) []string {
	var out []string
	for _, r := range rs {
		out = append(out, r.Text)
	}
	return out
}

// text is one text report being written. Errors stay in the bufio.Writer
// until Flush.
type text struct {
	*bufio.Writer
	s     *result.Summary
	n     naming
	width int
	ink   ink
}

func (t *text) println(style, s string) { t.WriteString(t.ink.paint(style, s) + "\n") }

func (t *text) head() {
	for _, alarm := range alarms(t.s) {
		t.println(sgrBold+sgrRed, wrap(alarm, t.width, ""))
		t.println("", "")
	}
	e := t.s.Environment
	t.println(sgrBold, wrap("veildb bench: "+title(t.s), t.width, "  "))
	t.println(sgrDim, wrap(strings.Join(machine(t.s), " · "), t.width, "  "))
	if !t.s.Started.IsZero() {
		t.println(sgrDim, fmt.Sprintf("started %s · seed %d · load average %.2f", t.s.Started.UTC().Format("2006-01-02 15:04 MST"), t.s.Seed, e.LoadAverage[0]))
	}
}

// machine lists what a reader needs to judge a figure: processor, memory,
// kernel, engines.
func machine(s *result.Summary) []string {
	e := s.Environment
	var parts []string
	if e.CPU != "" {
		parts = append(parts, clean(e.CPU))
	}
	if e.Cores > 0 {
		parts = append(parts, plural(e.Cores, "core"))
	}
	if e.MemoryBytes > 0 {
		parts = append(parts, bytesOf(e.MemoryBytes))
	}
	if e.Kernel != "" {
		parts = append(parts, clean(e.Kernel))
	}
	for _, k := range sortedKeys(e.Engines) {
		parts = append(parts, engineVersion(k, e.Engines[k]))
	}
	return parts
}

// rows writes the comparisons in the richest table that fits.
func (t *text) rows() {
	t.println("", "")
	if len(t.s.Rows) == 0 {
		t.println("", "The run holds no comparison.")
		return
	}
	for _, tab := range []*table{t.wideTable(2), t.narrowTable(2, true), t.narrowTable(1, true), t.narrowTable(1, false)} {
		if tab.width() <= t.width || tab.last {
			tab.write(t, t.ink)
			return
		}
	}
}

// wideTable has a line a row with both arms' figures.
func (t *text) wideTable(gap int) *table {
	tab := &table{gap: gap, cols: []column{
		{"workload", left}, {"thr", right}, {"variant", left}, {"overhead %", right}, {"95 % interval", left},
		{"TPS base → variant", right}, {"CPU/tx %", right}, {"p95", right}, {"MDE", right}, {"publ.", right}, {"verdict", left},
	}}
	for _, r := range t.s.Rows {
		est, iv := intervalCells(r.OverheadPct)
		tab.add(rowStyle(r), t.n.bare(r), decimal(float64(r.Threads), 0), armNames(r), est, iv, tpsPair(r), pctOf(r.CPUUSPerTx.OverheadPct),
			pairOf(r.LatencyUS["p95"].Pair), mde(r), published(r), clean(r.Verdict))
	}
	return tab
}

// narrowTable puts workload and threads above the rows they are common to, and
// gives latency as a change; without extras it leaves out latency and MDE.
func (t *text) narrowTable(gap int, extras bool) *table {
	tab := &table{gap: gap, last: !extras, cols: []column{
		{"variant", left}, {"loss %", right}, {"95 % interval", left}, {"TPS", right}, {"CPU %", right}}}
	if extras {
		tab.cols = append(tab.cols, column{"p95 %", right}, column{"MDE", right})
	}
	tab.cols = append(tab.cols, column{"publ.", right}, column{"verdict", left})
	for _, rows := range groupBy(t.s.Rows, placeOf) {
		tab.section(t.n.workload(rows[0]))
		for _, r := range rows {
			est, iv := intervalCells(r.OverheadPct)
			cells := []string{armNames(r), est, iv, shortPair(r.TPS), pctOf(r.CPUUSPerTx.OverheadPct)}
			if extras {
				cells = append(cells, pctOf(r.LatencyUS["p95"].OverheadPct), mde(r))
			}
			tab.add(rowStyle(r), append(cells, published(r), shortVerdict(r))...)
		}
	}
	return tab
}

// shortPair gives figures of five digits in thousands: "61.3k→61.6k".
func shortPair(p result.Pair) string {
	if p.Baseline == 0 && p.Variant == 0 {
		return absent
	}
	if max(p.Baseline, p.Variant) >= 1e4 {
		return decimal(p.Baseline/1e3, 1) + "k→" + decimal(p.Variant/1e3, 1) + "k"
	}
	return rate(p.Baseline) + "→" + rate(p.Variant)
}

// shortVerdict keeps the first two words, which say it.
func shortVerdict(r result.Row) string {
	words := strings.Fields(clean(r.Verdict))
	if len(words) > 2 {
		words = words[:2]
	}
	return strings.Join(words, " ")
}

func armNames(r result.Row) string {
	if r.Baseline != "plain" && r.Baseline != r.Variant {
		return clean(r.Variant) + "/" + clean(r.Baseline)
	}
	return clean(r.Variant)
}

func intervalCells(iv *result.Interval) (est, ends string) {
	if iv == nil {
		return absent, "no data"
	}
	return pct(iv.Est), span(*iv)
}

func tpsPair(r result.Row) string {
	if r.TPS.Baseline == 0 && r.TPS.Variant == 0 {
		return absent
	}
	return rate(r.TPS.Baseline) + " → " + rate(r.TPS.Variant)
}

func mde(r result.Row) string {
	if r.MDEPct == nil {
		return absent
	}
	return pct(*r.MDEPct)
}

func published(r result.Row) string {
	if r.Published == nil {
		return absent
	}
	return pct(r.Published.OverheadPct)
}

func rowStyle(r result.Row) string {
	if findingOf(r) == noEstimate {
		return sgrDim
	}
	return ""
}

func (t *text) controls() {
	if len(t.s.AA) == 0 {
		return
	}
	t.println("", "")
	t.println(sgrBold, "A/A control: the baseline against a copy of itself")
	tab := &table{gap: 2, cols: []column{{"workload", left}, {"thr", right}, {"reads %", right}, {"95 % interval", left}, {"MDE", right}, {"quads", right}, {"contains 0", left}}}
	for _, r := range t.s.AA {
		est, iv := intervalCells(r.OverheadPct)
		tab.add(rowStyle(r), t.n.bare(r), decimal(float64(r.Threads), 0), est, iv, mde(r), decimal(float64(r.Quads), 0), contains0(r))
	}
	if tab.width() > t.width {
		tab.gap = 1
	}
	tab.write(t, t.ink)
}

func contains0(r result.Row) string {
	switch findingOf(r) {
	case noEstimate:
		return absent
	case unclear:
		return "yes"
	}
	return "NO"
}

// list writes a heading and bulleted, wrapped lines; nothing if there are none.
func (t *text) list(heading string, lines []string, style string) {
	if len(lines) == 0 {
		return
	}
	t.println("", "")
	t.println(sgrBold, heading)
	for _, l := range lines {
		t.println(style, "- "+wrap(clean(l), t.width-2, "  "))
	}
}

func (t *text) checks() {
	if len(t.s.Checks) == 0 {
		return
	}
	t.println("", "")
	t.println(sgrBold, "Checks")
	for _, c := range checkGroups(t.s) {
		mark, style := "ok    ", sgrGreen
		if !c.OK {
			mark, style = "FAILED", sgrRed
		}
		line := clean(c.Name) + ": " + c.Where()
		if c.Engine != "" && t.n.engines {
			line += " on " + engineName(c.Engine)
		}
		if d := clean(c.Detail); d != "" {
			line += " (" + d + ")"
		}
		t.println("", "  "+t.ink.paint(style, mark)+" "+wrap(line, t.width-9, strings.Repeat(" ", 9)))
	}
}

func (t *text) legend() {
	t.println("", "")
	t.println(sgrDim, wrap(legendText, t.width, ""))
}

// legendText defines the figures of the tables.
const legendText = "overhead: throughput lost, 1 - exp(mean ln ratio of paired blocks); above zero the variant is slower. " +
	"TPS: committed transactions a second. " +
	"CPU/tx, p95: change of processor time and of 95th percentile latency. " +
	"MDE: smallest overhead this run would find 8 times in 10. " +
	"publ.: the vendor's figure for the nearest case; verdicts against it: reproduced (inside our interval), consistent (same direction, another size), different, inconclusive (below the MDE)."
