package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/inuse/cells"
)

// TestBuiltinColumns checks the lists against the classes of the TPC-C columns:
// how many there are of each, and that each tier holds the one below.
func TestBuiltinColumns(t *testing.T) {
	classes := map[string]map[string]int{
		"cols20": {
			"customer numbers": 3, "order numbers": 4, "item numbers": 4, "district numbers": 7,
		},
		"cols50": {
			"customer numbers": 3, "order numbers": 4, "item numbers": 4, "district numbers": 7,
			"money and rates": 11, "dates": 4, "quantities and counters": 10, "further sensitive data": 3,
		},
		"cols100": {
			"customer numbers": 3, "order numbers": 4, "item numbers": 4, "district numbers": 7,
			"money and rates": 11, "dates": 4, "quantities and counters": 10, "further sensitive data": 3,
			"warehouse numbers": 10, "text": 28, "personal data": 8,
		},
	}
	counts := map[string]map[string]int{
		"tpcc":     {"cols20": 18, "cols50": 46, "cols100": 92},
		"sysbench": {"cols20": 1, "cols50": 2, "cols100": 4},
	}
	for workload, tiers := range counts {
		var below []string
		for _, tier := range []string{"cols20", "cols50", "cols100"} {
			set, err := builtinColumns(workload, tier)
			if err != nil {
				t.Fatal(err)
			}
			got := set.Patterns()
			slices.Sort(got)
			if n := len(slices.Compact(slices.Clone(got))); n != tiers[tier] || len(got) != n {
				t.Errorf("%s %s: %d columns, %d distinct, want %d", workload, tier, len(got), n, tiers[tier])
			}
			for _, p := range below {
				if !slices.Contains(got, p) {
					t.Errorf("%s %s lacks %s of the tier below", workload, tier, p)
				}
			}
			below = got
			if workload == "tpcc" {
				checkClasses(t, tier, classes[tier])
			}
		}
	}
}

// checkClasses counts the columns under each heading of a TPC-C list.
func checkClasses(t *testing.T, tier string, want map[string]int) {
	t.Helper()
	text, err := columnFiles.ReadFile("columns/tpcc-" + tier + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	got, class := map[string]int{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "# "); ok {
			class, _, _ = strings.Cut(heading, " (")
		} else if line != "" {
			got[class]++
		}
	}
	for class, n := range want {
		if got[class] != n {
			t.Errorf("%s: %d columns under %q, want %d", tier, got[class], class, n)
		}
		delete(got, class)
	}
	if len(got) > 0 {
		t.Errorf("%s: headings nobody expects: %v", tier, got)
	}
}

// TestTPCCColumnsAreComplete holds cols100 against the columns per table of
// the TPC-C schema.
func TestTPCCColumnsAreComplete(t *testing.T) {
	set, err := builtinColumns("tpcc", "cols100")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, p := range set.Patterns() {
		table, _, _ := strings.Cut(p, ".")
		got[table]++
	}
	want := map[string]int{"warehouse": 9, "district": 11, "customer": 21, "history": 8, "*order*": 8,
		"new_order": 3, "order_line": 10, "item": 5, "stock": 17}
	for table, n := range want {
		if got[table] != n {
			t.Errorf("%s: %d columns, want %d", table, got[table], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("tables %v, want %v", got, want)
	}
}

func TestReadColumns(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good"), filepath.Join(dir, "bad")
	os.WriteFile(good, []byte("staff.salary\nsbtest*.k\n"), 0o600)
	os.WriteFile(bad, []byte("staff.salary\nsalary\n"), 0o600)
	set, err := readColumns(good)
	if err != nil || !set.Has(cells.Column{Table: "sbtest7", Column: "k"}) {
		t.Errorf("got %v, %v", set, err)
	}
	if _, err := readColumns(bad); !errors.Is(err, cells.ErrSyntax) || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("bad list: got error %v", err)
	}
	if _, err := readColumns(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: got error %v", err)
	}
	if _, err := builtinColumns("tpcc", "cols33"); err == nil {
		t.Error("cols33 exists")
	}
}
