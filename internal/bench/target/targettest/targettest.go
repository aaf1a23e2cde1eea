// Package targettest gives tests a private database server.
package targettest

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/target"
)

// patience is how long a server may take to begin, or to end: several packages'
// tests start theirs at once, and the first of a machine fill their data anew.
const patience = 5 * time.Minute

// Start starts a server of the engine with settings that forget durability and
// little memory, laid under those given, and stops it when the test ends. An
// engine that is not installed fails the test: skipping would hide it.
func Start(tb testing.TB, engine string, settings map[string]string) *target.Server {
	tb.Helper()
	s, stop := New(tb, engine, settings)
	tb.Cleanup(stop)
	return s
}

// New is Start for a TestMain or a test that stops the server itself.
func New(tb testing.TB, engine string, settings map[string]string) (*target.Server, func()) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	all := maps.Clone(quick[engine])
	maps.Copy(all, settings)
	s, err := target.Start(ctx, target.Config{Engine: engine, Settings: all, Template: TemplateDir(), TCP: true, Timeout: patience})
	if err != nil {
		tb.Fatalf("start %s: %v", engine, err)
	}
	return s, func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			tb.Errorf("stop %s: %v", engine, err)
		}
	}
}

// quick trades durability and buffers for speed.
var quick = map[string]map[string]string{
	target.MariaDB: {
		"innodb_flush_log_at_trx_commit":      "0",
		"innodb_buffer_pool_size":             "64M",
		"innodb_log_file_size":                "32M",
		"innodb_doublewrite":                  "OFF",
		"innodb_buffer_pool_dump_at_shutdown": "OFF",
		"innodb_fast_shutdown":                "2",
		"performance_schema":                  "OFF",
		"max_connections":                     "400",
	},
	target.MySQL: {
		"innodb_flush_log_at_trx_commit": "0",
		"innodb_buffer_pool_size":        "64M",
		"innodb_redo_log_capacity":       "64M",
		"innodb_doublewrite":             "OFF",
		"innodb_fast_shutdown":           "2",
		"performance_schema":             "OFF",
		"disable_log_bin":                "ON",
		"max_connections":                "400",
	},
	target.Postgres: {
		"fsync":              "off",
		"synchronous_commit": "off",
		"full_page_writes":   "off",
		"shared_buffers":     "64MB",
		"max_connections":    "300",
	},
}

// TemplateDir keeps initialised data from one test run to the next, in the
// user's cache. Without such a place every start initialises anew.
func TemplateDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "veildb", "test-servers")
}
