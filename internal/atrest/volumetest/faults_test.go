package volumetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/target"
)

// TestFaults damages what lies below a server's volume, or takes away what is
// needed to mount it, and looks at what the server and its user are told.
func TestFaults(t *testing.T) {
	t.Parallel()
	v := mountVolume(t, "", "through")
	f := &faults{volumeDir: v, server: startServer(t, target.Postgres, filepath.Join(v.point, "data"), durable[target.Postgres]), files: map[string]string{}}
	for _, table := range []string{"left_one", "right_one", "third"} {
		f.server.exec(t, "CREATE TABLE "+table+" AS SELECT '"+table+"' AS name, i FROM generate_series(1, 500) i")
		f.files[table] = filepath.Join(v.lower, "files", "data", column(t, f.server.db, "SELECT pg_relation_filepath($1)", table)[0])
	}
	f.secondMount(t)
	f.keysGone(t)
	f.damagedHeader(t)
	f.changedContent(t)
	f.swapped(t)
	f.server.checkEngine(t)
}

// faults are a server with tables, and where these lie below.
type faults struct {
	*volumeDir
	server *server
	files  map[string]string
}

// pause kills the server, and does change while nothing is mounted.
func (f *faults) pause(t *testing.T, change func()) {
	t.Helper()
	f.server.Kill()
	f.volumeDir.stop(t)
	change()
	f.volumeDir.start(t)
	f.server.recover(t)
}

func (f *faults) secondMount(t *testing.T) {
	other := filepath.Join(f.dir, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, point := range []string{f.point, other} {
		refused(t, "in use by another process", "volume", "mount", f.lower, point, "--key", f.key)
	}
}

// keysGone takes the root key away: who is mounted does not need it.
func (f *faults) keysGone(t *testing.T) {
	root, ring2 := filepath.Join(f.dir, "root"), filepath.Join(f.dir, "ring2")
	move(t, root, root+".away")
	f.server.exec(t, "CREATE TABLE meanwhile AS SELECT i FROM generate_series(1, 1000) i", "DROP TABLE meanwhile", "CHECKPOINT")
	f.pause(t, func() {
		refused(t, "root", "volume", "mount", f.lower, f.point, "--key", f.key)
		move(t, root+".away", root)
		veildb(t, "key", "init", ring2, "--provider", "file:"+root+"2")
		refused(t, "wrong key", "volume", "mount", f.lower, f.point, "--key", ring2)
	})
}

// damagedHeader makes one table fail, by name, and no other.
func (f *faults) damagedHeader(t *testing.T) {
	damage := func() { flip(t, f.files["left_one"], 100) }
	f.pause(t, damage)
	for table, ok := range map[string]bool{"left_one": false, "right_one": true, "third": true} {
		var n int
		err := f.server.db.QueryRow("SELECT count(*) FROM " + table + " WHERE name = '" + table + "'").Scan(&n)
		if ok && (err != nil || n != 500) || !ok && (err == nil || !strings.Contains(err.Error(), "Input/output error")) {
			t.Errorf("table %s with a damaged header of left_one: %d rows, %v", table, n, err)
		}
	}
	if said := f.mount.output(); !strings.Contains(said, filepath.Base(f.files["left_one"])) || !strings.Contains(said, "damaged") {
		t.Errorf("the mount does not say which file is damaged: %s", said)
	}
	if _, err := tryVeildb("volume", "check", f.lower, "--key", f.key); err == nil || !strings.Contains(err.Error(), "exit status 5") {
		t.Errorf("volume check of a damaged header: %v, want exit status 5", err)
	}
	f.pause(t, damage) // undoes it
}

// changedContent is noise, which the server's own checksums see.
func (f *faults) changedContent(t *testing.T) {
	change := func() { flip(t, f.files["third"], 4096+8192+100) }
	f.pause(t, change)
	if _, err := f.server.db.Exec("SELECT sum(i), max(name) FROM third"); err == nil || !strings.Contains(err.Error(), "invalid page in block 1") {
		t.Errorf("reading a changed block: %v", err)
	}
	f.pause(t, change)
}

// swapped files keep their keys, and so are read: the manifest of an audit is
// what tells.
func (f *faults) swapped(t *testing.T) {
	manifest := filepath.Join(f.dir, "manifest")
	left, right := f.files["left_one"], f.files["right_one"]
	swap := func() {
		move(t, left, left+".swap")
		move(t, right, left)
		move(t, left+".swap", right)
	}
	f.server.exec(t, "CHECKPOINT")
	f.pause(t, func() {
		veildb(t, "volume", "audit", f.lower, "--write", manifest, "--key", f.key)
		veildb(t, "volume", "audit", f.lower, "--verify", manifest, "--key", f.key)
		swap()
		_, err := tryVeildb("volume", "audit", f.lower, "--verify", manifest, "--key", f.key)
		if err == nil || !strings.Contains(err.Error(), "exit status 5") && !strings.Contains(err.Error(), "exit status 3") {
			t.Errorf("audit after two files changed places: %v", err)
		}
	})
	if got := column(t, f.server.db, "SELECT DISTINCT name FROM left_one"); len(got) != 1 || got[0] != "right_one" {
		t.Errorf("table left_one, swapped with right_one, holds %q", got)
	}
	f.pause(t, swap)
}

// refused runs a command that must fail and say so in certain words.
func refused(t testing.TB, words string, args ...string) {
	t.Helper()
	if out, err := tryVeildb(args...); err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("veildb %s: %q, %v; want an error with %q", strings.Join(args, " "), out, err, words)
	}
}

func move(t testing.TB, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// flip changes a bit of a file.
func flip(t testing.TB, path string, off int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], off); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 4
	if _, err := f.WriteAt(b[:], off); err != nil {
		t.Fatal(err)
	}
}
