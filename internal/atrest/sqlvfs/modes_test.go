package sqlvfs_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
)

// TestModesAndPageSizes writes, grows, shrinks and reopens encrypted databases
// in every journal mode and page size.
func TestModesAndPageSizes(t *testing.T) {
	keys := newKeys(t, 1, 1)
	for _, mode := range []string{"delete", "truncate", "persist", "memory", "wal", "off"} {
		for size := 512; size <= 65536; size *= 2 {
			t.Run(fmt.Sprintf("%s/%d", mode, size), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "db")
				opts := sqlvfs.Options{Keys: keys, JournalMode: mode, PageSize: size, Synchronous: "off", CacheKiB: 64}
				db := mustOpen(t, path, opts)
				mustExec(t, db, `CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)`)
				for i := range 10 {
					mustExec(t, db, `INSERT INTO t(v) SELECT printf('%d-%d-', ?1, value) || hex(randomblob(40)) FROM generate_series(1, 300)`, i)
					mustExec(t, db, `UPDATE t SET v = v || 'x' WHERE id % 7 = ?1`, i%7)
					mustExec(t, db, `DELETE FROM t WHERE id % 11 = ?1`, i)
				}
				if mode != "off" { // without a journal there is no rollback
					tx, err := db.Begin()
					if err != nil {
						t.Fatal(err)
					}
					mustExec(t, tx, `UPDATE t SET v = 'undone'`)
					if err := tx.Rollback(); err != nil {
						t.Fatal(err)
					}
				}
				want := queryString(t, db, `SELECT count(*) || ' ' || sum(length(v)) || ' ' || sum(unicode(substr(v, 4))) FROM t`)
				mustExec(t, db, `VACUUM`)
				db.Close()
				db = mustOpen(t, path, opts)
				if got := queryString(t, db, `PRAGMA integrity_check`); got != "ok" {
					t.Fatal(got)
				}
				if got := queryString(t, db, `SELECT count(*) || ' ' || sum(length(v)) || ' ' || sum(unicode(substr(v, 4))) FROM t`); got != want {
					t.Errorf("content %s, want %s", got, want)
				}
				if got := queryString(t, db, `PRAGMA page_size`); got != fmt.Sprint(size) {
					t.Errorf("page size %s, want %d", got, size)
				}
			})
		}
	}
}
