package cli

import "github.com/spf13/cobra"

// topCommands lists a constructor for each top-level command, in help order.
// Subcommands are joined by their parent's constructor.
func topCommands() []func(*Env) *cobra.Command {
	return []func(*Env) *cobra.Command{
		newBenchCommand,
		newGateCommand,
		newKeyCommand,
		newLabCommand,
		newSidecarCommand,
		newRuleCommand,
		newVolumeCommand,
		newVersionCommand,
		newExitCodesTopic,
	}
}
