package sqlvfs_test

import (
	"bytes"
	"database/sql"
	"testing"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/crypto/secret"
)

// testKeys is a KeySource of one version whose key is 32 times the byte b.
type testKeys struct {
	version uint32
	dek     *secret.Bytes
}

func newKeys(t testing.TB, version uint32, b byte) *testKeys {
	t.Helper()
	dek, err := secret.From(bytes.Repeat([]byte{b}, 32))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dek.Close() })
	return &testKeys{version, dek}
}

func (k *testKeys) Current() uint32 { return k.version }

func (k *testKeys) DEK(version uint32) (*secret.Bytes, error) {
	if version != k.version {
		return nil, volume.ErrUnknownKey
	}
	return k.dek, nil
}

func mustOpen(t testing.TB, path string, opts sqlvfs.Options) *sql.DB {
	t.Helper()
	db, err := sqlvfs.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func mustExec(t testing.TB, db interface {
	Exec(string, ...any) (sql.Result, error)
}, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func queryString(t testing.TB, db *sql.DB, query string, args ...any) string {
	t.Helper()
	var s sql.NullString
	if err := db.QueryRow(query, args...).Scan(&s); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return s.String
}
