package veilsql_test

import (
	"context"
	"crypto/tls"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/inuse/sidecar/sidecartest"
	"github.com/veildb/veildb/veilsql"
)

// mariadb is the one server all tests of this package share.
var mariadb struct {
	once sync.Once
	*target.Server
	stop func()
}

func backend(t testing.TB) string {
	t.Helper()
	mariadb.once.Do(func() { mariadb.Server, mariadb.stop = sidecartest.Setup(t) })
	if mariadb.Server == nil {
		t.Fatal("the server did not start in an earlier test")
	}
	return mariadb.Addr()
}

func TestMain(m *testing.M) {
	mysql.SetLogger(&mysql.NopLogger{}) // dead connections are part of the tests
	code := m.Run()
	if mariadb.stop != nil {
		mariadb.stop()
	}
	os.Exit(code)
}

var mek = []byte("0123456789abcdef")

// mekFile is a file with the master key.
func mekFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mek")
	if err := os.WriteFile(path, fmt.Appendf(nil, "%x\n", mek), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var certs struct {
	once           sync.Once
	server, client *tls.Config
}

// gate starts a confidential server with TLS before the real one.
func gate(t testing.TB, g *sidecartest.Gate) *sidecartest.Gate {
	t.Helper()
	certs.once.Do(func() { certs.server, certs.client = sidecartest.TLS(t) })
	g.Backend, g.TLS = backend(t), certs.server
	if g.Columns == nil {
		g.Columns = sidecartest.Columns
	}
	return sidecartest.Start(t, g)
}

func dsn(addr, params string) string {
	return fmt.Sprintf("%s:%s@tcp(%s)/%s?%s", sidecartest.User, sidecartest.Password, addr, sidecartest.Database, params)
}

func withMEK(context.Context) ([]byte, error) { return append([]byte{}, mek...), nil }

// open opens a database behind a gate.
func open(t testing.TB, addr, params string, opts ...veilsql.Option) *sql.DB {
	t.Helper()
	c, err := veilsql.NewConnector(dsn(addr, params), append([]veilsql.Option{veilsql.WithTLS(certs.client)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(c)
	t.Cleanup(func() { db.Close() })
	return db
}

// direct opens the real server with the plain driver.
func direct(t testing.TB, params string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn(backend(t), params))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
