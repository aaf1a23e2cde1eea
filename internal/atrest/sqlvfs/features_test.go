package sqlvfs_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	sqlitedriver "github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
)

// TestAttachedCommitIsAtomic cuts the power in commits that span two
// databases: afterwards both hold the transaction or none. The super-journal
// that decides must be found through journals whose length is exact.
func TestAttachedCommitIsAtomic(t *testing.T) {
	for _, mode := range []string{"delete", "truncate", "persist"} {
		for _, encrypted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/encrypted=%v", mode, encrypted), func(t *testing.T) { attachedCommit(t, mode, encrypted) })
		}
	}
}

func attachedCommit(t *testing.T, mode string, encrypted bool) {
	dir := t.TempDir() // the same in the replay: journals name each other by path
	rec := &recorder{VFS: vfs.Find("")}
	opts := sqlvfs.Options{JournalMode: mode, Synchronous: "extra", PageSize: 512}
	if encrypted {
		opts.Keys = newKeys(t, 1, 1)
	}
	attach := `ATTACH '` + filepath.Join(dir, "b.db") + `' AS b; PRAGMA b.journal_mode=` + mode + `; PRAGMA b.synchronous=extra`
	db := mustOpen(t, filepath.Join(dir, "a.db"), opts.WithBase(rec))
	db.SetMaxOpenConns(1)
	mustExec(t, db, attach)
	mustExec(t, db, `CREATE TABLE main.t(n INT, pad TEXT); CREATE TABLE b.u(n INT, pad TEXT);
		INSERT INTO t VALUES (0, hex(randomblob(700))); INSERT INTO u VALUES (0, hex(randomblob(700)))`)
	ready := rec.length()
	for range 4 {
		mustExec(t, db, `BEGIN; UPDATE t SET n = n + 1, pad = hex(randomblob(700)); UPDATE u SET n = n + 1, pad = hex(randomblob(700)); COMMIT`)
	}
	db.Close()
	super := false
	for _, op := range rec.ops {
		super = super || strings.Contains(op.name, "-mj")
	}
	if !super {
		t.Fatal("no super-journal was written; the test shows nothing")
	}
	rnd := rand.New(rand.NewPCG(3, 3))
	for n := ready; n <= rec.length(); n += 1 + rnd.IntN(3) {
		old, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, f := range old {
			os.Remove(f)
		}
		rec.afterPowerLoss(t, n, rnd, dir)
		reopen := opts
		reopen.Synchronous = "off"
		db := mustOpen(t, filepath.Join(dir, "a.db"), reopen)
		db.SetMaxOpenConns(1)
		mustExec(t, db, attach)
		var a, b int
		if err := db.QueryRow(`SELECT t.n, u.n FROM t, u`).Scan(&a, &b); err != nil || a != b {
			t.Errorf("after %d operations: %d in one, %d in the other: %v\nlast: %s", n, a, b, err, lastOps(rec, n))
		}
		db.Close()
	}
}

// TestFramesWrittenTwice copies a database right after a commit that wrote log
// frames twice: their renewed checksums must be in the log by then.
func TestFramesWrittenTwice(t *testing.T) {
	dir := t.TempDir()
	path, left := filepath.Join(dir, "db"), filepath.Join(dir, "left")
	opts := sqlvfs.Options{Keys: newKeys(t, 1, 1), Synchronous: "off", CacheKiB: 8, Pragmas: []string{"wal_autocheckpoint=0"}}
	db := mustOpen(t, path, opts)
	db.SetMaxOpenConns(1)
	mustExec(t, db, `CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)`)
	mustExec(t, db, `INSERT INTO t SELECT value, hex(randomblob(500)) FROM generate_series(1, 500)`)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		mustExec(t, tx, `UPDATE t SET v = hex(randomblob(500))`)
	}
	mustExec(t, tx, `UPDATE t SET v = 'last'`)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	copyTo(t, path, left)
	copyTo(t, path+"-wal", left+"-wal")
	db.Close()
	db = mustOpen(t, left, opts)
	if got := queryString(t, db, `SELECT count(*) FROM t WHERE v = 'last'`); got != "500" {
		t.Errorf("%s of 500 rows hold what was committed", got)
	}
}

// TestRolledBackFramesDoNotWait rolls back a transaction whose frames were
// still waiting, lets another connection commit at the same place of the log,
// and goes on: if the frames went down now, they would overwrite the commit.
func TestRolledBackFramesDoNotWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	opts := sqlvfs.Options{Keys: newKeys(t, 1, 1), Synchronous: "off", PageSize: 512, CacheKiB: 8, Pragmas: []string{"wal_autocheckpoint=0"}}
	a, b := mustOpen(t, path, opts), mustOpen(t, path, opts)
	a.SetMaxOpenConns(1)
	b.SetMaxOpenConns(1)
	mustExec(t, a, `CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t SELECT value, hex(randomblob(200)) FROM generate_series(1, 100)`)
	for round := range 20 {
		mustExec(t, b, `PRAGMA wal_checkpoint(TRUNCATE)`) // so that nobody reads the log meanwhile
		tx, err := a.Begin()
		if err != nil {
			t.Fatal(err)
		}
		mustExec(t, tx, `UPDATE t SET v = hex(randomblob(200)) WHERE id % 3 = ?`, round%3)
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		mustExec(t, b, `UPDATE t SET v = 'b' || ?`, round)
		if got := queryString(t, a, `SELECT count(*) FROM t WHERE v = 'b' || ?`, round); got != "100" {
			t.Fatalf("round %d: %s of 100 rows seen", round, got)
		}
		left := filepath.Join(t.TempDir(), "left")
		copyTo(t, path, left)
		copyTo(t, path+"-wal", left+"-wal")
		c := mustOpen(t, left, opts)
		if got := queryString(t, c, `SELECT count(*) FROM t WHERE v = 'b' || ?`, round); got != "100" {
			t.Fatalf("round %d: %s of 100 rows on disk", round, got)
		}
		c.Close()
	}
}

// vfsName returns the VFS of a connection's main database.
func vfsName(c *sqlite3.Conn) string {
	name, err := c.FileControl("main", sqlite3.FCNTL_VFSNAME)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(name)
}

// TestFeatures runs what applications do besides plain statements.
func TestFeatures(t *testing.T) {
	dir := t.TempDir()
	keys := newKeys(t, 1, 1)
	opts := sqlvfs.Options{Keys: keys, Synchronous: "off"}
	db := mustOpen(t, filepath.Join(dir, "db"), opts)
	mustExec(t, db, `CREATE TABLE t(id INTEGER PRIMARY KEY, v BLOB)`)
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw := func(name string, do func(c *sqlite3.Conn) error) {
		t.Run(name, func(t *testing.T) {
			if err := conn.Raw(func(dc any) error { return do(dc.(sqlitedriver.Conn).Raw()) }); err != nil {
				t.Error(err)
			}
		})
	}
	raw("savepoints", func(c *sqlite3.Conn) error {
		return c.Exec(`BEGIN; INSERT INTO t(v) VALUES ('a'); SAVEPOINT s; UPDATE t SET v = 'b'; INSERT INTO t(v) VALUES ('c');
			ROLLBACK TO s; RELEASE s; COMMIT`)
	})
	raw("incremental blob", func(c *sqlite3.Conn) error {
		if err := c.Exec(`INSERT INTO t(id, v) VALUES (100, zeroblob(100000))`); err != nil {
			return err
		}
		blob, err := c.OpenBlob("main", "t", "v", 100, true)
		if err != nil {
			return err
		}
		defer blob.Close()
		if _, err := blob.Seek(54321, io.SeekStart); err != nil {
			return err
		}
		_, err = blob.Write([]byte("in the middle"))
		return err
	})
	raw("backup to an encrypted file", func(c *sqlite3.Conn) error {
		into := "file:" + filepath.Join(dir, "backup") + "?vfs=" + vfsName(c)
		return c.Backup("main", into)
	})
	raw("vacuum into", func(c *sqlite3.Conn) error { return c.Exec(`VACUUM INTO '` + filepath.Join(dir, "into") + `'`) })
	raw("incremental vacuum", func(c *sqlite3.Conn) error {
		return c.Exec(`PRAGMA auto_vacuum=incremental; VACUUM; DELETE FROM t WHERE id = 1; PRAGMA incremental_vacuum`)
	})
	raw("mode changes", func(c *sqlite3.Conn) error {
		for _, mode := range []string{"delete", "wal", "persist", "truncate", "memory", "wal"} {
			if err := c.Exec(`PRAGMA journal_mode=` + mode + `; INSERT INTO t(v) VALUES ('` + mode + `')`); err != nil {
				return fmt.Errorf("%s: %w", mode, err)
			}
		}
		return nil
	})
	raw("page size change", func(c *sqlite3.Conn) error {
		return c.Exec(`PRAGMA journal_mode=delete; PRAGMA page_size=8192; VACUUM; PRAGMA journal_mode=wal; INSERT INTO t(v) VALUES ('x')`)
	})
	raw("exclusive locking", func(c *sqlite3.Conn) error {
		return c.Exec(`PRAGMA locking_mode=exclusive; INSERT INTO t(v) VALUES ('y'); PRAGMA locking_mode=normal; SELECT count(*) FROM t`)
	})
	raw("checkpoints", func(c *sqlite3.Conn) error {
		for _, how := range []string{"passive", "full", "restart", "truncate"} {
			if err := c.Exec(`INSERT INTO t(v) VALUES ('z'); PRAGMA wal_checkpoint(` + how + `)`); err != nil {
				return err
			}
		}
		return nil
	})
	raw("log cut at odd sizes", func(c *sqlite3.Conn) error {
		for _, limit := range []int{1000, 33, 4193, 0} {
			err := c.Exec(fmt.Sprintf(`PRAGMA journal_size_limit=%d; INSERT INTO t(v) VALUES (zeroblob(20000)); PRAGMA wal_checkpoint(restart);
				INSERT INTO t(v) VALUES ('p'); INSERT INTO t(v) VALUES (zeroblob(20000))`, limit))
			if err != nil {
				return err
			}
		}
		return nil
	})
	for _, name := range []string{"db", "backup", "into"} {
		db := mustOpen(t, filepath.Join(dir, name), opts)
		if got := queryString(t, db, `PRAGMA integrity_check`); got != "ok" {
			t.Errorf("%s: %s", name, got)
		}
		if got := queryString(t, db, `SELECT substr(v, 54322, 13) FROM t WHERE id = 100`); got != "in the middle" {
			t.Errorf("%s: blob holds %q", name, got)
		}
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || strings.Contains(string(b), "in the middle") {
			t.Errorf("%s shows its content (%v)", name, err)
		}
	}
}

// TestSizesOnDisk: a database file is 4096 bytes longer than its pages, and a
// deleted log or journal leaves nothing.
func TestSizesOnDisk(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "db")
	db := mustOpen(t, path, sqlvfs.Options{Keys: newKeys(t, 1, 1)})
	mustExec(t, db, `CREATE TABLE t(v); INSERT INTO t SELECT hex(randomblob(500)) FROM generate_series(1, 100)`)
	var pages, size int64
	if err := db.QueryRow(`SELECT page_count, page_size FROM pragma_page_count, pragma_page_size`).Scan(&pages, &size); err != nil {
		t.Fatal(err)
	}
	db.Close()
	entries, _ := os.ReadDir(dir)
	fi, err := os.Stat(path)
	if err != nil || fi.Size() != 4096+pages*size || len(entries) != 1 {
		t.Errorf("%d files; the database has %d bytes, want 4096 + %d × %d (%v)", len(entries), fi.Size(), pages, size, err)
	}
}
