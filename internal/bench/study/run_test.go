package study

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	sqlite "github.com/ncruces/go-sqlite3/driver"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/result"
)

// slowEngine takes longer to open an arm than a comparison may last.
type slowEngine struct{ path string }

func (slowEngine) Dialect() dsn.Dialect                    { return dsn.SQLite }
func (slowEngine) Version(context.Context) (string, error) { return "", nil }
func (e slowEngine) Dataset(ctx context.Context, _ string, fill func(context.Context, *sql.DB) error) error {
	db, err := sqlite.Open("file:" + e.path)
	if err != nil {
		return err
	}
	defer db.Close()
	return fill(ctx, db)
}

func (e slowEngine) Open(context.Context, string, string, string) (*Database, error) {
	time.Sleep(minCell * 6 / 10)
	db, err := sqlite.Open("file:" + e.path)
	if err != nil {
		return nil, err
	}
	return &Database{DB: db, Close: db.Close}, nil
}

// TestSlowOpening: arms that open slowly cost time, not the run.
func TestSlowOpening(t *testing.T) {
	d, err := Parse([]byte(`
name: slow
engine: sqlite
baseline: plain
variants: [tde]
threads: [1]
budget: {default: 1s}
block: 10ms
workloads: [{name: oltp_point_select, tables: 1, table_size: 10}]
`))
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]int{}
	err = Run(t.Context(), Config{
		Definition: d, Engine: slowEngine{filepath.Join(t.TempDir(), "a.db")}, Seed: 1,
		Record: func(r any) error {
			if b, ok := r.(result.Block); ok {
				blocks[b.Variant]++
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"plain", "tde"} {
		if blocks[v] < 8 { // two quads
			t.Errorf("%s has %d blocks", v, blocks[v])
		}
	}
}
