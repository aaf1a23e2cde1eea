#!/bin/sh
# Runs Go tests built for arm64 under qemu-user, so that the arm64 assembly is
# exercised on any machine. Needs: go, qemu-aarch64 (Debian: qemu-user).
#
# usage: scripts/test-arm64.sh [package...]    default: the ciphers
set -eu
cd "$(dirname "$0")/.."

[ $# -gt 0 ] || set -- ./internal/crypto/aesxts

qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) || {
	echo "test-arm64: qemu-aarch64 not found; install qemu-user (apt-get install qemu-user)" >&2
	exit 1
}
export GOOS=linux GOARCH=arm64 CGO_ENABLED=0

echo "test-arm64: go vet $*"
go vet "$@"

echo "test-arm64: go test -exec $qemu $*"
go test -exec "$qemu" "$@"

# A run in which the assembly was not chosen proves nothing about it.
echo "test-arm64: is the arm64 assembly what New chooses?"
go test -exec "$qemu" -v -run '^TestImplementations$' ./internal/crypto/aesxts |
	grep 'implementations on this CPU: armv8 generic' || {
	echo "test-arm64: the emulated CPU ran only the generic code" >&2
	exit 1
}
