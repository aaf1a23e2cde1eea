package cli

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/run"
	"github.com/veildb/veildb/internal/bench/tpcc"
)

// tpccRunFlags are the options of "veildb bench tpcc run".
type tpccRunFlags struct {
	tpccFlags
	terminals    int
	time, warmup float64 // seconds
	rate         float64
	seed         uint64
	mix          string
	isolation    string
	batch        bool
	noProcedures bool
	keyingTime   bool
}

func newTPCCRunCommand(env *Env) *cobra.Command {
	var f tpccRunFlags
	cmd := &cobra.Command{
		Use:   "run --dsn DSN",
		Short: "Put load on a prepared database and report it",
		Long: `Put load on a prepared database and report it.

Without --rate each terminal starts its next transaction when the last one
ended. With it, transactions are due at random times at that rate, and latency
counts from when they were due.

On SQLite the writing transactions begin IMMEDIATE. On servers transactions are
serializable, except for hammerdb, which keeps the server's default.

` + dsnHelp,
		Example: `  veildb bench tpcc run --dsn sqlite:/tmp/t.db --terminals 4 --time 30
  veildb bench tpcc run --dsn mysql://root@/tpcc?socket=/run/x.sock --terminals 8 --time 60 --rate 100`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runTPCC(cmd.Context(), env, f) },
	}
	f.addTo(cmd, 0)
	fs := cmd.Flags()
	fs.IntVar(&f.terminals, "terminals", 1, "number of terminals, each with a connection")
	fs.Float64Var(&f.time, "time", 10, "length of the window in seconds")
	fs.Float64Var(&f.warmup, "warmup", 1, "load before the window, in seconds, that counts nowhere")
	fs.Float64Var(&f.rate, "rate", 0, "transactions due a second; 0: as fast as they go")
	fs.Uint64Var(&f.seed, "seed", 1, "equal seeds send equal transactions")
	fs.StringVar(&f.mix, "mix", "", "`WEIGHTS` of new_order,payment,order_status,delivery,stock_level (default: the flavor's)")
	fs.StringVar(&f.isolation, "isolation", "", "of transactions, `serializable|repeatable-read|read-committed` (default: the flavor's)")
	fs.BoolVar(&f.batch, "batch", false, "write all lines of an order in two statements, as with rewritten batches")
	fs.BoolVar(&f.noProcedures, "no-procedures", false, "send hammerdb's transactions statement by statement")
	fs.BoolVar(&f.keyingTime, "keying-time", false, "have spec's terminals key in and think, about 40 s a new order; measure minutes")
	return cmd
}

// parseMix reads five weights.
func parseMix(s string) (mix [5]int, err error) {
	if s == "" {
		return mix, nil
	}
	bad := usagef("read --mix", "write five weights: --mix 45,43,4,4,4", "%q is not a mix", s)
	words, sum := strings.Split(s, ","), 0
	if len(words) != len(mix) {
		return mix, bad
	}
	for i, w := range words {
		if mix[i], err = strconv.Atoi(strings.TrimSpace(w)); err != nil || mix[i] < 0 || mix[i] > 1_000_000 {
			return mix, bad
		}
		sum += mix[i]
	}
	if sum == 0 {
		return mix, bad
	}
	return mix, nil
}

func runTPCC(ctx context.Context, env *Env, f tpccRunFlags) (err error) {
	mix, err := parseMix(f.mix)
	if err != nil {
		return err
	}
	if !(f.time > 0 && f.time <= 1e6) || !(f.warmup >= 0 && f.warmup <= 1e6) || !run.ValidRate(f.rate) { // and so no NaN
		return usagef("run tpcc", fmt.Sprintf("--time must be above 0, --warmup not below, --rate 0 or %v to %v", run.MinRate, run.MaxRate), "bad time, warm-up or rate")
	}
	db, d, err := f.open(ctx, env, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	info, err := f.inspect(ctx, db, d.Dialect())
	if err != nil {
		return err
	}
	routines := info.Flavor == tpcc.HammerDB && d.Dialect() != dsn.SQLite && !f.noProcedures && !f.batch
	w, err := tpcc.New(tpcc.Config{
		Dialect: d.Dialect(), Flavor: info.Flavor, Warehouses: info.Warehouses, Terminals: f.terminals,
		Mix: mix, Isolation: f.isolation, Batch: f.batch,
		Routines: routines, KeyingTime: f.keyingTime,
	})
	if err != nil {
		return usagef("run tpcc", "see: veildb bench tpcc run --help", "%w", err)
	}
	r := &tpcc.Report{
		Flavor: info.Flavor, Warehouses: info.Warehouses, Terminals: f.terminals, Isolation: w.Isolation(),
		Batch: f.batch, Routines: routines, KeyingTime: f.keyingTime, Seed: f.seed, Rate: f.rate,
	}
	if r.Engine, r.Version, err = d.Dialect().ServerVersion(ctx, db); err != nil {
		return err
	}
	interrupted, err := measureTPCC(ctx, env, f, db, d, w, r)
	if err != nil && err != interruptedRun {
		err = fmt.Errorf("run tpcc: %w", explainDB(err, d))
	}
	if err != nil {
		return err
	}
	if env.JSON {
		err = printJSON(env, r)
	} else {
		err = r.WriteText(env.Stdout)
	}
	switch {
	case err != nil:
		return err
	case interrupted != nil:
		return interruptedRun
	}
	return mustHold("run tpcc", r.Checks, "nothing else may write to the database during a run")
}

var interruptedRun error = &Error{
	Code: ExitInterrupted, Op: "run tpcc", Err: errors.New("interrupted"),
	Hint: "the database is consistent; run again for a whole window",
}

// measureTPCC runs warm-up and window and fills r. The first error says that
// ctx ended the load early: r then holds what there is.
func measureTPCC(ctx context.Context, env *Env, f tpccRunFlags, db *sql.DB, d dsn.DSN, w *tpcc.Workload, r *tpcc.Report) (interrupted, err error) {
	counted := &tpcc.Counted{Workload: w}
	crew, err := run.OpenCrew(ctx, counted, db, f.terminals, f.seed)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closeErr := crew.Close(); err == nil {
			err = closeErr // else it follows from err
		}
	}()
	opened, err := readTPCC(ctx, db, d.Dialect())
	if err != nil {
		return nil, err
	}
	if f.warmup > 0 {
		start := time.Now()
		_, err := crew.Run(ctx, run.Window{Duration: seconds(f.warmup)})
		if ctx.Err() != nil {
			return nil, interruptedRun // nothing to report yet
		}
		if err != nil {
			return nil, err
		}
		r.WarmupS = time.Since(start).Seconds()
	}
	before, err := readTPCC(ctx, db, d.Dialect())
	if err != nil {
		return nil, err
	}
	p := newProgress(env.Stderr)
	res, err := crew.Run(ctx, run.Window{
		Duration: seconds(f.time), Rate: f.rate, Interval: time.Second / 2,
		OnInterval: func(i run.Interval) {
			p.update(i.At.Seconds()/f.time, "tpcc", fmt.Sprintf("%.1f tps", float64(i.Commits)/i.Length.Seconds()))
		},
	})
	p.clear()
	if ctx.Err() != nil {
		interrupted, err = ctx.Err(), nil
		ctx = context.WithoutCancel(ctx)
	}
	if err != nil {
		return nil, err
	}
	after, err := readTPCC(ctx, db, d.Dialect())
	if err != nil {
		return interrupted, err
	}
	var commits uint64
	for k := range counted.Kinds() {
		commits += counted.Commits(k)
	}
	r.Complete = interrupted == nil
	r.Fill(res, commits)
	if r.Flavor == tpcc.HammerDB {
		r.PerMinute(after.Orders-before.Orders, after.grown(before))
	}
	r.Checks = tpcc.CheckTotals(opened.Totals, after.Totals, counted.Commits(tpcc.NewOrder), counted.Commits(tpcc.Payment))
	return interrupted, nil
}

// tpccCounters is what the database and its server count.
type tpccCounters struct {
	tpcc.Totals
	server int64
	counts bool // the server counts transactions
}

func readTPCC(ctx context.Context, db *sql.DB, d dsn.Dialect) (c tpccCounters, err error) {
	if c.Totals, err = tpcc.ReadTotals(ctx, db); err == nil {
		c.server, c.counts, err = tpcc.ServerTransactions(ctx, db, d)
	}
	return c, err
}

// grown is the number of the server's transactions since before, nil if it
// does not count them.
func (c tpccCounters) grown(before tpccCounters) *int64 {
	if !c.counts {
		return nil
	}
	n := c.server - before.server
	return &n
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
