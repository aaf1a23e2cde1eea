#!/bin/sh
# Runs PostgreSQL's regression and isolation suites on a server whose data lies
# in a directory of the caller's choice.
#
#	pg-regress.sh BINDIR SUITE PLACE OUT [SCHEDULE...]
#
# BINDIR holds the server's programs, SUITE is what pg-source.sh made, PLACE must
# not exist, its parent must let the user postgres in. OUT gets one line a test
# in summary, and what the tests printed in results. A schedule is regress or
# isolation; both if none is named. EXTRA holds further settings of the server.
# The exit code says whether the suites ran, not whether all tests passed.
set -eu
bin=$1 suite=$2 place=$3 out=$4
shift 4
[ $# -gt 0 ] || set -- regress isolation
pgxs=$(ls -d /usr/lib/postgresql/*/lib/pgxs/src/test | tail -n 1)
client=${pgxs%/lib/pgxs/src/test}/bin

as() { setpriv --reuid=postgres --regid=postgres --clear-groups env -i PATH="$client:/usr/bin:/bin" LC_ALL=C HOME=/tmp ${LIBS:+LD_LIBRARY_PATH="$LIBS"} "$@"; }

rm -rf "$out"
mkdir -p "$out"
run=$(mktemp -d /tmp/veildb-pg.XXXXXX)
chown postgres "$out" "$run"
pid=""
stop() { # the server, in order: $pid is only the shell that waits for it
	[ -n "$pid" ] || return 0
	kill -INT "$(head -n 1 "$place/postmaster.pid")" 2>/dev/null || true
	wait "$pid" || true
	pid=""
}
cleanup() {
	stop
	rm -rf "$run"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

mkdir "$place"
chown postgres "$place"
chmod 700 "$place"
as "$bin/initdb" -D "$place" -A trust -U postgres --encoding=UTF8 --locale=C --data-checksums >"$out/initdb.log" 2>&1
cat >>"$place/postgresql.conf" <<CONF
listen_addresses = ''
unix_socket_directories = '$run'
max_prepared_transactions = 10
shared_buffers = 128MB
${EXTRA:-}
CONF
as "$bin/postgres" -D "$place" >"$out/server.log" 2>&1 &
pid=$!
n=0
until as "$client/pg_isready" -q -h "$run"; do
	n=$((n + 1))
	if [ $n -gt 300 ] || ! kill -0 $pid 2>/dev/null; then
		cat "$out/server.log" >&2
		exit 1
	fi
	sleep 0.2
done

: >"$out/summary"
for schedule in "$@"; do
	case $schedule in
	regress) db=regression program=$pgxs/regress/pg_regress list=$suite/regress/parallel_schedule ;;
	isolation) db=isolation_regression program=$pgxs/isolation/pg_isolation_regress list=$suite/isolation/isolation_schedule ;;
	esac
	# Paths of the suite show in its output; both places must print the same.
	work=$run/work
	as mkdir "$work"
	as "$program" --bindir="$client" --inputdir="$suite/$schedule" --outputdir="$work" --dlpath="$suite/lib" \
		--host="$run" --user=postgres --dbname="$db" --max-connections=8 --schedule="$list" >"$out/$schedule.log" 2>&1 || true
	# pg_regress ends with 1 if a test failed, with 2 if it could not run.
	if ! grep -Eq 'tests (passed|failed)' "$out/$schedule.log"; then
		tail -n 5 "$out/$schedule.log" "$out/server.log" >&2
		exit 1
	fi
	# " test int2 ... ok  123 ms" and "     int2 ... FAILED  123 ms"
	sed -n "s/^\(test\)\{0,1\} *\([a-z0-9_.-]*\) *\.\.\. \([A-Za-z]*\).*/$schedule \2 \3/p" "$out/$schedule.log" >>"$out/summary"
	[ ! -e "$work/regression.diffs" ] || cp "$work/regression.diffs" "$out/$schedule.diffs"
	cp -r "$work/results" "$out/$schedule.results"
	rm -rf "$work"
done
stop
as "$bin/pg_ctl" --version >"$out/version"
# Pages are read back from below, with their checksums.
if [ -x "$bin/pg_checksums" ]; then as "$bin/pg_checksums" -c -D "$place" >"$out/checksums" 2>&1; fi
