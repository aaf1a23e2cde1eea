package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"github.com/veildb/veildb/internal/bench/study"
	"github.com/veildb/veildb/internal/bench/target"
)

// install gets the packages of a study's engine that are not there, with apt,
// which says on out what it does.
func install(ctx context.Context, out io.Writer, d *study.Definition) (err error) {
	_, err = target.Find(d.Engine, "")
	var missing *target.NotInstalledError
	if !errors.As(err, &missing) {
		return nil // there, or not to be had: checkEngine says which
	}
	op := "install " + d.Engine
	apt, err := exec.LookPath("apt-get")
	switch {
	case missing.Package == "":
		return &Error{Code: ExitMissing, Op: op, Err: errors.New("no package of Debian has it"), Hint: missing.Hint()}
	case err != nil:
		return &Error{Code: ExitMissing, Op: op, Err: errors.New("there is no apt-get here"),
			Hint: "install with this system's own means what Debian calls " + missing.Package}
	case os.Geteuid() != 0:
		return &Error{Code: ExitMissing, Op: op, Err: errors.New("only root may install packages"), Hint: missing.Hint()}
	}
	fmt.Fprintln(out, "installing", missing.Package, "(services that come with them are not started now)")
	allow, err := forbidServices()
	if err != nil {
		return &Error{Op: op, Err: err, Hint: missing.Hint()}
	}
	defer func() { err = errors.Join(err, allow()) }()
	for _, args := range [][]string{
		{"update", "-q"},
		append([]string{"install", "-y", "-q", "--no-install-recommends"}, strings.Fields(missing.Package)...),
	} {
		if err := runApt(ctx, out, apt, args); err != nil {
			return &Error{Code: ExitMissing, Op: op, Err: fmt.Errorf("run apt-get %s: %w", args[0], err), Hint: missing.Hint()}
		}
	}
	return nil
}

// runApt runs apt-get without questions. When ctx ends it is asked to end, as by
// Ctrl-C: killed, it would leave packages half installed.
func runApt(ctx context.Context, out io.Writer, apt string, args []string) error {
	cmd := exec.CommandContext(ctx, apt, append([]string{"-o", "DPkg::Lock::Timeout=120", "-o", "Dpkg::Use-Pty=0"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8")
	cmd.Stdout, cmd.Stderr = out, out
	return cmd.Run()
}

// servicePolicy is what Debian's packages ask before they start a service, by
// its exit code: 101 is no.
const servicePolicy = "/usr/sbin/policy-rc.d"

// forbidServices keeps packages from starting the services they bring, which
// would take ports, memory and time from what is measured, until allow is called
// or this process ends. A policy of the machine's own stays.
func forbidServices() (allow func() error, err error) {
	const mark = "# made by veildb bench --install; in force while that runs"
	if old, err := os.ReadFile(servicePolicy); err == nil && strings.Contains(string(old), mark) {
		if err := os.Remove(servicePolicy); err != nil { // of one that was killed
			return nil, fmt.Errorf("forbid services: %w", err)
		}
	}
	f, err := os.OpenFile(servicePolicy, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return func() error { return nil }, nil
	}
	if err == nil {
		_, err = fmt.Fprintf(f, "#!/bin/sh\n%s\nkill -0 %d 2>/dev/null && exit 101\nexit 0\n", mark, os.Getpid())
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("forbid services: %w", err)
	}
	return func() error { return os.Remove(servicePolicy) }, nil
}

// mounts reports whether a study mounts volumes.
func mounts(d *study.Definition) bool {
	if d.Engine == "sqlite" {
		return false
	}
	for _, v := range d.Arms() {
		if v == "tde" || v == "fuse" {
			return true
		}
	}
	return false
}

// checkMounts refuses a study whose mounts cannot be had here.
func checkMounts(d *study.Definition) error {
	if !mounts(d) {
		return nil
	}
	op := "run study " + d.Name
	if _, err := os.Stat("/dev/fuse"); err != nil {
		return &Error{Code: ExitMissing, Op: op, Err: fmt.Errorf("mount volumes: %w", err),
			Hint: "run: modprobe fuse; in a container, give it the device /dev/fuse; or leave out tde and fuse with --variants"}
	}
	if os.Geteuid() != 0 {
		return &Error{Code: ExitMissing, Op: op, Err: errors.New("mount volumes for servers: only root may"),
			Hint: "run it as root, or leave out tde and fuse with --variants"}
	}
	return nil
}
