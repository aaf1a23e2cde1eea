//go:build linux

package cli

import (
	"bytes"
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

func TestNoteHidden(t *testing.T) {
	for name, tt := range map[string]struct {
		entries []string
		noted   bool
	}{
		"empty":                 {nil, false},
		"of a new file system":  {[]string{"lost+found"}, false},
		"with plaintext":        {[]string{"ibdata1"}, true},
		"file system with data": {[]string{"lost+found", "ibdata1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, e := range tt.entries {
				if err := os.Mkdir(filepath.Join(dir, e), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			var stderr bytes.Buffer
			noteHidden(&Env{Stderr: &stderr}, dir)
			if noted := strings.HasPrefix(stderr.String(), "note: "+dir+" is not empty"); noted != tt.noted {
				t.Errorf("wrote %q", stderr.String())
			}
		})
	}
}

// TestMountHelper has mount(8) mount and unmount a line of fstab, as
// docs/volume-mount.md shows it.
func TestMountHelper(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root mounts by fstab")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"veildb", helperName} { // see TestMain
		if err := os.Symlink(exe, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	// mount(8) looks for helpers in directories that are compiled into it.
	script := `set -e
veildb key init ring --provider file:root
veildb volume init db.enc --key ring
mkdir db
mount.veildb "$PWD/db.enc" "$PWD/db" -n -v -o "rw,_netdev,key=$PWD/ring,nofail,x-systemd.requires=a"
mountpoint -q db
touch db/new
umount db
while ! mount.veildb "$PWD/db.enc" "$PWD/db" -o ro,key=$PWD/ring -o cache=back 2>err; do grep -q 'in use' err; done
test -f db/new
if touch db/more 2>/dev/null; then echo 'ro is not read-only'; exit 1; fi
veildb volume umount db
mount.veildb "$PWD/db.enc" "$PWD/db" -f -o "key=$PWD/ring"
mount.veildb "$PWD/db.enc" "$PWD/db" -f -s -o whatever
for o in whatever noexec key cache=sideways,key=$PWD/ring; do
  if mount.veildb "$PWD/db.enc" "$PWD/db" -o $o 2>err; then echo "$o is taken"; exit 1; fi
done
if mountpoint -q db; then echo 'it is mounted'; exit 1; fi
`
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		exec.Command("umount", filepath.Join(dir, "db")).Run()
		t.Errorf("%v\n%s", err, out)
	}
}

func TestArgs(t *testing.T) {
	for _, c := range []struct{ argv, want string }{
		{"", ""},
		{"veildb", ""},
		{"/usr/bin/veildb version --json", "version --json"},
		{"mount.veildb a b -o ro", "volume mount-helper a b -o ro"},
		{"/sbin/mount.veildb", "volume mount-helper"},
		{"mount.veildb.exe a", "a"},
	} {
		if got := strings.Join(Args(strings.Fields(c.argv)), " "); got != c.want {
			t.Errorf("%q: got %q, want %q", c.argv, got, c.want)
		}
	}
}
