// Program go reads the test table with go-sql-driver/mysql or, if it is given a
// master key, with veilsql. See ../README.md.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"fmt"
	"os"
	"strings"

	"github.com/go-sql-driver/mysql"

	_ "github.com/veildb/veildb/veilsql"
)

const query = "SELECT id, plain, c_int, c_ubig, c_dec, c_text, c_date, c_dt, c_blob FROM people"

func main() {
	db, err := open()
	if err != nil {
		fail("text", err)
		fail("prepared", err)
		return
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

func open() (*sql.DB, error) {
	dsn := fmt.Sprintf("%s:%s@tcp(127.0.0.1:%s)/shop?collation=utf8mb4_general_ci",
		os.Getenv("VEIL_USER"), os.Getenv("VEIL_PASSWORD"), os.Getenv("VEIL_PORT"))
	if ca := os.Getenv("VEIL_CA"); ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, err
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		if err := mysql.RegisterTLSConfig("test", &tls.Config{RootCAs: roots, ServerName: "localhost"}); err != nil {
			return nil, err
		}
		dsn += "&tls=test"
	}
	if mek := os.Getenv("VEIL_MEK"); mek != "" {
		return sql.Open("veilsql", dsn+"&mekFile="+mek)
	}
	return sql.Open("mysql", dsn)
}

// read prints the rows of a query.
func read(kind string, db *sql.DB, query string, args ...any) error {
	rows, err := db.Query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	for n := 1; rows.Next(); n++ {
		cells := make([]any, len(types))
		into := make([]any, len(types))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, t := range types {
			fmt.Printf("%s\t%d\t%s\t%s,%v,%T\t%s\n", kind, n, t.Name(), t.DatabaseTypeName(), t.ScanType(), cells[i], show(cells[i], t))
		}
	}
	return rows.Err()
}

func show(cell any, t *sql.ColumnType) string {
	switch v := cell.(type) {
	case nil:
		return "NULL"
	case []byte:
		if t.DatabaseTypeName() == "BLOB" {
			return fmt.Sprintf("0x%x", v)
		}
		return string(v)
	}
	return fmt.Sprint(cell)
}
