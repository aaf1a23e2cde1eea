#!/bin/sh
# The long tests of what restricted accounts can find out: both corpora, generated
# and mutated statements in two databases that differ in protected values alone, and
# the reading of SQL against the server's. STATEMENTS says how many of each kind.
set -eu
cd "$(dirname "$0")/.."
statements=${STATEMENTS:-100000}
summary() { grep -E '^(---|ok|FAIL|panic)|^ +[a-z_]+_test.go'; }
go test ./internal/sql/lineage -count=1 -timeout 120m -v -run TestNonInterference -args -queries "$statements" | summary
go test ./internal/inuse/gate -count=1 -timeout 120m -v \
	-run 'TestBypasses|TestBenign|TestGeneratedSelects|TestMutations|TestLexer' -args -statements "$statements" | summary
