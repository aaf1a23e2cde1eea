package tpcc

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	sqlite "github.com/ncruces/go-sqlite3/driver"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/target/targettest"
)

// loaded holds one freshly loaded SQLite database a flavor, made once.
var loaded struct {
	sync.Mutex
	dir   string
	paths map[Flavor]string
}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(loaded.dir)
	os.Exit(code)
}

// openSQLite opens a database file with settings that forget durability.
func openSQLite(t testing.TB, path string, pragmas ...string) *sql.DB {
	t.Helper()
	name := "file:" + path + "?_pragma=busy_timeout(20000)&_pragma=journal_mode(wal)&_pragma=synchronous(off)"
	for _, p := range pragmas {
		name += "&_pragma=" + p
	}
	db, err := sqlite.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// copySQLite returns a copy of its own of a loaded database with one
// warehouse.
func copySQLite(t testing.TB, f Flavor) *sql.DB {
	t.Helper()
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.paths == nil {
		dir, err := os.MkdirTemp("", "tpcc-test-")
		if err != nil {
			t.Fatal(err)
		}
		loaded.dir, loaded.paths = dir, map[Flavor]string{}
	}
	if loaded.paths[f] == "" {
		path := filepath.Join(loaded.dir, string(f)+".db")
		db := openSQLite(t, path)
		if err := Load(context.Background(), db, LoadConfig{Dialect: dsn.SQLite, Flavor: f, Warehouses: 1, Seed: 1}); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil { // leaves no -wal file
			t.Fatal(err)
		}
		loaded.paths[f] = path
	}
	b, err := os.ReadFile(loaded.paths[f])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return openSQLite(t, path)
}

// openServer starts a private server and opens its empty database.
func openServer(t testing.TB, engine string, settings map[string]string) (*sql.DB, dsn.Dialect) {
	t.Helper()
	s := targettest.Start(t, engine, settings)
	d, err := dsn.Parse(s.DSN())
	if err != nil {
		t.Fatal(err)
	}
	db, err := d.Open(context.Background(), dsn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db, d.Dialect()
}

func newWorkload(t testing.TB, c Config) *Workload {
	t.Helper()
	w, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// mustHold runs Check and fails the test for each condition that does not
// hold; it returns how many conditions there were.
func mustHold(t testing.TB, db *sql.DB, d dsn.Dialect, i Info) int {
	t.Helper()
	checks, err := Check(context.Background(), db, d, i)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range checks {
		if !c.OK {
			t.Errorf("%s: %s", c.Name, c.Detail)
		}
		if strings.Contains(c.Name, "3.3.2") {
			n++
		}
	}
	return n
}

// fingerprint is a hash over every value that transactions write, in key order.
func fingerprint(t testing.TB, db *sql.DB, f Flavor) string {
	t.Helper()
	h := sha256.New()
	p := profiles[f]
	for _, tab := range p.schema() {
		order := strings.Join(tab.key, ",")
		if order == "" {
			order = "h_w_id, h_d_id, h_c_w_id, h_c_d_id, h_c_id, h_date, h_amount, h_data"
		}
		var columns []string
		for _, c := range tab.columns {
			if text := c.kind == kChar || c.kind == kVarchar; !text || slices.Contains([]string{"c_data", "h_data", "ol_dist_info"}, c.name) {
				columns = append(columns, c.name)
			}
		}
		rows, err := db.Query("SELECT " + strings.Join(columns, ",") + " FROM " + tab.name + " ORDER BY " + order)
		if err != nil {
			t.Fatal(err)
		}
		row := make([]sql.RawBytes, len(columns))
		dest := make([]any, len(row))
		for i := range row {
			dest[i] = &row[i]
		}
		for rows.Next() {
			if err := rows.Scan(dest...); err != nil {
				t.Fatal(err)
			}
			for _, v := range row {
				h.Write(v)
				h.Write([]byte{'|'})
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

func scalar[T any](t testing.TB, db *sql.DB, query string) (v T) {
	t.Helper()
	if err := db.QueryRow(query).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}
