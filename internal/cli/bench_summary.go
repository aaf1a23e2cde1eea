package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/bench/report"
	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/stat"
	"github.com/veildb/veildb/internal/bench/summary"
)

// errFailOver is that a row costs more than --fail-over allows, or may.
var errFailOver = errors.New("comparison did not hold")

// summaryFormats are the values of --format, in help order.
var summaryFormats = []string{"text", "json", "csv", "html", "markdown", "brief"}

type benchSummaryOptions struct {
	format   string
	failOver float64
	judge    bool // --fail-over was given
}

func newBenchSummaryCommand(env *Env) *cobra.Command {
	var opts benchSummaryOptions
	cmd := &cobra.Command{
		Use:   "summary DIR",
		Short: "Sum up a run, finished or not",
		Long: `Reads DIR/run.jsonl and prints what it says: overhead of each variant with its
95 % interval, the A/A control, checks and warnings. An interrupted run is
summed up as far as it went, and marked as incomplete. The format brief is one
page for who decides.

With --fail-over PCT the command ends with exit code 3 if the cost of
protection is shown to exceed PCT percent of throughput: if for any row of the
variant tde or of a cols variant the lower end of the 95 % interval lies above
PCT. A row without an estimate has not been shown to hold and fails, too. The
summary is printed all the same.`,
		Example: `  veildb bench summary results
  veildb bench summary results --format csv > results.csv
  veildb bench summary results --fail-over 10`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("sum up run", "see: veildb bench summary --help", "want the directory of one run, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.judge = cmd.Flags().Changed("fail-over")
			if env.JSON && !cmd.Flags().Changed("format") {
				opts.format = "json"
			}
			return runBenchSummary(env, args[0], opts)
		},
	}
	cmd.Flags().StringVar(&opts.format, "format", "text", "print `"+strings.Join(summaryFormats, "|")+"`")
	cmd.Flags().Float64Var(&opts.failOver, "fail-over", 0, "exit with code 3 if protection costs more than `PCT` percent")
	return cmd
}

func runBenchSummary(env *Env, dir string, opts benchSummaryOptions) error {
	write, err := summaryWriter(opts.format)
	if err != nil {
		return err
	}
	if math.IsNaN(opts.failOver) {
		return usagef("sum up run", "give a number, such as --fail-over 5", "--fail-over is not a number")
	}
	run, err := readRun(dir)
	if err != nil {
		return err
	}
	s := summary.Summarise(run)
	if !s.Complete {
		fmt.Fprintln(env.Stderr, "veildb: warning: the run in "+dir+" is incomplete; these are not the results of the whole study")
	}
	if err := write(env.Stdout, s, run); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	if opts.judge {
		return failOver(s, opts.failOver)
	}
	return nil
}

// summaryWriter finds the function that writes a format.
func summaryWriter(format string) (func(io.Writer, *result.Summary, *result.Run) error, error) {
	switch format {
	case "text":
		return func(w io.Writer, s *result.Summary, _ *result.Run) error {
			return report.Text(w, s, terminalWidth(w), useColor(w))
		}, nil
	case "json":
		return func(w io.Writer, s *result.Summary, _ *result.Run) error { return report.JSON(w, s) }, nil
	case "csv":
		return func(w io.Writer, s *result.Summary, _ *result.Run) error { return report.CSV(w, s) }, nil
	case "html":
		return func(w io.Writer, s *result.Summary, run *result.Run) error {
			return report.HTML(w, s, report.RecordsOf(run))
		}, nil
	case "markdown", "md":
		return func(w io.Writer, s *result.Summary, _ *result.Run) error { return report.Markdown(w, s) }, nil
	case "brief":
		return func(w io.Writer, s *result.Summary, _ *result.Run) error { return report.Brief(w, s) }, nil
	}
	return nil, usagef("sum up run", "choose one of: "+strings.Join(summaryFormats, ", "), "unknown format %q", format)
}

// readRun reads the run in dir. Damage is told apart from a path that is
// simply not a run's.
func readRun(dir string) (*result.Run, error) {
	const hint = "name the directory that a run wrote, the one given with --out"
	switch fi, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("read run", hint, "no directory %s", dir)
	case err != nil:
		return nil, &Error{Code: ExitUsage, Op: "read run", Err: err, Hint: hint}
	case !fi.IsDir():
		return nil, usagef("read run", hint, "%s is not a directory", dir)
	}
	run, err := result.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("read run", hint, "no %s in %s", result.FileName, dir)
	case errors.Is(err, result.ErrNotRun), errors.Is(err, result.ErrCorrupt):
		return nil, &Error{Code: ExitDamaged, Err: err,
			Hint: "restore " + filepath.Join(dir, result.FileName) + " from a copy, or run the study again into another directory"}
	}
	return run, err
}

// failOver checks every row of the variants that protect data: tde and cols*.
func failOver(s *result.Summary, limit float64) error {
	var over, unknown []string
	judged := 0
	for _, r := range s.Rows {
		if r.Variant != "tde" && !strings.HasPrefix(r.Variant, "cols") {
			continue
		}
		judged++
		name := fmt.Sprintf("%s on %s (threads %d)", r.Variant, r.Workload, r.Threads)
		switch {
		case r.OverheadPct == nil || r.Verdict == stat.NotEnoughData:
			unknown = append(unknown, name)
		case r.OverheadPct.Lo > limit:
			over = append(over, fmt.Sprintf("%s costs at least %.1f %%", name, r.OverheadPct.Lo))
		}
	}
	e := &Error{Code: ExitCheck, Op: "compare with limit"}
	switch {
	case len(over) > 0:
		e.Err = fmt.Errorf("%w: more than %g %%: %s", errFailOver, limit, strings.Join(over, ", "))
		e.Hint = "see the summary for the intervals; --fail-over compares with their lower end"
	case len(unknown) > 0:
		e.Err = fmt.Errorf("%w: no estimate for %s", errFailOver, strings.Join(unknown, ", "))
		e.Hint = "finish the run, or measure longer, so that every comparison has an estimate"
	case judged == 0:
		e.Err = fmt.Errorf("%w: the run compares no variant tde or cols", errFailOver)
		e.Hint = "include one with --variants"
	default:
		return nil
	}
	return e
}
