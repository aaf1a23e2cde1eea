package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/veildb/veildb/internal/bench/result"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// golden compares got with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Fatalf("%s differs at line %d (run with -update if intended)\n got: %q\nwant: %q", name, i+1, a, b)
		}
	}
}

func textOf(t *testing.T, s *result.Summary, width int, color bool) string {
	t.Helper()
	var buf bytes.Buffer
	if err := Text(&buf, s, width, color); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestGolden(t *testing.T) {
	whole, cut := newFixture(7, 24), newFixture(7, 24).interrupted()
	var md, mdCut, table bytes.Buffer
	for _, err := range []error{Markdown(&md, whole.summary), Markdown(&mdCut, cut.summary), CSV(&table, cut.summary)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "text-80.txt", textOf(t, whole.summary, 80, false))
	golden(t, "text-130.txt", textOf(t, whole.summary, 130, false))
	golden(t, "text-80-incomplete.txt", textOf(t, cut.summary, 80, false))
	golden(t, "report.md", md.String())
	golden(t, "report-incomplete.md", mdCut.String())
	golden(t, "report-incomplete.csv", table.String())
}

func TestTextFitsItsWidth(t *testing.T) {
	for _, f := range map[string]*fixture{"whole": newFixture(7, 24), "cut": newFixture(7, 24).interrupted(), "noisy": newFixture(3, 4), "wide study": manyCells(), "study tables": withTables()} {
		for _, width := range []int{80, 100, 120, 160} {
			for i, l := range strings.Split(textOf(t, f.summary, width, false), "\n") {
				if n := utf8.RuneCountInString(l); n > width {
					t.Errorf("width %d: line %d has %d columns: %q", width, i+1, n, l)
				}
			}
		}
	}
}

func TestTextColor(t *testing.T) {
	s := newFixture(7, 24).interrupted().summary
	plain, painted := textOf(t, s, 100, false), textOf(t, s, 100, true)
	if strings.Contains(plain, "\x1b") {
		t.Error("escape sequence in the uncoloured report")
	}
	if !strings.Contains(painted, "\x1b[1m") {
		t.Error("no escape sequence in the coloured report")
	}
	for _, seq := range []string{sgrBold, sgrDim, sgrYellow, sgrRed, sgrGreen, sgrReset} {
		painted = strings.ReplaceAll(painted, seq, "")
	}
	if painted != plain {
		t.Error("colours change more than the colour")
	}
}

func TestJSONRoundTrip(t *testing.T) {
	s := newFixture(7, 24).interrupted().summary
	var buf bytes.Buffer
	if err := JSON(&buf, s); err != nil {
		t.Fatal(err)
	}
	var back result.Summary
	if err := json.Unmarshal(buf.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(*s, back) {
		t.Error("the summary changed on its way through JSON")
	}
	if !strings.Contains(buf.String(), "\n  \"rows\"") || !strings.Contains(buf.String(), `"overhead_pct": null`) {
		t.Error("want indented JSON with null for missing estimates")
	}
}

func TestCSVHasEveryRow(t *testing.T) {
	s := manyCells().summary
	var buf bytes.Buffer
	if err := CSV(&buf, s); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&buf).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(lines), 1+len(s.Rows)+len(s.AA); got != want {
		t.Errorf("got %d lines, want %d", got, want)
	}
}

// hostile are names and texts a damaged or malicious record may hold.
var hostile = []string{
	`</script><script>document.title="owned"</script>`,
	`"><img src=x onerror=alert(1)>`,
	"\x1b[2J\x1b]0;owned\a",
	"a|b\n| c | d",
	"=HYPERLINK(\"http://example.test\")",
	"\u202egnp.exe",
	"<!--", "]]>", "{{.S}}", "javascript:alert(1)", "'; DROP TABLE t; --",
}

// poisoned is a fixture with hostile strings wherever a string goes.
func poisoned() *fixture {
	f := newFixture(7, 6)
	i := 0
	next := func() string { i++; return hostile[i%len(hostile)] }
	s := f.summary
	s.Title, s.Study = hostile[0], next()
	e := &s.Environment
	for _, p := range []*string{&e.CPU, &e.Kernel, &e.OS, &e.Governor, &e.Go, &e.Version, &e.Revision, &e.Filesystem} {
		*p = next()
	}
	e.Engines = map[string]string{next(): next()}
	for k := range s.Rows {
		r := &s.Rows[k]
		r.Engine, r.Variant, r.Workload, r.Verdict, r.Note = next(), next(), next(), next(), next()
		r.Published = &result.Published{Study: next(), OverheadPct: 3, Note: next()}
	}
	for k := range s.Checks {
		s.Checks[k] = result.Check{Name: next(), Engine: next(), Variant: next(), OK: k%2 == 0, Detail: next()}
	}
	s.Warnings = hostile
	for k := range f.blocks {
		f.blocks[k].Variant = s.Rows[k%len(s.Rows)].Variant
		f.blocks[k].Workload = hostile[k%3]
	}
	f.voids[0].Cause, f.voids[0].Workload = next(), next()
	return f
}

func TestHostileStringsInText(t *testing.T) {
	f := poisoned()
	out := textOf(t, f.summary, 100, false)
	for _, r := range out {
		if r < ' ' && r != '\n' || r == '\u202e' || r == '\u007f' {
			t.Fatalf("control character %U reaches the terminal", r)
		}
	}
	var md bytes.Buffer
	if err := Markdown(&md, f.summary); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(md.String(), "<script") || strings.Contains(md.String(), "<img") {
		t.Error("markup reaches the Markdown report")
	}
	for l := range strings.SplitSeq(md.String(), "\n") {
		bars := strings.Count(l, "|") - strings.Count(l, `\|`)
		if strings.HasPrefix(l, "| ") && bars != 12 && bars != 8 {
			t.Errorf("a table line has %d bars: %q", bars, l)
		}
	}
	var table bytes.Buffer
	if err := CSV(&table, f.summary); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		for _, cell := range l {
			if strings.HasPrefix(cell, "=") || strings.HasPrefix(cell, "@") {
				t.Errorf("a spreadsheet would run %q", cell)
			}
		}
	}
}

// manyCells is a study over many workloads and thread counts, on two engines.
func manyCells() *fixture {
	f := newFixture(11, 3)
	f.summary.Rows, f.summary.AA, f.blocks = nil, nil, nil
	for _, engine := range []string{"mariadb", "postgres"} {
		for _, w := range []string{"oltp_point_select", "oltp_read_only", "oltp_update_non_index", "oltp_read_write"} {
			for _, threads := range []int{1, 8, 64, 256} {
				for i, v := range []string{"tde", "native"} {
					c := result.Cell{Engine: engine, Variant: v, Baseline: "plain", Workload: w, Threads: threads,
						Published: &result.Published{Study: "rds-tde", OverheadPct: 20 / float64(threads)}}
					f.summary.Rows = append(f.summary.Rows, f.run(c, 900*float64(min(threads, 12)), 0.15/float64(threads+i)))
				}
			}
			f.summary.AA = append(f.summary.AA, f.run(result.Cell{Engine: engine, Variant: "plain", Baseline: "plain", Workload: w, Threads: 8}, 7000, 0))
		}
	}
	for i := range f.summary.Rows { // servers have their own processes
		p := &f.summary.Rows[i].CPUUSPerTx
		split := func(a, b float64) result.Pair { return result.Pair{Baseline: p.Baseline * a, Variant: p.Variant * b} }
		p.Parts = map[string]result.Pair{"client": split(0.3, 0.28), "engine": split(0.7, 0.64), "product": split(0, 0.08)}
	}
	return f
}
