#!/bin/sh
# Format, vet and static analysis. Fails on the first finding.
set -eu

bad=$(gofmt -l cmd internal $(ls -d veilsql 2>/dev/null || true))
if [ -n "$bad" ]; then
	echo "not gofmt'ed:" >&2
	echo "$bad" >&2
	exit 1
fi
go vet ./...
go vet -tags cloudkms,pkcs11 ./internal/keys/...
go vet -tags mysqlserver ./internal/inuse/gate
GOARCH=arm64 go vet ./internal/crypto/...
go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 -tags cloudkms,pkcs11 ./internal/keys/...
go mod verify >/dev/null
go mod tidy -diff
