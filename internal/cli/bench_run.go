package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/bench/report"
	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/run"
	"github.com/veildb/veildb/internal/bench/study"
	"github.com/veildb/veildb/internal/bench/summary"
	"github.com/veildb/veildb/internal/inuse/cells"
)

// benchRun holds the options of "veildb bench run".
type benchRun struct {
	engine    string
	variants  []string
	workloads []string
	threads   []int
	quick     bool
	full      bool
	budget    time.Duration
	out       string
	named     bool // out was given
	seed      uint64
	keep      bool
	install   bool
	columns   string
	profile   string
	arms      []string // NAME=DSN
	passwords []string // NAME=FILE
	user      []userArm
	timed     bool   // --budget was given
	again     string // the command line of this run, without --out
}

func newBenchRunCommand(env *Env) *cobra.Command {
	o := &benchRun{}
	cmd := &cobra.Command{
		Use:   "run [STUDY]",
		Short: "Run a study: what encryption costs, side by side",
		Long: `Runs a study and reports it. STUDY is a name from "veildb bench list" or a YAML
file; without one it is "embedded", which needs nothing but this program.

Each variant is compared with the baseline in short alternating blocks, and so
is a second copy of the baseline, as a control. DIR/run.jsonl keeps the records
as they come, DIR/report.html is written at the end. A run that was interrupted
goes on when the same command is given again with the same --out.

With --arm the databases are yours, in servers that run already, the baseline
first. They must be empty; data is loaded for each comparison and dropped at the
end. Passwords come from --arm-password-file, from ` + passwordEnv + `_NAME or
` + passwordEnv + `, or are asked for.`,
		Example: `  veildb bench
  veildb bench --variants tde --workloads tpcc --budget 10m
  veildb bench run embedded --full --out results
  veildb bench run my-study.yaml
  veildb bench rds-tde --quick --arm plain=mysql://bench@db1/sb --arm tde=mysql://bench@db2/sb`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return study.Names(), cobra.ShellCompDirectiveDefault // or a YAML file
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "embedded"
			if len(args) == 1 {
				name = args[0]
			}
			for _, flag := range []string{"variants", "workloads", "out", "engine", "columns"} { // empty is not the default
				if f := cmd.Flags().Lookup(flag); f.Changed && (f.Value.String() == "" || f.Value.String() == "[]") {
					return usagef("run study", "leave it out for the default", "--%s names nothing", flag)
				}
			}
			o.timed = cmd.Flags().Changed("budget")
			o.again = "veildb bench run " + shellWord(name) + changedFlags(cmd, "out", "json", "install")
			return o.run(cmd.Context(), env, name)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.engine, "engine", "", "`ENGINE` to measure; the study's own by default")
	f.StringSliceVar(&o.variants, "variants", nil, "only these `VARIANTS`, comma-separated")
	f.StringSliceVar(&o.workloads, "workloads", nil, "only these `WORKLOADS`, comma-separated")
	f.IntSliceVar(&o.threads, "threads", nil, "terminals at once, a comma-separated `LIST`")
	f.BoolVar(&o.quick, "quick", false, "a shorter run of fewer comparisons and less data")
	f.BoolVar(&o.full, "full", false, "a long run, of the published sizes where there are such")
	f.DurationVar(&o.budget, "budget", 0, "`TIME` for the whole run, such as 10m or 2h, instead of that of the study or of --quick or --full")
	f.StringVar(&o.out, "out", "", "`DIR` for records and report (default veildb-STUDY-TIME, in /var/tmp if the servers' user may not pass this directory)")
	f.Uint64Var(&o.seed, "seed", 1, "`NUMBER` that data, streams and block orders come from")
	f.StringArrayVar(&o.arms, "arm", nil, "measure a database of yours, `NAME=DSN`; give two or more, the baseline first")
	f.StringArrayVar(&o.passwords, "arm-password-file", nil, "`NAME=FILE` whose first line is the password of that arm's server")
	f.StringVar(&o.columns, "columns", "", "add the variant cols: the columns listed in `FILE`, one table.column a line")
	f.StringVar(&o.profile, "cpuprofile", "", "write a processor profile of the run to `FILE`, for go tool pprof")
	f.BoolVar(&o.install, "install", false, "as root on Debian, install the engine's packages if they are not there")
	f.BoolVar(&o.keep, "keep-data", false, "keep the databases in DIR/data")
	return cmd
}

func (o *benchRun) run(ctx context.Context, env *Env, name string) (err error) {
	d, err := o.definition(name)
	if err != nil {
		return err
	}
	if o.user == nil {
		if o.install {
			err = install(ctx, env.Stderr, d)
		}
		if err == nil {
			err = checkEngine(d, o.columns != "")
		}
		if err == nil {
			err = checkMounts(d)
		}
	}
	if err != nil {
		return err
	}
	if err := o.place(d); err != nil {
		return err
	}
	lock, err := claimResults(o.out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.leave(lock)) }()
	switch complete, reported := outcome(o.out); {
	case complete && reported:
		return cannotResume(o.out, errComplete)
	case complete:
		return o.finish(env) // it was killed between its last record and its report
	}
	if o.user == nil { // servers of the user's have their own disks
		if err := o.announce(env.Stderr, d); err != nil {
			return err
		}
	}
	return o.explain(ctx, d, o.measure(ctx, env, d))
}

// explain adds to the error of a run how it goes on.
func (o *benchRun) explain(ctx context.Context, d *study.Definition, err error) error {
	on := "go on with: " + o.again + " --out " + shellWord(o.out)
	if err != nil && ctx.Err() != nil { // whatever form the interruption took in it
		return &Error{Code: ExitInterrupted, Op: "run study " + d.Name, Err: errors.New("interrupted; what was measured is kept"),
			Hint: on + "; or look at it with: veildb bench summary " + shellWord(o.out)}
	}
	err = explainSQLite(err, o.out)
	if _, hint := exitCode(err); err != nil && hint == "" && hasRecords(o.out) {
		return &Error{Err: err, Hint: "what was measured is kept; when the cause is gone, " + on}
	}
	return err
}

// definition finds the study and narrows it to what the options ask for.
func (o *benchRun) definition(name string) (*study.Definition, error) {
	d, err := findStudy(name)
	if err != nil {
		return nil, err
	}
	if o.user, err = parseArms(o.arms, o.passwords); err != nil {
		return nil, err
	}
	if o.user != nil && (o.engine != "" || o.columns != "" || o.variants != nil) {
		return nil, usagef("run study", "leave them out: the arms are what is compared", "--engine, --columns or --variants beside --arm")
	}
	if o.columns != "" {
		d.Variants = append(d.Variants, "cols")
	}
	budget := o.budget
	switch {
	case o.budget == 0 && o.timed:
		return nil, usagef("run study", "give a time such as 10m", "a budget of no time")
	case o.quick && o.full:
		return nil, usagef("run study", "give one of --quick and --full, with --budget for another time", "more than one size of run")
	case o.budget < 0:
		return nil, usagef("run study", "give a time such as 10m", "negative budget")
	case o.quick:
		budget = cmp.Or(o.budget, d.Budget.Quick)
		d, err = d.Scaled(d.Quick)
	case o.full:
		budget = cmp.Or(o.budget, d.Budget.Full)
		d, err = d.Scaled(d.Full)
	}
	if err != nil {
		return nil, err
	}
	if o.engine != "" {
		if err := knownEngine("run study "+d.Name, o.engine); err != nil {
			return nil, err
		}
	}
	if o.user != nil {
		d = onArms(d, o.user)
	}
	d, err = d.Narrow(study.Choice{
		Engine: o.engine, Variants: o.variants, Workloads: o.workloads, Threads: o.threads, Budget: budget,
	})
	if err != nil {
		return nil, err
	}
	return d, d.Runnable()
}

// findStudy reads the study of a name or of a YAML file.
func findStudy(name string) (*study.Definition, error) {
	if !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
		return study.Find(name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, &Error{Code: ExitUsage, Op: "read study", Err: err, Hint: "see: veildb bench list"}
	}
	d, err := study.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return d, nil
}

// measure runs the study in o.out, new or resumed, and reports it.
func (o *benchRun) measure(ctx context.Context, env *Env, d *study.Definition) (err error) {
	data := filepath.Join(o.out, dataName)
	var columns *cells.Set
	if o.columns != "" {
		if columns, err = userColumns(o.columns); err != nil {
			return err
		}
	}
	engine, err := o.open(ctx, env, d, data, columns)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	w, prior, err := o.records(ctx, d, engine)
	if err != nil {
		return err
	}
	stop, err := startProfile(o.profile)
	if err != nil {
		return errors.Join(err, w.Close())
	}
	bar := newProgress(env.Stderr)
	err = study.Run(ctx, study.Config{
		Definition: d, Engine: engine, Seed: o.seed, Prior: prior, Record: w.Write,
		Progress: func(p study.Progress) { bar.update(p.Fraction, p.Label, p.Detail) },
	})
	bar.clear()
	err = errors.Join(err, stop())
	if err == nil {
		err = w.Write(result.End{Type: result.TypeEnd, Finished: time.Now(), LoadAverage: run.LoadAverage()})
	}
	if err := errors.Join(err, w.Close()); err != nil {
		return fmt.Errorf("run study %s: %w", d.Name, err)
	}
	return o.finish(env)
}

// open opens the study's engine, or the user's databases.
func (o *benchRun) open(ctx context.Context, env *Env, d *study.Definition, data string, columns *cells.Set) (studyEngine, error) {
	if o.user != nil {
		return openUserEngine(ctx, env, o.user)
	}
	return openEngine(ctx, d, data, columns)
}

// finish removes the databases and reports the run.
func (o *benchRun) finish(env *Env) error {
	if !o.keep {
		if err := os.RemoveAll(filepath.Join(o.out, dataName)); err != nil {
			return fmt.Errorf("remove benchmark data: %w", err)
		}
	}
	return o.report(env)
}

// startProfile begins a processor profile; stop ends it and completes the file.
// Without a path both do nothing.
func startProfile(path string) (stop func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("write profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("write profile: %w", err), f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}

// records starts the run's records, or opens those of an interrupted run.
func (o *benchRun) records(ctx context.Context, d *study.Definition, engine study.Engine) (*result.Writer, []any, error) {
	h, err := o.header(ctx, d, engine)
	if err != nil {
		return nil, nil, err
	}
	w, err := result.Create(o.out, h)
	if !errors.Is(err, result.ErrExists) {
		return w, nil, err
	}
	w, old, err := result.Resume(o.out)
	if err != nil {
		return nil, nil, err
	}
	if err := resumable(old, h); err != nil {
		return nil, nil, errors.Join(cannotResume(o.out, err), w.Close())
	}
	return w, old.Records, nil
}

func (o *benchRun) header(ctx context.Context, d *study.Definition, engine study.Engine) (result.Header, error) {
	e := run.Environment()
	v, err := engine.Version(ctx)
	if err != nil {
		return result.Header{}, err
	}
	e.Version, e.Engines = version, map[string]string{d.Engine: v}
	if e.Filesystem, err = run.FilesystemOf(o.out); err != nil {
		return result.Header{}, err
	}
	config := d.Config()
	for _, a := range o.user { // what an arm is, is a setting: a run goes on only on the same
		config["arm "+a.name] = a.dsn.String()
	}
	if o.columns != "" {
		columns, err := userColumns(o.columns)
		if err != nil {
			return result.Header{}, err
		}
		config["columns"] = columns.Patterns()
	}
	return result.Header{
		Study: d.Name, Title: d.Title, Seed: o.seed, Started: time.Now(), Environment: e,
		Config: config, Cells: d.Cells(), Headline: d.HeadlineCells(), Tables: d.ResultTables(),
	}, nil
}

// report sums the records up, prints the table and writes the HTML page.
func (o *benchRun) report(env *Env) error {
	r, err := result.ReadDir(o.out)
	if err != nil {
		return err
	}
	s := summary.Summarise(r)
	path := filepath.Join(o.out, reportName)
	if err := report.WriteHTML(path, s, report.RecordsOf(r)); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if env.JSON {
		err = report.JSON(env.Stdout, s)
	} else {
		err = report.Text(env.Stdout, s, terminalWidth(env.Stdout), useColor(env.Stdout))
		if err == nil {
			_, err = fmt.Fprintf(env.Stdout, "\nReport: %s\n", path)
		}
	}
	if err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	if bad := failedChecks(s); bad > 0 {
		return &Error{Code: ExitCheck, Op: "run study " + s.Study,
			Err: fmt.Errorf("%d consistency checks did not hold", bad), Hint: "see the checks in the report"}
	}
	return nil
}

func failedChecks(s *result.Summary) int {
	n := 0
	for _, c := range s.Checks {
		if !c.OK {
			n++
		}
	}
	return n
}
