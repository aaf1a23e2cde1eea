package sysbench_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/sysbench"
	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/bench/target/targettest"
)

// The servers of all tests: one each, started when first needed.
var servers = struct {
	sync.Mutex
	running map[string]*target.Server
}{running: map[string]*target.Server{}}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, s := range servers.running {
		s.Stop(context.Background())
	}
	os.Exit(code)
}

func server(tb testing.TB, engine string) *target.Server {
	tb.Helper()
	servers.Lock()
	defer servers.Unlock()
	if servers.running[engine] == nil {
		s, _ := targettest.New(tb, engine, nil)
		servers.running[engine] = s
	}
	return servers.running[engine]
}

var databases atomic.Int64

// A database is an empty one, gone when the test ends.
type database struct {
	*sql.DB
	dialect dsn.Dialect
	engine  string         // "sqlite" or the server's
	server  *target.Server // nil for SQLite
	name    string
}

var engines = []string{"sqlite", target.MariaDB, target.Postgres}

func open(tb testing.TB, engine string, o dsn.Options) database {
	tb.Helper()
	if engine == "sqlite" {
		return openSQLite(tb)
	}
	s := server(tb, engine)
	name := fmt.Sprintf("sb%d", databases.Add(1))
	exec1(tb, s, "CREATE DATABASE "+name)
	db := openDSN(tb, s.DSNFor("", name), o)
	tb.Cleanup(func() {
		db.Close()
		exec1(tb, s, "DROP DATABASE "+name)
	})
	d, err := dsn.Parse(s.DSN())
	if err != nil {
		tb.Fatal(err)
	}
	return database{db, d.Dialect(), engine, s, name}
}

func openSQLite(tb testing.TB) database {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "s.db")
	db, err := sql.Open("sqlite3", "file:"+path+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(off)")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { db.Close() })
	if err := db.Ping(); err != nil { // the first connection turns the WAL on, alone
		tb.Fatal(err)
	}
	return database{db, dsn.SQLite, "sqlite", nil, path}
}

func openDSN(tb testing.TB, text string, o dsn.Options) *sql.DB {
	tb.Helper()
	d, err := dsn.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	db, err := d.Open(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	db.SetMaxIdleConns(64)
	return db
}

// exec1 runs a statement in the server's first database.
func exec1(tb testing.TB, s *target.Server, text string) {
	tb.Helper()
	d, err := dsn.Parse(s.DSN())
	if err != nil {
		tb.Fatal(err)
	}
	db, err := d.Open(context.Background(), dsn.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(text); err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
}

func each(t *testing.T, f func(t *testing.T, db database)) {
	for _, e := range engines {
		t.Run(e, func(t *testing.T) { f(t, open(t, e, dsn.Options{})) })
	}
}

func small() sysbench.Options {
	o := sysbench.Defaults()
	o.Tables, o.TableSize, o.Threads = 2, 1000, 2
	return o
}

func workload(tb testing.TB, db database, name string, o sysbench.Options) *sysbench.Workload {
	tb.Helper()
	w, err := sysbench.New(name, o, db.dialect)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

func prepare(tb testing.TB, db database, w *sysbench.Workload, seed uint64) {
	tb.Helper()
	if err := w.Prepare(tb.Context(), db.DB, sysbench.PrepareConfig{Seed: seed, Threads: w.Options().Threads}); err != nil {
		tb.Fatal(err)
	}
}

func scan[T any](tb testing.TB, db database, query string) T {
	tb.Helper()
	var v T
	if err := db.QueryRow(query).Scan(&v); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	return v
}

// seconds is a run of so many seconds, as the options' defaults have it.
func seconds(n int) sysbench.RunConfig {
	return sysbench.RunConfig{Seed: 1, Time: time.Duration(n) * time.Second, Forced: -1, Percentile: 95}
}
