package sqlvfs_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
	"github.com/veildb/veildb/internal/atrest/volume"
)

// TestConversionIsLossless takes databases there and back: the bytes are the
// same, and the encrypted one works.
func TestConversionIsLossless(t *testing.T) {
	keys, newer := newKeys(t, 1, 1), newKeys(t, 2, 9)
	for name, setup := range map[string]struct {
		opts sqlvfs.Options
		sql  string
	}{
		"wal":          {sqlvfs.Options{JournalMode: "wal"}, ``},
		"delete":       {sqlvfs.Options{JournalMode: "delete"}, ``},
		"small pages":  {sqlvfs.Options{JournalMode: "delete", PageSize: 512}, ``},
		"large pages":  {sqlvfs.Options{JournalMode: "wal", PageSize: 65536}, ``},
		"free pages":   {sqlvfs.Options{JournalMode: "wal"}, `DELETE FROM t WHERE id > 100`},
		"features":     {sqlvfs.Options{JournalMode: "wal"}, `PRAGMA user_version=77; PRAGMA application_id=5; CREATE VIEW w AS SELECT v FROM t; CREATE TRIGGER tr AFTER INSERT ON t BEGIN SELECT 1; END; CREATE TABLE wr(a PRIMARY KEY, b BLOB) WITHOUT ROWID; INSERT INTO wr VALUES (1, x'00ff'), ('k', zeroblob(9000))`},
		"auto vacuum":  {sqlvfs.Options{JournalMode: "delete", Pragmas: []string{"auto_vacuum=incremental"}}, `DELETE FROM t WHERE id % 3`},
		"one page":     {sqlvfs.Options{JournalMode: "delete"}, `DROP TABLE t; VACUUM`},
		"other coding": {sqlvfs.Options{JournalMode: "delete", Pragmas: []string{"encoding='UTF-16be'"}}, ``},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			plain, enc, re, back := filepath.Join(dir, "plain"), filepath.Join(dir, "enc"), filepath.Join(dir, "re"), filepath.Join(dir, "back")
			setup.opts.Synchronous = "off"
			db := mustOpen(t, plain, setup.opts)
			mustExec(t, db, `CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t(v) SELECT hex(randomblob(300)) FROM generate_series(1, 2000)`)
			mustExec(t, db, setup.sql)
			db.Close()
			for _, c := range []sqlvfs.Conversion{
				{Source: plain, Target: enc, TargetKeys: keys},
				{Source: enc, Target: re, SourceKeys: keys, TargetKeys: newer},
				{Source: re, Target: back, SourceKeys: newer},
			} {
				var last, total int64
				c.Progress = func(d, t int64) { last, total = d, t }
				if err := c.Run(context.Background()); err != nil {
					t.Fatal(err)
				}
				if last != total || total == 0 {
					t.Errorf("progress ended at %d of %d", last, total)
				}
			}
			a, _ := os.ReadFile(plain)
			b, _ := os.ReadFile(back)
			if len(a) == 0 || !bytes.Equal(a, b) {
				t.Errorf("%d bytes became %d, or others", len(a), len(b))
			}
			opts := setup.opts
			opts.Keys = keys
			db = mustOpen(t, enc, opts)
			if got := queryString(t, db, `PRAGMA integrity_check`); got != "ok" {
				t.Error(got)
			}
			mustExec(t, db, `CREATE TABLE later(v); INSERT INTO later VALUES (1)`)
		})
	}
}

// TestConversionPlaysBackCrash converts a database whose last content is in a
// log or hot journal left by a killed process.
func TestConversionPlaysBackCrash(t *testing.T) {
	for _, mode := range []string{"wal", "persist"} {
		t.Run(mode, func(t *testing.T) {
			dir := t.TempDir()
			live, left := filepath.Join(dir, "live"), filepath.Join(dir, "left")
			db := mustOpen(t, live, sqlvfs.Options{JournalMode: mode, CacheKiB: 16, Pragmas: []string{"wal_autocheckpoint=0"}})
			db.SetMaxOpenConns(1)
			mustExec(t, db, `CREATE TABLE t(v); INSERT INTO t SELECT 'committed' FROM generate_series(1, 3000)`)
			tx, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			mustExec(t, tx, `UPDATE t SET v = 'never committed'`) // spills into database or log
			for _, suffix := range []string{"", "-wal", "-journal"} {
				if b, err := os.ReadFile(live + suffix); err == nil {
					if err := os.WriteFile(left+suffix, b, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			tx.Rollback()
			enc, keys := filepath.Join(dir, "enc"), newKeys(t, 1, 1)
			if err := (&sqlvfs.Conversion{Source: left, Target: enc, TargetKeys: keys}).Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			db = mustOpen(t, enc, sqlvfs.Options{Keys: keys})
			if got := queryString(t, db, `SELECT count(*) || ' ' || min(v) || ' ' || max(v) FROM t`); got != "3000 committed committed" {
				t.Errorf("content: %s", got)
			}
		})
	}
}

func TestConversionRefuses(t *testing.T) {
	dir, keys := t.TempDir(), newKeys(t, 1, 1)
	plain := filepath.Join(dir, "plain")
	db := mustOpen(t, plain, sqlvfs.Options{})
	mustExec(t, db, `CREATE TABLE t(v); INSERT INTO t SELECT hex(randomblob(500)) FROM generate_series(1, 5000)`)
	target := filepath.Join(dir, "target")
	run := func(c sqlvfs.Conversion) error { return c.Run(context.Background()) }

	if err := run(sqlvfs.Conversion{Source: plain, Target: target, TargetKeys: keys}); !errors.Is(err, sqlvfs.ErrBusy) {
		t.Errorf("source open elsewhere: %v, want ErrBusy", err)
	}
	db.Close()
	db = mustOpen(t, plain, sqlvfs.Options{JournalMode: "delete"})
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := run(sqlvfs.Conversion{Source: plain, Target: target, TargetKeys: keys}); !errors.Is(err, sqlvfs.ErrBusy) {
		t.Errorf("source locked: %v, want ErrBusy", err)
	}
	tx.Rollback()
	db.Close()
	for _, taken := range []string{"target", "target-wal", "target-journal"} {
		path := filepath.Join(dir, taken)
		if err := os.WriteFile(path, []byte("theirs"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run(sqlvfs.Conversion{Source: plain, Target: target, TargetKeys: keys}); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s exists: %v, want fs.ErrExist", taken, err)
		}
		if b, _ := os.ReadFile(path); string(b) != "theirs" {
			t.Errorf("%s was changed", taken)
		}
		os.Remove(path)
	}
	if err := run(sqlvfs.Conversion{Source: plain, Target: target, SourceKeys: keys}); !errors.Is(err, sqlvfs.ErrNotEncrypted) {
		t.Errorf("decrypting a plain source: %v, want ErrNotEncrypted", err)
	}
	if err := run(sqlvfs.Conversion{Source: filepath.Join(dir, "missing"), Target: target}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing source: %v, want fs.ErrNotExist", err)
	}
	enc := filepath.Join(dir, "enc")
	if err := run(sqlvfs.Conversion{Source: plain, Target: enc, TargetKeys: keys}); err != nil {
		t.Fatal(err)
	}
	if err := run(sqlvfs.Conversion{Source: enc, Target: target, SourceKeys: newKeys(t, 1, 3)}); !errors.Is(err, volume.ErrWrongKey) {
		t.Errorf("wrong key: %v, want ErrWrongKey", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := sqlvfs.Conversion{Source: plain, Target: target, TargetKeys: keys, Progress: func(done, total int64) { cancel() }}
	if err := c.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, want context.Canceled", err)
	}
	onlyNames(t, dir, "plain", "enc")
}

// TestConversionKilled kills a converting process: nothing is left beside the
// source, and the next run succeeds.
func TestConversionKilled(t *testing.T) {
	dir := t.TempDir()
	plain, target := filepath.Join(dir, "plain"), filepath.Join(dir, "target")
	db := mustOpen(t, plain, sqlvfs.Options{Synchronous: "off"})
	mustExec(t, db, `CREATE TABLE t(v); INSERT INTO t SELECT randomblob(1000) FROM generate_series(1, 20000)`)
	db.Close()
	cmd := child(t, "convert", plain, target)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it has written some
		t.Fatal(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	onlyNames(t, dir, "plain")
	if err := (&sqlvfs.Conversion{Source: plain, Target: target, TargetKeys: newKeys(t, 1, 1)}).Run(context.Background()); err != nil {
		t.Error(err)
	}
}

func onlyNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "-shm") && !strings.HasSuffix(e.Name(), "-wal") {
			got = append(got, e.Name())
		}
	}
	if len(got) != len(want) {
		t.Errorf("directory holds %v, want %v", got, want)
	}
}
