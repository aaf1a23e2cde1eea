# Sourced by test-clients.sh and test-tools.sh, at the top of the repository: a
# directory $w, with output in $w/out and kept if KEEP names it; a private server;
# programs of VeilDB beside it. All of that ends with the script.

# server_named [NAME]: prints mariadb or mysql, which SERVER names too.
server_named() {
	case ${1:-${SERVER:-${FLAVOUR:-mariadb}}} in # FLAVOUR is what SERVER was called once
	mariadb) echo mariadb ;;
	mysql) echo mysql ;;
	*)
		echo "usage: $(basename "$0") [mariadb | mysql]" >&2
		exit 2
		;;
	esac
}

say() { echo "$@" >&2; }
# bounded SECONDS COMMAND...: of low priority, ended after SECONDS.
bounded() { nice timeout -k 5 "$@"; }

w=${KEEP:-$(mktemp -d)}
mkdir -p "$w"
w=$(cd "$w" && pwd)
chmod 711 "$w"
out=$w/out
rm -rf "$out" "$w/lab"
mkdir -p "$out"
password=pw_of_tests
(umask 077 && printf '%s\n' "$password" >"$w/password")

pids=""
cleanup() {
	for pid in $pids; do kill "$pid" 2>/dev/null || true; done
	[ ! -d "$w/lab" ] || "$w/veildb" lab down --dir "$w/lab" >/dev/null 2>&1 || true
	rm -rf "$w/lab"
	[ -n "${KEEP:-}" ] || rm -rf "$w"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# lab_up SERVER OPTION...: builds VeilDB and starts a server with the database shop;
# sets db_port and db_socket.
lab_up() {
	say "building, starting servers"
	bounded 300 go build -o "$w/veildb" ./cmd/veildb
	bounded 120 "$w/veildb" --json lab up --tcp --dir "$w/lab" --database shop "$@" >"$w/lab.json"
	db_port=$(field tcp_dsn | sed 's/.*127\.0\.0\.1:\([0-9]*\).*/\1/')
	db_socket=$(field dsn | sed 's/.*[?&(]socket=\([^&)]*\).*/\1/; s/.*unix(\([^)]*\)).*/\1/')
}
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$w/lab.json"; }

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# serve NAME COMMAND...: starts veildb COMMAND --listen, with its log in NAME.log, and
# waits until it listens; sets port and pid.
serve() {
	log=$out/$1.log
	shift
	port=$(free_port)
	nice "$w/veildb" "$@" --listen "127.0.0.1:$port" >"$log" 2>&1 &
	pid=$!
	pids="$pids $pid"
	n=0
	until python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])), 1)' "$port" 2>/dev/null; do
		n=$((n + 1))
		if [ $n -gt 100 ] || ! kill -0 "$pid" 2>/dev/null; then
			cat "$log" >&2
			exit 1
		fi
		sleep 0.2
	done
}
