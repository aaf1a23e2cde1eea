#!/bin/sh
# Compares what PostgreSQL's tests printed in two places.
#
#	pg-compare.sh OUT1 OUT2 [strict]
#
# Tests that print what was expected are the same. Of the others the differences
# from what was expected are compared, line numbers and paths left out; unless
# strict also all other numbers, in which tests differ from run to run when they
# run on a version whose output they do not know.
set -eu
loose='s/[0-9]+/N/g; s/ (read|dirtied|written)=N//g; s/[- ]{3,}/ /g'
[ "${3:-}" != strict ] || loose=""
normal() { # normal OUT SCHEDULE
	[ -e "$1/$2.diffs" ] || return 0
	sed -E '/^(---|\+\+\+) /d; s/^@@ .*/@@/; s|^diff .*/results/|test |; s|/tmp/veildb-pg\.[A-Za-z0-9]*|RUN|g; '"$loose" "$1/$2.diffs"
}
a=$(mktemp) b=$(mktemp)
trap 'rm -f "$a" "$b"' EXIT
status=0
for schedule in regress isolation; do
	normal "$1" $schedule >"$a"
	normal "$2" $schedule >"$b"
	if ! diff -u "$a" "$b"; then status=1; fi
done
exit $status
