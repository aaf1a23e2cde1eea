package cli

import (
	"context"
	"database/sql"
	"testing"
)

// TestVerifyEmbedded looks through a database that has been analysed, as TPC-C's
// are, under each kind of variant.
func TestVerifyEmbedded(t *testing.T) {
	e, err := openEmbeddedEngine(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	fill := func(ctx context.Context, db *sql.DB) error {
		_, err := db.ExecContext(ctx, `CREATE TABLE customer (c_id INTEGER, c_last TEXT, PRIMARY KEY (c_id, c_last)) WITHOUT ROWID;
			INSERT INTO customer VALUES (1, 'BARBARBAR'); ANALYZE`)
		return err
	}
	if err := e.Dataset(t.Context(), "tpcc", fill); err != nil {
		t.Fatal(err)
	}
	for _, variant := range []string{"plain", "tde", "cols20", "cols100"} {
		t.Run(variant, func(t *testing.T) {
			db, err := e.Open(t.Context(), "tpcc", variant, "arm")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if err := db.DB.PingContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			checks, err := db.Verify(t.Context())
			if err != nil || len(checks) != 1 || !checks[0].OK {
				t.Errorf("checks %+v, error %v", checks, err)
			}
		})
	}
}
