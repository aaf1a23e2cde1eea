//go:build linux

package fusefs

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/bench/target/targettest"
)

var crashCycles = flag.Int("crash.cycles", 1, "how often TestEngineCrash kills each of server, mount and both")

// canary is in everything the engines store; it must not be found below.
const canary = "Kanarienvogel-7f3a"

// engineSettings keep what an acknowledged transaction wrote, and make the
// engines use files for what they would rather sort in memory.
var engineSettings = map[string]map[string]string{
	target.Postgres: {
		"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "work_mem": "64kB",
		"temp_buffers": "800kB", "shared_buffers": "16MB", "log_statement": "all", "checkpoint_timeout": "30s",
	},
	target.MariaDB: {
		"innodb_flush_log_at_trx_commit": "1", "innodb_buffer_pool_size": "24M", "innodb_log_file_size": "16M",
		"log_bin": "binlog", "sync_binlog": "1", "server_id": "1", "sort_buffer_size": "32k", "tmp_memory_table_size": "16k",
		"general_log": "1", "performance_schema": "OFF",
	},
}

// An engineRun is a server whose data lies on a mount, and what it promised to
// keep.
type engineRun struct {
	m      *mounted
	server *target.Server
	db     *sql.DB

	mu   sync.Mutex
	kept map[int]int // by writer: how many rows were acknowledged
}

// TestEngineCrash has real servers store on a mount, kills server, mount and
// both under load, and looks for what was acknowledged. More cycles:
//
//	go test ./internal/atrest/fusefs -run TestEngineCrash -timeout 0 -crash.cycles 100
func TestEngineCrash(t *testing.T) {
	for _, engine := range []string{target.Postgres, target.MariaDB} {
		for name, c := range map[string]struct {
			cache CacheMode
			kill  []string
		}{
			"through": {WriteThrough, []string{"server", "mount", "both"}},
			"back":    {WriteBack, []string{"both"}},
		} {
			t.Run(engine+"/"+name, func(t *testing.T) {
				r := startEngine(t, engine, c.cache)
				r.spill(t)
				for i := range *crashCycles {
					for _, what := range c.kill {
						r.crash(t, what)
						if t.Failed() {
							t.Fatalf("cycle %d, after killing %s", i, what)
						}
					}
				}
				if countCanary(t, r.m.dir) == 0 {
					t.Error("no file on the mount holds the canary: the search finds nothing")
				}
				if n := countCanary(t, r.m.Lower); n > 0 {
					t.Errorf("%d files below hold content in plain", n)
				}
				r.stop(t)
			})
		}
	}
}

func startEngine(t *testing.T, engine string, cache CacheMode) *engineRun {
	t.Helper()
	r := &engineRun{m: mountTest(t, serveConfig{Key: 1, WriteBack: cache == WriteBack}), kept: map[int]int{}}
	tmp := filepath.Join(r.m.dir, "tmp")
	if err := os.Mkdir(tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(tmp, 0o1777); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var err error
	r.server, err = target.Start(ctx, target.Config{
		Engine: engine, Settings: engineSettings[engine], Template: targettest.TemplateDir(),
		DataDir: filepath.Join(r.m.dir, "data"), TmpDir: tmp,
	})
	if err != nil {
		t.Fatalf("start %s: %v", engine, err)
	}
	t.Cleanup(func() { r.stop(t) })
	r.connect(t)
	r.exec(t, "CREATE TABLE kept (writer INT NOT NULL, n INT NOT NULL, text VARCHAR(200) NOT NULL, PRIMARY KEY (writer, n))")
	return r
}

func (r *engineRun) connect(t *testing.T) {
	t.Helper()
	d, err := dsn.Parse(r.server.DSN())
	if err == nil {
		r.db, err = d.Open(context.Background(), dsn.Options{})
	}
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
}

func (r *engineRun) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := r.db.Exec(statement); err != nil {
		t.Fatalf("%.60s: %v", statement, err)
	}
}

func (r *engineRun) stop(t *testing.T) {
	t.Helper()
	if r.server == nil {
		return
	}
	r.db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := r.server.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
	r.server = nil
}

// spill has the engine write temporary files, and tables of its own.
func (r *engineRun) spill(t *testing.T) {
	t.Helper()
	r.exec(t, "CREATE TABLE wide (n INT NOT NULL, text VARCHAR(400) NOT NULL)")
	for i := range 4 {
		q := "INSERT INTO wide VALUES "
		for j := range 1000 {
			if j > 0 {
				q += ","
			}
			q += fmt.Sprintf("(%d, '%s %d')", (i*1000+j)*7919%4000, canary, j)
		}
		r.exec(t, q)
	}
	var n int
	err := r.db.QueryRow("SELECT COUNT(*) FROM (SELECT DISTINCT a.text, b.n FROM wide a JOIN wide b ON a.n = b.n ORDER BY a.text DESC, b.n) x").Scan(&n)
	if err != nil || n == 0 {
		t.Fatalf("sort: %d rows, %v", n, err)
	}
	if r.server.Engine() == target.Postgres {
		r.spillPostgres(t)
	}
}

// spillPostgres looks at temporary files while they are there.
func (r *engineRun) spillPostgres(t *testing.T) {
	t.Helper()
	tx, err := r.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for _, q := range []string{"DECLARE c CURSOR FOR SELECT text FROM wide ORDER BY text, n", "MOVE 1 FROM c"} {
		if _, err := tx.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	if countCanary(t, filepath.Join(r.m.dir, "data", "base", "pgsql_tmp")) == 0 {
		t.Error("no temporary file holds the canary: nothing was spilled")
	}
	if n := countCanary(t, r.m.Lower); n > 0 {
		t.Errorf("%d files below hold content in plain", n)
	}
}

// crash writes, kills in the middle, starts again and checks.
func (r *engineRun) crash(t *testing.T, what string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	const writers = 3
	var wg sync.WaitGroup
	busy := make(chan struct{}, 1)
	for w := range writers {
		wg.Go(func() { r.write(ctx, w, busy) })
	}
	for range 20 + rand.IntN(200) { // some rows, not some time
		select {
		case <-busy:
		case <-time.After(30 * time.Second):
			t.Fatal("nothing is written")
		}
	}
	switch what {
	case "server":
		r.server.Kill()
	case "mount":
		r.m.kill(t)
		r.server.Kill()
	case "both":
		r.server.Kill()
		r.m.kill(t)
	}
	cancel()
	wg.Wait()
	r.db.Close()
	if r.m.cmd == nil {
		r.m.remount(t)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := r.server.Restart(ctx); err != nil {
		t.Fatalf("start after killing %s: %v; the mount's log: %q", what, err, r.m.log())
	}
	r.connect(t)
	r.check(t)
}

// write inserts rows until that fails, and notes those acknowledged.
func (r *engineRun) write(ctx context.Context, w int, busy chan<- struct{}) {
	for {
		r.mu.Lock()
		n := r.kept[w]
		r.mu.Unlock()
		q := fmt.Sprintf("INSERT INTO kept VALUES (%d, %d, '%s %d')", w, n, canary, n)
		if _, err := r.db.ExecContext(ctx, q); err != nil {
			return
		}
		r.mu.Lock()
		r.kept[w] = n + 1
		r.mu.Unlock()
		select {
		case busy <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
}

// check finds all rows that were acknowledged, and one more for each writer at
// most: it was in the middle of that.
func (r *engineRun) check(t *testing.T) {
	t.Helper()
	rows, err := r.db.Query("SELECT writer, COUNT(*), MAX(n) FROM kept GROUP BY writer")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	found := map[int]int{}
	for rows.Next() {
		var w, count, last int
		if err := rows.Scan(&w, &count, &last); err != nil {
			t.Fatal(err)
		}
		if last+1 != count {
			t.Errorf("writer %d: %d rows, the last is %d", w, count, last)
		}
		found[w] = count
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for w, n := range r.kept {
		if found[w] < n || found[w] > n+1 {
			t.Errorf("writer %d: %d rows, %d were acknowledged", w, found[w], n)
		}
		r.kept[w] = found[w]
	}
}

// countCanary counts the files below dir that hold the canary, and logs some.
func countCanary(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // the server is at work
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if bytes.Contains(b, []byte(canary)) {
			if n++; n < 10 {
				t.Logf("canary in %s", path)
			}
		}
		return err
	})
	if err != nil {
		t.Errorf("search %s: %v", dir, err)
	}
	return n
}
