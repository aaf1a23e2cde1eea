package cli

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/result"
)

// TestUpgrades does each operation once into a plain and once into an encrypted
// directory and has what came of it compared, byte by byte.
func TestUpgrades(t *testing.T) {
	asVeildb(t)
	dir, err := os.MkdirTemp("", "veildb-test-") // the server's user must pass, which t.TempDir does not allow
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	e, err := openServerEngine(postgres, dir, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	err = e.Dataset(t.Context(), "data", func(ctx context.Context, db *sql.DB) error {
		_, err := db.ExecContext(ctx, "CREATE TABLE t AS SELECT i, md5(i::text) AS v FROM generate_series(1, 20000) i")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, operation := range []string{"pg_upgrade", "convert"} {
		for _, variant := range []string{"plain", "tde"} {
			c, err := e.Operate(t.Context(), operation, "data", variant, true)
			if err != nil {
				t.Fatalf("%s %s: %v", operation, variant, err)
			}
			if !c.Equal || !strings.Contains(c.Detail, "compared") || c.Wall <= 0 || c.CPU.Engine <= 0 {
				t.Errorf("%s %s: %+v", operation, variant, c)
			}
			if mounted := operation == "pg_upgrade" && variant == "tde"; (c.CPU.Product > 0) != mounted {
				t.Errorf("%s %s: the mount used %v s", operation, variant, c.CPU.Product)
			}
			if c.CPU == (result.CPU{}) {
				t.Errorf("%s %s: no processor time", operation, variant)
			}
		}
	}
}

// asVeildb has children that this test starts run the command line instead of
// the tests; see TestMain.
func asVeildb(t *testing.T) {
	name := os.Args[0]
	os.Args[0] = "veildb"
	t.Cleanup(func() { os.Args[0] = name })
}
