package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/veildb/veildb/internal/bench/result"
)

// Markdown writes the report for a page or a pull request: conclusions first,
// then the tables.
func Markdown(w io.Writer, s *result.Summary) error {
	m := &markdown{bufio.NewWriter(w)}
	n := namingOf(s)
	m.line("# " + mdEscape(title(s)))
	for _, a := range alarms(s) {
		m.line("> **" + mdEscape(a) + "**")
	}
	m.line(mdEscape(strings.Join(machine(s), " · ")) + fmt.Sprintf(" · seed %d", s.Seed))
	if h := headline(s); h != "" {
		m.line("**" + mdEscape(h) + "**")
	}
	m.list("In plain words", texts(readings(s)))
	m.list("What to plan with", conclusions(s))
	m.list("How sure", sureness(s))
	m.line("## Results")
	m.table([]string{"workload", "threads:", "variant", "overhead %:", "95 % interval:", "TPS base → variant:", "CPU/tx %:", "p95:", "MDE:", "published:", "verdict"}, s.Rows, func(r result.Row) []string {
		est, iv := intervalCells(r.OverheadPct)
		return []string{n.bare(r), decimal(float64(r.Threads), 0), armNames(r), est, iv, tpsPair(r), pctOf(r.CPUUSPerTx.OverheadPct),
			pairOf(r.LatencyUS["p95"].Pair), mde(r), published(r), clean(r.Verdict)}
	})
	m.list("Without full figures", notes(s))
	tables := studyTables(s, false)
	if f, ok := failoverTable(s); ok {
		tables = append(tables, f)
	}
	for _, st := range tables {
		m.line("## " + mdEscape(st.Title))
		m.lines(st.heads(), st.Rows)
		m.line(mdEscape(st.Lede))
	}
	if len(s.AA) > 0 {
		m.line("## A/A control")
		m.table([]string{"workload", "arm", "reads %:", "95 % interval:", "MDE:", "quads:", "contains 0"}, s.AA, func(r result.Row) []string {
			est, iv := intervalCells(r.OverheadPct)
			return []string{n.workload(r), clean(r.Variant), est, iv, mde(r), decimal(float64(r.Quads), 0), contains0(r)}
		})
	}
	var checks []string
	for _, c := range checkGroups(s) {
		mark := "ok"
		if !c.OK {
			mark = "**FAILED**"
		}
		checks = append(checks, mark+": "+mdEscape(clean(c.Name)+", "+c.Where()+" "+clean(c.Detail)))
	}
	m.raw("Checks", checks)
	m.list("Warnings", s.Warnings)
	m.line(mdEscape(legendText))
	return m.Flush()
}

type markdown struct{ *bufio.Writer }

// line writes one paragraph; text from a record must have been escaped.
func (m *markdown) line(s string) { m.WriteString(strings.ReplaceAll(s, "\u00a0", " ") + "\n\n") }

func (m *markdown) list(heading string, items []string) {
	escaped := make([]string, len(items))
	for i, x := range items {
		escaped[i] = mdEscape(x)
	}
	m.raw(heading, escaped)
}

// raw writes a section of items that are escaped already; nothing if none.
func (m *markdown) raw(heading string, items []string) {
	if len(items) == 0 {
		return
	}
	m.line("## " + heading)
	for _, x := range items {
		m.WriteString("- " + strings.ReplaceAll(strings.TrimSpace(x), "\u00a0", " ") + "\n")
	}
	m.WriteByte('\n')
}

// table writes rows under heads; a head ending in ":" is right-aligned.
func (m *markdown) table(heads []string, rows []result.Row, cells func(result.Row) []string) {
	var lines [][]string
	for _, r := range rows {
		lines = append(lines, cells(r))
	}
	m.lines(heads, lines)
}

// lines writes a table; the headings of figures end with ":".
func (m *markdown) lines(heads []string, lines [][]string) {
	row := func(cells []string) {
		escaped := make([]string, len(cells))
		for i, c := range cells {
			escaped[i] = mdEscape(c)
		}
		m.WriteString("| " + strings.Join(escaped, " | ") + " |\n")
	}
	names, rule := make([]string, len(heads)), "|"
	for i, h := range heads {
		name, number := strings.CutSuffix(h, ":")
		names[i] = name
		rule += map[bool]string{false: "---|", true: "---:|"}[number]
	}
	row(names)
	m.WriteString(rule + "\n")
	for _, line := range lines {
		row(line)
	}
	m.WriteByte('\n')
}

var mdReplacer = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "`", "\\`", "*", `\*`, "[", `\[`, "]", `\]`)

// mdEscape keeps text from being taken for markup. Underscores inside words
// are harmless.
func mdEscape(s string) string { return mdReplacer.Replace(clean(s)) }
