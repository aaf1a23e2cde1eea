#!/bin/bash
# Holds our load generator against sysbench 1.0.20: the same private server, the
# same data, the two in turns (ABBA), at 1, 8 and 64 threads. For each workload
# it prints the ratio of transactions a second, the ratio of client processor
# time a transaction, and whether the server counted the same statements for the
# same number of transactions. Usage:
#
#	scripts/compare-sysbench.sh [-e mariadb|postgres] [-s SECONDS] [-q QUADS] [-t "1 8 64"] [WORKLOAD...]
set -euo pipefail
export LC_ALL=C

engine=mariadb seconds=5 quads=3 threads="1 8 64"
while getopts e:s:q:t: o; do
	case $o in
	e) engine=$OPTARG ;;
	s) seconds=$OPTARG ;;
	q) quads=$OPTARG ;;
	t) threads=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
workloads=${*:-oltp_point_select oltp_read_only oltp_read_write oltp_write_only oltp_insert oltp_delete oltp_update_index oltp_update_non_index}

cd "$(dirname "$0")/.."
command -v sysbench >/dev/null || { echo "install sysbench 1.0.20: apt-get install sysbench" >&2; exit 6; }
veildb=${VEILDB:-$PWD/bin/veildb}
[ -x "$veildb" ] || { echo "no $veildb: run make build, or name it in VEILDB" >&2; exit 6; }

dir=$(mktemp -d /tmp/veildb-sysbench-XXXXXX)
trap '"$veildb" lab down --dir "$dir/s" 2>/dev/null; rm -rf "$dir"' EXIT
chmod 711 "$dir"
if [ "$engine" = mariadb ]; then
	dsn=$("$veildb" lab up mariadb --dir "$dir/s" --database sbtest --set innodb_flush_log_at_trx_commit=0 \
		--set innodb_buffer_pool_size=256M --set max_prepared_stmt_count=1000000 --set max_connections=300 2>/dev/null)
	original=(sysbench --db-driver=mysql --mysql-socket="$dir/s/run/s.sock" --mysql-user=root --mysql-db=sbtest)
	# What the server executed, by kind.
	counters() {
		mariadb --no-defaults -uroot -S "$dir/s/run/s.sock" -N -e "SHOW GLOBAL STATUS WHERE Variable_name IN
			('Com_select','Com_insert','Com_update','Com_delete','Com_begin','Com_commit','Com_stmt_execute')" | awk '{print $2}' | tr '\n' ' '
	}
else
	dsn=$("$veildb" lab up postgres --dir "$dir/s" --database sbtest --tcp --set synchronous_commit=off \
		--set shared_buffers=256MB --set max_connections=300 2>"$dir/said")
	port=$(sed -n 's/^over TCP:.*:\([0-9]*\)\/.*/\1/p' "$dir/said")
	dsn=postgres://postgres@127.0.0.1:$port/sbtest # sysbench knows no sockets here
	original=(sysbench --db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port="$port" --pgsql-user=postgres --pgsql-db=sbtest)
	# Rows changed: transactions would include the clients' own.
	counters() {
		sleep 1.2 # backends report once a second
		psql -X -A -t -F ' ' "$dsn" -c "SELECT tup_inserted, tup_updated, tup_deleted FROM pg_stat_database WHERE datname='sbtest'" | tr '\n' ' '
	}
fi
size=(--tables=4 --table-size=25000)
"${original[@]}" oltp_read_write "${size[@]}" prepare >/dev/null

# run NAME WORKLOAD OPTION...: transactions, TPS and client seconds of one run
run() {
	local name=$1 workload=$2
	shift 2
	local command=("${original[@]}" "$workload" "${size[@]}" "$@" run)
	[ "$name" = ours ] && command=("$veildb" bench sysbench "$workload" run --dsn "$dsn" "${size[@]}" "$@")
	TIMEFORMAT='%U %S'
	{ time "${command[@]}" >"$dir/out" 2>"$dir/err"; } 2>"$dir/time" || { cat "$dir/out" "$dir/err" >&2; return 1; }
	awk 'NR == FNR { cpu = $1 + $2; next } /transactions:/ { gsub(/\(/, "", $3); print $2, $3, cpu }' "$dir/time" "$dir/out"
}

printf '%-22s %7s %10s %10s %9s %9s %s\n' workload threads sysbench ours 'TPS ratio' 'CPU ratio' statements
for workload in $workloads; do
	for n in $threads; do
		# The same number of transactions: does the server count the same?
		counted=""
		for name in original ours; do
			before=$(counters)
			run $name "$workload" --threads=1 --events=200 --time=0 --rand-seed=7 >/dev/null
			counted="$counted$(paste <(tr ' ' '\n' <<<"$before") <(tr ' ' '\n' <<<"$(counters)") | awk 'NF == 2 { printf "%d ", $2 - $1 }')|"
		done
		: >"$dir/runs"
		for ((q = 0; q < quads; q++)); do
			for name in original ours ours original; do
				echo "$name $(run $name "$workload" --threads="$n" --time="$seconds")" >>"$dir/runs"
			done
		done
		awk -v w="$workload" -v n="$n" -v counted="$counted" '
			{ tps[$1] += log($3); cpu[$1] += $4; tx[$1] += $2; runs[$1]++ }
			END {
				split(counted, c, "|")
				a = exp(tps["original"] / runs["original"]); b = exp(tps["ours"] / runs["ours"])
				printf "%-22s %7d %10.0f %10.0f %9.3f %9.2f %s\n", w, n, a, b, b / a,
					cpu["ours"] / tx["ours"] / (cpu["original"] / tx["original"]), c[1] == c[2] ? "equal" : "theirs " c[1] "ours " c[2]
			}' "$dir/runs"
	done
done
