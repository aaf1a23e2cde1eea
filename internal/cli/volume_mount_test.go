//go:build linux

package cli

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestNotifyManager(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	if err := notifyManager("READY=1"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	n, err := l.Read(b)
	if err != nil || string(b[:n]) != "READY=1" {
		t.Errorf("got %q, %v", b[:n], err)
	}
	t.Setenv("NOTIFY_SOCKET", "")
	if err := notifyManager("READY=1"); err != nil {
		t.Errorf("without a manager: %v", err)
	}
}

// TestMountHelper runs the script that docs/volume-mount.md gives for fstab, as
// mount(8) calls it.
func TestMountHelper(t *testing.T) {
	doc, err := os.ReadFile("../../docs/volume-mount.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(doc), "```\n#!/bin/sh\n")
	script, _, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatal("no script in the document")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(exe, filepath.Join(dir, "veildb")); err != nil { // see TestMain
		t.Fatal(err)
	}
	script = `set -e
veildb key init ring --provider file:root
veildb volume init db.enc --key ring
mkdir db
cat > mount.veildb <<'END'
` + script + `END
sh ./mount.veildb "$PWD/db.enc" "$PWD/db" -o "ro,_netdev,key=$PWD/ring"
trap 'veildb volume umount db' EXIT
mountpoint -q db
if touch db/new 2>/dev/null; then echo 'ro is not read-only'; exit 1; fi
`
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
