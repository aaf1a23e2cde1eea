#!/bin/sh
# Runs MariaDB's own test suites with everything they write in a directory of
# the caller's choice.
#
#	mtr.sh PLACE OUT SUITES [OPTION...]
#
# PLACE must not exist; the user mysql must be able to reach it. SUITES is a list
# with commas, or all; further options go to mysql-test-run.pl. OUT gets one line a test
# in summary and what failed in log. The exit code says whether the suites ran,
# not whether all tests passed. Needs the Debian package mariadb-test.
set -eu
place=$1 out=$2 suites=$3
shift 3
[ "$suites" = all ] || set -- "--suite=$suites" "$@"
tests=/usr/share/mysql/mysql-test
[ -e $tests/mysql-test-run.pl ] || tests=/usr/share/mariadb/mariadb-test
[ -e $tests/mysql-test-run.pl ] || {
	echo "needs the Debian package mariadb-test" >&2
	exit 6
}
rm -rf "$out"
mkdir -p "$out"
mkdir "$place"
chown mysql "$place"
tmp=$(mktemp -d /tmp/veildb-mtr.XXXXXX)
chown mysql "$tmp"
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

(cd $tests && setpriv --reuid=mysql --regid=mysql --clear-groups env -i PATH=/usr/bin:/bin:/usr/sbin HOME="$tmp" MTR_BUILD_THREAD="${MTR_BUILD_THREAD:-auto}" \
	perl mysql-test-run.pl --vardir="$place/var" --force --max-test-fail=0 --retry=2 --parallel="${PARALLEL:-2}" \
	--suite-timeout=600 --testcase-timeout=10 --timer "$@") >"$out/log" 2>&1 || true
grep -Eq '^(Completed|Failed|The servers were restarted)' "$out/log" || {
	tail -n 20 "$out/log" >&2
	exit 1
}
# "main.alias 'combination' w2 [ pass ]  12": the last line of a test that was
# tried again counts.
sed -n "s/^\([a-z0-9_]*\.[a-zA-Z0-9_.-]*\)\( '[^']*'\)\{0,1\} *\(w[0-9]* *\)\{0,1\}\[ \(retry-\)\{0,1\}\(pass\|fail\|skipped\|disabled\) *\].*/\1\2 \5/p" "$out/log" |
	awk '{ r = $NF; $NF = ""; last[$0] = r } END { for (t in last) print t last[t] }' | sort >"$out/summary"
