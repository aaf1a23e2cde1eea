package volumetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/target"
)

// TestFaults damages what lies below a server's volume, or what is needed to
// mount it, and looks at what the server and its user are told.
func TestFaults(t *testing.T) {
	t.Parallel()
	v := mountVolume(t, "", "through")
	data := filepath.Join(v.point, "data")
	s := startServer(t, target.Postgres, data, durable[target.Postgres])
	files := map[string]string{} // lower files of tables
	for _, table := range []string{"left_one", "right_one", "third"} {
		s.exec(t, "CREATE TABLE "+table+" AS SELECT '"+table+"' AS name, i FROM generate_series(1, 500) i")
		files[table] = filepath.Join(v.lower, "files", "data", column(t, s.db, "SELECT pg_relation_filepath($1)", table)[0])
	}
	refused(t, "another process", "volume", "mount", v.lower, filepath.Join(v.dir, "mnt"), "--key", v.key)
	other := filepath.Join(v.dir, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	refused(t, "in use by another process", "volume", "mount", v.lower, other, "--key", v.key)

	// The provider of the root key goes away: who is mounted does not need it.
	root := filepath.Join(v.dir, "root")
	move(t, root, root+".away")
	s.exec(t, "CREATE TABLE meanwhile AS SELECT i FROM generate_series(1, 1000) i", "DROP TABLE meanwhile", "CHECKPOINT")
	pause := func(change func()) {
		t.Helper()
		s.Kill()
		v.stop(t)
		change()
		v.start(t)
		s.recover(t)
	}
	pause(func() {
		refused(t, "root", "volume", "mount", v.lower, v.point, "--key", v.key)
		move(t, root+".away", root)
		ring2 := filepath.Join(v.dir, "ring2")
		veildb(t, "key", "init", ring2, "--provider", "file:"+filepath.Join(v.dir, "root2"))
		refused(t, "wrong key", "volume", "mount", v.lower, v.point, "--key", ring2)
	})

	// One damaged header: that table fails, by name, and no other does.
	pause(func() { flip(t, files["left_one"], 100) })
	for table, ok := range map[string]bool{"left_one": false, "right_one": true, "third": true} {
		var n int
		err := s.db.QueryRow("SELECT count(*) FROM " + table + " WHERE name = '" + table + "'").Scan(&n)
		if ok && (err != nil || n != 500) || !ok && (err == nil || !strings.Contains(err.Error(), "Input/output error")) {
			t.Errorf("table %s with a damaged header of left_one: %d rows, %v", table, n, err)
		}
	}
	if said := v.mount.output(); !strings.Contains(said, filepath.Base(files["left_one"])) || !strings.Contains(said, "damaged") {
		t.Errorf("the mount does not say which file is damaged: %s", said)
	}
	if _, err := tryVeildb("volume", "check", v.lower, "--key", v.key); err == nil || !strings.Contains(err.Error(), "exit status 5") {
		t.Errorf("volume check of a damaged header: %v, want exit status 5", err)
	}
	pause(func() { flip(t, files["left_one"], 100) })

	// Content that was changed is noise. The server's own checks see it.
	pause(func() { flip(t, files["third"], 4096+8192+100) })
	if _, err := s.db.Exec("SELECT sum(i), max(name) FROM third"); err == nil || !strings.Contains(err.Error(), "invalid page in block 1") {
		t.Errorf("reading a changed block: %v", err)
	}
	pause(func() { flip(t, files["third"], 4096+8192+100) })

	// Files that change places keep their keys, and so are read: the manifest
	// of an audit is what tells.
	manifest := filepath.Join(v.dir, "manifest")
	swap := func() {
		t.Helper()
		move(t, files["left_one"], files["left_one"]+".swap")
		move(t, files["right_one"], files["left_one"])
		move(t, files["left_one"]+".swap", files["right_one"])
	}
	s.exec(t, "CHECKPOINT")
	pause(func() {
		veildb(t, "volume", "audit", v.lower, "--write", manifest, "--key", v.key)
		veildb(t, "volume", "audit", v.lower, "--verify", manifest, "--key", v.key)
		swap()
		_, err := tryVeildb("volume", "audit", v.lower, "--verify", manifest, "--key", v.key)
		if err == nil || !strings.Contains(err.Error(), "exit status 5") && !strings.Contains(err.Error(), "exit status 3") {
			t.Errorf("audit after two files changed places: %v", err)
		}
	})
	if got := column(t, s.db, "SELECT DISTINCT name FROM left_one"); len(got) != 1 || got[0] != "right_one" {
		t.Errorf("table left_one, swapped with right_one, holds %q", got)
	}
	pause(swap)
	s.checkEngine(t)
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
