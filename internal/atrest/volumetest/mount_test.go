package volumetest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A volumeDir is an encrypted volume and where it is mounted.
type volumeDir struct {
	dir   string // holds everything, beside the lower directory
	key   string
	lower string
	point string
	cache string // through or back

	mount *program // that serves it, or nil
}

// newVolume makes a volume, of which nothing is left when the test ends. Its
// lower directory is lower, or a new one if that is empty. options are those of
// volume init.
func newVolume(t testing.TB, lower, cache string, options ...string) *volumeDir {
	t.Helper()
	dir := tempDir(t)
	v := &volumeDir{dir: dir, key: filepath.Join(dir, "ring"), lower: lower, point: filepath.Join(dir, "mnt"), cache: cache}
	if lower == "" {
		v.lower = filepath.Join(dir, "lower")
	}
	if err := os.Mkdir(v.point, 0o755); err != nil {
		t.Fatal(err)
	}
	// Servers are started later, and so stopped earlier.
	t.Cleanup(func() {
		v.stop(t)
		unix.Unmount(v.point, unix.MNT_DETACH) // what a killed mount leaves
	})
	veildb(t, "key", "init", v.key, "--provider", "file:"+filepath.Join(dir, "root"))
	veildb(t, append([]string{"volume", "init", v.lower, "--key", v.key}, options...)...)
	return v
}

// mountVolume makes a volume and mounts it.
func mountVolume(t testing.TB, lower, cache string, options ...string) *volumeDir {
	t.Helper()
	v := newVolume(t, lower, cache, options...)
	v.start(t)
	// Servers run as a user of their own.
	if err := os.Chmod(v.point, 0o755); err != nil {
		t.Fatal(err)
	}
	return v
}

// start mounts v.
func (v *volumeDir) start(t testing.TB) {
	t.Helper()
	if err := v.tryStart(); err != nil {
		t.Fatalf("mount volume: %v", err)
	}
}

func (v *volumeDir) tryStart() error {
	if *control {
		return v.startControl()
	}
	p, err := startProgram("mounted on ", "volume", "mount", v.lower, v.point, "--key", v.key, "--cache", v.cache)
	if err != nil {
		return err
	}
	v.mount = p
	return nil
}

// startControl makes the mount point a directory of the lower file system.
func (v *volumeDir) startControl() error {
	files := filepath.Join(v.lower, "files")
	if err := os.Chmod(files, 0o755); err != nil {
		return err
	}
	p, err := startProgram("", "version")
	if err != nil {
		return err
	}
	v.mount = p
	return unix.Mount(files, v.point, "", unix.MS_BIND, "")
}

// stop unmounts v in order.
func (v *volumeDir) stop(t testing.TB) {
	t.Helper()
	m := v.mount
	v.mount = nil
	if m == nil || *control {
		return
	}
	for end := time.Now().Add(patience); ; {
		m.cmd.Process.Signal(unix.SIGTERM)
		select {
		case <-m.done:
			if m.err != nil {
				t.Errorf("the mount ended: %v; it said: %s", m.err, m.output())
			}
			return
		case <-time.After(time.Second):
		}
		if time.Now().After(end) {
			t.Errorf("the mount does not end; it said: %s", m.output())
			m.kill()
			unix.Unmount(v.point, unix.MNT_DETACH)
			return
		}
	}
}

// kill ends the program that serves v as a crash would.
func (v *volumeDir) kill() {
	v.mount.kill()
	v.mount = nil
	if *control {
		unix.Unmount(v.point, unix.MNT_DETACH)
	}
}

// tempDir is a directory on the lower file system that every user can reach.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(*baseDir, "veildb-volume-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// veildb runs a command that must succeed, and returns what it printed.
func veildb(t testing.TB, args ...string) string {
	t.Helper()
	out, err := tryVeildb(args...)
	if err != nil {
		t.Fatalf("veildb %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// tryVeildb runs a command; the error holds what it said.
func tryVeildb(args ...string) (string, error) {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), programEnv+"=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s%s", err, &stderr, tail(out))
	}
	return string(out), err
}

// run runs another program, which must succeed, and returns what it printed.
func run(t testing.TB, env []string, name string, args ...string) string {
	t.Helper()
	out, err := tryRun(env, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func tryRun(env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, tail(out))
	}
	return string(out), err
}

// tail is the end of a long output.
func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }

// A program is veildb, running.
type program struct {
	cmd  *exec.Cmd
	said *os.File // what it printed as errors
	done chan struct{}
	err  error // how it ended; set before done is closed
}

// startProgram runs veildb and waits for a line that begins with ready. It is
// killed when this process ends.
func startProgram(ready string, args ...string) (*program, error) {
	said, err := os.CreateTemp("", "veildb-said-")
	if err != nil {
		return nil, err
	}
	os.Remove(said.Name())
	p := &program{cmd: exec.Command(os.Args[0], args...), said: said, done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), programEnv+"=1")
	p.cmd.Stderr = said
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	started := make(chan error)
	go func() {
		// The signal of death comes when the thread that forked ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := p.cmd.Start(); err != nil {
			started <- err
			return
		}
		lines := bufio.NewScanner(out)
		if lines.Scan(); strings.HasPrefix(lines.Text(), ready) {
			started <- nil
		} else {
			p.cmd.Process.Kill()
			defer func() { started <- errors.Join(p.err, errors.New(p.output())) }()
		}
		for lines.Scan() {
		}
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("veildb %s: %w", strings.Join(args, " "), err)
	}
	return p, nil
}

// kill ends p at once.
func (p *program) kill() {
	p.cmd.Process.Kill()
	<-p.done
}

// output is what p printed as errors.
func (p *program) output() string {
	b := make([]byte, 4096)
	n, _ := p.said.ReadAt(b, 0)
	return string(b[:n])
}
