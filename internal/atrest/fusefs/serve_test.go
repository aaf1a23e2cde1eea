//go:build linux

package fusefs

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/vfs"
)

// TestGarbageCollection serves while the collector runs without pause: threads
// that wait in raw system calls must not stop it, nor it them.
func TestGarbageCollection(t *testing.T) {
	m := mountTest(t, serveConfig{Key: 1, Collect: true})
	// The server says when it has collected twenty times; it is not idle then.
	collected := func() bool { return slices.Contains(m.log(), "collected 20") }
	for rounds := 0; rounds < 2 || !collected(); rounds++ {
		if rounds > 1000 {
			t.Fatalf("served %d rounds and did not collect; log %q", rounds, m.log())
		}
		var wg sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			wg.Go(func() { errs[i] = writeAndRead(filepath.Join(m.dir, fmt.Sprint(i)), 150) })
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	m.stop(t)
}

// writeAndRead writes and syncs n blocks and reads each back, past the cache.
func writeAndRead(path string, n int) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_DIRECT, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	b, got := aligned(8192), aligned(8192)
	for i := range n {
		for j := range b {
			b[j] = byte(i)
		}
		if _, err := f.WriteAt(b, int64(i)*8192); err != nil {
			return err
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return err
		}
		if _, err := f.ReadAt(got, int64(i)*8192); err != nil || !bytes.Equal(b, got) {
			return fmt.Errorf("block %d: other content, %w", i, err)
		}
	}
	return nil
}

const sqliteEnv = "VEILDB_TEST_SQLITE" // database, for a test binary that is to write to it

const sqliteRows = 300

// sqliteWorker writes rows to a database that others write to as well.
func sqliteWorker(path string) error {
	db, err := driver.Open("file:" + path + "?_pragma=busy_timeout(60000)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for i := range sqliteRows {
		if _, err := db.Exec("INSERT INTO t (pid, n, text) VALUES (?, ?, ?)", os.Getpid(), i, canary); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

// TestSQLiteProcesses has two processes share a SQLite database in WAL mode:
// its index is memory that both map, its locks are the kernel's.
func TestSQLiteProcesses(t *testing.T) {
	if !vfs.SupportsSharedMemory {
		t.Fatal("this build of SQLite shares no memory between processes; the test needs that")
	}
	m := mountTest(t, serveConfig{Key: 1})
	path := filepath.Join(m.dir, "shared.db")
	db, err := driver.Open("file:" + path + "?_pragma=journal_mode(wal)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE t (id INTEGER PRIMARY KEY, pid INT, n INT, text TEXT)"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	const workers = 2
	for range workers {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), sqliteEnv+"="+path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		wg.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("writer: %v: %s", err, out)
			}
		})
	}
	wg.Wait()
	checkSQLite(t, db, workers*sqliteRows)
	if countCanary(t, m.dir) == 0 {
		t.Error("no file on the mount holds the canary: the search finds nothing")
	}
	if n := countCanary(t, m.Lower); n > 0 {
		t.Errorf("%d files below hold content in plain", n)
	}
}

func checkSQLite(t *testing.T, db *sql.DB, want int) {
	t.Helper()
	var rows int
	var verdict string
	if err := db.QueryRow("SELECT COUNT(*) FROM t").Scan(&rows); err != nil || rows != want {
		t.Errorf("%d rows, %v; want %d", rows, err, want)
	}
	if err := db.QueryRowContext(context.Background(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity: %q, %v", verdict, err)
	}
}

// canary is what a test stores; it must not be found below.
const canary = "Kanarienvogel-7f3a"

// countCanary counts the files below dir that hold the canary.
func countCanary(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(canary)) {
			n++
		}
		return err
	})
	if err != nil {
		t.Errorf("search %s: %v", dir, err)
	}
	return n
}
