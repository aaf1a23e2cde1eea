package wire_test

import (
	"testing"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// BenchmarkPointSelect is one row by primary key from a real server, directly
// and through a relay on the same machine.
func BenchmarkPointSelect(b *testing.B) {
	r := startRelay(b, &relay{})
	for _, path := range []struct{ name, addr string }{{"direct", server(b).Addr()}, {"relay", r.addr()}} {
		b.Run("path="+path.name, func(b *testing.B) {
			c := dial(b, path.addr, &wire.Credential{User: "nopw", Database: "veildb"})
			b.ReportAllocs()
			for b.Loop() {
				if err := wire.RunQuery(c, "SELECT v FROM kinds WHERE id = 2", nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBulk is a result of about 100 MB.
func BenchmarkBulk(b *testing.B) {
	r := startRelay(b, &relay{})
	for _, path := range []struct{ name, addr string }{{"direct", server(b).Addr()}, {"relay", r.addr()}} {
		b.Run("path="+path.name, func(b *testing.B) {
			c := dial(b, path.addr, &wire.Credential{User: "nopw", Database: "veildb"})
			b.SetBytes(1_000_000 * 107)
			for b.Loop() {
				if err := wire.RunQuery(c, "SELECT seq, REPEAT('x', 100) FROM seq_1_to_1000000", nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
