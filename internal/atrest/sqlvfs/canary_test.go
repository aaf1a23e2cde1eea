//go:build linux

package sqlvfs_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
)

const canary = "CANARY-7f3a"

// canaryScan searches every file below dirs and every open file of this
// process, unlinked ones too, and notes in found which kinds show the canary.
func canaryScan(t *testing.T, found map[string]bool, dirs ...string) {
	t.Helper()
	look := func(path, kind string) {
		b, err := os.ReadFile(path)
		if err == nil && bytes.Contains(b, []byte(canary)) {
			found[kind] = true
		}
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			kind := "database"
			for _, suffix := range []string{"-wal", "-journal", "-shm"} {
				if strings.HasSuffix(e.Name(), suffix) {
					kind = suffix[1:]
				}
			}
			look(filepath.Join(dir, e.Name()), kind)
		}
	}
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		path := filepath.Join("/proc/self/fd", fd.Name())
		if to, _ := os.Readlink(path); strings.HasSuffix(to, "(deleted)") && strings.HasPrefix(to, dirs[0]) {
			look(path, "temporary")
		}
	}
}

// TestCanaries fills databases with a marked string in every way that reaches
// the disk and searches all files during and after. The plain database shows
// that the search would find it in each kind of file.
func TestCanaries(t *testing.T) {
	for _, mode := range []string{"wal", "delete", "truncate", "persist"} {
		for _, encrypted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/encrypted=%v", mode, encrypted), func(t *testing.T) {
				found := runCanaries(t, mode, encrypted)
				want := []string{}
				if !encrypted {
					want = []string{"database", "journal", "temporary"}
					if mode == "wal" {
						want[1] = "wal"
					}
				}
				got := []string{}
				for kind := range found {
					got = append(got, kind)
				}
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("canary found in %v, want %v", got, want)
				}
			})
		}
	}
}

func runCanaries(t *testing.T, mode string, encrypted bool) map[string]bool {
	dir, tmp := t.TempDir(), t.TempDir()
	t.Setenv("SQLITE_TMPDIR", tmp)
	opts := sqlvfs.Options{JournalMode: mode, Synchronous: "off", CacheKiB: 64, TempStore: "file"}
	if encrypted {
		opts.Keys = newKeys(t, 1, 1)
	}
	path := filepath.Join(dir, "canary.db")
	db := mustOpen(t, path, opts)
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	found := map[string]bool{}
	scan := func() { t.Helper(); canaryScan(t, found, tmp, dir) }
	exec := func(q string) {
		t.Helper()
		if _, err := conn.ExecContext(context.Background(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	// scanWithin scans while the statement has a row out.
	scanWithin := func(q string) {
		t.Helper()
		rows, err := conn.QueryContext(context.Background(), q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		if !rows.Next() {
			t.Fatalf("%s: no row: %v", q, rows.Err())
		}
		scan()
		for rows.Next() {
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TABLE "t_` + canary + `"(id INTEGER PRIMARY KEY, v TEXT, w TEXT UNIQUE)`)
	table := `"t_` + canary + `"`
	exec(`INSERT INTO ` + table + `(v, w) SELECT '` + canary + `-' || value, value || '` + canary + `' FROM generate_series(1, 4000)`)
	scan()
	exec(`BEGIN IMMEDIATE`)
	exec(`UPDATE ` + table + ` SET v = v || 'x'`) // spills into database or log
	scan()
	scanWithin(`UPDATE ` + table + ` SET w = w || 'y' RETURNING id`) // statement journal
	exec(`ROLLBACK`)
	scan()
	scanWithin(`SELECT v FROM ` + table + ` ORDER BY v || w DESC`) // sorter
	scanWithin(`SELECT DISTINCT v || w FROM ` + table)
	exec(`CREATE TEMP TABLE tt AS SELECT v || '` + canary + `' AS v FROM ` + table)
	exec(`CREATE INDEX temp.ti ON tt(v)`)
	scan()
	exec(`ATTACH '` + filepath.Join(dir, "attached.db") + `' AS other`)
	exec(`CREATE TABLE other.o AS SELECT v FROM ` + table)
	exec(`BEGIN; UPDATE other.o SET v = v || 'z'; UPDATE ` + table + ` SET v = v || 'z'; COMMIT`)
	exec(`VACUUM INTO '` + filepath.Join(dir, "into.db") + `'`)
	exec(`DELETE FROM ` + table + ` WHERE id % 2`)
	exec(`VACUUM`)
	exec(`ANALYZE`)
	scan()
	conn.Close()
	db.Close()
	scan()
	names := map[string]bool{}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		names[e.Name()] = true
	}
	if !names["canary.db"] || !names["attached.db"] || !names["into.db"] {
		t.Errorf("files missing: %v", names)
	}
	for _, name := range []string{"canary.db", "attached.db", "into.db"} { // all readable with the same key
		var n int
		again := mustOpen(t, filepath.Join(dir, name), opts)
		if err := again.QueryRow(`SELECT count(*) FROM sqlite_schema`).Scan(&n); err != nil || n == 0 {
			t.Errorf("%s: %d tables, %v", name, n, err)
		}
		if got := queryString(t, again, `PRAGMA integrity_check`); got != "ok" {
			t.Errorf("%s: %s", name, got)
		}
	}
	return found
}
