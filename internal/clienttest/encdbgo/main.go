// Program encdbgo reads the test table with the vendor's Go driver. See
// ../README.md. The driver registers no certificates of its own, so TLS is used
// without verifying the gate. It drops fractions of a second of prepared
// statements unless it parses times.
package main

import (
	"database/sql"
	"fmt"
	"os"
	"strings"
	"time"

	_ "github.com/aliyun/alibabacloud-encdb-mysql-go-client"
)

const query = "SELECT id, plain, c_int, c_ubig, c_dec, c_text, c_date, c_dt, c_blob FROM people"

func main() {
	defer func() { // the driver panics where others return an error
		if p := recover(); p != nil {
			fail("text", fmt.Errorf("panic: %v", p))
			fail("prepared", fmt.Errorf("panic: %v", p))
		}
	}()
	mek, err := os.ReadFile(os.Getenv("VEIL_MEK"))
	if err != nil {
		panic(err)
	}
	db, err := sql.Open("encmysql", fmt.Sprintf("%s:%s@tcp(127.0.0.1:%s)/shop?tls=skip-verify&parseTime=true&MEK=%s&ENC_ALGO=AES_128_GCM",
		os.Getenv("VEIL_USER"), os.Getenv("VEIL_PASSWORD"), os.Getenv("VEIL_PORT"), strings.TrimSpace(string(mek))))
	if err != nil {
		panic(err)
	}
	defer db.Close()
	if err := read("text", db, query+" ORDER BY id"); err != nil {
		fail("text", err)
	}
	if err := read("prepared", db, query+" WHERE id >= ? ORDER BY id", 1); err != nil {
		fail("prepared", err)
	}
}

func fail(kind string, err error) {
	fmt.Printf("%s\terror\t%s\n", kind, strings.ReplaceAll(err.Error(), "\n", " "))
}

// read prints the rows of a query.
func read(kind string, db *sql.DB, query string, args ...any) error {
	rows, err := db.Query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	for n := 1; rows.Next(); n++ {
		cells := make([]any, len(names))
		into := make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, name := range names {
			fmt.Printf("%s\t%d\t%s\t%T\t%s\n", kind, n, name, cells[i], show(name, cells[i]))
		}
	}
	return rows.Err()
}

func show(name string, cell any) string {
	switch v := cell.(type) {
	case nil:
		return "NULL"
	case time.Time:
		if name == "c_date" {
			return v.Format(time.DateOnly)
		}
		return v.Format("2006-01-02 15:04:05.000000")
	case []byte:
		if name == "c_blob" {
			return fmt.Sprintf("0x%x", v)
		}
		return string(v)
	}
	return fmt.Sprint(cell)
}
