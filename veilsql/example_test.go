package veilsql_test

import (
	"context"
	"database/sql"
	"log"
	"os"

	"github.com/veildb/veildb/veilsql"
)

// The key is in a file; the certificate of the gate is verified.
func Example() {
	db, err := sql.Open("veilsql", "app:password@tcp(gate.example:6033)/shop?tls=true&mekFile=/etc/shop/mek")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	var name string
	if err := db.QueryRow("SELECT name FROM customers WHERE id = ?", 7).Scan(&name); err != nil {
		log.Print(err)
	}
}

// The key comes from a function, and the gate must have the key it had when
// "veildb gate" showed its pin.
func ExampleNewConnector() {
	connector, err := veilsql.NewConnector("app:password@tcp(gate.example:6033)/shop?tls=true",
		veilsql.WithKey(func(context.Context) ([]byte, error) { return os.ReadFile("/run/secrets/mek") }),
		veilsql.WithPin("sha256:2TSbAFTIbzq1cQ1Nv0nOFVgVnTGMlyHyJ4oQYzfSvYE="))
	if err != nil {
		log.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
}
