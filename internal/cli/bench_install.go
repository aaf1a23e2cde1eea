package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/veildb/veildb/internal/bench/study"
	"github.com/veildb/veildb/internal/bench/target"
)

// install gets the packages of a study's engine that are not there, with apt,
// which says on out what it does.
func install(ctx context.Context, out io.Writer, d *study.Definition) error {
	_, err := target.Find(d.Engine, "")
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
	packages := strings.Fields(missing.Package)
	fmt.Fprintln(out, "installing", missing.Package)
	for _, args := range [][]string{{"update", "-q"}, append([]string{"install", "-y", "-q", "--no-install-recommends"}, packages...)} {
		cmd := exec.CommandContext(ctx, apt, args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Run(); err != nil {
			return &Error{Code: ExitMissing, Op: op, Err: fmt.Errorf("run apt-get %s: %w", args[0], err), Hint: missing.Hint()}
		}
	}
	return nil
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
