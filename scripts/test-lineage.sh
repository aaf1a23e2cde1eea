#!/bin/sh
# The long tests of what restricted accounts can find out: both corpora, generated
# and mutated statements in two databases that differ in protected values alone, and
# the reading of SQL against the server's. STATEMENTS says how many of each kind,
# SEED makes them others. With SERVER=mysql the corpora, cases of MySQL's dialect
# and the statements of tools run on a MySQL server; see fetch-mysql.sh.
set -eu
cd "$(dirname "$0")/.."
statements=${STATEMENTS:-100000}
seed=${SEED:-0}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# run shows the summary of a test that passes, and all of one that fails.
run() {
	if go test -count=1 -timeout 120m -v "$@" >"$log" 2>&1; then
		grep -E '^(---|ok)|^ +[a-z_]+_test.go' "$log"
	else
		cat "$log"
		exit 1
	fi
}
if [ "${SERVER:-${FLAVOUR:-mariadb}}" = mysql ]; then
	run -tags mysqlserver ./internal/inuse/gate -run 'TestBypasses|TestMySQLBypasses|TestBenign|TestMappers'
	exit
fi
run ./internal/sql/lineage -run TestNonInterference -args -queries "$statements" -seed "$seed"
run ./internal/inuse/gate -run 'TestBypasses|TestOwnBypasses|TestBenign|TestGeneratedSelects|TestMutations|TestLexer|TestMappers' -args -statements "$statements" -seed "$seed"
