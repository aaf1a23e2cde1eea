#!/bin/sh
# Runs programs that look into databases, through a gate as an account that gets
# ciphertext, and directly; prints what each step saw, and where the two differ.
#
#	test-tools.sh [mariadb | mysql]
#
# Needs the server and its clients, Go, Python 3, Node, Java 17 and Maven. The
# programs come from their registries; KEEP=DIR keeps them for the next run. Exit
# code 1: a step failed through the gate that works without.
set -eu
cd "$(dirname "$0")/.."
. scripts/gate-lab.sh
server=$(server_named "$@")
here=$PWD/internal/clienttest/tools
mkdir -p "$w/node"

client=mariadb dump=mariadb-dump
if [ "$server" = mysql ]; then
	PATH=$(sh scripts/fetch-mysql.sh)/bin:$PATH
	client=mysql dump=mysqldump
fi

lab_up "$server"
root() { "$client" --no-defaults --socket="$db_socket" --user=root "$@"; }
{
	echo "CREATE DATABASE IF NOT EXISTS shop; USE shop;
	CREATE USER veil@'%' IDENTIFIED BY '$password', app@'%' IDENTIFIED BY '$password';
	GRANT SELECT, SHOW VIEW, TRIGGER ON *.* TO veil@'%'; GRANT ALL ON shop.* TO app@'%';"
	cat "$here/schema.sql"
} | root --default-character-set=utf8mb4
cat >"$w/rules.yaml" <<YAML
version: 1
accounts: {ciphertext: [app]}
rules:
  - {name: people, databases: shop, tables: users, columns: [email, phone]}
  - {name: cards, databases: shop, tables: orders, columns: card_number}
YAML
if [ "$server" = mysql ]; then # whose accounts log in over TLS, or after somebody has
	"$client" --no-defaults --host=127.0.0.1 --port="$db_port" --user=veil --password="$password" -e 'SELECT 1' >/dev/null 2>&1
	"$client" --no-defaults --host=127.0.0.1 --port="$db_port" --user=app --password="$password" -e 'SELECT 1' >/dev/null 2>&1
fi
serve gate gate serve --backend "mysql://veil@127.0.0.1:$db_port/" --password-file "$w/password" \
	--login-timeout 60s --rules "$w/rules.yaml" --audit "$out/audit.jsonl"
gate_port=$port

[ -x "$w/python/bin/python" ] || bounded 60 python3 -m venv "$w/python"
bounded 200 "$w/python/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt"
cp "$here/tools.js" "$here/package.json" "$w/node"
bounded 250 npm install --silent --no-fund --no-audit --prefix "$w/node" >"$out/npm.log" 2>&1

[ -d "$w/java" ] || bounded 280 mvn -q -B -f "$here/java/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$w/java" >"$out/mvn.log" 2>&1
mkdir -p "$w/classes"
bounded 60 javac -proc:none -cp "$w/java/*" -d "$w/classes" "$here/java/Tools.java"

# step NAME PROGRAM OPTION...: one of the server's own programs.
step() {
	name=$1 program=$2
	shift 2
	[ "$server" = mysql ] || set -- --skip-ssl "$@"
	if bounded 60 "$program" --no-defaults --host=127.0.0.1 --port="$VEIL_PORT" --user=app --password="$password" "$@" >"$out/step" 2>"$out/step.err"; then
		printf '%s\t%s\tworks\n' "$server" "$name"
	else
		printf '%s\t%s\tfails: %s\n' "$server" "$name" "$(tail -n 1 "$out/step.err")"
	fi
	cat "$out/step" >>"$out/plain.$VEIL_PORT"
}
dump() { # dump NAME OPTION...
	name=$1
	shift
	[ "$server" = mariadb ] || set -- --set-gtid-purged=OFF "$@"
	step "$name" "$dump" --no-tablespaces "$@"
}
programs() {
	step client "$client" --database=shop -e 'SHOW TABLES; SELECT * FROM company_users; SHOW WARNINGS'
	step show "${client}-show" shop users
	dump dump --single-transaction --skip-lock-tables shop
	dump "dump of everything" --single-transaction --routines --events --triggers --hex-blob --databases shop
	dump "dump of definitions" --no-data --routines shop
	dump "dump under locks" --lock-tables shop users orders
	step analyze "${client}-check" --analyze shop
}
if [ "$server" = mysql ]; then
	mkdir -p "$w/links"
	for p in show check; do ln -sf "$(command -v mysql$p)" "$w/links/mysql-$p"; done
	PATH=$w/links:$PATH
fi

everything() {
	VEIL_USER=app VEIL_PASSWORD=$password VEIL_SERVER=$server
	export VEIL_PORT VEIL_PLACE VEIL_USER VEIL_PASSWORD VEIL_SERVER
	programs
	bounded 120 "$w/python/bin/python" "$here/tools.py" 2>"$out/python.err" || printf 'python\tends\tfails: %s\n' "$(tail -n 1 "$out/python.err")"
	bounded 120 java -cp "$w/classes:$w/java/*" Tools "$w/java-$VEIL_PLACE" 2>"$out/java.err" || printf 'java\tends\tfails: %s\n' "$(tail -n 1 "$out/java.err")"
	bounded 120 node "$w/node/tools.js" 2>"$out/node.err" || printf 'node\tends\tfails: %s\n' "$(tail -n 1 "$out/node.err")"
}
VEIL_PORT=$db_port VEIL_PLACE=direct
everything >"$out/direct"
root -e 'DROP TABLE IF EXISTS shop.flyway_direct'
VEIL_PORT=$gate_port VEIL_PLACE=gate
everything >"$out/gate"
if grep -q 'al@example\.org\|555-01\|4111-1111' "$out/plain.$gate_port"; then
	echo "protected values came in plain" >&2
	exit 1
fi
awk -F'\t' '
	FNR == NR { direct[$1 "\t" $2] = $3; next }
	{
		steps++; tool[$1]++
		d = direct[$1 "\t" $2]
		if ($3 == d) next
		if ($3 ~ /^fails/ && d !~ /^fails/) { bad++; print "refused: " $0 } else print "differs: " $0 "\n     not " d
	}
	END {
		for (t in tool) printf "%s: %d steps\n", t, tool[t]
		printf "%d steps, %d refused\n", steps, bad
		exit bad > 0
	}
' "$out/direct" "$out/gate"
