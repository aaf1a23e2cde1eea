package sqlvfs_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
)

func TestOptionsReachSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c#d%.db")
	db, err := sqlvfs.Open(path, sqlvfs.Options{
		Synchronous: "normal", BusyTimeout: 1500 * time.Millisecond, CacheKiB: 2048, PageSize: 8192,
		TempStore: "file", ForeignKeys: true, Pragmas: []string{"user_version=7"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "1", "busy_timeout": "1500", "cache_size": "-2048",
		"page_size": "8192", "temp_store": "1", "foreign_keys": "1", "user_version": "7",
	} {
		var got string
		if err := db.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("PRAGMA %s = %q, %v; want %q", pragma, got, err, want)
		}
	}
	if matches, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "a b[?]c#d%.db")); len(matches) != 1 {
		t.Errorf("the file has another name than asked for")
	}
}

func TestBadOptions(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		opts sqlvfs.Options
	}{
		"empty path":   {"", sqlvfs.Options{}},
		"nul in path":  {"a\x00b", sqlvfs.Options{}},
		"journal mode": {"x", sqlvfs.Options{JournalMode: "wal; drop table t"}},
		"synchronous":  {"x", sqlvfs.Options{Synchronous: "maybe"}},
		"pragma":       {"x", sqlvfs.Options{Pragmas: []string{"a=1; drop table t"}}},
		"lock":         {"x", sqlvfs.Options{TxLock: "hard"}},
	} {
		if _, err := sqlvfs.Open(c.path, c.opts); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestMustExist(t *testing.T) {
	for name, opts := range map[string]sqlvfs.Options{"must exist": {MustExist: true}, "read only": {ReadOnly: true}} {
		db, err := sqlvfs.Open(filepath.Join(t.TempDir(), "missing.db"), opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Ping(); err == nil {
			t.Errorf("%s: a missing file was opened", name)
		}
		db.Close()
	}
}
