package convert

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/veildb/veildb/internal/atrest/fscrypt"
	"github.com/veildb/veildb/internal/atrest/fscrypt/fscrypttest"
)

// kernelJob makes job one whose target the kernel encrypts.
func kernelJob(job *Job, keys *testKeys) {
	var d *fscrypt.Dir
	job.Plain = true
	job.Prepare = func(dir string) (err error) {
		d, err = fscrypt.Open(dir, keys)
		return err
	}
	job.Finish = func(dir string) error { return d.Adopt(dir) }
}

// TestKernelKill converts into a directory that the kernel encrypts, killed each
// time a little later until it gets through; the file system is mounted anew in
// between, as after a loss of power, so that no key is there. Then back.
func TestKernelKill(t *testing.T) {
	fs := fscrypttest.New(t, 96)
	keys := newTestKeys(t, 1)
	plain, target := filepath.Join(t.TempDir(), "plain"), filepath.Join(fs.Dir, "db")
	makeTree(t, plain)
	kills := 0
	for ; ; kills++ {
		err := child(t, "kernel", plain, target, "false", strconv.Itoa(1000+kills*kills*500), "").Run()
		if err == nil {
			break
		}
		if status := exitStatus(err); !status.Signaled() || kills > 200 {
			t.Fatalf("after %d kills: %v", kills, err)
		}
		if _, err := os.Lstat(target); err == nil {
			break // killed after the last step
		}
		if kills%3 == 2 {
			fs.Unmount()
			fs.Mount()
		}
	}
	t.Logf("killed %d times", kills)
	if found := fs.Holds(canary, "plain words"); found != nil {
		t.Errorf("on the disk: %q", found)
	}
	d, err := fscrypt.Read(target)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Unlock(keys); err != nil {
		t.Fatal(err)
	}
	compareTrees(t, side{root: plain}, side{root: target})
	if _, problems, err := d.Check(t.Context()); err != nil || problems != nil {
		t.Errorf("check: %v, %v", problems, err)
	}

	back := filepath.Join(t.TempDir(), "back")
	if _, err := (&Job{Source: target, Target: back, Plain: true}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	compareTrees(t, side{root: plain}, side{root: back})
	if _, err := fscrypt.Read(back); !errors.Is(err, fscrypt.ErrNotEncrypted) {
		t.Errorf("the plain tree: %v", err)
	}
}

// TestKernelRefusals must leave nothing behind.
func TestKernelRefusals(t *testing.T) {
	fs := fscrypttest.New(t, 32)
	keys := newTestKeys(t, 1)
	plain := filepath.Join(t.TempDir(), "plain")
	makeTree(t, plain)
	f, err := os.OpenFile(filepath.Join(plain, "held"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	hold := child(t, "hold", f.Name(), "open")
	out, err := hold.StdoutPipe()
	if err == nil {
		err = hold.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	stop := func() { hold.Process.Kill(); hold.Wait() }
	defer stop()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	job := Job{Source: plain, Target: filepath.Join(fs.Dir, "db")}
	kernelJob(&job, keys)
	if _, err := job.Run(t.Context()); !errors.Is(err, ErrInUse) {
		t.Errorf("in use: %v", err)
	}
	stop()
	other := fscrypttest.New(t, 32, "-O", "^encrypt")
	job.Target = filepath.Join(other.Dir, "db")
	if _, err := job.Run(t.Context()); !errors.Is(err, fscrypt.ErrFeature) {
		t.Errorf("no feature: %v", err)
	}
	for _, dir := range []string{fs.Dir, other.Dir} {
		names, err := os.ReadDir(dir)
		if err != nil || len(names) != 1 || names[0].Name() != "lost+found" {
			t.Errorf("left over: %v, %v", names, err)
		}
	}
}
