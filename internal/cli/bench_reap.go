package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/bench/target"
)

// newBenchReapCommand is "veildb bench reap", which studies start: it runs a
// program and waits for that and for every daemon it leaves behind, so that the
// processor time of all of them is accounted to this process.
func newBenchReapCommand(env *Env) *cobra.Command {
	var owner string
	cmd := &cobra.Command{
		Use:    "reap PROGRAM ARG...",
		Short:  "Run a program, and wait for its daemons too",
		Args:   cobra.MinimumNArgs(1),
		Hidden: true,
		RunE:   func(cmd *cobra.Command, args []string) error { return reap(cmd.Context(), env, args, owner) },
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVar(&owner, "owner", "", "run it as `UID:GID`")
	return cmd
}

func reap(ctx context.Context, env *Env, args []string, owner string) error {
	// Being told twice, once by a dying parent, must not end us before those
	// below: see Main.
	told := make(chan os.Signal, 1)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(told)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt daemons: %w", err)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = env.Stderr, env.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if owner != "" {
		u, g, _ := strings.Cut(owner, ":")
		uid, err1 := strconv.ParseUint(u, 10, 32)
		gid, err2 := strconv.ParseUint(g, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return usagef("run program", "write --owner UID:GID", "%w", err)
		}
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("run %s: %w", args[0], err)
	}
	defer context.AfterFunc(ctx, killBelow)()
	status := 0
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.ECHILD):
			if status != 0 {
				return fmt.Errorf("run %s: exit status %d", args[0], status)
			}
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("wait for %s: %w", args[0], err)
		case pid == cmd.Process.Pid && !ws.Exited():
			status = 128 + int(ws.Signal())
		case pid == cmd.Process.Pid:
			status = ws.ExitStatus()
		}
	}
}

// killBelow kills every process below this one, until none is left.
func killBelow() {
	for {
		tree := target.Tree(os.Getpid())
		if len(tree) < 2 {
			return
		}
		for _, pid := range tree[1:] {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
