package cli

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/bench/study"
	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/inuse/cells"
)

// A studyEngine is an engine with what it holds open.
type studyEngine interface {
	study.Engine
	Close() error
}

// engineVariants says what each variant is, for each engine studies run on.
var engineVariants = map[string]map[string]string{
	"sqlite":        sqliteVariants,
	target.MariaDB:  mariadb.variants,
	target.MySQL:    mysql.variants,
	target.Postgres: postgres.variants,
	target.Galera:   galera.variants,
}

// knownEngine refuses an engine that studies do not run on.
func knownEngine(op, name string) error {
	if engineVariants[name] == nil {
		return usagef(op, "see: veildb bench list", "unknown engine %q", name)
	}
	return nil
}

// checkEngine refuses a study whose engine or variants cannot be had here;
// columns says whether the variant cols has its list.
func checkEngine(d *study.Definition, columns bool) error {
	op := "run study " + d.Name
	if err := knownEngine(op, d.Engine); err != nil {
		return err
	}
	known := engineVariants[d.Engine]
	for _, v := range d.Arms() {
		if v == "cols" && !columns {
			return usagef(op, "list them with --columns FILE", "the variant cols has no columns")
		}
		if known[v] == "" {
			return usagef(op, "see: veildb bench list", "there is no variant %q on %s; it has %s",
				v, d.Engine, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	if d.Engine == "sqlite" {
		return nil
	}
	_, err := target.Find(d.Engine, "")
	var missing *target.NotInstalledError
	if errors.As(err, &missing) {
		return &Error{Op: op, Err: err, Hint: missing.Hint() + "; as root, --install does it"}
	}
	return err
}

// openEngine makes or opens the engine of a study; its data are in dir. columns
// are those of the variant cols, or nil.
func openEngine(ctx context.Context, d *study.Definition, dir string, columns *cells.Set) (studyEngine, error) {
	switch d.Engine {
	case target.MariaDB:
		return openServerEngine(mariadb, dir, d.Settings, columns)
	case target.MySQL:
		return openServerEngine(mysql, dir, mysqlSettings(d.Settings), columns)
	case target.Postgres:
		return openServerEngine(postgres, dir, d.Settings, columns)
	case target.Galera:
		return openServerEngine(galera, dir, d.Settings, columns)
	}
	e, err := openEmbeddedEngine(ctx, dir, d.Settings)
	if err != nil {
		return nil, err
	}
	e.columns = columns
	return e, nil
}

// columnsOf lists the columns that a variant protects in a dataset.
func columnsOf(dataset, variant string, own *cells.Set) (*cells.Set, error) {
	if variant == "cols" {
		return own, nil
	}
	workload := "sysbench"
	if strings.HasPrefix(dataset, "tpcc") {
		workload = "tpcc"
	}
	return builtinColumns(workload, variant)
}
