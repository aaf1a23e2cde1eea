//go:build linux

package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReadOnlySnapshot has a volume on a file system that cannot be changed:
// what only reads works, and what changes says so.
func TestReadOnlySnapshot(t *testing.T) {
	dir, veildb := newMount(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(os.WriteFile(at("mnt/f"), []byte("content"), 0o600), veildb("volume", "umount", "mnt"),
		os.WriteFile(at("lower/files/empty"), nil, 0o600), os.Remove(at("lower/.veildb/mount.log")))
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(at("lower"), at("lower"), "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(at("lower"), unix.MNT_DETACH)
	if err := unix.Mount("", at("lower"), "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"volume", "audit", "lower", "--write", "manifest"}, {"volume", "audit", "lower", "--verify", "manifest"},
		{"volume", "check", "lower", "--read"}, {"volume", "convert", "--in", "lower", "--out", "plain", "--decrypt"},
		{"volume", "mount", "lower", "mnt", "--read-only", "--background"},
	} {
		if err := veildb(args...); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"plain", "mnt"} {
		b, err := os.ReadFile(at(name + "/f"))
		empty, eerr := os.ReadFile(at(name + "/empty"))
		if string(b) != "content" || len(empty) > 0 || errors.Join(err, eerr) != nil {
			t.Errorf("%s: %q and %q, %v, %v", name, b, empty, err, eerr)
		}
	}
	if err := veildb("volume", "audit", "lower", "--verify", "manifest"); exitCodeOf(err) != ExitBusy {
		t.Errorf("beside the mount: %v; want exit code %d", err, ExitBusy)
	}
	if s, err := new(statusOptions).gather(t.Context(), at("lower")); err != nil || s.Mount == nil || !s.Mount.ReadOnly || s.Mount.MountPoint != at("mnt") {
		t.Errorf("status of a mount that cannot be asked: %+v, %v", s, err)
	}
	if err := veildb("volume", "umount", "mnt"); err != nil {
		t.Error(err)
	}
	if s, err := new(statusOptions).gather(t.Context(), at("lower")); err != nil || s.Mount != nil {
		t.Errorf("status without a mount: %+v, %v", s, err)
	}
	for _, args := range [][]string{{"volume", "mount", "lower", "mnt", "--background"}, {"volume", "rekey", "lower"}} {
		if err := veildb(args...); exitCodeOf(err) != ExitMissing {
			t.Errorf("%q: %v; want exit code %d", args, err, ExitMissing)
		}
	}
}

// TestIsAlive has a process end that nobody has waited for yet.
func TestIsAlive(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if pid := cmd.Process.Pid; !isAlive(pid) || !isAlive(os.Getpid()) || isAlive(0) {
		t.Error("a process that runs does not count, or none does")
	}
	in.Close()
	// Only notice that it has ended: it stays as it is until Wait.
	if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if isAlive(cmd.Process.Pid) {
		t.Error("a process that has ended counts")
	}
	if err := cmd.Wait(); err != nil || isAlive(cmd.Process.Pid) {
		t.Errorf("a process that is gone counts; %v", err)
	}
}
