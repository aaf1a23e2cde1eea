package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// childEnv makes the test binary do one step of another process; see TestMain.
const childEnv = "VEILDB_CONVERT_TEST_CHILD"

// TestMain serves as the processes that tests need beside themselves.
func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
		os.Exit(m.Run())
	case "convert", "kernel": // SOURCE TARGET DECRYPT MICROSECONDS-TO-LIVE NAMES
		os.Exit(childConvert(os.Args[1:]))
	case "hold": // FILE HOW, and tell when it is held
		os.Exit(childHold(os.Args[1], os.Args[2]))
	}
}

func child(t *testing.T, what string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), childEnv+"="+what)
	cmd.Stderr = os.Stderr
	return cmd
}

func childConvert(args []string) int {
	life, err := strconv.Atoi(args[3])
	if err != nil {
		return 2
	}
	time.AfterFunc(time.Duration(life)*time.Microsecond, func() { syscall.Kill(os.Getpid(), syscall.SIGKILL) })
	keys := newTestKeys(&testing.B{}, 1)
	job := Job{Source: args[0], Target: args[1], Decrypt: args[2] == "true", Keys: keys.open, Names: volume.Names(args[4])}
	if os.Getenv(childEnv) == "kernel" {
		kernelJob(&job, keys)
	}
	if _, err := job.Run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestKill kills the conversion in both directions, each time a little later,
// until it gets through: what there is meanwhile is never taken for complete,
// and in the end nothing is missing.
func TestKill(t *testing.T) {
	for _, c := range []struct {
		decrypt bool
		names   volume.Names
	}{{false, volume.NamesPlain}, {true, volume.NamesPlain}, {false, volume.NamesEncrypted}, {true, volume.NamesEncrypted}} {
		t.Run(fmt.Sprintf("decrypt=%v/names=%s", c.decrypt, c.names), func(t *testing.T) {
			decrypt := c.decrypt
			dir, keys := t.TempDir(), newTestKeys(t, 1)
			plain, source, target := filepath.Join(dir, "plain"), filepath.Join(dir, "plain"), filepath.Join(dir, "target")
			makeTree(t, plain)
			if decrypt {
				source = filepath.Join(dir, "lower")
				if _, err := (&Job{Source: plain, Target: source, Keys: keys.open, Names: c.names}).Run(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for kills := 0; ; kills++ {
				err := child(t, "convert", source, target, strconv.FormatBool(decrypt), strconv.Itoa(1000+kills*kills*500), string(c.names)).Run()
				if err == nil {
					t.Logf("killed %d times", kills)
					break
				}
				if status := exitStatus(err); !status.Signaled() || kills > 200 {
					t.Fatalf("after %d kills: %v", kills, err)
				}
				checkUnfinished(t, target, decrypt, keys)
			}
			to := side{root: target}
			if !decrypt {
				to = side{filepath.Join(target, "files"), keys, c.names}
				if _, err := os.Lstat(filepath.Join(target, ".veildb", journalName)); err == nil {
					t.Error("the journal is still there")
				}
			}
			compareTrees(t, side{root: plain}, to)
		})
	}
}

func exitStatus(err error) syscall.WaitStatus {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0
	}
	return exit.Sys().(syscall.WaitStatus)
}

// checkUnfinished fails if what a killed run left can be taken for a result
// that it is not.
func checkUnfinished(t *testing.T, target string, decrypt bool, keys *testKeys) {
	t.Helper()
	if decrypt {
		if _, err := os.Lstat(target); err == nil {
			// Killed after the last step.
			compareTrees(t, side{root: filepath.Join(filepath.Dir(target), "plain")}, side{root: target})
			if err := os.RemoveAll(target); err != nil { // begin anew
				t.Fatal(err)
			}
		}
		return
	}
	d, err := volume.OpenDir(target, keys.open, volume.DirOptions{})
	if err == nil {
		// Killed after the last step.
		defer d.Close()
		compareTrees(t, side{root: filepath.Join(filepath.Dir(target), "plain")}, side{d.Root().Name(), keys, d.Config().Names})
		if err := os.RemoveAll(target); err != nil { // begin anew
			t.Fatal(err)
		}
		return
	}
	if !errors.Is(err, volume.ErrConverting) && !errors.Is(err, volume.ErrNotVolume) && !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("open unfinished volume: %v", err)
	}
}

func childHold(path, how string) int {
	flags := os.O_RDWR
	if how == "read" {
		flags = os.O_RDONLY
	}
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return 1
	}
	switch how {
	case "fcntl":
		err = unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	case "flock":
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	case "cwd":
		err = errors.Join(f.Close(), os.Chdir(filepath.Dir(path)), os.WriteFile(path, fmt.Appendf(nil, "%d\n", os.Getpid()), 0o600))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("held")
	select {}
}

// TestSourceInUse has another process hold a file of the source in each way
// that servers do.
func TestSourceInUse(t *testing.T) {
	for _, c := range []struct {
		how, file string
		refused   bool
	}{
		{"read", "data", false},
		{"write", "data", true},
		{"fcntl", "data", true},
		{"flock", "data", true},
		{"cwd", "postmaster.pid", true},
		{"cwd", "host.pid", true},
	} {
		t.Run(c.how+" "+c.file, func(t *testing.T) {
			dir, keys := t.TempDir(), newTestKeys(t, 1)
			plain := filepath.Join(dir, "plain")
			if err := errors.Join(os.Mkdir(plain, 0o700), os.WriteFile(filepath.Join(plain, c.file), []byte("999999999\n"), 0o600)); err != nil {
				t.Fatal(err)
			}
			cmd := child(t, "hold", filepath.Join(plain, c.file), c.how)
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer cmd.Wait()
			defer cmd.Process.Kill()
			if n, err := out.Read(make([]byte, 10)); n == 0 {
				t.Fatal(err)
			}
			job := Job{Source: plain, Target: filepath.Join(dir, "lower"), Keys: keys.open}
			_, err = job.Run(t.Context())
			if errors.Is(err, ErrInUse) != c.refused {
				t.Errorf("error %v, refused %v wanted", err, c.refused)
			}
			if _, err := os.Lstat(job.Target); c.refused && err == nil {
				t.Error("a target was made all the same")
			}
		})
	}
}

// TestStalePIDFile leaves the pid file of a server that has ended, whose number
// another process has now: this one.
func TestStalePIDFile(t *testing.T) {
	dir, keys := t.TempDir(), newTestKeys(t, 1)
	plain := filepath.Join(dir, "plain")
	if err := errors.Join(os.Mkdir(plain, 0o700), os.WriteFile(filepath.Join(plain, "postmaster.pid"), fmt.Appendf(nil, "%d\n", os.Getpid()), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Job{Source: plain, Target: filepath.Join(dir, "lower"), Keys: keys.open}).Run(t.Context()); err != nil {
		t.Error(err)
	}
}
