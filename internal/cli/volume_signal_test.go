//go:build linux

package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// A fakeMount is in use for so many attempts to unmount it.
type fakeMount struct {
	busy, tried int
	done        chan struct{}
}

var errInUse = errors.New("in use")

func (m *fakeMount) Unmount() error {
	m.tried++
	if m.tried <= m.busy {
		return errInUse
	}
	close(m.done)
	return nil
}

func (m *fakeMount) Done() <-chan struct{} { return m.done }
func (m *fakeMount) Wait() error           { return nil }

// TestServeUntil has a mount be told to stop, before its own handling of
// signals is there and after.
func TestServeUntil(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	for name, c := range map[string]struct {
		stopped <-chan struct{}
		signals int
		busy    int
		failed  int
	}{
		"stopped before signals were noticed": {stopped: closed},
		"stopped, and told so once more":      {stopped: closed, signals: 1},
		"a signal":                            {signals: 1},
		"in use, then not":                    {signals: 2, busy: 1, failed: 1},
		"stopped in use, then a signal":       {stopped: closed, signals: 2, busy: 1, failed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := &fakeMount{busy: c.busy, done: make(chan struct{})}
			signals := make(chan os.Signal, 2)
			for range c.signals {
				signals <- unix.SIGTERM
			}
			failed := 0
			err := serveUntil(m, c.stopped, signals, func(err error) {
				if !errors.Is(err, errInUse) {
					t.Errorf("told %v", err)
				}
				failed++
			})
			if err != nil || failed != c.failed || m.tried != c.busy+1 {
				t.Errorf("%v, failed %d times, tried %d", err, failed, m.tried)
			}
		})
	}
}

// TestMountPlaces names places that would hide the volume or its key, and
// numbers of threads that no machine has.
func TestMountPlaces(t *testing.T) {
	dir := t.TempDir()
	run := veildbAt(t, dir)
	for _, args := range [][]string{{"key", "init", "ring", "--provider", "file:root.key"}, {"volume", "init", "over/v"}} {
		if args[0] == "volume" {
			if err := os.MkdirAll(dir+"/over/m", 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := run(args...); err != nil {
			t.Fatal(err)
		}
	}
	for name, args := range map[string][]string{
		"a file":                      {"over/v", "root.key"},
		"the volume":                  {"over/v", "over/v"},
		"in the volume":               {"over/v", "over/v/files"},
		"above the volume":            {"over/v", "over"},
		"above the volume and keys":   {"over/v", "."},
		"too many threads":            {"over/v", "over/m", "--threads", "1000000"},
		"fewer threads than none":     {"over/v", "over/m", "--threads", "-1"},
		"plain, above what it serves": {"over/m", "over", "--no-cipher"},
	} {
		t.Cleanup(func() { unix.Unmount(filepath.Join(dir, args[1]), unix.MNT_DETACH) })
		err := run(append([]string{"volume", "mount", "--background"}, args...)...)
		if exitCodeOf(err) != ExitUsage {
			t.Errorf("%s: %v; want exit code %d", name, err, ExitUsage)
		}
	}
}

// exitCodeOf returns the exit code of a command that veildbAt ran, or -1 if it
// did not end by itself.
func exitCodeOf(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

// TestSignalsToMounts ends real mounts by each signal: none leaves a dead mount
// behind. A mount in the background does not mind a hangup.
func TestSignalsToMounts(t *testing.T) {
	dir, veildb := newMount(t)
	lower, point := filepath.Join(dir, "lower"), filepath.Join(dir, "mnt")
	free := func(what string) {
		t.Helper()
		waitFor(t, "the volume to be free after "+what, func() bool {
			held, err := volume.IsHeld(lower)
			return !held && err == nil
		})
		if _, err := os.ReadDir(point); err != nil {
			t.Errorf("after %s: %v", what, err)
		}
	}
	pid := volume.ReadHolder(lower).PID
	if err := errors.Join(unix.Kill(pid, unix.SIGHUP), unix.Kill(pid, unix.SIGTERM)); err != nil {
		t.Fatal(err)
	}
	free("a hangup and SIGTERM")
	fi, err := os.Stat(filepath.Join(lower, ".veildb"))
	if err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("private directory: %v, %v", fi, err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, sig := range []unix.Signal{unix.SIGHUP, unix.SIGQUIT, unix.SIGINT, unix.SIGTERM} {
		cmd := exec.Command(exe, "volume", "mount", lower, point)
		cmd.Args[0], cmd.Dir, cmd.Env = "veildb", dir, append(os.Environ(), keyEnv+"=ring")
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatalf("%q, %v", line, err)
		}
		if fi, err := os.Stat(filepath.Join(lower, ".veildb", controlName)); err != nil || fi.Mode().Perm() != 0o600 {
			t.Errorf("control: %v, %v", fi, err)
		}
		if err := errors.Join(cmd.Process.Signal(sig), cmd.Wait()); err != nil {
			t.Errorf("%v: %v", sig, err)
		}
		free(sig.String())
	}
	if err := veildb("volume", "mount", "lower", "mnt", "--background"); err != nil {
		t.Error(err)
	}
	if err := veildb("volume", "umount", "mnt"); err != nil {
		t.Error(err)
	}
}

// TestUmountSilent is told, and does not wait for ever, when the server of a
// mount is stopped.
func TestUmountSilent(t *testing.T) {
	dir, veildb := newMount(t)
	lower, point := filepath.Join(dir, "lower"), filepath.Join(dir, "mnt")
	if err := os.WriteFile(filepath.Join(point, "new"), nil, 0o600); err != nil { // so that the kernel asks for the root's attributes
		t.Fatal(err)
	}
	pid := volume.ReadHolder(lower).PID
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer unix.Kill(pid, unix.SIGCONT)
	// Whoever waits for the server, nonetheless, is beyond a kill: end that.
	defer time.AfterFunc(time.Minute, func() { unix.Kill(pid, unix.SIGCONT) }).Stop()
	// A thread that does not know yet could take a request along: who asked would wait.
	waitFor(t, "all threads to stop", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, path := range threads {
			stat, err := os.ReadFile(path)
			if _, state, _ := strings.Cut(string(stat), ") "); err != nil || !strings.HasPrefix(state, stopped) {
				return false
			}
		}
		return err == nil && len(threads) > 0
	})
	for _, args := range [][]string{{"umount", "lower"}, {"status", "lower"}, {"rekey", "lower"}, {"status", "mnt"}} {
		err := veildb(append([]string{"volume"}, args...)...)
		if want := fmt.Sprintf("kill -CONT %d", pid); exitCodeOf(err) != ExitBusy || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want exit code %d, and %s", args, err, ExitBusy, want)
		}
	}
	if err := unix.Kill(pid, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	// What was asked meanwhile is being answered.
	waitFor(t, "the mount to go", func() bool { return veildb("volume", "umount", "mnt") == nil })
}

// TestBenchMountToldTwice has the mount of a study be told to end while it is in
// use, and once more, as a dying parent and its own end may: it stays until the
// mount is gone.
func TestBenchMountToldTwice(t *testing.T) {
	dir, veildb := newMount(t)
	if err := veildb("volume", "umount", "mnt"); err != nil {
		t.Fatal(err)
	}
	lower, point := filepath.Join(dir, "lower"), filepath.Join(dir, "mnt")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "bench", "mount", lower, point)
	cmd.Args[0], cmd.Dir, cmd.Env = "veildb", dir, append(os.Environ(), keyEnv+"=ring")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	use, err := os.Create(filepath.Join(point, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer use.Close()
	for times := 1; times <= 2; times++ {
		if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "the mount to refuse", func() bool {
			b, err := os.ReadFile(point + ".log")
			return err == nil && strings.Count(string(b), "still mounted") >= times
		})
	}
	use.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if held, err := volume.IsHeld(lower); held || err != nil {
		t.Errorf("held: %t, %v", held, err)
	}
}
