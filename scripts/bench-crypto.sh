#!/bin/sh
# Runs "openssl speed", our AES-XTS and golang.org/x/crypto/xts one after the
# other, several rounds on one core, and prints throughputs and ratios. Each
# figure is the median of the rounds; a ratio is the median of the rounds'
# ratios, so that what disturbs the machine for a while disturbs both sides.
# Needs: go, openssl, awk; uses taskset if it is there.
#
# usage: scripts/bench-crypto.sh [rounds [seconds]]    default: 5 rounds, 0.5 s
#        each (openssl takes whole seconds, at least 1)
set -eu
cd "$(dirname "$0")/.."

rounds=${1:-5}
seconds=${2:-0.5}
whole=$(awk -v s="$seconds" 'BEGIN { print (s < 1) ? 1 : int(s) }')
sizes="512 4096 65536"
pkg=./internal/crypto/aesxts

for tool in go openssl awk; do
	command -v $tool >/dev/null || { echo "bench-crypto: $tool not found" >&2; exit 1; }
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
go test -c -o "$tmp/aesxts.test" $pkg

pin=
if command -v taskset >/dev/null; then
	# The last core we may use; interrupts tend to land on the first.
	pin="taskset -c $(taskset -cp $$ | sed 's/.*[^0-9]//')"
fi

# record SIDE BITS SIZE ROUND reads "MB/s allocs" and appends a line.
record() {
	read -r mbs allocs || { echo "bench-crypto: $1 aes$2 size $3 gave no figure" >&2; exit 1; }
	echo "$1 $2 $3 $4 $mbs $allocs" >>"$tmp/figures"
}

# Wall clock (-elapsed) on both sides. The last line is "AES-256-XTS 123.45k".
openssl_speed() {
	$pin openssl speed -elapsed -evp "aes-$1-xts" -bytes "$2" -seconds "$whole" 2>/dev/null |
		awk 'END { if (sub(/k$/, "", $NF)) print $NF / 1000, 0 }'
}

go_bench() {
	$pin "$tmp/aesxts.test" -test.run '^$' -test.benchtime "${seconds}s" \
		-test.bench "^BenchmarkXTS\$/^alg=aes$1\$/^size=$2\$/^impl=$3\$/^op=encrypt\$" |
		awk '/^BenchmarkXTS/ {
			for (i = 2; i <= NF; i++) {
				if ($i == "MB/s") mbs = $(i-1)
				if ($i == "allocs/op") allocs = $(i-1)
			}
			print mbs, allocs
		}'
}

round=1
while [ "$round" -le "$rounds" ]; do
	echo "round $round of $rounds" >&2
	for bits in 128 256; do
		for size in $sizes; do
			openssl_speed $bits "$size" | record openssl $bits "$size" "$round"
			go_bench $bits "$size" auto | record ours $bits "$size" "$round"
			go_bench $bits "$size" x-crypto | record xcrypto $bits "$size" "$round"
		done
	done
	round=$((round + 1))
done

echo "$(openssl version); $(go version)"
"$tmp/aesxts.test" -test.v -test.run '^TestImplementations$' | sed -n 's/.*: implementations/implementations/p'
awk -v rounds="$rounds" '
function median(list,   v, n, i, j, t) {
	n = split(list, v, " ")
	for (i = 2; i <= n; i++) {
		t = v[i] + 0
		for (j = i - 1; j >= 1 && v[j] + 0 > t; j--) v[j+1] = v[j]
		v[j+1] = t
	}
	return n % 2 ? v[(n+1)/2] : (v[n/2] + v[n/2+1]) / 2
}
{
	cell = $2 " " $3
	if (!(cell in seen)) { seen[cell] = 1; order[++cells] = cell }
	mbs[$1, cell, $4] = $5
	all[$1, cell] = all[$1, cell] " " $5
	if ($6 > allocs[cell]) allocs[cell] = $6
}
END {
	print "AES-XTS encrypt, one data unit a call, MB/s (10^6 bytes), median of " rounds " rounds"
	printf "%-8s %6s %9s %9s %9s %13s %14s %7s\n", "cipher", "bytes", "ours", "openssl", "x/crypto", "ours/openssl", "ours/x-crypto", "allocs"
	for (i = 1; i <= cells; i++) {
		cell = order[i]
		split(cell, part, " ")
		o = x = ""
		for (r = 1; r <= rounds; r++) {
			o = o " " mbs["ours", cell, r] / mbs["openssl", cell, r]
			x = x " " mbs["ours", cell, r] / mbs["xcrypto", cell, r]
		}
		printf "aes-%-4s %6d %9.0f %9.0f %9.0f %13.2f %14.1f %7d\n", part[1], part[2],
			median(all["ours", cell]), median(all["openssl", cell]), median(all["xcrypto", cell]),
			median(o), median(x), allocs[cell]
	}
}' "$tmp/figures"
