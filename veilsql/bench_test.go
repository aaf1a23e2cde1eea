package veilsql_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/veildb/veildb/internal/inuse/sidecar/sidecartest"
	"github.com/veildb/veildb/veilsql"
)

// BenchmarkPointSelect is a prepared statement that gives one row. Against
// driver=mysql, plain is what the sidecar in between costs, and cells what the
// gate of the tests and the opening of two cells cost.
func BenchmarkPointSelect(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background()) // as servers have one for each request
	defer cancel()
	plain, err := sql.Open("veilsql", dsn(backend(b), "requireProtection=false&mekFile="+mekFile(b)))
	if err != nil {
		b.Fatal(err)
	}
	defer plain.Close()
	direct, err := sql.Open("mysql", dsn(backend(b), ""))
	if err != nil {
		b.Fatal(err)
	}
	defer direct.Close()
	for _, arm := range []struct {
		name string
		db   *sql.DB
	}{
		{"mysql", direct},
		{"veilsql-plain", plain},
		{"veilsql-cells", open(b, gate(b, &sidecartest.Gate{}).Addr, "", veilsql.WithKey(withMEK))},
	} {
		b.Run("driver="+arm.name, func(b *testing.B) {
			st, err := arm.db.Prepare("SELECT name, salary FROM people WHERE id = ?")
			if err != nil {
				b.Fatal(err)
			}
			defer st.Close()
			b.ReportAllocs()
			for b.Loop() {
				var name string
				var salary uint32
				if err := st.QueryRowContext(ctx, 1).Scan(&name, &salary); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkScan reads 10,000 rows by the text protocol.
func BenchmarkScan(b *testing.B) {
	direct, err := sql.Open("mysql", dsn(backend(b), ""))
	if err != nil {
		b.Fatal(err)
	}
	defer direct.Close()
	for _, arm := range []struct {
		name string
		db   *sql.DB
	}{
		{"mysql", direct},
		{"veilsql-cells", open(b, gate(b, &sidecartest.Gate{}).Addr, "", veilsql.WithKey(withMEK))},
	} {
		b.Run("driver="+arm.name, func(b *testing.B) {
			for b.Loop() {
				rows, err := arm.db.Query("SELECT p.id, name, city FROM people p, seq_1_to_10000 WHERE p.id = 1")
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for rows.Next() {
					var id int
					var name, city sql.RawBytes
					if err := rows.Scan(&id, &name, &city); err != nil {
						b.Fatal(err)
					}
					n++
				}
				if err := rows.Err(); err != nil || n != 10000 {
					b.Fatal(n, err)
				}
				rows.Close()
			}
		})
	}
}
