package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// helperName is what mount(8) calls for lines of fstab with the type veildb.
const helperName = "mount.veildb"

// Args returns the arguments that the command line argv stands for: those of
// veildb volume mount-helper if the program was called as mount.veildb.
func Args(argv []string) []string {
	if len(argv) == 0 {
		return nil
	}
	if filepath.Base(argv[0]) == helperName {
		return append([]string{"volume", "mount-helper"}, argv[1:]...)
	}
	return argv[1:]
}

// A mountHelper holds the options that mount(8) gives to its helpers; see
// "External helpers" in its manual.
type mountHelper struct {
	options             []string
	sloppy, fake        bool
	noTable, verbose    bool // nothing here depends on them
	namespace, fullType string
}

func newVolumeMountHelperCommand(env *Env) *cobra.Command {
	var h mountHelper
	cmd := &cobra.Command{
		Use:   "mount-helper LOWER MOUNTPOINT [-sfnv] [-o OPTIONS]",
		Short: "Mount a volume as mount(8) asks for it",
		Long: `Mount a volume as mount(8) asks its helpers to. It is what the program does when
it is called as mount.veildb:

  ln -s /usr/bin/veildb /sbin/mount.veildb

Options of its own are key=KEYFILE, cache=auto|through|back, threads=N, log=FILE and
allow_other; those of every mount are taken if they change nothing, and ro.
Others are refused, unless mount was called with -s.`,
		Example: `  # in /etc/fstab
  /srv/db.enc  /srv/db  veildb  _netdev,key=/etc/veildb/ring  0 0`,
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			line, err := h.commandLine(args[0], args[1])
			if err != nil || h.fake {
				return err
			}
			mount := newVolumeMountCommand(env)
			mount.SilenceUsage, mount.SilenceErrors = true, true
			mount.SetArgs(line)
			return mount.ExecuteContext(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&h.options, "options", "o", nil, "`OPTIONS`, with commas between them")
	f.BoolVarP(&h.sloppy, "sloppy", "s", false, "take unknown options")
	f.BoolVarP(&h.fake, "fake", "f", false, "look at the options only")
	f.BoolVarP(&h.noTable, "no-mtab", "n", false, "write no table of mounts")
	f.BoolVarP(&h.verbose, "verbose", "v", false, "say more")
	f.StringVarP(&h.namespace, "namespace", "N", "", "mount in `NAMESPACE`")
	f.StringVarP(&h.fullType, "types", "t", "", "full `TYPE`")
	return cmd
}

// plainOptions are those of every mount that change nothing here. A volume is
// always mounted nosuid and nodev.
var plainOptions = []string{
	"defaults", "rw", "auto", "noauto", "user", "users", "nouser", "owner", "group", "_netdev", "nofail", "nosuid", "nodev",
	"exec", "async", "relatime", "loud", "silent",
}

// commandLine returns the arguments of veildb volume mount.
func (h *mountHelper) commandLine(lower, mountpoint string) ([]string, error) {
	if h.namespace != "" {
		return nil, usagef(opMount, "enter the namespace first: nsenter --mount="+h.namespace+" mount …", "-N is not supported")
	}
	line := []string{lower, mountpoint, "--background"}
	for o := range strings.SplitSeq(strings.Join(h.options, ","), ",") {
		name, value, valued := strings.Cut(o, "=")
		switch {
		case o == "ro":
			line = append(line, "--read-only")
		case o == "allow_other":
			line = append(line, "--allow-other")
		case valued && slices.Contains([]string{"key", "cache", "threads", "log"}, name):
			line = append(line, "--"+name+"="+value)
		case o == "", slices.Contains(plainOptions, o), strings.HasPrefix(o, "x-"), strings.HasPrefix(o, "comment="), h.sloppy:
		default:
			return nil, usagef(opMount, "see: veildb volume mount-helper --help", "unknown option %q", o)
		}
	}
	return line, nil
}
