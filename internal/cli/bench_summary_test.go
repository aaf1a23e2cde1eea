package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/result"
)

// runOf is a run to sum up: tde costs 3 %, cols100 12 %, and there is an A/A
// control. The last cell has the given number of quads, the others four.
type runOf struct {
	last     int
	noEnd    bool
	variants []string // but for the control
}

// write makes the run's directory.
func (x runOf) write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	at := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	var cells []result.Cell
	for _, v := range append([]string{"plain"}, x.variants...) {
		cells = append(cells, result.Cell{Engine: "sqlite", Variant: v, Baseline: "plain", Workload: "tpcc", Threads: 1})
	}
	w, err := result.Create(dir, result.Header{Type: result.TypeHeader, Format: result.RunFormat, Study: "embedded", Seed: 1, Started: at,
		Environment: result.Environment{CPU: "test", Cores: 2, Kernel: "Linux"}, Cells: cells})
	if err != nil {
		t.Fatal(err)
	}
	loss := map[string]float64{"tde": 0.03, "cols100": 0.12}
	for i, c := range cells {
		quads := 4
		if i == len(cells)-1 {
			quads = x.last
		}
		for q := range quads {
			for pos, a := range "ABBA" {
				b := result.Block{Type: result.TypeBlock, Cell: c, Arm: "baseline", Quad: q, Position: pos, Order: "ABBA", Start: at, DurationS: 1}
				tps := 10000 * math.Exp(0.004*rng.NormFloat64())
				if a == 'B' {
					b.Arm = "variant"
					tps *= 1 - loss[c.Variant]
				}
				b.Transactions, b.Commits = uint64(tps), uint64(tps)
				b.LatencyUS = result.Latency{Count: b.Commits, Mean: 1e6 / tps, P50: 1e6 / tps, P95: 2e6 / tps, P99: 3e6 / tps, Max: 9e6 / tps}
				b.CPUS = result.CPU{Engine: 0.9}
				at = at.Add(time.Second)
				if err := w.Write(b); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if !x.noEnd {
		if err := w.Write(result.End{Type: result.TypeEnd, Finished: at}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// veildb runs the command line in this process.
func veildb(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(t.Context(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

var wholeRun = runOf{last: 4, variants: []string{"tde", "cols100"}}

func TestBenchSummaryFormats(t *testing.T) {
	dir := wholeRun.write(t)
	for _, c := range []struct {
		args  []string
		check func(t *testing.T, out string)
	}{
		{nil, func(t *testing.T, out string) {
			for _, want := range []string{"cols100", "95 % interval", "A/A control", "Encryption at rest (tde) cost"} {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			if strings.Contains(out, "\x1b") {
				t.Error("escape sequences in a pipe")
			}
		}},
		{[]string{"--format", "json"}, jsonSummary},
		{[]string{"--json"}, jsonSummary},
		{[]string{"--format", "csv"}, func(t *testing.T, out string) {
			lines, err := csv.NewReader(strings.NewReader(out)).ReadAll()
			if err != nil || len(lines) != 4 {
				t.Errorf("got %d lines, %v; want a header and 3 rows", len(lines), err)
			}
		}},
		{[]string{"--format", "html"}, func(t *testing.T, out string) {
			if !strings.HasPrefix(out, "<!DOCTYPE html>") || !strings.Contains(out, "series-2") {
				t.Errorf("got no page with three charts over time")
			}
		}},
		{[]string{"--format", "markdown"}, func(t *testing.T, out string) {
			if !strings.HasPrefix(out, "# embedded\n") || !strings.Contains(out, "| TPC-C | 1 | tde |") {
				t.Errorf("got %s", out)
			}
		}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			code, out, errs := veildb(t, append([]string{"bench", "summary", dir}, c.args...)...)
			if code != ExitOK || errs != "" {
				t.Fatalf("got code %d, stderr %q", code, errs)
			}
			c.check(t, out)
		})
	}
}

func jsonSummary(t *testing.T, out string) {
	var s result.Summary
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	if s.Format != result.SummaryFormat || len(s.Rows) != 2 || len(s.AA) != 1 || !s.Complete {
		t.Errorf("got format %q, %d rows, %d controls, complete %v", s.Format, len(s.Rows), len(s.AA), s.Complete)
	}
	for _, r := range s.Rows {
		if iv := r.OverheadPct; iv == nil || !(iv.Lo < iv.Est && iv.Est < iv.Hi) {
			t.Errorf("%s has interval %+v", r.Variant, r.OverheadPct)
		}
	}
}

func TestBenchSummaryFailOver(t *testing.T) {
	whole := wholeRun.write(t)
	cut := runOf{last: 0, noEnd: true, variants: []string{"tde", "cols100"}}.write(t)
	thin := runOf{last: 2, variants: []string{"tde", "cols100"}}.write(t)
	none := runOf{last: 4, variants: []string{"fuse"}}.write(t)
	for _, c := range []struct {
		name, dir, limit string
		code             int
		stderr           string
	}{
		{"under the limit", whole, "20", ExitOK, ""},
		{"over the limit", whole, "5", ExitCheck, "cols100 on tpcc (threads 1) costs at least 1"},
		{"two over the limit", whole, "-1", ExitCheck, "tde on tpcc (threads 1) costs at least"},
		{"a row without an estimate", cut, "20", ExitCheck, "no estimate for cols100"},
		{"a row with too few quads", thin, "20", ExitCheck, "no estimate for cols100"},
		{"nothing to judge", none, "20", ExitCheck, "no variant tde or cols"},
		{"no number", whole, "much", ExitUsage, "invalid argument"},
		{"not a number", whole, "NaN", ExitUsage, "not a number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := veildb(t, "bench", "summary", c.dir, "--fail-over="+c.limit)
			if code != c.code || !strings.Contains(errs, c.stderr) {
				t.Errorf("got code %d, stderr %q; want %d, %q", code, errs, c.code, c.stderr)
			}
			if c.code != ExitUsage && !strings.Contains(out, "TPC-C") {
				t.Error("the summary was not printed")
			}
		})
	}
}

func TestBenchSummaryBadInput(t *testing.T) {
	empty := t.TempDir()
	corrupt := func(change func(string) string) string {
		dir := wholeRun.write(t)
		path := filepath.Join(dir, result.FileName)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(change(string(data))), 0o644); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	damaged := corrupt(func(s string) string { return strings.Replace(s, `"quad":1`, `"quad":"x`, 1) })
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no directory", []string{filepath.Join(empty, "no")}, ExitUsage, "no directory"},
		{"a file", []string{filepath.Join(damaged, result.FileName)}, ExitUsage, "is not a directory"},
		{"no run in it", []string{empty}, ExitUsage, "no run.jsonl in"},
		{"no argument", nil, ExitUsage, "got 0 arguments"},
		{"two arguments", []string{empty, empty}, ExitUsage, "got 2 arguments"},
		{"unknown format", []string{empty, "--format", "pdf"}, ExitUsage, `unknown format "pdf"`},
		{"unknown option", []string{empty, "--frmat", "csv"}, ExitUsage, "unknown flag"},
		{"a damaged line", []string{damaged}, ExitDamaged, "damaged run"},
		{"another file", []string{corrupt(func(string) string { return "{\"type\":\"letter\"}\n" })}, ExitDamaged, "not a run"},
		{"an empty file", []string{corrupt(func(string) string { return "" })}, ExitDamaged, "not a run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := veildb(t, append([]string{"bench", "summary"}, c.args...)...)
			if code != c.code || !strings.Contains(errs, c.want) {
				t.Errorf("got code %d, stderr %q; want %d, %q", code, errs, c.code, c.want)
			}
			if out != "" {
				t.Errorf("got output %q", out)
			}
			if lines := strings.Split(strings.TrimSuffix(errs, "\n"), "\n"); len(lines) != 2 {
				t.Errorf("want one line and a hint, got %q", errs)
			}
		})
	}
}

// TestBenchSummaryOfPartialRuns: what a crash leaves is summed up, never
// presented as whole.
func TestBenchSummaryOfPartialRuns(t *testing.T) {
	torn := runOf{last: 3, noEnd: true, variants: []string{"tde", "cols100"}}.write(t)
	path := filepath.Join(torn, result.FileName)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)-100], 0o644); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"torn": torn, "never began": runOf{last: 0, noEnd: true}.write(t)} {
		for _, format := range summaryFormats {
			code, out, errs := veildb(t, "bench", "summary", dir, "--format", format)
			if code != ExitOK || !strings.Contains(errs, "incomplete") {
				t.Errorf("%s, %s: got code %d, stderr %q", name, format, code, errs)
			}
			mark := map[string]string{"text": "INCOMPLETE", "markdown": "INCOMPLETE", "brief": "INCOMPLETE", "html": "<title>INCOMPLETE", "json": `"complete": false`, "csv": ",false\n"}[format]
			if !strings.Contains(out, mark) {
				t.Errorf("%s, %s: the output does not say that it is incomplete", name, format)
			}
		}
	}
}

// TestBenchCompare compares a run with itself and with one that is not there.
func TestBenchCompare(t *testing.T) {
	dir := runOf{last: 4, variants: []string{"tde", "cols100"}}.write(t)
	for _, c := range []struct {
		args []string
		code int
		want string // on either stream
	}{
		{[]string{dir, dir}, ExitOK, "run 2: "},
		{[]string{dir, dir, "--format", "json"}, ExitOK, `"format": "veildb.compare/1"`},
		{[]string{dir, dir, "--format", "html"}, ExitOK, "<h1>Runs compared</h1>"},
		{[]string{dir, dir, "--format", "yaml"}, ExitUsage, "choose one of"},
		{[]string{dir}, ExitUsage, "two runs"},
		{[]string{dir, dir + "x"}, ExitUsage, "no directory"},
	} {
		var out bytes.Buffer
		code := Main(t.Context(), append([]string{"bench", "compare"}, c.args...), strings.NewReader(""), &out, &out)
		if code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("compare %v: exit %d, %q; want %d with %q", c.args, code, out.String(), c.code, c.want)
		}
	}
}
