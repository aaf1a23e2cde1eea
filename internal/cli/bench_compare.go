package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/bench/report"
	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/summary"
)

// newBenchCompareCommand is "veildb bench compare".
func newBenchCompareCommand(env *Env) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "compare DIR DIR...",
		Short: "Show several runs side by side",
		Long: `Reads the records of several runs, finished or not, and prints what each says of
every comparison: throughput lost with its 95 % interval. Where two runs'
intervals do not overlap the row is marked apart.`,
		Example: "  veildb bench compare before after --format html > compared.html",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("compare runs", "see: veildb bench compare --help", "want the directories of two runs or more, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if env.JSON && !cmd.Flags().Changed("format") {
				format = "json"
			}
			return runBenchCompare(env, args, format)
		},
	}
	formats := []string{"text", "json", "html"}
	cmd.Flags().StringVar(&format, "format", "text", "print `"+strings.Join(formats, "|")+"`")
	return cmd
}

func runBenchCompare(env *Env, dirs []string, format string) error {
	var names []string
	var runs []*result.Summary
	for _, dir := range dirs {
		run, err := readRun(dir)
		if err != nil {
			return err
		}
		names = append(names, filepath.Clean(dir))
		runs = append(runs, summary.Summarise(run))
	}
	c := report.Compare(names, runs)
	var err error
	switch format {
	case "text":
		err = c.Text(env.Stdout, terminalWidth(env.Stdout), useColor(env.Stdout))
	case "json":
		err = c.JSON(env.Stdout)
	case "html":
		err = c.HTML(env.Stdout)
	default:
		return usagef("compare runs", "choose one of: text, json, html", "unknown format %q", format)
	}
	if err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}
