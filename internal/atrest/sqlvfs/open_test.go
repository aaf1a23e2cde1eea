package sqlvfs_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/crypto/secret"
)

// makeDB creates a database with one row and returns its path.
func makeDB(t *testing.T, opts sqlvfs.Options) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made.db")
	db := mustOpen(t, path, opts)
	mustExec(t, db, `CREATE TABLE t(v); INSERT INTO t VALUES ('row')`)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOpenErrors opens files in every wrong way. Each gives its one error, and
// the file stays as it is, to the byte.
func TestOpenErrors(t *testing.T) {
	keys := newKeys(t, 1, 1)
	plain, err := os.ReadFile(makeDB(t, sqlvfs.Options{JournalMode: "delete"}))
	if err != nil {
		t.Fatal(err)
	}
	enc, err := os.ReadFile(makeDB(t, sqlvfs.Options{JournalMode: "delete", Keys: keys}))
	if err != nil {
		t.Fatal(err)
	}
	flip := func(b []byte, at int) []byte { c := bytes.Clone(b); c[at] ^= 0x10; return c }
	short, err := secret.From(make([]byte, 16))
	if err != nil {
		t.Fatal(err)
	}
	defer short.Close()
	for name, c := range map[string]struct {
		content []byte
		keys    volume.KeySource
		want    error
	}{
		"right key":                   {enc, keys, nil},
		"wrong key":                   {enc, newKeys(t, 1, 2), volume.ErrWrongKey},
		"short key":                   {enc, &testKeys{1, short}, volume.ErrWrongKey},
		"key version not there":       {enc, newKeys(t, 2, 1), volume.ErrUnknownKey},
		"no key":                      {enc, nil, sqlvfs.ErrEncrypted},
		"key for a plain database":    {plain, keys, sqlvfs.ErrNotEncrypted},
		"not a database, key":         {[]byte(strings.Repeat("hello ", 2000)), keys, volume.ErrNotOurs},
		"not a database, no key":      {[]byte(strings.Repeat("hello ", 2000)), nil, sqlvfs.ErrNotADatabase},
		"cut in the header":           {enc[:3000], keys, volume.ErrTruncated},
		"bit flipped in the magic":    {flip(enc, 2), keys, volume.ErrCorrupt},
		"bit flipped in the file id":  {flip(enc, 20), keys, volume.ErrCorrupt},
		"bit flipped in the MAC":      {flip(enc, 450), keys, volume.ErrCorrupt},
		"bit flipped in the padding":  {flip(enc, 4000), keys, volume.ErrCorrupt},
		"bit flipped with wrong key":  {flip(enc, 70), newKeys(t, 1, 2), volume.ErrCorrupt},
		"header zeroed":               {append(make([]byte, 4096), enc[4096:]...), keys, volume.ErrCorrupt},
		"plain page behind header":    {append(bytes.Clone(enc[:4096]), plain...), keys, sqlvfs.ErrDamaged},
		"empty file becomes one":      {nil, keys, nil},
		"interrupted creation, zeros": {make([]byte, 4096), keys, nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			if err := os.WriteFile(path, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			db := mustOpen(t, path, sqlvfs.Options{Keys: c.keys, JournalMode: "delete"})
			_, err := db.Exec(`CREATE TABLE IF NOT EXISTS u(v); INSERT INTO u VALUES (1)`)
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			after, rerr := os.ReadFile(path)
			if rerr != nil || c.want != nil && !bytes.Equal(after, c.content) {
				t.Errorf("the file was changed (%v)", rerr)
			}
			if err != nil {
				said := strings.ReplaceAll(err.Error(), path, "") // which is a random number
				if strings.Contains(said, strings.Repeat("\x01", 8)) || strings.Contains(said, "0101") {
					t.Errorf("the error shows key bytes: %v", err)
				}
			}
		})
	}
}

func TestReadOnly(t *testing.T) {
	keys := newKeys(t, 1, 1)
	path := makeDB(t, sqlvfs.Options{Keys: keys})
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db := mustOpen(t, path, sqlvfs.Options{Keys: keys, ReadOnly: true})
	if got := queryString(t, db, `SELECT v FROM t`); got != "row" {
		t.Errorf("content %q", got)
	}
	if _, err := db.Exec(`INSERT INTO t VALUES (1)`); err == nil {
		t.Error("a read-only database was written")
	}
	db.Close()
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed (%v)", err)
	}
}

// TestSwappedFiles puts another database's log or journal, made under the same
// key, beside a database: it must be refused, not applied.
func TestSwappedFiles(t *testing.T) {
	keys := newKeys(t, 1, 1)
	for mode, suffix := range map[string]string{"wal": "-wal", "persist": "-journal"} {
		t.Run(mode, func(t *testing.T) {
			dir := t.TempDir()
			opts := sqlvfs.Options{Keys: keys, JournalMode: mode}
			var dbs []string
			for _, name := range []string{"a", "b"} {
				path := filepath.Join(dir, name)
				db := mustOpen(t, path, opts)
				mustExec(t, db, `CREATE TABLE t(v)`)
				tx, err := db.Begin()
				if err != nil {
					t.Fatal(err)
				}
				mustExec(t, tx, `INSERT INTO t VALUES (1)`)
				if mode == "wal" {
					if err := tx.Commit(); err != nil {
						t.Fatal(err)
					}
				} else {
					mustExec(t, tx, `PRAGMA cache_spill=1`)
				}
				copyTo(t, path, path+".copy")
				copyTo(t, path+suffix, path+".copy"+suffix)
				db.Close()
				dbs = append(dbs, path+".copy")
			}
			copyTo(t, dbs[0]+suffix, dbs[1]+suffix)
			db := mustOpen(t, dbs[1], opts)
			if _, err := db.Exec(`INSERT INTO t VALUES (2)`); !errors.Is(err, volume.ErrMismatch) {
				t.Errorf("another database's %s: %v, want ErrMismatch", suffix, err)
			}
			// A database in the place of its own log is refused by its role.
			copyTo(t, dbs[0], dbs[0]+suffix)
			db = mustOpen(t, dbs[0], opts)
			if _, err := db.Exec(`INSERT INTO t VALUES (2)`); !errors.Is(err, volume.ErrMismatch) {
				t.Errorf("a database as %s: %v, want ErrMismatch", suffix, err)
			}
			// What is no encrypted file at all, such as a plain log or one of
			// another program.
			for _, content := range []string{"garbage", strings.Repeat("a long text ", 1000)} {
				db.Close()
				if err := os.WriteFile(dbs[0]+suffix, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				db = mustOpen(t, dbs[0], opts)
				_, err := db.Exec(`INSERT INTO t VALUES (2)`)
				if !errors.Is(err, volume.ErrMismatch) && !errors.Is(err, volume.ErrTruncated) {
					t.Errorf("%.8q as %s: %v, want ErrMismatch or ErrTruncated", content, suffix, err)
				}
				if err != nil && !strings.Contains(err.Error(), "journal: ") && !strings.Contains(err.Error(), "write-ahead log: ") {
					t.Errorf("%.8q as %s: %v does not say which file", content, suffix, err)
				}
			}
		})
	}
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestKeyPragmasAreRefused: elsewhere these set or change a key; here they
// must not seem to work. PRAGMA rekey with an open log once lost databases.
func TestKeyPragmasAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	opts := sqlvfs.Options{Keys: newKeys(t, 1, 1)}
	db := mustOpen(t, path, opts)
	mustExec(t, db, `CREATE TABLE t(v); INSERT INTO t VALUES ('kept')`)
	for _, pragma := range []string{`key='x'`, `rekey='x'`, `hexkey='00'`, `textkey='x'`, `hexrekey='00'`, `REKEY='x'`} {
		if _, err := db.Exec(`PRAGMA ` + pragma); err == nil || !strings.Contains(err.Error(), "convert") {
			t.Errorf("PRAGMA %s: %v, want an error that says what to do", pragma, err)
		}
	}
	db.Close()
	db = mustOpen(t, path, opts)
	if got := queryString(t, db, `SELECT v FROM t`); got != "kept" {
		t.Errorf("content %q", got)
	}
	if got := queryString(t, db, `PRAGMA veildb_encryption`); !strings.Contains(got, "aes-256-xts, key version 1, file id") {
		t.Errorf("veildb_encryption: %q", got)
	}
}

// TestMmapHasNoEffect: a mapped page would be ciphertext.
func TestMmapHasNoEffect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db := mustOpen(t, path, sqlvfs.Options{Keys: newKeys(t, 1, 1), Pragmas: []string{"mmap_size=268435456"}})
	mustExec(t, db, `CREATE TABLE t(v); INSERT INTO t SELECT hex(randomblob(500)) FROM generate_series(1, 2000)`)
	mustExec(t, db, `PRAGMA wal_checkpoint(TRUNCATE)`)
	var size string
	if err := db.QueryRow(`PRAGMA mmap_size`).Scan(&size); err == nil && size != "0" {
		t.Errorf("mmap_size %s is in effect", size)
	}
	if got := queryString(t, db, `PRAGMA integrity_check`); got != "ok" {
		t.Error(got)
	}
}

// TestKeysAreReleased: after Close and the last connection, the VFS holds no
// key source any more.
func TestKeysAreReleased(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db := mustOpen(t, path, sqlvfs.Options{Keys: newKeys(t, 1, 1)})
	mustExec(t, db, `CREATE TABLE t(v)`)
	before := sqlvfs.HeldKeys()
	db.Close()
	if after := sqlvfs.HeldKeys(); after != before-1 {
		t.Errorf("%d key sources held before Close, %d after", before, after)
	}
}
