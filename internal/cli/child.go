package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A child is this program once more. It dies with us.
type child struct {
	spec    childSpec
	pid     int
	address string        // that it said it serves at
	done    chan struct{} // closed when it has ended
	err     error         // how it ended; set before done is closed
	cpu     time.Duration // that it and what it waited for has used, likewise
}

// A childSpec says what a child is to do.
type childSpec struct {
	args []string
	log  string // file for what it prints as errors
	// ready is what it prints before its address, at the start of a line;
	// "" if it serves nothing.
	ready string
	// death is the signal that it gets when we end without stopping it.
	death syscall.Signal
	grace time.Duration // that it has to end when asked to
}

// childStart bounds how long a child takes to be ready, childStop how long one
// takes to end that has nothing to tidy up.
const (
	childStart = time.Minute
	childStop  = 5 * time.Second
)

// serving is a child that listens at an address and has nothing to tidy up.
func serving(log string, args ...string) childSpec {
	return childSpec{args: args, log: log, ready: "listening on ", death: syscall.SIGKILL, grace: childStop}
}

// startChild runs "veildb args…" and waits for the line that says it is ready.
func startChild(ctx context.Context, spec childSpec) (*child, error) {
	c, address, err := spawnChild(spec)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, childStart)
	defer cancel()
	select {
	case c.address = <-address:
		return c, nil
	case <-c.done:
		return nil, fmt.Errorf("start %s: it ended: %s", spec.args[0], lastLine(spec.log))
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("start %s: %w", spec.args[0], ctx.Err()), c.stop())
	}
}

// reaping begins the command line of a child that runs other programs.
var reaping = []string{"bench", "reap"}

// runChild runs "veildb args…" to its end and returns the processor time it
// took. What it prints as errors goes to the file log.
func runChild(ctx context.Context, log string, args ...string) (time.Duration, error) {
	death := syscall.SIGKILL
	if slices.Equal(args[:2], reaping) { // it has others to take along
		death = syscall.SIGTERM
	}
	c, _, err := spawnChild(childSpec{args: args, log: log, death: death, grace: childStop})
	if err != nil {
		return 0, err
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		return 0, errors.Join(ctx.Err(), c.stop())
	}
	if c.err != nil {
		return 0, fmt.Errorf("run %s: %w: %s", strings.Join(args[:2], " "), c.err, lastLine(log))
	}
	return c.cpu, nil
}

// spawnChild starts a child; what it is ready at comes over the channel.
func spawnChild(spec childSpec) (*child, <-chan string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find own program: %w", err)
	}
	errs, err := os.OpenFile(spec.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open log: %w", err)
	}
	defer errs.Close()
	cmd := exec.Command(self, spec.args...)
	cmd.Args[0], cmd.Stderr = os.Args[0], errs
	// A group of its own, so that a terminal's Ctrl-C reaches us alone.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: spec.death}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	c := &child{spec: spec, done: make(chan struct{})}
	started, address := make(chan error, 1), make(chan string, 1)
	go func() {
		// The death signal comes when the thread that forked ends: this one
		// stays until the child is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(c.done)
		err := cmd.Start()
		if err == nil {
			c.pid = cmd.Process.Pid
		}
		started <- err
		if err != nil {
			return
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if a, ok := strings.CutPrefix(lines.Text(), spec.ready); ok && spec.ready != "" {
				address <- a
				break
			}
		}
		io.Copy(io.Discard, out)
		c.err = cmd.Wait()
		c.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}()
	if err := <-started; err != nil {
		return nil, nil, fmt.Errorf("start %s: %w", spec.args[0], err)
	}
	return c, address, nil
}

// stop asks the child to end, and kills it if it does not.
func (c *child) stop() error {
	if c == nil {
		return nil
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		select {
		case <-c.done: // its number may be another's by now
			return nil
		default:
			syscall.Kill(c.pid, sig)
		}
		select {
		case <-c.done:
			return nil
		case <-time.After(c.spec.grace):
		}
	}
	return fmt.Errorf("stop process %d: it does not end", c.pid)
}

// lastLine is the end of a log, for an error.
func lastLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return "no log"
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return lines[len(lines)-1]
}
