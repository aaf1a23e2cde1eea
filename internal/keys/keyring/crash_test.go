package keyring_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/disk"
	"github.com/veildb/veildb/internal/disk/diskfaulttest"
	"github.com/veildb/veildb/internal/keys/keyring"
)

// The long run of the kill loop is
//
//	go test ./internal/keys/keyring -run TestKill -kill-steps 1000
var killSteps = flag.Int("kill-steps", 60, "how many times TestKill kills a process that changes a key file")

const killEnv = "KEYRING_TEST_KILL" // "PATH\nCHANGE\nSTEP" makes this process the victim

// changes of a key file, by name. Other root keys lie beside it as root0, root1.
var changes = map[string]func(context.Context, *keyring.Ring) error{
	"rotate":     func(ctx context.Context, r *keyring.Ring) error { return r.Rotate(ctx) },
	"rotate dek": func(ctx context.Context, r *keyring.Ring) error { return r.RotateDEK(ctx) },
	"rewrap": func(ctx context.Context, r *keyring.Ring) error {
		for _, name := range []string{"root0", "root1"} {
			if uri := "file:" + filepath.Join(filepath.Dir(r.Path()), name); uri != r.Status().Provider {
				p, err := byURI(ctx, uri)
				if err != nil {
					return err
				}
				return r.Rewrap(ctx, p, true)
			}
		}
		return nil
	},
}

func TestMain(m *testing.M) {
	if job := os.Getenv(killEnv); job != "" {
		if err := victim(strings.Split(job, "\n")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// victim changes a key file and kills itself just before the given operation;
// of a write, after half of it.
func victim(job []string) error {
	path, change := job[0], changes[job[1]]
	last, err := strconv.Atoi(job[2])
	if err != nil {
		return err
	}
	step := 0
	opts := options
	opts.FS = &diskfaulttest.FS{Base: disk.OS, Before: func(op diskfaulttest.Op) (int, error) {
		if step++; step <= last {
			return 0, nil
		}
		if op.Kind == "write" {
			f, err := os.OpenFile(op.Path, os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteAt(op.Data[:len(op.Data)/2], op.Off)
			}
			if err != nil {
				return 0, err
			}
		}
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}}
	ctx := context.Background()
	r, err := keyring.Open(ctx, path, opts)
	if err != nil {
		return err
	}
	return change(ctx, r)
}

// kill runs a victim and reports whether it was killed, or had ended before.
func kill(t *testing.T, path, change string, step int) (killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killEnv+"="+strings.Join([]string{path, change, strconv.Itoa(step)}, "\n"))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false
	case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
		return true
	}
	t.Fatalf("%s, killed at step %d: %v\n%s", change, step, err, out)
	return false
}

// TestKill kills at every step of every change, then at random ones, all of one
// key file: each time the old generation or the new one opens, and every data
// key ever seen is there.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	path, record := filepath.Join(dir, "ring"), filepath.Join(t.TempDir(), "generation")
	newRoot(t, dir, "root1")
	r, err := keyring.Init(t.Context(), path, newRoot(t, dir, "root0"), keyring.InitOptions{Record: record}, options)
	if err != nil {
		t.Fatal(err)
	}
	seen := []string{dek(t, r, 1)}
	generation := r.Generation()
	r.Close()

	olds, news, total := 0, 0, 0
	check := func(what string) {
		t.Helper()
		total++
		r, err := keyring.Open(t.Context(), path, options)
		if err != nil {
			t.Fatalf("%s: neither old nor new opens: %v", what, err)
		}
		defer r.Close()
		switch g := r.Generation(); g {
		case generation:
			olds++
		case generation + 1:
			generation = g
			news++
		default:
			t.Fatalf("%s: generation %d after %d", what, g, generation)
		}
		for v, want := range seen {
			if dek(t, r, uint32(v+1)) != want {
				t.Fatalf("%s: data key %d changed", what, v+1)
			}
		}
		for v := len(seen) + 1; v <= int(r.Current()); v++ {
			seen = append(seen, dek(t, r, uint32(v)))
		}
	}
	for change := range changes {
		step := 0
		for ; kill(t, path, change, step); step++ {
			check(fmt.Sprintf("%s killed at step %d", change, step))
		}
		check(change + " done")
		if step < 18 {
			t.Errorf("%s has only %d steps; expected three files, each in open, write, sync, close, rename, sync-dir", change, step)
		}
	}
	names := []string{"rotate", "rotate dek", "rewrap"}
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 0))
	for total < *killSteps {
		change, step := names[rnd.IntN(len(names))], rnd.IntN(20)
		kill(t, path, change, step)
		check(fmt.Sprintf("seed %d: %s killed at step %d", seed, change, step))
	}
	if olds == 0 || news == 0 {
		t.Errorf("%d old and %d new generations in %d kills; want both", olds, news, total)
	}
	t.Logf("%d kills: %d left the old generation, %d the new one; %d data keys, all there", total, olds, news, len(seen))
}

// TestFaults fails every operation of every change in turn, as a full or broken
// disk would: the ring works on, and what is on disk opens.
func TestFaults(t *testing.T) {
	boom := fmt.Errorf("write: %w", syscall.ENOSPC)
	for name, change := range changes {
		for step := 0; ; step++ {
			dir := t.TempDir()
			path, record := filepath.Join(dir, "ring"), filepath.Join(dir, "generation")
			newRoot(t, dir, "root1")
			seen, failed := 0, ""
			opts := options
			broken := false
			opts.FS = &diskfaulttest.FS{Base: disk.OS, Before: func(op diskfaulttest.Op) (int, error) {
				if seen++; !broken || seen-1 != step {
					return 0, nil
				}
				failed = op.String()
				return len(op.Data) / 2, boom
			}}
			r, err := keyring.Init(t.Context(), path, newRoot(t, dir, "root0"), keyring.InitOptions{Record: record}, opts)
			if err != nil {
				t.Fatal(err)
			}
			first := dek(t, r, 1)
			broken, seen = true, 0
			err = change(t.Context(), r)
			broken = false
			if failed == "" {
				if err != nil || step < 18 {
					t.Fatalf("%s: %v after %d steps", name, err, step)
				}
				r.Close()
				break
			}
			if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%s, failed %s: error %v", name, failed, err)
			}
			again := openRing(t, path, options)
			if dek(t, again, 1) != first || dek(t, r, 1) != first {
				t.Errorf("%s, failed %s: data key 1 changed", name, failed)
			}
			// There is space again: the same process goes on.
			if err := change(t.Context(), r); err != nil {
				t.Errorf("%s, failed %s: the next try: %v", name, failed, err)
			}
			if cur := r.Current(); dek(t, openRing(t, path, options), cur) != dek(t, r, cur) {
				t.Errorf("%s, failed %s: data key %d differs after the next try", name, failed, cur)
			}
			r.Close()
		}
	}
}

// TestInitFaults fails every operation of Init: no half key file, and after the
// left-overs are gone Init works.
func TestInitFaults(t *testing.T) {
	boom := errors.New("boom")
	for step := 0; ; step++ {
		dir := t.TempDir()
		path := filepath.Join(dir, "ring")
		seen, failed := 0, ""
		opts := options
		opts.FS = &diskfaulttest.FS{Base: disk.OS, Before: func(op diskfaulttest.Op) (int, error) {
			if seen++; seen-1 != step {
				return 0, nil
			}
			failed = op.Kind
			return len(op.Data) / 2, boom
		}}
		r, err := keyring.Init(t.Context(), path, newRoot(t, dir, "root"), keyring.InitOptions{}, opts)
		if failed == "" {
			if err != nil || step < 6 {
				t.Fatalf("%v after %d steps", err, step)
			}
			r.Close()
			return
		}
		if !errors.Is(err, boom) || r != nil {
			t.Errorf("failed %s: %v, %v", failed, r, err)
		}
		if _, err := os.Stat(path); err == nil {
			openRing(t, path, options) // the rename had happened: it must be whole
		}
	}
}
