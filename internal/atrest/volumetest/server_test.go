package volumetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/target"
)

// patience bounds whatever a busy machine may be slow at.
const patience = 3 * time.Minute

// durable are settings under which what a server acknowledged must survive, and
// with little memory, so that it reads and writes its files a lot.
var durable = map[string]map[string]string{
	target.Postgres: {
		"shared_buffers": "4MB", "wal_buffers": "256kB", "max_wal_size": "48MB", "checkpoint_timeout": "30s", "bgwriter_delay": "10ms",
		"autovacuum_naptime": "1s", "work_mem": "64kB", "temp_buffers": "800kB", "wal_level": "replica", "max_wal_senders": "4",
		"log_min_messages": "warning", "max_connections": "20",
	},
	target.MariaDB: {
		"innodb_flush_log_at_trx_commit": "1", "innodb_buffer_pool_size": "8M", "innodb_log_file_size": "8M",
		"innodb_log_buffer_size": "2M", "innodb_max_dirty_pages_pct": "10", "innodb_undo_log_truncate": "ON", "innodb_max_undo_log_size": "10M",
		"log_bin": "binlog", "sync_binlog": "1", "binlog_format": "ROW", "server_id": "1", "max_binlog_size": "1M", "expire_logs_days": "1",
		"innodb_buffer_pool_dump_at_shutdown": "OFF", "max_connections": "20", "performance_schema": "OFF", "lock_wait_timeout": "30",
	},
}

// A server is a database server whose data lie on a volume.
type server struct {
	*target.Server
	db *sql.DB
	d  dsn.Dialect
}

// startServer starts a server of the engine with its data in the directory data,
// which must be on a mount that the server may use, and stops it when the test
// ends.
func startServer(t testing.TB, engine, data string, settings map[string]string) *server {
	t.Helper()
	c := target.Config{
		Engine: engine, Dir: filepath.Join(tempDir(t), "server"), DataDir: data, TmpDir: data + ".tmp", Settings: settings, Timeout: patience,
	}
	if engine == target.Postgres {
		c.BinDir = *pgBin
	}
	s, err := tryServer(c)
	if err == nil && engine == target.Postgres && *pgBin == "" {
		// The server's own checksums of pages see what encryption alone does not.
		s.stop(t)
		pg(t, "pg_checksums", "--enable", "--pgdata="+data)
		s, err = tryServer(c)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stop(t) })
	return s
}

func tryServer(c target.Config) (*server, error) {
	t, err := target.Start(context.Background(), c)
	if err != nil {
		return nil, err
	}
	s := &server{Server: t}
	if err := s.open(); err != nil {
		t.Kill()
		return nil, err
	}
	return s, nil
}

// open connects to the server, which answers.
func (s *server) open() error {
	d, err := dsn.Parse(s.DSN())
	if err != nil {
		return err
	}
	s.d = d.Dialect()
	s.db, err = d.Open(context.Background(), dsn.Options{})
	return err
}

func (s *server) close() {
	if s.db != nil {
		s.db.Close()
	}
}

// stop ends the server in order.
func (s *server) stop(t testing.TB) {
	t.Helper()
	s.close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Errorf("stop server: %v; its log: %s", err, s.log())
	}
}

// recover starts the server again after a crash; what it does until it answers
// is its own recovery.
func (s *server) recover(t testing.TB) {
	t.Helper()
	s.close()
	if err := s.Restart(context.Background()); err != nil {
		t.Fatalf("the server does not recover: %v", err)
	}
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
}

// log is the end of what the server printed.
func (s *server) log() []byte {
	b, _ := os.ReadFile(s.LogFile())
	return tail(b)
}

// exec runs statements that must succeed.
func (s *server) exec(t testing.TB, statements ...string) {
	t.Helper()
	for _, q := range statements {
		if _, err := s.db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// checkEngine has the engine check its own tables and indexes.
func (s *server) checkEngine(t testing.TB) {
	t.Helper()
	if s.Engine() == target.MariaDB {
		s.checkTables(t)
		return
	}
	run(t, nil, filepath.Join(postgresBin(t), "pg_amcheck"), "--host="+filepath.Dir(s.Socket()), "--username="+s.User(), "--all",
		"--install-missing", "--heapallindexed", "--parent-check", "--on-error-stop")
}

// checkTables runs CHECK TABLE on every table there is.
func (s *server) checkTables(t testing.TB) {
	t.Helper()
	names := column(t, s.db, "SELECT CONCAT('`', table_schema, '`.`', table_name, '`') FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('performance_schema', 'information_schema', 'sys')")
	rows, err := s.db.Query("CHECK TABLE " + strings.Join(names, ", ") + " EXTENDED")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var table, op, kind, text string
		if err := rows.Scan(&table, &op, &kind, &text); err != nil {
			t.Fatal(err)
		}
		if strings.EqualFold(kind, "error") || kind == "status" && text != "OK" && !strings.Contains(text, "not checked") && !strings.Contains(text, "already up to date") {
			t.Errorf("CHECK TABLE %s: %s: %s", table, kind, text)
		}
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
}

// column is the only column of a query.
func column(t testing.TB, db *sql.DB, query string, args ...any) []string {
	t.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return all
}

// eventually waits until ok holds.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

// one reads a single number.
func one(ctx context.Context, db *sql.DB, query string) (n int64, err error) {
	if err = db.QueryRowContext(ctx, query).Scan(&n); err != nil {
		err = errors.Join(fmt.Errorf("query %q", query), err)
	}
	return n, err
}
