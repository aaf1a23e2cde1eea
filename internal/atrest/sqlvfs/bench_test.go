//go:build linux

package sqlvfs_test

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	sqlitedriver "github.com/ncruces/go-sqlite3/driver"
	_ "github.com/ncruces/go-sqlite3/vfs/adiantum"
	_ "github.com/ncruces/go-sqlite3/vfs/xts"
	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
)

const (
	benchRows  = 100_000 // 30 MB
	benchCache = 2048    // KiB
)

// A benchArm is one VFS with a database of benchRows rows, in WAL mode with
// synchronous=normal and a page cache of 2 MB.
type benchArm struct {
	name string
	conn *sqlite3.Conn
	read *sqlite3.Stmt
	upd  *sqlite3.Stmt
	rnd  *rand.Rand
}

var benchVFS = []string{"plain", "veildb", "xts", "adiantum"}

func newBenchArm(b *testing.B, name string) *benchArm {
	b.Helper()
	path := filepath.Join(b.TempDir(), "bench.db")
	var c driver.Connector
	var err error
	switch name {
	case "plain", "veildb":
		opts := sqlvfs.Options{Synchronous: "normal", CacheKiB: benchCache}
		if name == "veildb" {
			opts.Keys = newKeys(b, 1, 1)
		}
		c, err = sqlvfs.Connector(path, opts)
	default:
		key := hex.EncodeToString([]byte(strings.Repeat("0123456789abcdef", 4)))
		if name == "adiantum" {
			key = key[:64]
		} else {
			key = key[:126] + "00" // 64 bytes, AES-256; the halves must differ
		}
		q := url.Values{"vfs": {name}, "hexkey": {key}, "_pragma": {
			"busy_timeout(10000)", "journal_mode(wal)", "synchronous(normal)", fmt.Sprintf("cache_size(-%d)", benchCache)}}
		c, err = (&sqlitedriver.SQLite{}).OpenConnector("file:" + path + "?" + q.Encode())
	}
	if err != nil {
		b.Fatal(err)
	}
	dc, err := c.Connect(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { dc.Close() })
	a := &benchArm{name: name, conn: dc.(sqlitedriver.Conn).Raw(), rnd: rand.New(rand.NewPCG(1, 2))}
	exec := func(q string) {
		if err := a.conn.Exec(q); err != nil {
			b.Fatal(err)
		}
	}
	exec(`CREATE TABLE t(id INTEGER PRIMARY KEY, k INT, c TEXT)`)
	exec(fmt.Sprintf(`INSERT INTO t SELECT value, 0, hex(randomblob(130)) FROM generate_series(1, %d)`, benchRows))
	exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
	prepare := func(q string) *sqlite3.Stmt {
		s, _, err := a.conn.Prepare(q)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { s.Close() })
		return s
	}
	a.read = prepare(`SELECT c FROM t WHERE id = ?`)
	a.upd = prepare(`UPDATE t SET k = k + 1 WHERE id = ?`)
	return a
}

// do reads or updates one row; "batch" updates 50 rows in one transaction.
func (a *benchArm) do(b *testing.B, op string) {
	if op == "batch" {
		if err := a.conn.Exec(`BEGIN IMMEDIATE`); err != nil {
			b.Fatal(err)
		}
		for range 50 {
			a.do(b, "update")
		}
		if err := a.conn.Exec(`COMMIT`); err != nil {
			b.Fatal(err)
		}
		return
	}
	s := a.read
	if op == "update" {
		s = a.upd
	}
	if err := s.BindInt64(1, 1+a.rnd.Int64N(benchRows)); err != nil {
		b.Fatal(err)
	}
	for s.Step() {
		if op == "read" && len(s.ColumnRawText(0)) != 260 {
			b.Fatal("short row")
		}
	}
	if err := s.Reset(); err != nil {
		b.Fatal(a.name, err)
	}
}

// BenchmarkVFS reads or updates one random row an iteration; most miss the
// page cache.
func BenchmarkVFS(b *testing.B) {
	for _, op := range []string{"read", "update", "batch"} {
		for _, name := range benchVFS {
			b.Run("op="+op+"/vfs="+name, func(b *testing.B) {
				a := newBenchArm(b, name)
				for b.Loop() {
					a.do(b, op)
				}
			})
		}
	}
}

// BenchmarkVFSRatio runs the four in short turns on one thread and reports the
// ratio of their CPU time to plain's. Other load on the machine only adds to a
// turn, so each arm's time is the lowest decile of its turns; the medians are
// reported, too.
func BenchmarkVFSRatio(b *testing.B) {
	for _, op := range []string{"read", "update", "batch"} {
		b.Run("op="+op, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			arms := make([]*benchArm, len(benchVFS))
			for i, name := range benchVFS {
				arms[i] = newBenchArm(b, name)
			}
			spent := map[string][]time.Duration{}
			turn := 500
			if op == "batch" {
				turn = 10
			}
			b.ResetTimer()
			for range b.N {
				for _, i := range rand.Perm(len(arms)) {
					before := threadCPU(b)
					for range turn {
						arms[i].do(b, op)
					}
					spent[arms[i].name] = append(spent[arms[i].name], threadCPU(b)-before)
				}
			}
			for _, turns := range spent {
				slices.Sort(turns)
			}
			for _, name := range benchVFS[1:] {
				at := func(i int) float64 { return float64(spent[name][i]) / float64(spent["plain"][i]) }
				b.ReportMetric(at(b.N/10), name+"/plain")
				b.ReportMetric(at(b.N/2), name+"/plain-median")
			}
			b.ReportMetric(float64(spent["plain"][b.N/10])/float64(turn), "plain-ns")
		})
	}
}

func threadCPU(b *testing.B) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		b.Fatal(err)
	}
	return time.Duration(ts.Nano())
}
