package sqlvfs_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
)

// A slowVFS makes each write of a database or log visible in two steps, half
// of its bytes first, as the kernel may for an instant.
type slowVFS struct{ vfs.VFS }

func (s slowVFS) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := vfsutil.WrapOpenFilename(s.VFS, name, flags)
	if err != nil || flags&(vfs.OPEN_MAIN_DB|vfs.OPEN_WAL) == 0 {
		return f, flags, err
	}
	return &slowFile{f}, flags, nil
}

type slowFile struct{ vfs.File }

func (f *slowFile) WriteAt(p []byte, off int64) (int, error) {
	half := make([]byte, len(p))
	f.File.ReadAt(half, off)
	for i := range half {
		if i/8%2 == 1 {
			half[i] = p[i]
		}
	}
	if _, err := f.File.WriteAt(half, off); err != nil {
		return 0, err
	}
	time.Sleep(50 * time.Microsecond)
	return f.File.WriteAt(p, off)
}

func (f *slowFile) SharedMemory() vfs.SharedMemory { return vfsutil.WrapSharedMemory(f.File) }
func (f *slowFile) LockState() vfs.LockLevel       { return vfsutil.WrapLockState(f.File) }

// TestReadersDuringTornWrites: no reader may see half of a cipher block that
// another connection rewrites. That holds only if whatever SQLite reads and
// writes at the same time lies in different blocks.
func TestReadersDuringTornWrites(t *testing.T) {
	for _, size := range []int{512, 4096} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			opts := sqlvfs.Options{Keys: newKeys(t, 1, 1), PageSize: size, Synchronous: "off", CacheKiB: 8,
				Pragmas: []string{"wal_autocheckpoint=30"}}.WithBase(slowVFS{vfs.Find("")})
			db := mustOpen(t, filepath.Join(t.TempDir(), "db"), opts)
			mustExec(t, db, `CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT, w TEXT)`)
			mustExec(t, db, `INSERT INTO t SELECT value, printf('%0200d', value), printf('%0200d', value) FROM generate_series(1, 200)`)
			ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
			defer cancel()
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() {
					for ctx.Err() == nil {
						var n, wrong int
						if err := db.QueryRow(`SELECT count(*), sum(v <> w OR length(v) <> 200) FROM t`).Scan(&n, &wrong); err != nil || n != 200 || wrong != 0 {
							t.Errorf("%d rows, %d wrong: %v", n, wrong, err)
							return
						}
					}
				})
			}
			for i := 0; ctx.Err() == nil; i++ {
				if _, err := db.Exec(`UPDATE t SET v = printf('%0200d', ?1), w = printf('%0200d', ?1) WHERE id % 7 = ?1 % 7`, i); err != nil {
					t.Fatal(err)
				}
			}
			wg.Wait()
			if got := queryString(t, db, `PRAGMA integrity_check`); got != "ok" {
				t.Error(got)
			}
		})
	}
}
