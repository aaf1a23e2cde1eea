package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/veildb/veildb/internal/bench/result"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

// page is what the template sees.
type page struct {
	S          *result.Summary
	Title      string
	Machine    []string
	Incomplete bool
	Published  bool // some row has a figure of the vendor's beside it
	Alarms     []string
	Headline   string
	Checks     []checkGroup
	Readings   []reading
	Sureness   []string
	Plan       []string
	Forests    []template.HTML
	Tables     []studyTable
	Failover   *studyTable
	Threads    []panel
	CPU        []panel
	SplitCPU   bool // some row splits processor time into parts
	Latency    []panel
	Series     []panel
	Voids      []result.Void
	Config     []setting
	Env        []setting
	Policy     string // Content-Security-Policy
	CSS        template.CSS
	JS         template.JS
	Data       template.JS // the summary as JSON, safe inside a script element
	naming     naming
}

// setting is one line of the environment or the configuration.
type setting struct{ Name, Value string }

// HTML writes the report as one page that needs no network, no fonts and no
// script: charts are inline SVG and the script only sorts tables. The page
// embeds the summary as JSON in the element with the id "veildb-summary".
func HTML(w io.Writer, s *result.Summary, rec Records) error {
	data, err := json.Marshal(s) // escapes <, > and & inside strings
	if err != nil {
		return fmt.Errorf("encode summary: %w", err)
	}
	n := namingOf(s)
	p := &page{
		S: s, Title: title(s), Machine: machine(s), Incomplete: !s.Complete, Alarms: alarms(s), Headline: headline(s), Checks: checkGroups(s), naming: n,
		Readings: readings(s), Sureness: sureness(s), Plan: conclusions(s),
		Tables:    studyTables(s, true),
		Published: slices.ContainsFunc(s.Rows, func(r result.Row) bool { return r.Published != nil }),
		Voids:     rec.Voids, Config: configOf(rec.Config), Env: environmentOf(s),
		Policy: policy(), CSS: template.CSS(pageCSS), JS: template.JS(pageJS), Data: template.JS(data),
	}
	if f, ok := failoverTable(s); ok {
		p.Failover = &f
	}
	p.charts(rec)
	var buf bytes.Buffer // a page that fails half-way must not be written
	if err := pageTemplate().Execute(&buf, p); err != nil {
		return fmt.Errorf("fill page: %w", err)
	}
	_, err = w.Write(buf.Bytes())
	return err
}

// WriteHTML writes the report to path in one step: a reader sees the old file
// or the whole new one, never a part.
func WriteHTML(path string, s *result.Summary, rec Records) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".report-*")
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("write report: %w", err)
		}
	}()
	if err := HTML(f, s, rec); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// policy forbids the page everything but its own style and script, so that
// even a string that slipped through escaping could load or run nothing.
func policy() string {
	sum := sha256.Sum256([]byte(pageJS))
	return "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func (p *page) charts(rec Records) {
	for _, narrow := range []bool{false, true} {
		p.Forests = append(p.Forests, forests(p.S, narrow)...)
	}
	p.Threads = threadPanels(p.S, p.naming)
	for i, rows := range groupBy(p.S.Rows, placeOf) {
		p.CPU = append(p.CPU, cpuPanel(p.naming, rows, fmt.Sprintf("cpu-%d", i)))
		p.Latency = append(p.Latency, latencyPanel(p.naming, rows, fmt.Sprintf("latency-%d", i)))
		for _, r := range rows {
			p.SplitCPU = p.SplitCPU || splits(r.CPUUSPerTx)
		}
	}
	for i, s := range seriesOf(rec) {
		p.Series = append(p.Series, seriesPanel(p.naming, s, fmt.Sprintf("series-%d", i)))
	}
}

// pageTemplate is parsed on first use; escaping it takes longer than filling it.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"engine":       engineName,
		"variantWords": variantWords,
		"arm":          armNames,
		"finding":      findingOf,
		"relation":     func(r result.Row) string { return relationOf(r).words() },
		"same":         func(a *result.Row, b result.Row) bool { return placeOf(*a) == placeOf(b) },
		"contains0":    contains0,
		"measures":     measures,
		"facts":        facts,
		"pct":          func(x float64) string { return minus(pct(x)) },
		"pctOf":        func(iv *result.Interval) string { return minus(pctOf(iv)) },
		"span":         func(iv result.Interval) string { return minus(span(iv)) },
		"count":        func(n int) string { return decimal(float64(n), 0) },
		"pair":         pairOf,
		"tps":          tpsPair,
		"mde":          mde,
		"clean":        clean,
		"minus":        minus,
		"whole":        whole,
		"lines":        func(rows [][]string) string { return plural(len(rows), "line") },
	}).Parse(pageHTML))
})

// Workload, Bare and CellName name a workload as far as this page needs it.
func (p *page) Workload(r result.Row) string { return p.naming.workload(r) }

// Bare is Workload without the threads.
func (p *page) Bare(r result.Row) string { return p.naming.bare(r) }

// CellName is Workload for a cell.
func (p *page) CellName(c result.Cell) string { return p.naming.cell(c) }

// whole keeps the words of text that hold a hyphen, such as TPC-C, on one line.
func whole(text string) template.HTML {
	words := strings.Fields(text)
	for i, w := range words {
		hyphen := strings.Contains(w, "-")
		if w = template.HTMLEscapeString(w); hyphen {
			w = `<span class="nb">` + w + `</span>`
		}
		words[i] = w
	}
	return template.HTML(strings.Join(words, " "))
}

func configOf(config map[string]any) []setting {
	var out []setting
	for _, k := range sortedKeys(config) {
		out = append(out, setting{clean(k), clean(inWords(config[k]))})
	}
	return out
}

// inWords prints a value that was read from JSON, or is like one.
func inWords(v any) string {
	var parts []string
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		for _, k := range sortedKeys(v) {
			parts = append(parts, k+": "+inWords(v[k]))
		}
		return strings.Join(parts, ", ")
	case []any:
		sep := ", "
		for _, x := range v {
			if _, ok := x.(map[string]any); ok {
				sep = "; "
			}
			parts = append(parts, inWords(x))
		}
		return strings.Join(parts, sep)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

func environmentOf(s *result.Summary) []setting {
	e := s.Environment
	out := []setting{
		{"processor", e.CPU}, {"cores", count(e.Cores)}, {"memory", sizeOf(e.MemoryBytes)}, {"kernel", e.Kernel}, {"system", e.OS},
		{"frequency governor", e.Governor}, {"file system", e.Filesystem}, {"nice level", count(e.Nice)},
		{"load average at start", fmt.Sprintf("%.2f %.2f %.2f", e.LoadAverage[0], e.LoadAverage[1], e.LoadAverage[2])},
	}
	for _, k := range sortedKeys(e.Engines) {
		out = append(out, setting{engineName(k), e.Engines[k]})
	}
	out = append(out, setting{"veildb", e.Version}, setting{"source revision", e.Revision}, setting{"Go", e.Go})
	kept := out[:0]
	for _, x := range out {
		if x.Value = clean(x.Value); x.Value != "" {
			kept = append(kept, x)
		}
	}
	return kept
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return decimal(float64(n), 0)
}

func sizeOf(n int64) string {
	if n == 0 {
		return ""
	}
	return bytesOf(n)
}
