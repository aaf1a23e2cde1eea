#!/bin/bash
# Holds a mounted volume against gocryptfs (Debian's package): the file system
# below, the volume and gocryptfs in turns, in an order that is drawn, with
# PostgreSQL on each, then 1 MiB reads and writes in sequence, then the creation,
# stat, renaming and removal of many files. It prints throughput lost against the
# file system below. Needs root, gocryptfs, postgresql and a built veildb; works
# in a directory of its own, where it stops and removes everything at its end.
# Usage:
#
#	scripts/compare-gocryptfs.sh [-r ROUNDS] [-s SECONDS] [-t "1 16"] [-f FILES] [-w "WORKLOAD..."] [-c MODE] [-d DIR]
#
# MODE is how the volume caches, as in veildb volume mount --cache. A new volume
# is empty, so auto means through; back is what a PostgreSQL directory gets.
set -euo pipefail
export LC_ALL=C

rounds=4 seconds=3 threads="1 16" files=20000 workloads="oltp_read_write oltp_write_only" cache=auto parent=/tmp
while getopts r:s:t:f:w:c:d: o; do
	case $o in
	r) rounds=$OPTARG ;;
	s) seconds=$OPTARG ;;
	t) threads=$OPTARG ;;
	f) files=$OPTARG ;;
	w) workloads=$OPTARG ;;
	c) cache=$OPTARG ;;
	d) parent=$OPTARG ;;
	*) exit 2 ;;
	esac
done
cd "$(dirname "$0")/.."
veildb=${VEILDB:-$PWD/bin/veildb}
[ -x "$veildb" ] || { echo "no $veildb: run make build, or name it in VEILDB" >&2; exit 6; }
command -v gocryptfs >/dev/null || { echo "install gocryptfs: apt-get install gocryptfs" >&2; exit 6; }

dir=$(mktemp -d "$parent/veildb-gocryptfs-XXXXXX")
chmod 711 "$dir"
arms="plain tde gocryptfs"
cleanup() {
	for arm in $arms; do "$veildb" lab down --dir "$dir/s-$arm" >/dev/null 2>&1 || true; done
	"$veildb" volume umount "$dir/tde" >/dev/null 2>&1 || true
	umount "$dir/gocryptfs" >/dev/null 2>&1 || true
	mountpoint -q "$dir/tde" || mountpoint -q "$dir/gocryptfs" || rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

mkdir "$dir/plain" "$dir/tde" "$dir/gocryptfs" "$dir/below"
"$veildb" key init "$dir/ring" --provider "file:$dir/root" >/dev/null
"$veildb" volume init "$dir/volume" --key "$dir/ring" >/dev/null
"$veildb" volume mount "$dir/volume" "$dir/tde" --key "$dir/ring" --cache "$cache" --background
echo words >"$dir/password"
gocryptfs -q -init -scryptn 10 -passfile "$dir/password" "$dir/below" >/dev/null
gocryptfs -q -allow_other -passfile "$dir/password" "$dir/below" "$dir/gocryptfs"
for arm in $arms; do chmod 755 "$dir/$arm"; done

declare -A dsn
size=(--tables=4 --table-size=25000)
for arm in $arms; do
	mkdir "$dir/$arm/pg"
	chown postgres: "$dir/$arm/pg"
	dsn[$arm]=$("$veildb" lab up postgres --dir "$dir/s-$arm" --data "$dir/$arm/pg" --set shared_buffers=48MB --set max_connections=200 2>"$dir/said") || { cat "$dir/said" >&2; exit 1; }
	"$veildb" bench sysbench oltp_read_write prepare --dsn "${dsn[$arm]}" "${size[@]}" >/dev/null 2>&1
done

# lost NAME: reads "ROUND ARM VALUE", more being better, and prints the mean
# log-ratio of each arm to plain with its standard error, as percent lost.
lost() {
	awk -v what="$1" '{ v[$1, $2] = $3; arm[$2]; if ($1 > n) n = $1 }
		END {
			for (a in arm) if (a != "plain") {
				s = q = 0
				for (i = 1; i <= n; i++) { x = log(v[i, a] / v[i, "plain"]); s += x; q += x * x }
				m = s / n; e = n > 1 ? sqrt((q / n - m * m) / (n - 1)) : 0
				printf "%-28s %-10s %6.1f %% lost, ± %.1f (plain %.0f)\n", what, a, 100 * (1 - exp(m)), 100 * e, v[n, "plain"]
			}
		}' "$dir/values"
}

for workload in $workloads; do
	for n in $threads; do
		: >"$dir/values"
		for ((r = 0; r <= rounds; r++)); do # round 0 warms up
			for arm in $(shuf -e $arms); do
				t=$seconds
				[ "$r" != 0 ] || t=1
				"$veildb" bench sysbench "$workload" run --dsn "${dsn[$arm]}" "${size[@]}" --threads="$n" --time="$t" >"$dir/out" 2>/dev/null
				[ "$r" = 0 ] || awk -v r="$r" -v arm="$arm" '/transactions:/ { gsub(/\(/, "", $3); print r, arm, $3 }' "$dir/out" >>"$dir/values"
			done
		done
		lost "$workload, $n threads"
	done
done
for arm in $arms; do "$veildb" lab down --dir "$dir/s-$arm" >/dev/null; done

# timed COMMAND...: seconds
timed() {
	local from=$EPOCHREALTIME
	"$@" >/dev/null 2>&1 || return 1
	awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'
}
# sequential KIND: rounds of 512 MiB in pieces of 1 MiB
sequential() {
	: >"$dir/values"
	for ((r = 1; r <= rounds; r++)); do
		for arm in $(shuf -e $arms); do
			if [ "$1" = write ]; then
				rm -f "$dir/$arm/big"
				t=$(timed dd if=/dev/zero of="$dir/$arm/big" bs=1M count=512 conv=fsync)
			else # from the cache of the file system below, not from the mount's
				[ "$arm" = plain ] || dd if="$dir/$arm/big" iflag=nocache count=0 2>/dev/null
				t=$(timed dd if="$dir/$arm/big" of=/dev/null bs=1M)
			fi
			echo "$r $arm $(awk -v t="$t" 'BEGIN { print 512 / t }')" >>"$dir/values"
		done
	done
	lost "1 MiB $1, MiB/s"
}
sequential write
sequential read

storm() {
	python3 - "$1" "$files" <<'PY'
import os, sys
d, n = sys.argv[1], int(sys.argv[2])
os.mkdir(d)
for i in range(n): os.close(os.open(f"{d}/{i}", os.O_CREAT | os.O_WRONLY, 0o600))
for i in range(n): os.stat(f"{d}/{i}")
for i in range(n): os.rename(f"{d}/{i}", f"{d}/r{i}")
for i in range(n): os.unlink(f"{d}/r{i}")
os.rmdir(d)
PY
}
: >"$dir/values"
for ((r = 1; r <= 2; r++)); do
	for arm in $(shuf -e $arms); do
		t=$(timed storm "$dir/$arm/storm")
		echo "$r $arm $(awk -v t="$t" -v n="$files" 'BEGIN { print n / t }')" >>"$dir/values"
	done
done
lost "files a second, $files"
