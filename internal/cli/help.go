package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// addHelp has every usage text end with where the exit codes are, and the shell
// complete options whose help spells their values out, such as `off|on`.
func addHelp(root *cobra.Command) {
	root.SetUsageTemplate(root.UsageTemplate() + "\nExit codes: veildb help exit-codes\n")
	completeChoices(root)
}

func completeChoices(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if _, done := cmd.GetFlagCompletionFunc(f.Name); done {
			return
		}
		if values, _ := pflag.UnquoteUsage(f); strings.Contains(values, "|") {
			cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(strings.Split(values, "|"), cobra.ShellCompDirectiveNoFileComp))
		}
	})
	for _, c := range cmd.Commands() {
		completeChoices(c)
	}
}

// newExitCodesTopic is the help topic "exit-codes".
func newExitCodesTopic(*Env) *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What each exit code means",
		Long: `Scripts may decide on these codes; none is ever reused for another meaning.

    0   done
    1   unexpected failure
    2   usage or configuration
    3   a check or comparison did not hold (check, scan, audit, --fail-over)
    4   wrong key, missing key or key manager unreachable
    5   damaged or tampered data
    6   something needed is not installed or not permitted here
    7   busy: another process holds it
    8   access denied by policy
  130   interrupted, state kept and resumable

An error is one line, "veildb: verb noun: cause", then a line that says what to
do. With --json it is {"error":{"code":4,"message":"…","hint":"…"}} on standard
error.`,
	}
}
