//go:build linux

package sqlvfs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
)

// tinyDisk mounts a file system of size bytes and returns its directory.
func tinyDisk(t *testing.T, size int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tiny", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		if errors.Is(err, unix.EPERM) {
			t.Skip("mounting a small file system needs root")
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestDiskFull fills the disk in the middle of transactions: the statement
// fails with SQLITE_FULL, what was committed stays, and after space is freed
// writing goes on.
func TestDiskFull(t *testing.T) {
	for _, mode := range []string{"wal", "delete", "truncate", "persist"} {
		for _, encrypted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/encrypted=%v", mode, encrypted), func(t *testing.T) {
				dir := tinyDisk(t, 1<<20)
				opts := sqlvfs.Options{JournalMode: mode, CacheKiB: 32}
				if encrypted {
					opts.Keys = newKeys(t, 1, 1)
				}
				path := filepath.Join(dir, "db")
				db := mustOpen(t, path, opts)
				mustExec(t, db, `CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)`)
				ballast := filepath.Join(dir, "ballast")
				if err := os.WriteFile(ballast, make([]byte, 300<<10), 0o600); err != nil {
					t.Fatal(err)
				}
				rows := 0
				var err error
				for err == nil && rows < 10000 {
					_, err = db.Exec(`INSERT INTO t(v) SELECT hex(randomblob(1000)) FROM generate_series(1, 10)`)
					if err == nil {
						rows += 10
					}
				}
				want := error(sqlite3.FULL)
				if !encrypted {
					want = sqlite3.IOERR // that is how the driver's own VFS says it
				}
				if !errors.Is(err, want) {
					t.Fatalf("after %d rows: %v, want %v", rows, err, want)
				}
				check := func(when string) {
					t.Helper()
					if got := queryString(t, db, `PRAGMA integrity_check`); got != "ok" {
						t.Fatalf("%s: %s", when, got)
					}
					if got := queryString(t, db, `SELECT count(*) FROM t`); got != fmt.Sprint(rows) {
						t.Fatalf("%s: %s rows, want %d", when, got, rows)
					}
				}
				check("while full")
				if err := os.Remove(ballast); err != nil {
					t.Fatal(err)
				}
				mustExec(t, db, `INSERT INTO t(v) VALUES ('more')`)
				rows++
				check("after space was freed")
				db.Close()
				db = mustOpen(t, path, opts)
				check("opened again")
			})
		}
	}
}

// TestDiskFullAtFirstWrite finds no space for a header: the file stays empty
// and becomes a database when there is space.
func TestDiskFullAtFirstWrite(t *testing.T) {
	dir := tinyDisk(t, 64<<10)
	ballast := filepath.Join(dir, "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	for { // to the last page
		if _, err := f.Write(make([]byte, 4096)); err != nil {
			break
		}
	}
	f.Close()
	opts := sqlvfs.Options{JournalMode: "delete", Keys: newKeys(t, 1, 1)}
	path := filepath.Join(dir, "db")
	db := mustOpen(t, path, opts)
	if _, err := db.Exec(`CREATE TABLE t(v)`); !errors.Is(err, sqlite3.FULL) {
		t.Errorf("no space at all: %v, want SQLITE_FULL", err)
	}
	db.Close()
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	db = mustOpen(t, path, opts)
	mustExec(t, db, `CREATE TABLE t(v)`)
	if got := queryString(t, db, `PRAGMA integrity_check`); got != "ok" {
		t.Error(got)
	}
}
