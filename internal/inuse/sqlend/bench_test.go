package sqlend_test

import (
	"database/sql"
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// BenchmarkRows reads ten rows of twenty columns, ten integers and ten short
// strings, through a prepared statement that scans every value. With cols=20,
// 20 % of the columns are protected. Compare end=both with end=plain, by cpu-ns/op, the
// processor time of the whole process, where the machine is shared.
func BenchmarkRows(b *testing.B) {
	for _, share := range []int{0, 20, 50, 100} {
		w := benchWorld(b, share)
		for _, end := range []struct {
			name string
			db   *sql.DB
		}{{"plain", w.plain}, {"protect", w.sealed}, {"both", w.revealed}} {
			b.Run(fmt.Sprintf("cols=%d/end=%s", share, end.name), func(b *testing.B) {
				stmt, err := end.db.Prepare(`SELECT * FROM wide WHERE id BETWEEN ? AND ?`)
				if err != nil {
					b.Fatal(err)
				}
				defer stmt.Close()
				b.ReportAllocs()
				before := cpu(b)
				for i := 0; b.Loop(); i++ {
					readWide(b, stmt, i%90*10)
				}
				b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

// BenchmarkText sends texts that are not prepared by the caller.
func BenchmarkText(b *testing.B) {
	w := benchWorld(b, 20)
	for _, end := range []struct {
		name string
		db   *sql.DB
	}{{"plain", w.plain}, {"both", w.revealed}} {
		b.Run("end="+end.name, func(b *testing.B) {
			var v any
			for i := 0; b.Loop(); i++ {
				if err := end.db.QueryRow(`SELECT c1 FROM wide WHERE id = ?`, i%900).Scan(&v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchWorld(b *testing.B, share int) *world {
	var columns, values, patterns []string
	for i := range 19 {
		name := fmt.Sprintf("c%d", i)
		columns = append(columns, name)
		if i%2 == 0 {
			values = append(values, "n * 7")
		} else {
			values = append(values, "'some text ' || n")
		}
		if i*100/20 < share-5 {
			patterns = append(patterns, "wide."+name)
		}
	}
	if share == 100 {
		patterns = append(patterns, "wide.id")
	}
	if share == 0 {
		patterns = append(patterns, "other.column")
	}
	w := newWorld(b, fmt.Sprintf(`CREATE TABLE wide(id INTEGER PRIMARY KEY, %s);
		INSERT INTO wide WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < 999) SELECT n, %s FROM r`,
		strings.Join(columns, ", "), strings.Join(values, ", ")), patterns...)
	return w
}

func readWide(b *testing.B, stmt *sql.Stmt, from int) {
	rows, err := stmt.Query(from, from+9)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	var row [20]any
	var ptrs [20]any
	for i := range row {
		ptrs[i] = &row[i]
	}
	n := 0
	for ; rows.Next(); n++ {
		if err := rows.Scan(ptrs[:]...); err != nil {
			b.Fatal(err)
		}
	}
	if n != 10 || rows.Err() != nil {
		b.Fatalf("%d rows, %v", n, rows.Err())
	}
}

// cpu returns the processor time of the process so far, in ns.
func cpu(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
