package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// A child is this program once more, serving at an address. It dies with us.
type child struct {
	pid     int
	address string        // that it said it listens on
	done    chan struct{} // closed when it has ended
}

// childStart and childStop bound how long a child takes to begin and to end.
const (
	childStart = 20 * time.Second
	childStop  = 5 * time.Second
)

// startChild runs "veildb args…" and waits for its line "listening on ADDRESS".
// What it prints as errors goes to the file log.
func startChild(ctx context.Context, log string, args ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own program: %w", err)
	}
	errs, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer errs.Close()
	cmd := exec.Command(self, args...)
	cmd.Args[0], cmd.Stderr = os.Args[0], errs
	// A group of its own, so that a terminal's Ctrl-C reaches us alone.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c := &child{done: make(chan struct{})}
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
			if a, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
				address <- a
				break
			}
		}
		cmd.Wait() // how it ends is told by its log
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	ctx, cancel := context.WithTimeout(ctx, childStart)
	defer cancel()
	select {
	case c.address = <-address:
		return c, nil
	case <-c.done:
		return nil, fmt.Errorf("start %s: it ended: %s", args[0], lastLine(log))
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("start %s: %w", args[0], ctx.Err()), c.stop())
	}
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
		case <-time.After(childStop):
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
