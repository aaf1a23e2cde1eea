package sqlend_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"path/filepath"
	"testing"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/inuse/cells"
	"github.com/veildb/veildb/internal/inuse/sqlend"
)

// sqlite is the Engine of real SQLite.
type sqlite struct{}

func (sqlite) Inspect(ctx context.Context, conn driver.Conn, query string) (sqlend.Statement, error) {
	columns, reads, err := sqlvfs.Origins(ctx, conn, query)
	return sqlend.Statement{Columns: convert(columns), Reads: convert(reads)}, err
}

func (sqlite) Flows(ctx context.Context, conn driver.Conn, query string) ([]sqlend.Flow, error) {
	flows, err := sqlvfs.Flows(ctx, conn, query)
	out := make([]sqlend.Flow, len(flows))
	for i, f := range flows {
		out[i] = sqlend.Flow{To: cells.Column(convert([]sqlvfs.Column{f.To})[0]), From: convert(f.From)}
	}
	return out, err
}

func (sqlite) Watch(_ context.Context, conn driver.Conn) (sqlend.Watch, error) {
	return sqlvfs.NewWatch(conn)
}

func (sqlite) Recompiled(stmt driver.Stmt) (int, error) { return sqlvfs.Recompiled(stmt) }

func convert(list []sqlvfs.Column) []cells.Column {
	out := make([]cells.Column, len(list))
	for i, c := range list {
		out[i] = cells.Column{Database: c.Schema, Table: c.Table, Column: c.Name}
	}
	return out
}

// oneKey is a KeySource with one version.
type oneKey struct{ dek *secret.Bytes }

func newKey(t testing.TB, seed byte) oneKey {
	t.Helper()
	dek, err := secret.From(bytes.Repeat([]byte{seed}, 32))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dek.Close() })
	return oneKey{dek}
}

func (k oneKey) Current() uint32                     { return 1 }
func (k oneKey) DEK(v uint32) (*secret.Bytes, error) { return k.dek, nil }

// world is one database file seen three ways.
type world struct {
	plain, sealed, revealed *sql.DB
	opener                  *cells.Opener
	connect                 func(strict bool) driver.Connector // a protecting end
}

// newWorld makes a database with schema and protects the columns patterns name.
func newWorld(t testing.TB, schema string, patterns ...string) *world {
	t.Helper()
	set, err := cells.NewSet(patterns...)
	if err != nil {
		t.Fatal(err)
	}
	key := newKey(t, 1)
	sealer, err := cells.NewSealer(key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sealer.Close() })
	path := filepath.Join(t.TempDir(), "w.db")
	inner := func() driver.Connector {
		c, err := sqlvfs.Connector(path, sqlvfs.Options{Synchronous: "normal"})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	w := &world{opener: cells.NewOpener(key)}
	w.connect = func(strict bool) driver.Connector {
		p, err := sqlend.Protect(inner(), sqlend.Config{Engine: sqlite{}, Columns: set, Sealer: sealer, Strict: strict})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	w.plain = openDB(t, inner())
	w.sealed = openDB(t, w.connect(false))
	reveal, err := sqlend.Reveal(w.connect(false), w.opener)
	if err != nil {
		t.Fatal(err)
	}
	w.revealed = openDB(t, reveal)
	if _, err := w.plain.Exec(schema); err != nil {
		t.Fatal(err)
	}
	return w
}

func openDB(t testing.TB, c driver.Connector) *sql.DB {
	t.Helper()
	db := sql.OpenDB(c)
	t.Cleanup(func() { db.Close() })
	return db
}

// table is a whole result.
type table struct {
	names []string
	types []string // database type, nullability
	rows  [][]any
}

type queryer interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}

func query(ctx context.Context, q queryer, text string, args ...any) (table, error) {
	var out table
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return out, err
	}
	defer rows.Close()
	if out.names, err = rows.Columns(); err != nil {
		return out, err
	}
	for rows.Next() {
		row := make([]any, len(out.names))
		ptrs := make([]any, len(row))
		for i := range row {
			ptrs[i] = &row[i]
		}
		if err := rows.Scan(ptrs...); err != nil {
			return out, err
		}
		if out.types == nil {
			if out.types, err = columnTypes(rows); err != nil {
				return out, err
			}
		}
		out.rows = append(out.rows, row)
	}
	return out, rows.Err()
}

func columnTypes(rows *sql.Rows) ([]string, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	out := []string{}
	for _, c := range types {
		nullable, known := c.Nullable()
		s := c.DatabaseTypeName() + " " + c.ScanType().String()
		if known && !nullable {
			s += " not null"
		}
		out = append(out, s)
	}
	return out, nil
}

// stmtQueryer runs a prepared statement, whatever text it is given.
type stmtQueryer struct{ *sql.Stmt }

func (s stmtQueryer) QueryContext(ctx context.Context, _ string, args ...any) (*sql.Rows, error) {
	return s.Stmt.QueryContext(ctx, args...)
}
