package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A process is one we started, or one found again from a State. Its start time
// tells it from a later process with the same number.
type process struct {
	pid   int
	start uint64        // clock ticks after boot, field 22 of /proc/PID/stat
	done  chan struct{} // closed when the process has ended
	err   error         // how it ended; set before done is closed
}

type deathSignal syscall.Signal

// defaultDeath is for programs with nothing to tidy up.
const defaultDeath = syscall.SIGKILL

// spawn starts cmd in a process group of its own, so that a terminal's Ctrl-C
// reaches us alone, as cred if that is not nil. Unless detached, the kernel
// sends it death when this program ends in any way.
func spawn(cmd *exec.Cmd, cred *syscall.Credential, death deathSignal, detached bool) (*process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	if detached {
		cmd.SysProcAttr.Setsid = true
	} else {
		cmd.SysProcAttr.Setpgid = true
		cmd.SysProcAttr.Pdeathsig = syscall.Signal(death)
	}
	p := &process{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The death signal is sent when the thread that forked ends, not the
		// program: this goroutine keeps its thread until the child is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		p.pid = cmd.Process.Pid
		st, err := readStat(p.pid)
		p.start = st.start
		started <- err
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		if p.pid != 0 { // running, but /proc is unreadable
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
		return nil, err
	}
	return p, nil
}

// find returns the running process with that number and start time, or nil. It
// is no child of ours: call watch before waiting for its end.
func find(pid int, start uint64) *process {
	p := &process{pid: pid, start: start, done: make(chan struct{})}
	if !p.alive() {
		return nil
	}
	return p
}

// watch closes done when the process has ended.
func (p *process) watch() {
	go func() {
		for p.alive() {
			time.Sleep(20 * time.Millisecond)
		}
		close(p.done)
	}()
}

func (p *process) alive() bool {
	st, err := readStat(p.pid)
	return err == nil && st.start == p.start && st.state != 'Z'
}

// signal sends sig to the process, never to another that took its number: the
// handle is opened first, then the start time compared, then the signal sent
// through the handle.
func (p *process) signal(sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return os.ErrProcessDone
	}
	if err != nil {
		return fmt.Errorf("open process %d: %w", p.pid, err)
	}
	defer unix.Close(fd)
	if !p.alive() {
		return os.ErrProcessDone
	}
	if err := unix.PidfdSendSignal(fd, sig, nil, 0); err != nil {
		if errors.Is(err, unix.ESRCH) {
			return os.ErrProcessDone
		}
		return fmt.Errorf("signal process %d: %w", p.pid, err)
	}
	return nil
}

// stop asks the process to end and waits; when ctx ends first it kills it.
func (p *process) stop(ctx context.Context, sig syscall.Signal) error {
	if err := p.signal(sig); errors.Is(err, os.ErrProcessDone) {
		return nil
	} else if err != nil {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		p.killTree()
		return fmt.Errorf("stop process %d: it had to be killed: %w", p.pid, ctx.Err())
	}
}

// killTree kills the process and all below it and waits for them to be gone.
func (p *process) killTree() {
	var tree []*process
	for _, pid := range treePIDs(p.pid) {
		if st, err := readStat(pid); err == nil {
			tree = append(tree, &process{pid: pid, start: st.start})
		}
	}
	p.signal(syscall.SIGKILL)
	<-p.done
	for _, c := range tree {
		for deadline := time.Now().Add(10 * time.Second); c.alive() && time.Now().Before(deadline); {
			c.signal(syscall.SIGKILL)
			time.Sleep(2 * time.Millisecond)
		}
	}
}

func (p *process) outcome() string {
	if p.err == nil {
		return "exit status 0"
	}
	return p.err.Error()
}
