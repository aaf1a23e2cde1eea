module github.com/veildb/veildb/internal/clienttest/go

go 1.26.0

require (
	github.com/go-sql-driver/mysql v1.10.1
	github.com/veildb/veildb v0.0.0
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/emmansun/gmsm v0.15.5 // indirect
	golang.org/x/crypto v0.59.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/veildb/veildb => ../../..
