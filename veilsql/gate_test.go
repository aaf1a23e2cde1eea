package veilsql_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"net"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/veildb/veildb/internal/inuse/encdb"
	veilgate "github.com/veildb/veildb/internal/inuse/gate"
	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/inuse/sidecar/sidecartest"
	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/veilsql"
)

// rules protect all of kinds but its id, and two columns of people, from app.
type rules string

func (r rules) Read(context.Context) ([]byte, error)      { return []byte(r), nil }
func (rules) Write(context.Context, []byte, []byte) error { return errors.New("read only") }

const gateRules rules = `
version: 1
accounts:
  ciphertext: [app]
rules:
  - {name: kinds, databases: [veildb], tables: [kinds], columns: [ti, tu, si, su, mi, mu, i, iu, bi, bu, f, f2, d, d2, de, da, dt, dt6, ts, ts3, tm, tm2, y, bt, c, v, bn, vb, tx, bl, e, s, j, g]}
  - {name: people, databases: [veildb], tables: [people], columns: [name, salary]}
`

// realGate starts "veildb gate" itself.
func realGate(t *testing.T, cfg *encdb.Config) (addr string) {
	t.Helper()
	store, err := policy.NewStore(context.Background(), gateRules, schema.MatchCase)
	if err != nil {
		t.Fatal(err)
	}
	certs.once.Do(func() { certs.server, certs.client = sidecartest.TLS(t) })
	b := &veilgate.Backend{Network: "tcp", Address: backend(t), User: sidecartest.User, Password: []byte(sidecartest.Password)}
	srv := veilgate.New(veilgate.Config{Backends: []*veilgate.Backend{b}, Rules: store, EncDB: cfg, ClientTLS: certs.server, TrustGrants: true})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { b.Run(ctx) })
	wg.Go(func() {
		if err := srv.Serve(ctx, ln); err != nil {
			t.Errorf("gate: %v", err)
		}
	})
	t.Cleanup(func() {
		cancel()
		sctx, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		srv.Shutdown(sctx)
		wg.Wait()
	})
	return ln.Addr().String()
}

// TestThroughTheGate reads through the gate itself: values are those of the
// server.
func TestThroughTheGate(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	addr := realGate(t, &encdb.Config{Identity: private})
	for _, params := range []string{"", "parseTime=true"} {
		for _, q := range []struct {
			text string
			args []any
		}{{"SELECT * FROM kinds WHERE id > 0", nil}, {"SELECT * FROM kinds WHERE id > ?", []any{0}}} {
			rows, err := open(t, addr, params, veilsql.WithKey(withMEK), veilsql.WithPin(encdb.IdentityPin(public))).Query(q.text, q.args...)
			got := read(t, rows, err)
			rows, err = direct(t, params).Query(q.text, q.args...)
			want := read(t, rows, err)
			if !reflect.DeepEqual(got[0].Columns, want[0].Columns) {
				t.Errorf("columns %+v, want %+v", got[0].Columns, want[0].Columns)
			}
			for r := range want[0].Rows {
				for c := range want[0].Columns {
					if g, w := got[0].Rows[r][c], want[0].Rows[r][c]; !reflect.DeepEqual(g, w) {
						t.Errorf("row %d column %s: %s, want %s", r, want[0].Columns[c].Name, show(g), show(w))
					}
				}
			}
		}
	}
	// An expression is sealed too; what the gate refuses is the server's error.
	db := open(t, addr, "", veilsql.WithKey(withMEK))
	var sum string
	if err := db.QueryRow("SELECT CONCAT(name, '!') FROM people WHERE id = 1").Scan(&sum); err != nil || sum != "Ada!" {
		t.Errorf("expression: %q, %v", sum, err)
	}
	var refused *mysql.MySQLError
	if _, err := db.Exec("CREATE TABLE copy AS SELECT name FROM people"); !errors.As(err, &refused) {
		t.Errorf("copy of a protected table: %v", err)
	}
	var name string
	if err := db.QueryRow("SELECT name FROM people WHERE id = ?", 1).Scan(&name); err != nil || name != "Ada" {
		t.Errorf("%q %v", name, err)
	}
}
