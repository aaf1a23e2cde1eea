package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/stat"
)

// A studyTable is a table of the published study made again, ready to print.
type studyTable struct {
	Title, Lede string
	Columns     []studyColumn
	Rows        [][]string
	Rest        [][]string // lines that the run did not measure
}

// Unmeasured is the table of the rest.
func (s studyTable) Unmeasured() studyTable {
	s.Rows, s.Rest = s.Rest, nil
	return s
}

// A studyColumn is one column of a studyTable.
type studyColumn struct {
	Head   string
	Number bool
	rank   int // in which narrow terminals leave columns out, from 1; 0: never
}

// heads are the headings as Markdown tables take them.
func (s studyTable) heads() []string {
	out := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		out[i] = c.Head
		if c.Number {
			out[i] += ":"
		}
	}
	return out
}

// fit lays the table out for a terminal of that width, without the columns for
// which there is no room.
func (s studyTable) fit(width int) *table {
	for left := 0; ; left++ {
		tab := &table{gap: 2}
		if left > 0 {
			tab.gap = 1
		}
		shown := func(i int) bool { rank := s.Columns[i].rank; return rank == 0 || rank >= left }
		for i, c := range s.Columns {
			if shown(i) {
				tab.cols = append(tab.cols, column{c.Head, align(c.Number)})
			}
		}
		for _, r := range s.Rows {
			var cells []string
			for i, cell := range r {
				if shown(i) {
					cells = append(cells, cell)
				}
			}
			tab.add("", cells...)
		}
		if tab.width() <= width || left > len(s.Columns) {
			return tab
		}
	}
}

// metricWords say what a table compares: the figure, and its change.
var metricWords = map[result.Metric][2]string{
	result.MetricTPS:         {"TPS", "lost %"},
	result.MetricNOPM:        {"NOPM", "lost %"},
	result.MetricUtilisation: {"CPU %", "points"},
	result.MetricCPU:         {"CPU/tx", "more %"},
	result.MetricTime:        {"time", "more %"},
}

// studyTables makes the tables of s, with the lines that this run measured or,
// if all is set, with every line.
func studyTables(s *result.Summary, all bool) []studyTable {
	var out []studyTable
	for _, t := range s.Tables {
		rows := slices.Clone(t.Rows)
		if !all {
			rows = slices.DeleteFunc(rows, func(r result.TableRow) bool { return r.Measured == nil })
		}
		if len(rows) > 0 {
			out = append(out, studyTableOf(t, rows))
		}
	}
	return out
}

// fewUnmeasured lines keep their places in a table; more are put together below it.
const fewUnmeasured = 6

func studyTableOf(t result.Table, rows []result.TableRow) studyTable {
	arms := slices.ContainsFunc(rows, func(r result.TableRow) bool { return r.Published.Baseline != nil })
	words := metricWords[t.Metric]
	head := clean(t.Head)
	if head == "" {
		head = "threads"
	}
	out := studyTable{Title: clean(t.Study) + ": " + clean(t.Title), Columns: []studyColumn{
		{"workload", false, 0}, {head, true, 0}, {"variant", false, 4},
	}}
	if arms {
		out.Columns = append(out.Columns, studyColumn{"their " + words[0], true, 1})
	}
	out.Columns = append(out.Columns, studyColumn{"their " + words[1], true, 0}, studyColumn{"our " + words[0], true, 3},
		studyColumn{"our " + words[1], true, 0}, studyColumn{"95 % interval", true, 0}, studyColumn{"MDE", true, 2}, studyColumn{"verdict", false, 0})
	fold := 0
	for _, r := range rows {
		if r.Measured == nil {
			fold++
		}
	}
	for _, r := range rows {
		line := []string{workloadName(r.Workload), decimal(float64(r.Threads), 0), variantAgainst(r)}
		if arms {
			line = append(line, figures(t.Metric, r.Published.Baseline, r.Published.Variant))
		}
		measured := absent
		if r.Measured != nil {
			measured = figures(t.Metric, &r.Measured.Baseline, &r.Measured.Variant)
		}
		est, iv := intervalCells(r.Change)
		mde := absent
		if r.MDEPct != nil {
			mde = pct(*r.MDEPct)
		}
		verdict := clean(r.Verdict)
		if r.Measured == nil {
			verdict = "not in this run"
		}
		line = append(line, claim(r.Published), measured, est, iv, mde, verdict)
		if r.Measured == nil && fold > fewUnmeasured {
			out.Rest = append(out.Rest, line)
		} else {
			out.Rows = append(out.Rows, line)
		}
	}
	out.Lede = tally(rows)
	if note := clean(t.Note); note != "" {
		out.Lede = note + " " + out.Lede
	}
	return out
}

// variantAgainst names the arms of a line.
func variantAgainst(r result.TableRow) string {
	if r.Baseline == "" {
		return clean(r.Variant)
	}
	return armNames(result.Row{Variant: r.Variant, Baseline: r.Baseline})
}

// figures is both arms of a metric.
func figures(m result.Metric, a, b *float64) string {
	one := func(x *float64) string {
		switch {
		case x == nil:
			return absent
		case m == result.MetricCPU:
			return duration(*x)
		case m == result.MetricTime:
			return duration(*x * 1e6)
		case m == result.MetricUtilisation:
			return pct(*x)
		}
		return rate(*x)
	}
	return one(a) + " → " + one(b)
}

// claim is what the study says of a change.
func claim(f result.Figures) string {
	switch {
	case f.Change != nil:
		return decimal(*f.Change, 2)
	case f.AtMost != nil:
		return "≤ " + decimal(*f.AtMost, 1)
	case f.Between != nil:
		return decimal(f.Between[0], 2) + " to " + decimal(f.Between[1], 2)
	}
	return absent
}

// tally counts the verdicts of measured lines.
func tally(rows []result.TableRow) string {
	n := map[string]int{}
	measured := 0
	for _, r := range rows {
		if r.Measured != nil {
			measured++
			n[r.Verdict]++
		}
	}
	if measured == 0 {
		return "None of its lines was measured in this run."
	}
	var parts []string
	for _, v := range []string{stat.Reproduced, stat.Consistent, stat.Different, stat.Inconclusive, stat.NotEnoughData} {
		if n[v] == 0 {
			continue
		}
		words := v
		if v == stat.NotEnoughData {
			words = "with too little data"
		}
		parts = append(parts, fmt.Sprintf("%d %s", n[v], words))
	}
	return fmt.Sprintf("Of %s measured: %s.", plural(measured, "line"), strings.Join(parts, ", "))
}
