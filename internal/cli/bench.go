package cli

import "github.com/spf13/cobra"

// newBenchCommand is "veildb bench": without a subcommand it runs a study.
func newBenchCommand(env *Env) *cobra.Command {
	cmd := newBenchRunCommand(env)
	cmd.Use = "bench [run] [STUDY]"
	for _, c := range []func(*Env) *cobra.Command{
		newBenchRunCommand, newBenchListCommand, newBenchSummaryCommand, newBenchCompareCommand, newBenchSysbenchCommand, newBenchTPCCCommand, newBenchRelayCommand, newBenchMountCommand, newBenchReapCommand,
	} {
		cmd.AddCommand(c(env))
	}
	return cmd
}
