package study

import (
	"context"
	"database/sql"
	"fmt"
	"runtime"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/run"
	"github.com/veildb/veildb/internal/bench/sysbench"
	"github.com/veildb/veildb/internal/bench/tpcc"
)

// MarkTable may be in a database that is to be filled: an engine's sign that the
// database is the study's.
const MarkTable = "veildb_bench"

// maxThreads is more than a machine of ours has use for.
const maxThreads = 10000

// Runnable tells, before anything is made, whether each workload of d can be
// run with each number of threads. Errors match ErrDefinition.
func (d *Definition) Runnable() error {
	for _, threads := range d.Threads {
		if threads > maxThreads {
			return fmt.Errorf("%w: %d threads; at most %d", ErrDefinition, threads, maxThreads)
		}
		for _, w := range d.Workloads {
			if _, err := w.runner(dsn.SQLite, threads); err != nil { // no option depends on the dialect
				return fmt.Errorf("%w: %w", ErrDefinition, err)
			}
		}
	}
	return nil
}

// runner makes the load of w for so many terminals.
func (w Workload) runner(d dsn.Dialect, threads int) (run.Workload, error) {
	if w.orders() {
		return tpcc.New(tpcc.Config{
			Dialect: d, Flavor: tpcc.Flavor(w.Flavor), Warehouses: w.Warehouses, Terminals: threads,
			Routines: w.Name == "tprocc" && !w.Statements && d != dsn.SQLite,
		})
	}
	return w.script(d, threads)
}

func (w Workload) script(d dsn.Dialect, threads int) (*sysbench.Workload, error) {
	o := sysbench.Defaults()
	o.Tables, o.TableSize, o.Threads = w.Tables, w.TableSize, threads
	if w.Rand != "" {
		o.Rand.Type = w.Rand
	}
	return sysbench.New(w.Name, o, d)
}

// fill loads the data w runs on into the empty db. progress may be nil.
func (w Workload) fill(ctx context.Context, db *sql.DB, d dsn.Dialect, seed uint64, progress func(done, total int64)) error {
	if w.orders() {
		return tpcc.Load(ctx, db, tpcc.LoadConfig{
			Dialect: d, Flavor: tpcc.Flavor(w.Flavor), Warehouses: w.Warehouses, Seed: seed, Progress: progress,
			NoRoutines: w.Statements, Beside: []string{MarkTable},
		})
	}
	s, err := w.script(d, 1)
	if err != nil {
		return err
	}
	var done int64
	total := int64(w.Tables) * int64(w.TableSize)
	err = s.Prepare(ctx, db, sysbench.PrepareConfig{
		Seed: seed, Threads: runtime.NumCPU(),
		Progress: func(p sysbench.Progress) {
			if p.Step == sysbench.Filled && progress != nil {
				done += int64(p.Rows)
				progress(done, total)
			}
		},
	})
	if err == nil {
		err = w.noteLoaded(ctx, db)
	}
	return err
}

// check runs TPC-C's conditions on db and folds them into one check.
func (w Workload) check(ctx context.Context, db *sql.DB, d dsn.Dialect) (result.Check, error) {
	info, err := tpcc.Inspect(ctx, db, d)
	if err != nil {
		return result.Check{}, err
	}
	checks, err := tpcc.Check(ctx, db, d, info)
	if err != nil {
		return result.Check{}, err
	}
	var wrong []string
	for _, one := range checks {
		if !one.OK {
			wrong = append(wrong, one.Name+": "+one.Detail)
		}
	}
	return outcome(CheckConditions, "", wrong), nil
}
