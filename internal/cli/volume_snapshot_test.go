//go:build linux

package cli

import (
	"errors"
	"os"
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
	if err := veildb("volume", "umount", "mnt"); err != nil {
		t.Error(err)
	}
	for _, args := range [][]string{{"volume", "mount", "lower", "mnt", "--background"}, {"volume", "rekey", "lower"}} {
		if err := veildb(args...); exitCodeOf(err) != ExitMissing {
			t.Errorf("%q: %v; want exit code %d", args, err, ExitMissing)
		}
	}
}
