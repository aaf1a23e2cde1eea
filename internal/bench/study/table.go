package study

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/veildb/veildb/internal/bench/result"
)

// A Table is a table of a published study as YAML has it: each entry of Rows
// stands for a line a workload and number of threads.
type Table struct {
	Study  string        `yaml:"study"`
	Title  string        `yaml:"title"`
	Note   string        `yaml:"note"`
	Head   string        `yaml:"head"`
	Metric result.Metric `yaml:"metric"` // "" is tps
	Rows   []TableRows   `yaml:"rows"`
}

// TableRows are lines that the study says the same of.
type TableRows struct {
	Workloads      []string `yaml:"workloads"`
	Threads        []int    `yaml:"threads"`
	Variant        string   `yaml:"variant"`
	result.Figures `yaml:",inline"`
}

func (t *Table) validate() error {
	if t.Metric == "" {
		t.Metric = result.MetricTPS
	}
	switch {
	case t.Study == "" || t.Title == "":
		return errors.New("study or title is missing")
	case !slices.Contains(result.Metrics, t.Metric):
		return fmt.Errorf("unknown metric %q; know %v", t.Metric, result.Metrics)
	}
	for i, r := range t.Rows {
		says := 0
		for _, given := range []bool{r.Change != nil, r.AtMost != nil, r.Between != nil} {
			if given {
				says++
			}
		}
		if len(r.Workloads) == 0 || len(r.Threads) == 0 || r.Variant == "" || says != 1 {
			return fmt.Errorf("row %d needs workloads, threads, a variant and one of change, at_most and between", i+1)
		}
	}
	return nil
}

// overhead reports whether the changes of t are throughput lost, as the
// verdicts of rows need it.
func (t *Table) overhead() bool {
	return t.Metric == result.MetricTPS || t.Metric == result.MetricNOPM
}

// lines lists the lines of t, each workload in turn, by rising numbers of
// threads; lines of one place stay in t's order.
func (t *Table) lines() []result.TableRow {
	var lines []result.TableRow
	for _, r := range t.Rows {
		for _, w := range r.Workloads {
			for _, n := range r.Threads {
				lines = append(lines, result.TableRow{Variant: r.Variant, Workload: w, Threads: n, Published: r.Figures})
			}
		}
	}
	var workloads []string
	for _, l := range lines {
		if !slices.Contains(workloads, l.Workload) {
			workloads = append(workloads, l.Workload)
		}
	}
	slices.SortStableFunc(lines, func(a, b result.TableRow) int {
		return cmp.Or(slices.Index(workloads, a.Workload)-slices.Index(workloads, b.Workload), a.Threads-b.Threads)
	})
	return lines
}

// ResultTables are d's tables as a run's header has them.
func (d *Definition) ResultTables() []result.Table {
	var out []result.Table
	for _, t := range d.Tables {
		out = append(out, result.Table{Study: t.Study, Title: t.Title, Note: t.Note, Head: t.Head, Metric: t.Metric, Rows: t.lines()})
	}
	return out
}
