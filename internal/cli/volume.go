package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newVolumeCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "volume",
		Short: "Encrypt data at rest",
		Long: `A volume is a directory, LOWER, whose files are encrypted one by one. Programs
use it through a mount, or in its place where the kernel encrypts. Make one with
init, or of existing data with convert; the key file comes from veildb key init.
See docs/volume.md, docs/volume-mount.md and docs/volume-kernel.md.`,
		Example: `  veildb key init /etc/veildb/ring --provider file:/root/veildb.root
  veildb volume convert --in /var/lib/mysql --out /srv/mysql.enc --key /etc/veildb/ring
  mv /var/lib/mysql /root/mysql.plain && mkdir /var/lib/mysql
  veildb volume mount /srv/mysql.enc /var/lib/mysql --key /etc/veildb/ring --background`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, c := range []func(*Env) *cobra.Command{
		newVolumeInitCommand, newVolumeConvertCommand,
		newVolumeStatusCommand, newVolumeScanCommand, newVolumeAuditCommand, newVolumeCheckCommand, newVolumeRekeyCommand,
		newVolumeMountCommand, newVolumeUmountCommand, newVolumeMountHelperCommand,
	} {
		cmd.AddCommand(c(env))
	}
	return cmd
}

// maxThrottle is the most that --throttle takes, in MB a second.
const maxThrottle = 1 << 30

// progress shows how far a command is, unless what it says is for programs.
func (e *Env) progress() *progress {
	if e.JSON {
		return newProgress(io.Discard)
	}
	return newProgress(e.Stderr)
}

// note says something that is no error; as JSON, since then all of Stderr is.
func (e *Env) note(text string) {
	if e.JSON {
		json.NewEncoder(e.Stderr).Encode(map[string]string{"note": text})
	} else {
		fmt.Fprintf(e.Stderr, "note: %s\n", text)
	}
}
