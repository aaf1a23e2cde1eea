package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/veildb/veildb/internal/bench/result"
)

// CompareFormat names the document that a Comparison is as JSON, and its
// version.
const CompareFormat = "veildb.compare/1"

// A Comparison is several runs side by side.
type Comparison struct {
	Format string        `json:"format"`
	Runs   []ComparedRun `json:"runs"`
	Rows   []ComparedRow `json:"rows"`
}

// A ComparedRun is one of the runs.
type ComparedRun struct {
	Name     string             `json:"name"`
	Study    string             `json:"study"`
	Started  time.Time          `json:"started"`
	Complete bool               `json:"complete"`
	Machine  result.Environment `json:"environment"`
}

// A ComparedRow is one comparison of arms in every run.
type ComparedRow struct {
	Engine   string `json:"engine"`
	Variant  string `json:"variant"`
	Baseline string `json:"baseline"`
	Workload string `json:"workload"`
	Threads  int    `json:"threads"`
	// Runs has an entry for each run, nil where it has no such row.
	Runs []*ComparedCell `json:"runs"`
	// Apart says that two runs' intervals do not overlap, so that they contradict
	// each other beyond chance or were not made alike.
	Apart bool `json:"apart"`
}

// A ComparedCell is what one run says of a row.
type ComparedCell struct {
	OverheadPct *result.Interval `json:"overhead_pct"`
	CPUPct      *result.Interval `json:"cpu_overhead_pct"`
	TPS         result.Pair      `json:"tps"`
	Verdict     string           `json:"verdict"`
}

// Compare puts runs side by side, the controls last. names has one name for
// each.
func Compare(names []string, runs []*result.Summary) *Comparison {
	c := &Comparison{Format: CompareFormat, Rows: []ComparedRow{}}
	at := map[cellID]int{}
	for i, s := range runs {
		c.Runs = append(c.Runs, ComparedRun{names[i], s.Study, s.Started, s.Complete, s.Environment})
	}
	for _, controls := range []bool{false, true} {
		for i, s := range runs {
			rows := s.Rows
			if controls {
				rows = s.AA
			}
			for _, r := range rows {
				id := cellID{placeOf(r), r.Variant, r.Baseline}
				k, ok := at[id]
				if !ok {
					k = len(c.Rows)
					at[id] = k
					c.Rows = append(c.Rows, ComparedRow{r.Engine, r.Variant, r.Baseline, r.Workload, r.Threads, make([]*ComparedCell, len(runs)), false})
				}
				c.Rows[k].Runs[i] = &ComparedCell{r.OverheadPct, r.CPUUSPerTx.OverheadPct, r.TPS, r.Verdict}
			}
		}
	}
	for i := range c.Rows {
		c.Rows[i].Apart = apart(c.Rows[i].Runs)
	}
	return c
}

func apart(runs []*ComparedCell) bool {
	for i, a := range runs {
		for _, b := range runs[:i] {
			if a == nil || b == nil || a.OverheadPct == nil || b.OverheadPct == nil {
				continue
			}
			if a.OverheadPct.Lo > b.OverheadPct.Hi || b.OverheadPct.Lo > a.OverheadPct.Hi {
				return true
			}
		}
	}
	return false
}

// JSON writes the comparison as one indented JSON document.
func (c *Comparison) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(c)
}

// heads are the columns of the table.
func (c *Comparison) heads() []column {
	cols := []column{{"workload", left}, {"thr", right}, {"variant", left}}
	for i := range c.Runs {
		cols = append(cols, column{fmt.Sprintf("run %d", i+1), right})
	}
	return append(cols, column{"", left})
}

// cells are the fields of a row, one for each column.
func (c *Comparison) cells(r ComparedRow) []string {
	row := result.Row{Engine: r.Engine, Variant: r.Variant, Baseline: r.Baseline, Workload: r.Workload, Threads: r.Threads}
	name := armNames(row)
	if r.Variant == r.Baseline {
		name = clean(r.Variant) + " A/A"
	}
	cells := []string{workloadName(r.Workload), decimal(float64(r.Threads), 0), name}
	for _, x := range r.Runs {
		switch {
		case x == nil:
			cells = append(cells, absent)
		case x.OverheadPct == nil:
			cells = append(cells, "no data")
		default:
			cells = append(cells, pct(x.OverheadPct.Est)+" ("+span(*x.OverheadPct)+")")
		}
	}
	if r.Apart {
		return append(cells, "apart")
	}
	return append(cells, "")
}

// title is one run on a line.
func (r ComparedRun) title(i int) string {
	parts := []string{fmt.Sprintf("run %d: %s", i+1, clean(r.Name)), clean(r.Study), r.Started.UTC().Format("2006-01-02 15:04 MST"),
		clean(r.Machine.CPU), plural(r.Machine.Cores, "core"), fmt.Sprintf("load average %.2f", r.Machine.LoadAverage[0])}
	for _, k := range sortedKeys(r.Machine.Engines) {
		parts = append(parts, engineVersion(k, r.Machine.Engines[k]))
	}
	if !r.Complete {
		parts = append(parts, "INCOMPLETE")
	}
	return strings.Join(parts, " · ")
}

// compareLegend says how to read the table.
const compareLegend = "Throughput lost in percent, with its 95 % interval. apart: the intervals of two runs do not overlap, so chance alone does not explain the difference; machines, data or versions may."

// Text writes the comparison for a terminal of that width.
func (c *Comparison) Text(w io.Writer, width int, color bool) error {
	buf := bufio.NewWriter(w)
	for i, r := range c.Runs {
		fmt.Fprintln(buf, wrap(r.title(i), max(width, 60), "  "))
	}
	fmt.Fprintln(buf)
	tab := &table{gap: 2, cols: c.heads()}
	for _, r := range c.Rows {
		style := ""
		if r.Apart {
			style = sgrYellow
		}
		tab.add(style, c.cells(r)...)
	}
	if tab.width() > width {
		tab.gap = 1
	}
	tab.write(buf, ink(color))
	fmt.Fprintln(buf, "\n"+wrap(compareLegend, max(width, 60), ""))
	return buf.Flush()
}

// HTML writes the comparison as one page that needs no network and no script.
func (c *Comparison) HTML(w io.Writer) error {
	data, err := json.Marshal(c) // escapes <, > and & inside strings
	if err != nil {
		return err
	}
	p := struct {
		Policy, Legend string
		CSS            template.CSS
		Data           template.JS
		Runs           []string
		Heads          []studyColumn
		Rows           [][]string
	}{Policy: policy(), Legend: compareLegend, CSS: template.CSS(pageCSS), Data: template.JS(data)}
	for i, r := range c.Runs {
		p.Runs = append(p.Runs, r.title(i))
	}
	for _, h := range c.heads() {
		p.Heads = append(p.Heads, studyColumn{Head: h.head, Number: bool(h.align)})
	}
	for _, r := range c.Rows {
		cells := c.cells(r)
		for i := range cells {
			cells[i] = minus(cells[i])
		}
		p.Rows = append(p.Rows, cells)
	}
	var buf bytes.Buffer
	if err := comparePage.Execute(&buf, p); err != nil {
		return fmt.Errorf("fill page: %w", err)
	}
	_, err = w.Write(buf.Bytes())
	return err
}

var comparePage = template.Must(template.New("compare").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{.Policy}}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>veildb bench: runs compared</title><style>{{.CSS}}</style></head>
<body><main>
<h1>Runs compared</h1>
<ul>{{range .Runs}}<li>{{.}}</li>{{end}}</ul>
<p class="lede">{{.Legend}}</p>
<div class="scroll" tabindex="0" role="region" aria-label="Runs compared">
<table><thead><tr>{{range .Heads}}<th scope="col"{{if .Number}} class="n"{{end}}>{{.Head}}</th>{{end}}</tr></thead><tbody>
{{range .Rows}}<tr>{{range $i, $c := .}}{{if eq $i 0}}<th scope="row">{{$c}}</th>{{else}}<td class="nb{{if (index $.Heads $i).Number}} n{{end}}">{{$c}}</td>{{end}}{{end}}</tr>
{{end}}</tbody></table></div>
</main>
<script type="application/json" id="veildb-comparison">{{.Data}}</script>
</body></html>
`))
