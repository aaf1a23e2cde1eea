package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// newBenchMountCommand is "veildb bench mount", which studies start: a mount of
// a volume that goes away with its parent. The server that uses the volume dies
// at the same moment but not at once, and a mount in use stays; so somebody has
// to ask again.
func newBenchMountCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:    "mount LOWER MOUNTPOINT [OPTION...]",
		Short:  "Keep a volume mounted until told to stop",
		Args:   cobra.MinimumNArgs(2),
		Hidden: true,
		// The options are those of volume mount.
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return holdMount(cmd.Context(), env, args)
		},
	}
}

// Waits of a mount that is to end: before it is asked again, and before its
// mount point is detached whoever uses it.
const (
	mountAgain  = 50 * time.Millisecond
	mountDetach = 20 * time.Second
)

func holdMount(ctx context.Context, env *Env, args []string) error {
	// A parent that is gone does not read what we print, and must not thereby
	// end us before the mount.
	signal.Ignore(syscall.SIGPIPE)
	// Nor may being told twice, once by a dying parent: see Main.
	told := make(chan os.Signal, 1)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(told)
	point := args[1]
	m, err := startChild(context.WithoutCancel(ctx), childSpec{
		args: append([]string{"volume", "mount"}, args...), log: filepath.Clean(point) + ".log",
		ready: "mounted on ", death: syscall.SIGTERM, grace: childStop,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "mounted on %s\n", m.address)
	select {
	case <-ctx.Done():
	case <-m.done:
		return fmt.Errorf("serve volume: the mount ended: %s", lastLine(m.spec.log))
	}
	for end := time.Now().Add(mountDetach); time.Now().Before(end); {
		syscall.Kill(m.pid, syscall.SIGTERM)
		select {
		case <-m.done:
			return nil
		case <-time.After(mountAgain):
		}
	}
	return errors.Join(unix.Unmount(point, unix.MNT_DETACH), m.stop())
}
