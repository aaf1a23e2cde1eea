package target

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReachable asks for directories that the user of a server that root
// starts may or may not pass.
func TestReachable(t *testing.T) {
	top, err := os.MkdirTemp("/tmp", "veildb-reachable-") // every user passes /tmp
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	open, closed := filepath.Join(top, "open"), filepath.Join(top, "closed")
	for dir, mode := range map[string]os.FileMode{top: 0o711, open: 0o711, closed: 0o700, filepath.Join(closed, "open"): 0o755} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
	}
	root := os.Geteuid() == 0 // anybody else's servers run as themselves
	for _, c := range []struct {
		name, engine, dir string
		refused           bool
	}{
		{"postgres, open", Postgres, open, false},
		{"postgres, to be made below it", Postgres, filepath.Join(open, "a", "b"), false},
		{"postgres, closed", Postgres, closed, root},
		{"postgres, below a closed one", Postgres, filepath.Join(closed, "open"), root},
		{"postgres, to be made below a closed one", Postgres, filepath.Join(closed, "a"), root},
		{"galera, closed", Galera, closed, root},
		{"mariadb runs as root", MariaDB, closed, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Reachable(c.engine, c.dir)
			if errors.Is(err, ErrNotPermitted) != c.refused || !c.refused && err != nil {
				t.Errorf("Reachable(%s, %s) = %v, want refused: %t", c.engine, c.dir, err, c.refused)
			}
		})
	}
}

// TestUnlockedWhileForking locks a directory again that was unlocked while a process
// was being started, which has all that was open until it runs its program.
func TestUnlockedWhileForking(t *testing.T) {
	d := &directory{root: t.TempDir()}
	if err := d.takeLock(); err != nil {
		t.Fatal(err)
	}
	forked, err := unix.Dup(int(d.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(forked)
	d.unlock()
	if err := d.takeLock(); err != nil {
		t.Fatal(err)
	}
	d.unlock()
}
