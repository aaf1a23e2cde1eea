package gate

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/sidecar/sidecartest"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// memory is what the process holds, in bytes.
func memory() int {
	var m runtime.MemStats
	for range 3 {
		runtime.GC() // empties pools and shrinks stacks
	}
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}

// TestIdleMemory counts what an idle connection costs that has done something,
// its client included, which is in this process and holds 1 KiB and, if so, TLS.
func TestIdleMemory(t *testing.T) {
	const conns = 100
	server, client := sidecartest.TLS(t)
	client.ServerName = "127.0.0.1"
	g := startGate(t, func(c *Config) { c.ClientTLS = server })
	for _, tt := range []struct {
		name string
		user string
		tls  *tls.Config
		most int // KiB
	}{{"full", "boss", nil, 64}, {"restricted", "app", nil, 64}, {"TLS", "app", client, 128}} {
		t.Run(tt.name, func(t *testing.T) {
			before := memory()
			for range conns {
				nc, err := net.Dial("tcp", g.addr)
				if err != nil {
					t.Fatal(err)
				}
				c := wire.NewBackend(nc, wire.Limits{Buffer: 1024})
				defer c.Close()
				if _, err := wire.Login(context.Background(), c, &wire.Credential{User: tt.user, TLS: tt.tls}); err != nil {
					t.Fatal(err)
				}
				// Large in both directions.
				large := "SELECT REPEAT('x', 50000), LENGTH('" + strings.Repeat("x", 50000) + "')"
				if err := discard(c, large); err != nil {
					t.Fatal(err)
				}
			}
			if per := (memory() - before) / conns; per > tt.most<<10 {
				t.Errorf("%d bytes for each connection", per)
			} else {
				t.Logf("%d bytes for each connection", per)
			}
		})
	}
}

// discard runs a statement and keeps no row.
func discard(c *wire.Conn, sql string) error {
	if err := c.WriteCommand(append([]byte{byte(wire.ComQuery)}, sql...)); err != nil {
		return err
	}
	var r wire.Response
	r.Start(wire.ComQuery, c.Caps)
	if err := c.Flush(); err != nil {
		return err
	}
	return wire.DropResponse(&r, c)
}

var streamed = flag.Int("stream", 32, "MiB of results that TestStreaming reads")

// TestStreaming reads results many times larger than what may be held of them.
func TestStreaming(t *testing.T) {
	const stored, size = 4096, 8 << 10 // 32 MiB
	times := max(1, *streamed/32)
	rows := stored * times
	g := startGate(t, nil)
	root := rootOn(t, g)
	root.must("CREATE OR REPLACE TABLE hr.long_notes (id INT PRIMARY KEY, notes MEDIUMTEXT)")
	defer root.must("DROP TABLE hr.long_notes")
	root.must(fmt.Sprintf("INSERT INTO hr.long_notes SELECT seq, REPEAT('n', %d) FROM seq_1_to_%d", size, stored))
	root.must("CREATE OR REPLACE TABLE hr.times (n INT PRIMARY KEY)")
	defer root.must("DROP TABLE hr.times")
	root.must(fmt.Sprintf("INSERT INTO hr.times SELECT seq FROM seq_1_to_%d", times))
	g.source.Write(t.Context(), nil, []byte(testRules+"  - {name: long, databases: [hr], tables: [long_notes], columns: [notes]}\n"))
	if _, err := g.rules.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.backend.changed()
	for _, user := range []string{"boss", "app"} {
		c := dialRaw(t, g.addr, user, "hr", 0)
		c.provision(false)
		c.tap.on = false // it keeps all that comes
		before, most, got, total := memory(), 0, 0, 0
		if err := c.WriteCommand(append([]byte{byte(wire.ComQuery)}, "SELECT notes FROM times, long_notes"...)); err != nil {
			t.Fatal(err)
		}
		var r wire.Response
		for r.Start(wire.ComQuery, c.Caps); !r.Done(); {
			kind, err := r.Next(c.Conn)
			if err != nil {
				t.Fatal(err)
			}
			if kind == wire.KindErr {
				t.Fatalf("%s: %s", user, c.Payload())
			}
			if kind != wire.KindRow {
				continue
			}
			p, err := c.Load()
			if err != nil {
				t.Fatal(err)
			}
			total += len(p)
			if got++; got%(rows/8) == 0 {
				most = max(most, memory()-before)
			}
		}
		if got != rows || most > 4<<20 {
			t.Errorf("%s: %d rows, %d bytes held", user, got, most)
		}
		t.Logf("%s: %d bytes came, %d were held", user, total, most)
		if cells := user == "app"; cells != (total >= rows*encdb.CellSize(encdb.Layout66, size)) {
			t.Errorf("%s: %d bytes came", user, total)
		}
	}
}
