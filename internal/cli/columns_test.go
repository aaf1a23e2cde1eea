package cli

import (
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

func TestUserColumns(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	set, err := userColumns(write("customer.c_last # personal\noorder.o_c_id\nsbtest*.k\n"))
	if err != nil || !set.Has(cells.Column{Table: "sbtest7", Column: "k"}) {
		t.Errorf("got %v, %v", set, err)
	}
	for _, c := range []struct{ name, path, want string }{
		{"not a column", write("customer.c_last\nc_first\n"), "line 2"},
		{"misspelt", write("customer.c_lsat\n"), "customer.c_lsat"},
		{"no such table", write("staff.salary\n"), "staff.salary"},
		{"no such file", "none", "none"},
	} {
		_, err := userColumns(c.path)
		if code, _ := exitCode(err); code != ExitUsage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one of usage that names %s", c.name, err, c.want)
		}
	}
	if _, err := builtinColumns("tpcc", "cols33"); err == nil {
		t.Error("cols33 exists")
	}
}

// Every list protects columns that exist, or userColumns would refuse it.
func TestOwnListsAreKnown(t *testing.T) {
	known, err := benchColumns()
	if err != nil {
		t.Fatal(err)
	}
	for _, workload := range []string{"tpcc", "sysbench"} {
		for _, tier := range []string{"cols20", "cols50", "cols100"} {
			set, err := builtinColumns(workload, tier)
			if err != nil {
				t.Fatal(err)
			}
			if bad := set.Unmatched(known); len(bad) > 0 {
				t.Errorf("%s %s: no columns %v", workload, tier, bad)
			}
		}
	}
}
