package cli

import "github.com/spf13/cobra"

func newVolumeCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "volume",
		Short: "Encrypt data at rest",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, c := range []func(*Env) *cobra.Command{
		newVolumeInitCommand, newVolumeConvertCommand,
		newVolumeStatusCommand, newVolumeScanCommand, newVolumeAuditCommand, newVolumeCheckCommand, newVolumeRekeyCommand,
		newVolumeMountCommand, newVolumeUmountCommand,
	} {
		cmd.AddCommand(c(env))
	}
	return cmd
}
