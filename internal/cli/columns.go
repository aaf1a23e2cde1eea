package cli

import (
	"embed"
	"fmt"
	"os"
	"strings"

	"github.com/veildb/veildb/internal/inuse/cells"
)

//go:embed columns/*.txt
var columnFiles embed.FS

// builtinColumns returns the protected columns of a workload ("tpcc" or
// "sysbench") at a tier ("cols20", "cols50" or "cols100"). Benchmarks know no
// product, so the lists live here, where the two meet.
func builtinColumns(workload, tier string) (*cells.Set, error) {
	f, err := columnFiles.Open("columns/" + workload + "-" + tier + ".txt")
	if err != nil {
		return nil, fmt.Errorf("find columns: no list %s for workload %s", tier, workload)
	}
	defer f.Close()
	return cells.ReadSet(f)
}

// userColumns reads a user's own list, in the text form of cells.Set. A
// pattern that means no column of any workload is refused: it would protect
// nothing.
func userColumns(path string) (*cells.Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usagef("read columns", "name a file with one table.column a line", "%w", err)
	}
	defer f.Close()
	set, err := cells.ReadSet(f)
	if err != nil {
		return nil, usagef("read columns", "write one table.column a line; # starts a comment", "%s: %w", path, err)
	}
	known, err := benchColumns()
	if err != nil {
		return nil, err
	}
	if bad := set.Unmatched(known); len(bad) > 0 {
		return nil, usagef("read columns", "the names are in docs/benchmarking.md", "%s: no column %s in any workload", path, bad[0])
	}
	return set, nil
}

// benchColumns lists every column of the workloads: those of the lists that
// protect all.
func benchColumns() ([]cells.Column, error) {
	var known []cells.Column
	for _, workload := range []string{"tpcc", "sysbench"} {
		all, err := builtinColumns(workload, "cols100")
		if err != nil {
			return nil, err
		}
		for _, p := range all.Patterns() {
			table, column, _ := strings.Cut(p, ".")
			for _, name := range tablesOf(table) {
				known = append(known, cells.Column{Table: name, Column: column})
			}
		}
	}
	return known, nil
}

// tablesOf names tables that a pattern of our own lists stands for.
func tablesOf(pattern string) []string {
	switch pattern {
	case "*order*":
		return []string{"oorder", "orders"}
	case "sbtest*":
		return []string{"sbtest1"}
	}
	return []string{pattern}
}
