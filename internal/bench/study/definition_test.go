package study

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestEmbeddedStudiesParse(t *testing.T) {
	for _, name := range Names() {
		d, err := Find(name)
		if err != nil {
			t.Fatalf("Find(%q): %v", name, err)
		}
		if d.Name != name {
			t.Errorf("study in %s.yaml calls itself %q", name, d.Name)
		}
		for _, p := range d.Published {
			found := false
			for _, c := range d.Cells() {
				found = found || c.Workload == p.Workload && c.Variant == p.Variant && c.Published != nil
			}
			if !found {
				t.Errorf("%s: published figure for %s/%s belongs to no cell", name, p.Workload, p.Variant)
			}
		}
	}
}

func TestFindUnknown(t *testing.T) {
	for _, name := range []string{"", "nosuch", "../studies/embedded", "embedded.yaml"} {
		if _, err := Find(name); !errors.Is(err, ErrUnknown) {
			t.Errorf("Find(%q) = %v, want ErrUnknown", name, err)
		}
	}
}

const minimal = `
name: x
engine: sqlite
baseline: plain
variants: [tde]
threads: [1]
budget: {default: 10s}
block: 100ms
workloads: [{name: tpcc, warehouses: 1}]
`

func TestParseRefuses(t *testing.T) {
	if _, err := Parse([]byte(minimal)); err != nil {
		t.Fatalf("the minimal study does not parse: %v", err)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown field", "engine:", "motor: v8\nengine:", "motor"},
		{"no name", "name: x", "title: x", "name is missing"},
		{"baseline among variants", "[tde]", "[tde, plain]", "baseline"},
		{"no variants", "[tde]", "[]", "variants"},
		{"zero threads", "[1]", "[0]", "threads"},
		{"no budget", "10s", "0s", "budget"},
		{"tiny block", "100ms", "1ms", "block"},
		{"no warehouses", "warehouses: 1", "warehouses: 0", "warehouses"},
		{"sysbench without size", "tpcc, warehouses: 1", "oltp_insert", "table_size"},
		{"baseline of no variant", "threads:", "baselines: {cols: tde}\nthreads:", "no variant"},
		{"its own baseline", "threads:", "baselines: {tde: tde}\nthreads:", "another"},
		{"zero quick threads", "threads:", "quick: {threads: [0]}\nthreads:", "quick"},
		{"negative full size", "threads:", "full: {table_size: -1}\nthreads:", "full"},
		{"tprocc of another flavor", "tpcc, warehouses: 1", "tprocc, warehouses: 1, flavor: spec", "hammerdb"},
		{"table without study", "threads:", "tables: [{title: t}]\nthreads:", "table 1: study"},
		{"table of no metric", "threads:", "tables: [{study: s, title: t, metric: qps}]\nthreads:", "qps"},
		{"table line that says two things", "threads:", "tables: [{study: s, title: t, rows: [{workloads: [tpcc], threads: [1], variant: tde, change: 1, at_most: 2}]}]\nthreads:", "row 1"},
		{"negative weight of the headline", "threads:", "headline: [{workloads: [tpcc], threads: [1], weight: -1}]\nthreads:", "headline 1"},
		{"negative sitting", "block:", "sitting: -1s\nblock:", "sitting"},
		{"not YAML", "name: x", "name: [x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(minimal, c.old, c.new, 1)
			_, err := Parse([]byte(text))
			if !errors.Is(err, ErrDefinition) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Parse = %v, want ErrDefinition naming %q", err, c.want)
			}
		})
	}
}

func TestNarrow(t *testing.T) {
	d, err := Find("embedded")
	if err != nil {
		t.Fatal(err)
	}
	n, err := d.Narrow(Choice{Variants: []string{"plain", "tde"}, Workloads: []string{"tpcc"}, Threads: []int{1, 4}, Budget: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(n.Cells()); got != 4 { // A/A and tde, twice
		t.Errorf("narrowed study has %d cells, want 4", got)
	}
	if len(d.Cells()) != 20 {
		t.Errorf("Narrow changed its receiver: %d cells, want 20", len(d.Cells()))
	}
	for _, c := range []Choice{{Variants: []string{"native"}}, {Workloads: []string{"tpch"}}, {Threads: []int{0}}} {
		if _, err := d.Narrow(c); !errors.Is(err, ErrDefinition) {
			t.Errorf("Narrow(%+v) = %v, want ErrDefinition", c, err)
		}
	}
}

func TestBaselinesAndThreads(t *testing.T) {
	text := strings.Replace(minimal, "[tde]\nthreads: [1]", "[relay, gate]\nbaselines: {gate: relay}\nthreads: [8, 16]", 1) + `
published:
  - {workload: tpcc, variant: gate, study: x, threads: 16, overhead_pct: 7}
  - {workload: tpcc, variant: relay, study: x, overhead_pct: 3}
`
	d, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range d.Cells() {
		cell := fmt.Sprintf("%d %s/%s", c.Threads, c.Variant, c.Baseline)
		if c.Published != nil {
			cell += fmt.Sprint(" ", c.Published.OverheadPct)
		}
		got = append(got, cell)
	}
	want := []string{"8 plain/plain", "8 relay/plain 3", "8 gate/relay", "16 plain/plain", "16 relay/plain 3", "16 gate/relay 7"}
	if !slices.Equal(got, want) {
		t.Errorf("cells %q, want %q", got, want)
	}
	if arms := d.Arms(); !slices.Equal(arms, []string{"plain", "relay", "gate"}) {
		t.Errorf("arms %q", arms)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(minimal))
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, err := Parse(data); err == nil {
			if len(d.Cells()) == 0 {
				t.Error("an accepted study has no cells")
			}
		}
	})
}

const scaled = `
name: x
engine: sqlite
baseline: plain
variants: [tde, cols20]
threads: [1, 8]
quick: {threads: [8], variants: [tde], workloads: [oltp_insert/uniform, oltp_insert, tprocc], tables: 2, warehouses: 3, block: 20ms}
budget: {default: 10s}
block: 100ms
workloads:
  - {name: tprocc, warehouses: 1}
  - {name: oltp_insert, tables: 4, table_size: 100}
  - {name: oltp_insert, tables: 4, table_size: 100, rand: uniform}
  - {name: oltp_delete, tables: 4, table_size: 100}
tables:
  - {study: s, title: t, rows: [{workloads: [oltp_insert], threads: [8], variant: tde, change: 2}]}
`

// TestScaled takes the quick size of a study, which itself stays as it is.
func TestScaled(t *testing.T) {
	d, err := Parse([]byte(scaled))
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.Scaled(d.Quick)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range q.Workloads {
		got = append(got, fmt.Sprint(w.Label(), " ", w.Flavor, " ", w.Tables, w.TableSize, w.Warehouses, " ", w.dataset()))
	}
	want := []string{"oltp_insert/uniform  2 100 0 sbtest-2-100-uniform", "oltp_insert  2 100 0 sbtest-2-100", "tprocc hammerdb 0 0 3 tpcc-hammerdb-3"}
	if !slices.Equal(got, want) || !slices.Equal(q.Threads, []int{8}) || !slices.Equal(q.Variants, []string{"tde"}) || q.Block != 20*time.Millisecond {
		t.Errorf("quick: %q, threads %v, variants %v, block %v; want %q", got, q.Threads, q.Variants, q.Block, want)
	}
	if d.Workloads[1].Tables != 4 || len(d.Threads) != 2 || d.Block != 100*time.Millisecond {
		t.Errorf("the study changed: %+v", d)
	}
	for _, c := range q.Cells() {
		if want := c.Workload == "oltp_insert" && c.Variant == "tde"; (c.Published != nil) != want {
			t.Errorf("%s %s: published %+v", c.Workload, c.Variant, c.Published)
		}
	}
	if tables := d.ResultTables(); len(tables) != 1 || len(tables[0].Rows) != 1 || *tables[0].Rows[0].Published.Change != 2 {
		t.Errorf("tables %+v", tables)
	}
}
