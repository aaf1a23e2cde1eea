package sqlvfs_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
)

// A recorder is a base VFS that writes down what is done to the files of a
// database, in order, beside doing it.
type recorder struct {
	vfs.VFS
	mu  sync.Mutex
	ops []recOp
}

type recOp struct {
	kind string // create, write, size, sync, delete, sync-dir
	name string
	off  int64 // of a write; the new length of size
	data []byte
}

func (r *recorder) note(op recOp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops = append(r.ops, op)
}

func (r *recorder) length() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ops)
}

func (r *recorder) Delete(name string, syncDir bool) error {
	err := r.VFS.Delete(name, syncDir)
	if err == nil {
		r.note(recOp{kind: "delete", name: filepath.Base(name)})
		if syncDir {
			r.note(recOp{kind: "sync-dir"})
		}
	}
	return err
}

func (r *recorder) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	_, serr := os.Stat(name.String())
	f, flags, err := vfsutil.WrapOpenFilename(r.VFS, name, flags)
	if err != nil || name == nil {
		return f, flags, err
	}
	base := filepath.Base(name.String())
	if os.IsNotExist(serr) {
		r.note(recOp{kind: "create", name: base})
	}
	return &recFile{f, r, base}, flags, nil
}

type recFile struct {
	vfs.File
	r    *recorder
	name string
}

func (f *recFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	f.r.note(recOp{"write", f.name, off, bytes.Clone(p)})
	return n, err
}

func (f *recFile) Truncate(size int64) error {
	err := f.File.Truncate(size)
	f.r.note(recOp{kind: "size", name: f.name, off: size})
	return err
}

func (f *recFile) SizeHint(size int64) error {
	before, _ := f.Size()
	err := vfsutil.WrapSizeHint(f.File, size)
	if after, _ := f.Size(); after != before {
		f.r.note(recOp{kind: "size", name: f.name, off: after})
	}
	return err
}

// Sync only notes: nobody pulls the plug here.
func (f *recFile) Sync(vfs.SyncFlag) error {
	f.r.note(recOp{kind: "sync", name: f.name})
	return nil
}

func (f *recFile) SharedMemory() vfs.SharedMemory  { return vfsutil.WrapSharedMemory(f.File) }
func (f *recFile) LockState() vfs.LockLevel        { return vfsutil.WrapLockState(f.File) }
func (f *recFile) PowersafeOverwrite() bool        { return vfsutil.WrapPowersafeOverwrite(f.File) }
func (f *recFile) SetPowersafeOverwrite(psow bool) { vfsutil.WrapSetPowersafeOverwrite(f.File, psow) }

// afterPowerLoss makes in dir what may be on disk when the power goes after
// the first n operations. What was synced is there. Of what was not, each
// operation may have reached the disk or not, whatever the order, and of a
// write any of its 512-byte sectors; lengths are the file system's and whole.
// The first sync of a created file syncs the directory, too.
func (r *recorder) afterPowerLoss(t *testing.T, n int, rnd *rand.Rand, dir string) {
	t.Helper()
	synced, dirSynced := map[string]int{}, -1
	fresh := map[string]bool{}
	for i, op := range r.ops[:n] {
		switch op.kind {
		case "create":
			fresh[op.name] = true
		case "sync":
			synced[op.name] = i
			if fresh[op.name] {
				dirSynced, fresh[op.name] = i, false
			}
		case "sync-dir":
			dirSynced = i
		}
	}
	files := map[string][]byte{} // nil if deleted
	for i, op := range r.ops[:n] {
		durable := i <= synced[op.name]
		if op.kind == "delete" {
			durable = i <= dirSynced
		}
		lost := func() bool { return !durable && rnd.IntN(3) == 0 }
		content := files[op.name]
		switch op.kind {
		case "create":
			content = []byte{}
		case "delete":
			if !lost() {
				content = nil
			}
		case "size":
			if content != nil && !lost() {
				content = resize(content, op.off)
			}
		case "write":
			content = writeSectors(content, op, lost)
		}
		files[op.name] = content
	}
	for name, content := range files {
		if content != nil {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func resize(b []byte, size int64) []byte {
	return append(b[:min(size, int64(len(b)))], make([]byte, max(size-int64(len(b)), 0))...)
}

func writeSectors(b []byte, op recOp, lost func() bool) []byte {
	if lost() {
		return b
	}
	end := op.off + int64(len(op.data))
	if end > int64(len(b)) {
		b = resize(b, end)
	}
	for at := op.off; at < end; {
		stop := min((at/512+1)*512, end)
		if !lost() {
			copy(b[at:stop], op.data[at-op.off:stop-op.off])
		}
		at = stop
	}
	return b
}

// TestPowerLoss records a run, cuts it at random places, loses, tears and
// reorders what was not synced, and opens the result: it must pass the
// integrity check and hold every transaction that was acknowledged with its
// data synced. The plain database passes the same test, so the recorder asks
// nothing that SQLite does not promise.
func TestPowerLoss(t *testing.T) {
	cases := []struct {
		mode, sync string
		durable    bool // does SQLite promise that acknowledged means on disk?
	}{
		{"wal", "full", true}, {"wal", "normal", false},
		{"delete", "extra", true}, {"delete", "full", false},
		{"truncate", "full", true}, {"persist", "full", true},
	}
	for _, c := range cases {
		for _, encrypted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s-%s/encrypted=%v", c.mode, c.sync, encrypted), func(t *testing.T) {
				powerLoss(t, c.mode, c.sync, c.durable, encrypted)
			})
		}
	}
}

func powerLoss(t *testing.T, mode, sync string, durable, encrypted bool) {
	const rounds, cuts = 25, 60
	rec := &recorder{VFS: vfs.Find("")}
	opts := sqlvfs.Options{JournalMode: mode, Synchronous: sync, PageSize: 1024, CacheKiB: 16,
		Pragmas: []string{"wal_autocheckpoint=20"}}
	if encrypted {
		opts.Keys = newKeys(t, 1, 1)
	}
	db := mustOpen(t, filepath.Join(t.TempDir(), "p.db"), opts.WithBase(rec))
	db.SetMaxOpenConns(1)
	acked := map[int]int{} // operations recorded → rounds acknowledged by then
	mustExec(t, db, `CREATE TABLE t(round INTEGER PRIMARY KEY, v TEXT)`)
	created := rec.length()
	for round := range rounds {
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		mustExec(t, tx, `INSERT INTO t VALUES (?, hex(randomblob(1500)))`, round)
		mustExec(t, tx, `UPDATE t SET v = hex(randomblob(900)) WHERE round % 5 = ? AND round < ?`, round%5, round)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		acked[rec.length()] = round + 1
	}
	db.Close()
	total := rec.length()
	rnd := rand.New(rand.NewPCG(7, 7))
	for cut := range cuts {
		n := rnd.IntN(total + 1)
		want := 0
		for at, rounds := range acked {
			if at <= n {
				want = max(want, rounds)
			}
		}
		dir := t.TempDir()
		rec.afterPowerLoss(t, n, rnd, dir)
		path := filepath.Join(dir, "p.db")
		if _, err := os.Stat(path); err != nil {
			continue // not created yet
		}
		reopen := opts
		reopen.Synchronous = "off"
		after := mustOpen(t, path, reopen)
		var verdict string
		var got, last int
		err := after.QueryRow(`PRAGMA integrity_check`).Scan(&verdict)
		if err == nil && (n >= created && durable || tableExists(after)) {
			err = after.QueryRow(`SELECT count(*), coalesce(max(round) + 1, 0) FROM t`).Scan(&got, &last)
		}
		if err != nil || verdict != "ok" || got != last || durable && got < want {
			t.Errorf("cut %d after %d of %d operations: %q, %d rounds up to %d, want at least %d (durable %v): %v\nlast: %s",
				cut, n, total, verdict, got, last, want, durable, err, lastOps(rec, n))
		}
		after.Close()
	}
}

func tableExists(db *sql.DB) bool {
	var n int
	return db.QueryRow(`SELECT count(*) FROM sqlite_schema WHERE name = 't'`).Scan(&n) == nil && n == 1
}

func lastOps(r *recorder, n int) string {
	var b strings.Builder
	for _, op := range r.ops[max(n-12, 0):n] {
		fmt.Fprintf(&b, "%s %s %d+%d; ", op.kind, op.name, op.off, len(op.data))
	}
	return b.String()
}
