package cli

import (
	"embed"
	"fmt"
	"os"

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

// readColumns reads a user's own list, in the text form of cells.Set.
func readColumns(path string) (*cells.Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read columns: %w", err)
	}
	defer f.Close()
	set, err := cells.ReadSet(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return set, nil
}
