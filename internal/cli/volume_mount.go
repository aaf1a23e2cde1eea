package cli

import (
	"github.com/spf13/cobra"
)

// Values of --cache.
const (
	cacheAuto    = "auto"
	cacheThrough = "through"
	cacheBack    = "back"
)

// mountOptions are the options of veildb volume mount.
type mountOptions struct {
	lower, mountpoint string

	key        string
	cache      string
	log        string
	background bool
	allowOther bool
	readOnly   bool
	noCipher   bool
	threads    int
	readyFD    int
}

func newVolumeMountCommand(env *Env) *cobra.Command {
	var o mountOptions
	cmd := &cobra.Command{
		Use:   "mount LOWER [MOUNTPOINT] [--key KEYFILE]",
		Short: "Mount an encrypted volume",
		Long: `Mount the encrypted volume LOWER on the directory MOUNTPOINT and serve it until
it is unmounted: by veildb volume umount, SIGTERM or Ctrl-C. While a program
uses it, it stays mounted and the command says who does.

Owners and modes of files count; whether others than the mounting user may use
the mount at all is up to --allow-other, which is the default for root. Users
other than root need fusermount3.

With --cache through, a write is in the volume before the program goes on: what
a server wrote outlives its own death and that of the mount. With --cache back,
what was not synced is lost when the mount is killed, as when power fails, and
the lower directory has all of it only after sync -f MOUNTPOINT or unmounting.
The default, auto, is back for a data directory of PostgreSQL, which syncs what it
relies on and is slow without, and through for all others; status tells.

A mount point whose server was killed is cleared away first.

A volume that the kernel encrypts is unlocked: the directory itself can be read,
and is mounted on MOUNTPOINT, too, if there is one. No process stays.`,
		Example: `  veildb volume mount /srv/db.enc /srv/db --key /etc/veildb/ring --background
  veildb volume umount /srv/db`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.lower = args[0]
			if len(args) > 1 {
				o.mountpoint = args[1]
			}
			return o.run(cmd, env)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.key, "key", "", "`KEYFILE`; "+keyEnv+" names it, too")
	f.StringVar(&o.cache, "cache", cacheAuto, "when writes reach the volume, `auto|through|back`: at once, or later")
	f.BoolVar(&o.background, "background", false, "return when the mount serves; it goes on in the background")
	f.StringVar(&o.log, "log", "", "append messages to `FILE`; else to standard error, in the background to LOWER/.veildb/mount.log")
	f.BoolVar(&o.allowOther, "allow-other", isRoot(), "let other users in, as owners and modes of files say")
	f.BoolVar(&o.readOnly, "read-only", false, "refuse every change")
	f.IntVar(&o.threads, "threads", 0, "serve with `N` threads (default: chosen by the number of CPUs)")
	f.BoolVar(&o.noCipher, "no-cipher", false, "LOWER is a plain directory and stays one: for measuring what a mount costs without encryption")
	f.IntVar(&o.readyFD, "ready-fd", 0, "say on this descriptor when the mount serves")
	f.MarkHidden("ready-fd")
	return cmd
}

func newVolumeUmountCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "umount MOUNTPOINT|LOWER",
		Short: "Unmount an encrypted volume",
		Long: `Unmount the encrypted volume that is mounted on MOUNTPOINT, and wait until its
server has ended. While a program uses it, it stays, and the command says who
does. A mount point whose server was killed is cleared away.

A volume that the kernel encrypts is locked: the kernel gives up its key and what
it has in memory of it.`,
		Example: `  veildb volume umount /srv/db`,
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runUmount(cmd.Context(), env, args[0]) },
	}
}
