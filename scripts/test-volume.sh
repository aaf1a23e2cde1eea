#!/bin/sh
# The long correctness suite of encrypted volumes, see docs/volume-tests.md: the
# engines' own suites on a mount and on the file system below it, compared; then
# crashes, lost writes, full disks, backups.
#
#	test-volume.sh [OPTION...]
#
#	--cycles N     crash cycles of each engine and cache mode (125)
#	--states N     rebuilt states of the lower disk of each engine (100)
#	--suites LIST  of pg15, pg18, mtr and go; all of them if not given
#	--mtr LIST     suites of MariaDB (encryption,some); "some" are those tests of
#	               the suite main that are about files, "all" is every suite
#	--dir DIR      where everything is written: a directory on the file system
#	               below, with 10 GB of space, that every user can reach
#	--cache MODE   through or back, for the engines' own suites (through)
#
# Installs what is missing when run as root on Debian. Results stay in DIR/out.
# Exit code 1: a result on a mount is not that of the file system below, or a
# test failed.
set -eu
cd "$(dirname "$0")/.."
here=$PWD/scripts/volume
cycles=125 states=100 suites=pg15,pg18,mtr,go mtr=encryption,some dir="" cache=through
while [ $# -gt 0 ]; do
	case $1 in
	--cycles) cycles=$2 ;;
	--states) states=$2 ;;
	--suites) suites=$2 ;;
	--mtr) mtr=$2 ;;
	--dir) dir=$2 ;;
	--cache) cache=$2 ;;
	*)
		sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
		exit 2
		;;
	esac
	shift 2
done
wanted() { case ,$suites, in *,"$1",*) ;; *) return 1 ;; esac }
say() { echo "$(date +%T) $*" >&2; }

sh "$here/deps.sh" "$suites"
temporary=""
if [ -z "$dir" ]; then dir=$(mktemp -d /tmp/veildb-suite.XXXXXX) temporary=yes; fi
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
chmod 755 "$dir"
out=$dir/out work=$dir/work
mkdir -p "$out" "$work/lower"
chmod 755 "$work" "$work/lower"

mount=""
cleanup() {
	[ -z "$mount" ] || "$work/veildb" volume umount "$work/mnt" >/dev/null 2>&1 || true
	# What tests left that were interrupted.
	awk -v work="$work/" 'index($2, work) == 1 { print $2 }' /proc/mounts | sort -r | while read -r point; do umount -l "$point"; done
	rm -rf "$work"
	[ -z "$temporary" ] || say "results: $out"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

go build -o "$work/veildb" ./cmd/veildb
"$work/veildb" key init "$work/ring" --provider "file:$work/root" >/dev/null
"$work/veildb" volume init "$work/volume" --key "$work/ring" >/dev/null
mkdir "$work/mnt"
"$work/veildb" volume mount "$work/volume" "$work/mnt" --key "$work/ring" --cache "$cache" --background
mount=yes
chmod 755 "$work/mnt"

failed=0
# both NAME COMMAND...: runs a command with a place below and on the mount, and
# compares what it says of each test. PLACE and OUT stand for its arguments.
both() {
	name=$1
	shift
	say "$name: on the mount and below"
	pids=""
	for side in lower mnt; do
		place=$work/$side/$name
		command=$(printf '%s\n' "$@" | sed "s|^PLACE\$|$place|; s|^OUT\$|$out/$name.$side|" | tr '\n' ' ')
		# shellcheck disable=SC2086
		nice sh $command >"$out/$name.$side.log" 2>&1 &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid" || { say "$name did not run: $(cat "$out/$name".*.log | tail -n 3)" && failed=1; }
	done
	rm -rf "${work:?}/lower/$name" "${work:?}/mnt/$name"
	[ -s "$out/$name.lower/summary" ] && [ -s "$out/$name.mnt/summary" ] || return 0
	# A test that skips itself, for lack of luck with time, is listed only.
	diff -U0 "$out/$name.lower/summary" "$out/$name.mnt/summary" | sed -n 's/^[-+][a-z]/&/p' >"$out/$name.differences" || true
	if grep -Eiq ' fail(ed)?$' "$out/$name.differences"; then failed=1; fi
	say "$name: $(wc -l <"$out/$name.mnt/summary") tests, $(grep -Eic ' (ok|pass)$' "$out/$name.mnt/summary") passed on the mount," \
		"$(grep -Eic ' (ok|pass)$' "$out/$name.lower/summary") below, $(wc -l <"$out/$name.differences") lines differ"
	cat "$out/$name.differences"
	# What tests printed that fail on both sides must be the same, too.
	if [ -d "$out/$name.lower/regress.results" ]; then
		sh "$here/pg-compare.sh" "$out/$name.lower" "$out/$name.mnt" "${strict:-}" || failed=1
	fi
}

if wanted pg15 || wanted pg18; then
	sh "$here/pg-source.sh" 15 "$dir/suite"
fi
if wanted pg15; then
	strict=strict
	both pg15 "$here/pg-regress.sh" /usr/lib/postgresql/15/bin "$dir/suite" PLACE OUT
fi
if wanted pg18; then
	sh "$here/pg18.sh" "$dir/pg18"
	# The suite is that of 15: it is compared with itself. Of the C functions
	# and what needs them nothing can run.
	strict=""
	both pg18 "$here/pg-regress.sh" "$dir/pg18/bin" "$dir/suite" PLACE OUT regress
fi
if wanted mtr; then
	for suite in $(echo "$mtr" | tr , ' '); do
		case $suite in
		some) both mtr-main "$here/mtr.sh" PLACE OUT main "--do-test=^(alter|create|drop|truncate|temp|tmp|repair|flush|outfile|loaddata|backup|log|myisam|maria|check|partition_innodb)" ;;
		*) both "mtr-$suite" "$here/mtr.sh" PLACE OUT "$suite" ;;
		esac
	done
fi
"$work/veildb" volume umount "$work/mnt"
mount=""

if wanted go; then
	say "crashes, lost writes, full disks, backups"
	mkdir -p "$work/go"
	chmod 755 "$work/go"
	go test -c -o "$work/volumetest" ./internal/atrest/volumetest
	suite() { # suite LOG OPTION...
		log=$out/$1.log
		shift
		(cd "$work/go" && nice "$work/volumetest" -test.v -test.timeout 12h -dir "$work/go" "$@") >"$log" 2>&1 || failed=1
		grep -E '^ *--- |crashes,|states,|acknowledged;' "$log" || true
	}
	suite go -long -cycles "$cycles" -states "$states"
	if wanted pg18; then
		suite go.pg18 -test.run 'TestCrash/postgres|TestLostWrites/postgres' -pg-bin "$dir/pg18/bin" -cycles "$((cycles / 5 + 1))" -states "$((states / 5 + 1))"
	fi
fi
exit $failed
