package cli

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/tpcc"
)

// newBenchTPCCCommand is "veildb bench tpcc".
func newBenchTPCCCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tpcc",
		Short: "Load, run and check TPC-C on one database",
		Long: `Load, run and check TPC-C on one database. Results are not TPC results and
must not be called tpmC.

Flavors, whose figures cannot be compared with one another:
  benchbase  the program of the published studies, its deviations from the
             specification kept: independent draws 45/43/4/4/4, each terminal
             keeps to a range of districts, at most 3 attempts with new inputs
  spec       the specification: deck of 23, all districts, up to 10 attempts
  hammerdb   TPROC-C: 10/10/1/1/1, uniform numbers, no retries, NOPM and TPM;
             on servers each transaction is a call of a stored procedure
             that prepare leaves in the database

` + dsnHelp,
		Example: `  veildb bench tpcc prepare --dsn sqlite:/tmp/t.db --warehouses 1
  veildb bench tpcc run --dsn sqlite:/tmp/t.db --terminals 4 --time 30
  veildb bench tpcc check --dsn sqlite:/tmp/t.db
  veildb bench tpcc cleanup --dsn sqlite:/tmp/t.db`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	for _, c := range []func(*Env) *cobra.Command{
		newTPCCPrepareCommand, newTPCCRunCommand, newTPCCCheckCommand, newTPCCCleanupCommand,
	} {
		cmd.AddCommand(c(env))
	}
	return cmd
}

// tpccFlags are the options that say which TPC-C is meant.
type tpccFlags struct {
	db         dbOptions
	flavor     string
	warehouses int
}

func (f *tpccFlags) addTo(cmd *cobra.Command, warehouses int) {
	f.db.addFlags(cmd)
	usage := "number of warehouses"
	if warehouses == 0 {
		usage += " (default: as prepared)"
	}
	cmd.Flags().StringVar(&f.flavor, "flavor", "", "which TPC-C, `benchbase|spec|hammerdb` (default: as prepared, or benchbase)")
	cmd.Flags().IntVar(&f.warehouses, "warehouses", warehouses, usage)
}

// open opens the database; create allows a SQLite file that is not there yet.
func (f *tpccFlags) open(ctx context.Context, env *Env, create bool) (*sql.DB, dsn.DSN, error) {
	f.db.mustExist = !create
	d, err := f.db.parse()
	if err != nil {
		return nil, d, err
	}
	db, err := f.db.open(ctx, env, d, dsn.Options{})
	return db, d, err
}

// inspect reads what is loaded and refuses options that contradict it.
func (f *tpccFlags) inspect(ctx context.Context, db *sql.DB, d dsn.Dialect) (tpcc.Info, error) {
	info, err := tpcc.Inspect(ctx, db, d)
	if err != nil {
		return info, fmt.Errorf("open tpcc: %w", err)
	}
	flavor, err := tpcc.ParseFlavor(f.flavor)
	switch {
	case err != nil:
		return info, usagef("open tpcc", "see: veildb bench tpcc --help", "%w", err)
	case f.flavor != "" && flavor != info.Flavor:
		return info, usagef("open tpcc", "leave --flavor out, or run cleanup and prepare", "the database was prepared for %s", info.Flavor)
	case f.warehouses != 0 && f.warehouses != info.Warehouses:
		return info, usagef("open tpcc", "leave --warehouses out, or run cleanup and prepare", "the database was prepared with %d warehouses", info.Warehouses)
	}
	return info, nil
}

func newTPCCPrepareCommand(env *Env) *cobra.Command {
	var f tpccFlags
	c := tpcc.LoadConfig{}
	cmd := &cobra.Command{
		Use:   "prepare --dsn DSN",
		Short: "Create the nine tables in an empty database and fill them",
		Long: `Create the nine tables in an empty database and fill them. A warehouse is about
100 MB. A database that holds tables of these names is refused; a load that was
interrupted is removed with cleanup.

` + dsnHelp,
		Example: `  veildb bench tpcc prepare --dsn sqlite:/tmp/t.db --warehouses 1
  veildb bench tpcc prepare --dsn mysql://root@/tpcc?socket=/run/x.sock --warehouses 10 --flavor hammerdb`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTPCCPrepare(cmd.Context(), env, f, c)
		},
	}
	f.addTo(cmd, 1)
	cmd.Flags().Uint64Var(&c.Seed, "seed", 1, "equal seeds give equal data")
	cmd.Flags().IntVar(&c.Loaders, "loaders", 0, "warehouses loaded at once on a server (default: one for each processor)")
	cmd.Flags().BoolVar(&c.NoRoutines, "no-procedures", false, "make no stored procedures for hammerdb; run needs --no-procedures then, too")
	return cmd
}

func runTPCCPrepare(ctx context.Context, env *Env, f tpccFlags, c tpcc.LoadConfig) (err error) {
	flavor, err := tpcc.ParseFlavor(f.flavor)
	if err != nil {
		return usagef("prepare tpcc", "see: veildb bench tpcc --help", "%w", err)
	}
	if f.warehouses < 1 {
		return usagef("prepare tpcc", "use --warehouses N", "%d warehouses", f.warehouses)
	}
	if c.Loaders < 0 {
		return usagef("prepare tpcc", "use --loaders N", "%d loaders", c.Loaders)
	}
	db, d, err := f.open(ctx, env, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	p, start := newProgress(env.Stderr), time.Now()
	var rows int64
	c.Dialect, c.Flavor, c.Warehouses = d.Dialect(), flavor, f.warehouses
	c.Progress = func(done, total int64) {
		rows = total
		p.update(float64(done)/float64(total), "loading tpcc", fmt.Sprintf("%d of %d rows", done, total))
	}
	err = tpcc.Load(ctx, db, c)
	p.clear()
	if ctx.Err() != nil && err != nil {
		return &Error{
			Code: ExitInterrupted, Op: "prepare tpcc", Err: errors.New("interrupted"),
			Hint: "the database is half loaded; run: veildb bench tpcc cleanup --dsn …",
		}
	}
	if err != nil {
		return explainDB(err, d)
	}
	if env.JSON {
		return printJSON(env, map[string]any{
			"flavor": flavor, "warehouses": f.warehouses, "seed": c.Seed, "rows": rows, "seconds": time.Since(start).Seconds(),
		})
	}
	fmt.Fprintf(env.Stdout, "loaded %d rows, flavor %s, warehouses %d, in %.1f s\n", rows, flavor, f.warehouses, time.Since(start).Seconds())
	return nil
}

// mustHold is nil if all checks hold.
func mustHold(op string, checks []result.Check, hint string) error {
	n := 0
	for _, c := range checks {
		if !c.OK {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return &Error{Code: ExitCheck, Op: op, Err: fmt.Errorf("%d of %d checks do not hold", n, len(checks)), Hint: hint}
}

func newTPCCCheckCommand(env *Env) *cobra.Command {
	var f tpccFlags
	cmd := &cobra.Command{
		Use:     "check --dsn DSN",
		Example: "  veildb bench tpcc check --dsn sqlite:/tmp/t.db",
		Short:   "Check the consistency conditions 3.3.2.1 to 12",
		Long: `Check the consistency conditions 3.3.2.1 to 12 and the fixed table sizes.

Condition 11 holds until the first order is entered or delivered and is checked
only then; 10 and 12 do not hold for hammerdb's data and are left out there. The
whole database is read, and nothing else should run. Exit code 3: violated.

` + dsnHelp,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runTPCCCheck(cmd.Context(), env, f) },
	}
	f.addTo(cmd, 0)
	return cmd
}

func runTPCCCheck(ctx context.Context, env *Env, f tpccFlags) (err error) {
	db, d, err := f.open(ctx, env, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	info, err := f.inspect(ctx, db, d.Dialect())
	if err != nil {
		return err
	}
	checks, err := tpcc.Check(ctx, db, d.Dialect(), info)
	if err != nil {
		return explainDB(err, d)
	}
	if env.JSON {
		err = printJSON(env, map[string]any{"flavor": info.Flavor, "warehouses": info.Warehouses, "checks": checks})
	} else {
		err = tpcc.WriteChecks(env.Stdout, checks)
	}
	if err != nil {
		return err
	}
	return mustHold("check tpcc", checks, "the data were changed by something else than these transactions, or lost")
}

func newTPCCCleanupCommand(env *Env) *cobra.Command {
	f := dbOptions{mustExist: true}
	cmd := &cobra.Command{
		Use:   "cleanup --dsn DSN",
		Short: "Drop what prepare made, finished or not, and nothing else",
		Long: `Drop the tables and procedures that prepare made, finished or not, and nothing
else.

` + dsnHelp,
		Example: "  veildb bench tpcc cleanup --dsn sqlite:/tmp/t.db",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			d, err := f.parse()
			if err != nil {
				return err
			}
			db, err := f.open(cmd.Context(), env, d, dsn.Options{})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			if err := tpcc.Cleanup(cmd.Context(), db, d.Dialect()); err != nil {
				return explainDB(fmt.Errorf("clean up tpcc: %w", err), d)
			}
			return nil
		},
	}
	f.addFlags(cmd)
	return cmd
}
