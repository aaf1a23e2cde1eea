#!/bin/sh
# Kills small studies at random moments, by Ctrl-C, SIGTERM and kill -9, and
# looks each time that no process and no mount of theirs is left; then has the
# same run go on to its end, with every check.
#
#   scripts/kill-study.sh [-n KILLS] [-l SECONDS] [-s SEED] [-b VEILDB] [ENGINE...]
#
# Kills come within the first SECONDS of a run (20). Needs root, and the engines:
# mariadb, postgres and galera (all three by default), mysql.
set -eu
n=6 length=20 seed=$(date +%s) bin=
while getopts n:l:s:b: o; do
	case $o in
	n) n=$OPTARG ;;
	l) length=$OPTARG ;;
	s) seed=$OPTARG ;;
	b) bin=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- mariadb postgres galera
root=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
chmod 711 "$dir"
trap 'rm -rf "$dir"' EXIT
if [ -z "$bin" ]; then
	bin=$dir/veildb
	(cd "$root" && go build -o "$bin" ./cmd/veildb)
fi
case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
cd "$dir"
echo "seed $seed"

study() { # ENGINE
	cat <<Y
name: small
engine: $1
baseline: plain
variants: [tde]
threads: [2]
budget: {default: 5s}
block: 50ms
sitting: 1h
Y
	case $1 in
	postgres) echo 'workloads: [{name: tprocc, warehouses: 1, check: true}, {name: pg_upgrade, warehouses: 1}, {name: convert, warehouses: 1}]' ;;
	galera) printf '%s\n' 'failover: {threads: 2, steady: 500ms, repeats: 1}' \
		'settings: {innodb_buffer_pool_size: 32M, innodb_log_file_size: 8M}' \
		'workloads: [{name: oltp_read_write, tables: 1, table_size: 500}]' ;;
	mariadb | mysql) printf '%s\n' 'settings: {innodb_buffer_pool_size: 32M, innodb_log_file_size: 8M}' \
		'workloads: [{name: oltp_read_write, tables: 1, table_size: 500}]' ;;
	esac
}

# left lists what a run in $1 has left; the brackets keep this out.
left() { # processes end while they are read
	for p in /proc/[0-9]*; do
		[ -r "$p/cmdline" ] || continue
		tr '\0' ' ' 2>/dev/null <"$p/cmdline" | grep -q "$1/dat[a]" && tr '\0' ' ' 2>/dev/null <"$p/cmdline" && echo
	done 2>/dev/null
	grep " $1/" /proc/mounts || true
}

gone() { # DIR
	for _ in $(seq 400); do
		[ -n "$(left "$1")" ] || return 0
		sleep 0.1
	done
	echo "left behind:"
	left "$1"
	return 1
}

random() { # MAX: sets r to a number below it
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	r=$((seed / 65536 % $1))
}

for engine; do
	study "$engine" >"$engine.yaml"
	# Variants of MariaDB cover the gate and its own encryption, too.
	[ "$engine" != mariadb ] || sed -i 's/\[tde\]/[tde, native, gate]/' "$engine.yaml"
	out=$dir/$engine
	for _ in $(seq "$n"); do
		random 3
		case $r in 0) sig=INT ;; 1) sig=TERM ;; *) sig=KILL ;; esac
		random $((length * 10))
		t=$r
		(trap - INT; exec "$bin" bench run "$engine.yaml" --out "$out" --keep-data) >"$engine.log" 2>&1 &
		pid=$!
		sleep "$((t / 10)).$((t % 10))"
		kill -s "$sig" "$pid" 2>/dev/null || true
		wait "$pid" && code=0 || code=$?
		echo "$engine: $sig after $((t / 10)).$((t % 10)) s: exit $code"
		gone "$out" || { cat "$engine.log"; exit 1; }
		# Of a run that came to its end nothing goes on.
		[ "$code" != 0 ] || rm -rf "$out"
	done
	"$bin" bench run "$engine.yaml" --out "$out" >"$engine.log" 2>&1 || { cat "$engine.log"; exit 1; }
	gone "$out"
	grep -q FAILED "$engine.log" && { cat "$engine.log"; exit 1; }
	[ ! -e "$out/data" ] || { echo "$out/data is left"; exit 1; }
	echo "$engine: went on to its end"
done
