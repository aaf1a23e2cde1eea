package cli

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/sysbench"
)

// benchSysbench holds the options of "veildb bench sysbench", under sysbench's
// names.
type benchSysbench struct {
	db dbOptions
	o  sysbench.Options

	events      uint64
	seconds     int
	forced      string
	rate        float64
	interval    int
	checkpoints []int
	percentile  int
	histogram   bool
	seed        uint64
}

func newBenchSysbenchCommand(env *Env) *cobra.Command {
	o := &benchSysbench{o: sysbench.Defaults()}
	cmd := &cobra.Command{
		Use:   "sysbench WORKLOAD prepare|run|prewarm|cleanup --dsn DSN",
		Short: "Run a workload of sysbench 1.0.20 on a database of yours",
		Long: `Runs one of sysbench's OLTP workloads, statement by statement as sysbench 1.0.20
sends them, with its options, its report, and data that follow from --rand-seed.

Workloads: ` + strings.Join(sysbench.Names(), ", ") + `

prepare creates sbtest1 to sbtestN and refuses if one is there; cleanup drops
those and nothing else. Option names may be written with - or _; switches take
on or off.

` + dsnHelp,
		Example: `  veildb bench sysbench oltp_read_write prepare --dsn mysql://root@/sbtest?socket=/run/x.sock --tables 4
  veildb bench sysbench oltp_read_write run --dsn mysql://root@/sbtest?socket=/run/x.sock --tables 4 --threads 8`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("run "+cmd.CommandPath(), "see: "+cmd.CommandPath()+" --help", "want a workload and a command, got %d arguments", len(args))
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var next []string
			switch len(args) {
			case 0:
				next = sysbench.Names()
			case 1:
				next = []string{"prepare", "run", "prewarm", "cleanup"}
			}
			return next, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args[0], args[1])
		},
	}
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		name = strings.ReplaceAll(name, "_", "-")
		if now, ok := sysbenchAliases[name]; ok {
			name = now
		}
		return pflag.NormalizedName(name)
	})
	o.db.addFlags(cmd)
	o.addGeneralFlags(cmd.Flags())
	o.addWorkloadFlags(cmd.Flags())
	o.addRandFlags(cmd.Flags())
	return cmd
}

// sysbenchAliases are the names sysbench 1.0.20 calls deprecated.
var sysbenchAliases = map[string]string{
	"tx-rate": "rate", "max-requests": "events", "max-time": "time", "num-threads": "threads",
}

func (o *benchSysbench) addGeneralFlags(f *pflag.FlagSet) {
	f.IntVar(&o.o.Threads, "threads", o.o.Threads, "`NUMBER` of connections at work; of tables made at once in prepare")
	f.Uint64Var(&o.events, "events", 0, "end after this `NUMBER` of events; 0: no limit")
	f.IntVar(&o.seconds, "time", 10, "end after so many `SECONDS`; 0: no limit")
	f.StringVar(&o.forced, "forced-shutdown", "off", "give up so many `SECONDS` after --time, or off")
	f.Float64Var(&o.rate, "rate", 0, "events a second, latency counted from when each was due; 0: as fast as they go")
	f.IntVar(&o.interval, "report-interval", 0, "report every so many `SECONDS`; 0: never")
	f.IntSliceVar(&o.checkpoints, "report-checkpoints", nil, "report in full after so many `SECONDS`, and count anew; a comma-separated list")
	f.IntVar(&o.percentile, "percentile", 95, "percentile of the latency in the text report, 1 to 100; 0: none")
	onOffVar(f, &o.histogram, "histogram", "print the latency histogram")
	f.StringVar(&o.o.PSMode, "db-ps-mode", o.o.PSMode, "`auto|disable`: prepare statements on the server, or send them as text")
	f.StringSliceVar(&o.o.IgnoreErrors, "mysql-ignore-errors", o.o.IgnoreErrors, "error `NUMBERS` that restart the event, or all")
	var validate bool
	onOffVar(f, &validate, "validate", "accepted; these workloads have nothing to validate")
	var verbosity int
	f.IntVar(&verbosity, "verbosity", 3, "accepted; errors are always told")
	f.MarkHidden("validate")
	f.MarkHidden("verbosity")
}

func (o *benchSysbench) addWorkloadFlags(f *pflag.FlagSet) {
	for _, n := range []struct {
		to    *int
		name  string
		usage string
	}{
		{&o.o.Tables, "tables", "`NUMBER` of tables"},
		{&o.o.TableSize, "table-size", "rows in each table"},
		{&o.o.RangeSize, "range-size", "ids in each range"},
		{&o.o.PointSelects, "point-selects", "point selects in an event"},
		{&o.o.SimpleRanges, "simple-ranges", "range selects in an event"},
		{&o.o.SumRanges, "sum-ranges", "range sums in an event"},
		{&o.o.OrderRanges, "order-ranges", "ordered range selects in an event"},
		{&o.o.DistinctRanges, "distinct-ranges", "distinct range selects in an event"},
		{&o.o.IndexUpdates, "index-updates", "updates of the indexed column in an event"},
		{&o.o.NonIndexUpdates, "non-index-updates", "updates of another column in an event"},
		{&o.o.DeleteInserts, "delete-inserts", "pairs of delete and insert in an event"},
		{&o.o.RandomPoints, "random-points", "select_random_points: values in its IN list"},
		{&o.o.NumberOfRanges, "number-of-ranges", "select_random_ranges: ranges in its condition"},
		{&o.o.Delta, "delta", "select_random_ranges: width of a range"},
	} {
		f.IntVar(n.to, n.name, *n.to, n.usage)
	}
	onOffVar(f, &o.o.RangeSelects, "range-selects", "all four kinds of range select")
	onOffVar(f, &o.o.SkipTrx, "skip-trx", "no BEGIN and COMMIT: each statement commits")
	onOffVar(f, &o.o.AutoInc, "auto-inc", "let the server give the ids")
	onOffVar(f, &o.o.Secondary, "secondary", "a plain index on id in place of the primary key")
	onOffVar(f, &o.o.CreateSecondary, "create-secondary", "an index on k")
	f.StringVar(&o.o.StorageEngine, "mysql-storage-engine", o.o.StorageEngine, "storage `ENGINE` of MySQL and MariaDB")
	var variant string
	f.StringVar(&variant, "pgsql-variant", "", "accepted; it has no effect in sysbench 1.0.20 either")
	f.MarkHidden("pgsql-variant")
}

func (o *benchSysbench) addRandFlags(f *pflag.FlagSet) {
	r := &o.o.Rand
	f.StringVar(&r.Type, "rand-type", r.Type, "distribution of ids, `"+strings.Join(sysbench.RandTypes, "|")+"`")
	f.IntVar(&r.SpecIter, "rand-spec-iter", r.SpecIter, "special, gaussian: numbers averaged")
	f.IntVar(&r.SpecPct, "rand-spec-pct", r.SpecPct, "special: width of the hot band, in percent")
	f.IntVar(&r.SpecRes, "rand-spec-res", r.SpecRes, "special: percent of the draws that fall in it")
	f.Float64Var(&r.ParetoH, "rand-pareto-h", r.ParetoH, "pareto: its parameter h")
	f.Uint64Var(&o.seed, "rand-seed", 0, "`NUMBER` that data and streams follow from; 0: from the time")
}

// onOff is a switch that is written as sysbench writes it.
type onOff struct{ to *bool }

func onOffVar(f *pflag.FlagSet, to *bool, name, usage string) {
	f.Var(onOff{to}, name, usage)
	f.Lookup(name).NoOptDefVal = "on"
}

func (v onOff) Type() string { return "on|off" }

func (v onOff) String() string {
	if v.to != nil && *v.to {
		return "on"
	}
	return "off"
}

func (v onOff) Set(s string) error {
	switch strings.ToLower(s) {
	case "on", "true", "1", "yes":
		*v.to = true
	case "off", "false", "0", "no":
		*v.to = false
	default:
		return fmt.Errorf("want on or off, not %q", s)
	}
	return nil
}

func (o *benchSysbench) run(ctx context.Context, env *Env, name, command string) error {
	steps := map[string]func(context.Context, *Env, *sysbench.Workload, *sql.DB) error{
		"prepare": o.prepare, "run": o.load, "prewarm": o.prewarm, "cleanup": o.cleanup,
	}
	step := steps[command]
	if step == nil {
		return usagef("run sysbench", "commands: prepare, run, prewarm, cleanup", "unknown command %q", command)
	}
	o.db.mustExist = command != "prepare"
	d, err := o.db.parse()
	if err != nil {
		return err
	}
	w, err := sysbench.New(name, o.o, d.Dialect())
	if err != nil {
		return fmt.Errorf("run sysbench: %w", err)
	}
	config, err := o.runConfig()
	if err == nil {
		err = config.Validate()
	}
	if err != nil {
		return fmt.Errorf("run sysbench: %w", err)
	}
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano())
	}
	db, err := o.db.open(ctx, env, d, dsn.Options{TextStatements: o.o.PSMode == "disable"})
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxIdleConns(o.o.Threads)
	err = step(ctx, env, w, db)
	if errors.Is(err, context.Canceled) {
		return &Error{Code: ExitInterrupted, Op: command + " " + name, Err: errors.New("interrupted"), Hint: interruptedHint[command]}
	}
	var limit *sysbench.PreparedLimitError
	if errors.As(err, &limit) {
		return &Error{Op: command + " " + name, Err: err, Hint: limit.Hint()}
	}
	if d.Dialect().IsUnknownTable(err) {
		return &Error{Code: ExitUsage, Op: command + " " + name, Err: err, Hint: "run prepare first, with the same --tables"}
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", command, name, explainDB(err, d))
	}
	return nil
}

// interruptedHint says what an interrupted command leaves behind.
var interruptedHint = map[string]string{
	"prepare": "some tables may be half filled: run cleanup with the same options, then prepare again",
	"run":     "the tables hold what was committed; run again when you like",
	"prewarm": "nothing was changed",
	"cleanup": "run cleanup again",
}

// notes is where the progress of a command is told: nowhere with --json.
func notes(env *Env) io.Writer {
	if env.JSON {
		return io.Discard
	}
	return env.Stdout
}

func (o *benchSysbench) prepare(ctx context.Context, env *Env, w *sysbench.Workload, db *sql.DB) error {
	out := notes(env)
	total := max(o.o.Tables*o.o.TableSize, 1)
	done := 0
	bar := newProgress(env.Stderr)
	err := w.Prepare(ctx, db, sysbench.PrepareConfig{Seed: o.seed, Threads: o.o.Threads, Progress: func(p sysbench.Progress) {
		if p.Step != sysbench.Filled {
			bar.clear()
			tellStep(out, p)
			return
		}
		done += p.Rows
		bar.update(float64(done)/float64(total), fmt.Sprintf("%d of %d rows", done, total), "")
	}})
	bar.clear()
	if err == nil && env.JSON {
		return json.NewEncoder(env.Stdout).Encode(map[string]any{"prepared": w.Name(), "seed": o.seed})
	}
	return err
}

// tellStep writes the line sysbench writes.
func tellStep(w io.Writer, p sysbench.Progress) {
	switch p.Step {
	case sysbench.Create:
		fmt.Fprintf(w, "Creating table 'sbtest%d'...\n", p.Table)
	case sysbench.Fill:
		fmt.Fprintf(w, "Inserting %d records into 'sbtest%d'\n", p.Rows, p.Table)
	case sysbench.Index:
		fmt.Fprintf(w, "Creating a secondary index on 'sbtest%d'...\n", p.Table)
	case sysbench.Prewarm:
		fmt.Fprintf(w, "Prewarming table sbtest%d\n", p.Table)
	case sysbench.Drop:
		fmt.Fprintf(w, "Dropping table 'sbtest%d'...\n", p.Table)
	}
}

func (o *benchSysbench) prewarm(ctx context.Context, env *Env, w *sysbench.Workload, db *sql.DB) error {
	out := notes(env)
	return w.Prewarm(ctx, db, o.o.Threads, func(p sysbench.Progress) { tellStep(out, p) })
}

func (o *benchSysbench) cleanup(ctx context.Context, env *Env, w *sysbench.Workload, db *sql.DB) error {
	out := notes(env)
	return w.Cleanup(ctx, db, func(p sysbench.Progress) { tellStep(out, p) })
}

// loadGCPercent is GOGC of a program that only loads a server: it keeps a few
// megabytes, which the default would have collected many times a second.
const loadGCPercent = 800

func (o *benchSysbench) load(ctx context.Context, env *Env, w *sysbench.Workload, db *sql.DB) error {
	c, err := o.runConfig()
	if err != nil {
		return err
	}
	out := notes(env)
	if !env.JSON {
		c.Out = out
	}
	o.tellOptions(out, w)
	c.Ready = func() { fmt.Fprintf(out, "Threads started!\n\n") }
	debug.SetGCPercent(loadGCPercent)
	r, err := w.Run(ctx, db, c)
	if r != nil && env.JSON {
		err = errors.Join(err, json.NewEncoder(env.Stdout).Encode(r))
	}
	return err
}

func (o *benchSysbench) runConfig() (sysbench.RunConfig, error) {
	c := sysbench.RunConfig{
		Seed: o.seed, Events: o.events, Time: time.Duration(o.seconds) * time.Second, Forced: -1, Rate: o.rate,
		ReportInterval: time.Duration(o.interval) * time.Second, Percentile: o.percentile, Histogram: o.histogram,
	}
	for _, at := range o.checkpoints {
		c.Checkpoints = append(c.Checkpoints, time.Duration(at)*time.Second)
	}
	if o.forced != "off" {
		n, err := strconv.Atoi(o.forced)
		if err != nil || n < 0 {
			return c, fmt.Errorf("%w: --forced-shutdown=%s: want seconds or off", sysbench.ErrOption, o.forced)
		}
		c.Forced = time.Duration(n) * time.Second
	}
	return c, nil
}

// tellOptions writes the head of the report, line for line where sysbench has
// the line.
func (o *benchSysbench) tellOptions(w io.Writer, load *sysbench.Workload) {
	fmt.Fprintf(w, "veildb %s: %s of sysbench 1.0.20\n\nRunning with these options:\n", version, load.Name())
	fmt.Fprintf(w, "Number of threads: %d\n", o.o.Threads)
	if o.rate > 0 {
		fmt.Fprintf(w, "Target transaction rate: %v/sec\n", o.rate)
	}
	if o.interval > 0 {
		fmt.Fprintf(w, "Report intermediate results every %d second(s)\n", o.interval)
	}
	if len(o.checkpoints) > 0 {
		list := strings.Trim(strings.ReplaceAll(fmt.Sprint(o.checkpoints), " ", ", "), "[]")
		fmt.Fprintf(w, "Report checkpoint(s) at %s seconds\n", list)
	}
	fmt.Fprintf(w, "Random numbers from seed %d\n\n", o.seed)
}
