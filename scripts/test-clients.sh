#!/bin/sh
# Drives real clients through a gate and a sidecar in front of a private server,
# prints which of them work, and writes that server's table of docs/interop.md.
#
#	test-clients.sh [mariadb | mysql]
#
# Needs MariaDB, sysbench, Go, Java 17, Maven, Python 3 and Node, and for mysql what
# fetch-mysql.sh needs. Drivers come from their package registries; KEEP=DIR keeps
# them, with all output, for the next run. ENCDB_GO_CLIENT=DIR is a checkout of the
# vendor's Go driver, for where the module proxy does not have it. Exit code 1: a
# client failed a check.
set -eu
cd "$(dirname "$0")/.."
. scripts/gate-lab.sh
server=$(server_named "$@")
here=$PWD/internal/clienttest

# --- servers -----------------------------------------------------------------

(umask 077 && cd "$w" &&
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
		-keyout tls.key -out tls.pem 2>/dev/null)
set --
server_ca="" # of the server itself, for programs that log in to it
if [ "$server" = mysql ]; then
	# Its accounts want the password itself, at their first login, over TLS.
	bin=$(sh scripts/fetch-mysql.sh)/bin
	server_ca=$w/tls.pem
	set -- --bin "$bin" --set "ssl_cert=$w/tls.pem" --set "ssl_key=$w/tls.key" --set "ssl_ca=$w/tls.pem"
fi
lab_up "$server" "$@"
mariadb --socket="$db_socket" --user=root <<SQL
CREATE DATABASE IF NOT EXISTS shop;
USE shop;
CREATE TABLE people (id INT PRIMARY KEY, plain VARCHAR(40), c_int INT, c_ubig BIGINT UNSIGNED,
	c_dec DECIMAL(20,4), c_text VARCHAR(100), c_date DATE, c_dt DATETIME(6), c_blob BLOB)
	DEFAULT CHARACTER SET utf8mb4;
SET NAMES utf8mb4;
INSERT INTO people VALUES
	(1, 'in plain', 42, 18446744073709551615, 1234567890.1234, 'Grüße 漢字 🙂', '2024-02-29', '2024-02-29 12:34:56.123456', X'00FF10807F'),
	(2, 'in plain too', -2147483648, 0, -0.5000, '', '1970-01-01', '9999-12-31 23:59:59.999999', X''),
	(3, 'nothing', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE USER veil@'%' IDENTIFIED BY '$password', dba@'%' IDENTIFIED BY '$password',
	app@'%' IDENTIFIED BY '$password', guest@'%' IDENTIFIED BY '$password';
GRANT SELECT, SHOW VIEW, TRIGGER ON *.* TO veil@'%';
GRANT ALL ON shop.* TO dba@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON shop.* TO app@'%', guest@'%';
SQL
cat >"$w/rules.yaml" <<YAML
version: 1
registrars: [app]
accounts: {full: [dba], ciphertext: [app]}
rules:
  - {name: people, databases: shop, tables: people, columns: "c_*"}
  - {name: sysbench, databases: shop, tables: "sbtest*", columns: [c, pad]}
YAML
rm -f "$w/rules.yaml.meks"
(umask 077 && openssl rand -hex 16 >"$w/mek")

set --
[ -z "$server_ca" ] || set -- --backend-tls verify-full --backend-ca "$server_ca"
# gate NAME OPTION...: one whose log and audit log are in $out.
gate() {
	name=$1
	shift
	serve "$name" gate serve --backend "mysql://veil@127.0.0.1:$db_port/" --password-file "$w/password" --login-timeout 60s \
		--tls-cert "$w/tls.pem" --tls-key "$w/tls.key" --audit "$out/$name.jsonl" "$@"
}
gate gate --rules "$w/rules.yaml" "$@"
gate_port=$port
serve sidecar sidecar --gate "127.0.0.1:$gate_port" --gate-name localhost --gate-ca "$w/tls.pem" --mek-file "$w/mek"
sidecar_port=$port
# Two that share rules and the keys of clients; the first will be killed.
"$w/veildb" rule publish "$w/rules.yaml" --backend "mysql://root@/?socket=$db_socket" >/dev/null
mariadb --socket="$db_socket" --user=root -e "GRANT INSERT ON veildb_gate.rules_meks TO veil@'%'; GRANT INSERT, DELETE ON veildb_gate.rules_kept TO veil@'%'"
rm -f "$w/ring"*
(umask 077 && "$w/veildb" key init "$w/ring" --provider "file:$w/ring.root" >/dev/null)
gate first --rules table:rules --key "$w/ring" --share-keys "$@"
first_port=$port first_pid=$pid
gate second --rules table:rules --key "$w/ring" --share-keys "$@"
second_port=$port

# --- drivers -----------------------------------------------------------------

say "fetching drivers"
python=$w/python/bin/python
[ -x "$python" ] || bounded 60 python3 -m venv "$w/python"
bounded 180 "$w/python/bin/pip" install -q --disable-pip-version-check -r "$here/python/requirements.txt"
# The C extension of later versions wants a newer OpenSSL than most systems have.
[ -d "$w/python-c" ] || bounded 180 "$w/python/bin/pip" install -q --disable-pip-version-check --target "$w/python-c" -r "$here/python/requirements-c.txt"
mkdir -p "$w/node"
cp "$here/node/client.js" "$here/node/package.json" "$w/node"
bounded 180 npm install --silent --no-fund --no-audit --prefix "$w/node" >"$out/npm.log" 2>&1
for p in java encjdbc; do
	[ -d "$w/$p" ] || bounded 180 mvn -q -B -f "$here/$p/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$w/$p" >"$out/mvn-$p.log" 2>&1 || rm -rf "${w:?}/$p"
done
mkdir -p "$w/classes"
bounded 60 javac -d "$w/classes" "$here/java/Client.java" "$here/java/Pool.java"
bounded 180 go build -C "$here/go" -o "$w/goclient" .
cp "$here/encdbgo/go.mod" "$w/encdbgo.mod"
if [ -n "${ENCDB_GO_CLIENT:-}" ]; then
	go mod edit "-replace=github.com/aliyun/alibabacloud-encdb-mysql-go-client=$ENCDB_GO_CLIENT" "$w/encdbgo.mod"
fi
rm -f "$w/encdbgo"
bounded 180 go build -C "$here/encdbgo" -mod=mod "-modfile=$w/encdbgo.mod" -o "$w/encdbgo" . >"$out/encdbgo.log" 2>&1 || true

version() { # version JAR-PREFIX DIR
	ls "$w/$2" 2>/dev/null | sed -n "s/^$1-\([0-9].*\)\.jar\$/\1/p"
}
module() { (cd "$here/go" && go list -m -f '{{.Version}}' "$1"); }

# --- running and comparing ---------------------------------------------------

client_cli() {
	set -- mariadb
	if [ -n "$VEIL_CA" ]; then set -- "$@" --ssl-ca="$VEIL_CA" --ssl-verify-server-cert; else set -- "$@" --skip-ssl; fi
	cli "$@"
}
client_mysql_cli() {
	set -- "$bin/mysql"
	if [ -n "$VEIL_CA" ]; then set -- "$@" --ssl-ca="$VEIL_CA" --ssl-mode=VERIFY_IDENTITY; else set -- "$@" --ssl-mode=DISABLED; fi
	cli "$@"
}
cli() { # cli PROGRAM TLS-OPTIONS: a command line
	set -- "$@" --protocol=tcp --host=127.0.0.1 --port="$VEIL_PORT" --user="$VEIL_USER" --password="$VEIL_PASSWORD" \
		--default-character-set=utf8mb4 --batch --raw --binary-as-hex
	query='SELECT id, plain, c_int, c_ubig, c_dec, c_text, c_date, c_dt, c_blob FROM people ORDER BY id'
	bounded 90 "$@" --column-type-info shop -e "$query" >"$w/cli" 2>&1 || {
		printf 'text\terror\t%s\n' "$(tr '\n\t' '  ' <"$w/cli")"
		return
	}
	# Paragraphs that describe the columns, then the rows.
	awk -F'\t' '
		/^Field +[0-9]+:/ { f++; next }
		/^(Type|Collation|Length|Decimals|Flags): / && NF == 1 { sub(/^[A-Za-z]+: +/, ""); gsub(/ +$/, ""); type[f] = type[f] $0 ","; next }
		NF == 9 && !head { for (i = 1; i <= NF; i++) name[i] = $i; head = 1; next }
		NF == 9 { n++; for (i = 1; i <= NF; i++) print "text\t" n "\t" name[i] "\t" type[i] "\t" ($i ~ /^0x/ ? tolower($i) : $i) }
	' "$w/cli"
}
client_go() { bounded 90 "$w/goclient"; }
jdbc() { # jdbc DRIVERS SCHEME OPTIONS [CLASS [PROGRAM]]
	# The vendor's driver is of the time before modules hid this package.
	bounded 90 java --add-exports=java.base/com.sun.crypto.provider=ALL-UNNAMED -cp "$w/classes:$w/$1/*" "${5:-Client}" "$2" "$3" ${4:+"$4"}
}
client_mariadb_j() { jdbc java jdbc:mariadb: ""; }
client_mysql_j() { jdbc java jdbc:mysql: ""; }
client_encjdbc() { jdbc encjdbc jdbc:mysql:encdb: "" com.aliyun.encdb.mysql.jdbc.EncDriver; }
client_encjdbc_pool() { jdbc encjdbc jdbc:mysql:encdb: "" com.aliyun.encdb.mysql.jdbc.EncDriver Pool; }
client_encjdbc_failover() { VEIL_NEXT=$second_port VEIL_KILL=$first_pid client_encjdbc_pool; }
client_encdbgo() { bounded 90 "$w/encdbgo"; }
client_pymysql() { bounded 90 "$python" "$here/python/client.py" pymysql; }
client_connector() { PYTHONPATH=$w/python-c bounded 90 "$python" "$here/python/client.py" connector; }
client_connector_pure() { bounded 90 "$python" "$here/python/client.py" connector-pure; }
client_mysql2() { bounded 90 node "$w/node/client.js"; }

# run NAME PLACE PORT USER CA MEK: the client's lines in $out/NAME.PLACE.
run() {
	VEIL_PORT=$3 VEIL_USER=$4 VEIL_CA=$5 VEIL_MEK=$6 VEIL_PASSWORD=$password
	export VEIL_PORT VEIL_USER VEIL_CA VEIL_MEK VEIL_PASSWORD
	file=$out/$1.$2
	"client_$1" >"$file" 2>"$file.err" ||
		printf 'text\terror\tended with an error: %s\nprepared\terror\tended with an error\n' "$(tail -n 1 "$file.err" | tr '\t' ' ')" >>"$file"
}

# truth FILE KIND: the server's own answer holds the values that were inserted.
truth() {
	grep -q "^$2	1	c_int	.*	42\$" "$1" && grep -q "^$2	1	c_ubig	.*	18446744073709551615\$" "$1" &&
		grep -q "^$2	1	c_dec	.*	1234567890\.1234\$" "$1" && grep -q "^$2	1	c_text	.*	Grüße 漢字 🙂\$" "$1" &&
		grep -q "^$2	1	c_date	.*	2024-02-29\$" "$1" && grep -q "^$2	1	c_dt	.*	2024-02-29[ T]12:34:56\.123456\$" "$1" &&
		grep -q "^$2	1	c_blob	.*	0x00ff10807f\$" "$1" && grep -q "^$2	3	c_int	.*	NULL\$" "$1" && [ "$(grep -c "^$2	" "$1")" = 27 ]
}

# compare HOW BASE FILE KIND: prints ok, or what is wrong. HOW is
#   same    types and values are those of BASE
#   values  values are
#   sealed  of columns c_* nothing is, but NULL is NULL; of the others all
compare() {
	awk -F'\t' -v how="$1" -v kind="$4" '
		function wrong(text) { if (!bad) print "fails: " text; bad = 1; exit }
		$1 != kind { next }
		FNR == NR { type[$2, $3] = $4; value[$2, $3] = $5; if ($5 != "" && $5 != "NULL" && $3 ~ /^c_/) secret[$5] = 1; cells++; next }
		$2 == "error" { wrong($3) }
		!(($2, $3) in value) { wrong("row " $2 " column " $3 " is not in the table") }
		{
			got++; want = value[$2, $3]
			guarded = how == "sealed" && $3 ~ /^c_/
			if (!guarded && $5 != want) wrong($3 " of row " $2 " is " $5 ", not " want)
			if (!guarded && how != "values" && $4 != type[$2, $3]) wrong($3 " of row " $2 " has type " $4 ", not " type[$2, $3])
			if (guarded && want == "0x" && $5 == "NULL") next # the command line shows no difference
			if (guarded && want == "NULL" && $5 != "NULL") wrong($3 " of row " $2 " is not NULL")
			if (guarded && want != "NULL" && ($5 in secret || length($5) < 40 || $5 !~ /^[A-Za-z0-9+\/]+=*$/)) wrong($3 " of row " $2 " is no ciphertext: " $5)
		}
		END { if (!bad && (got != cells || !cells)) print "fails: " got + 0 " cells, not " cells + 0; else if (!bad) print "ok" }
	' "$2" "$3"
}

failed=0
cell() { # cell NAME BASE PLACE HOW KINDS: compares all kinds of statements
	result="" last=""
	for kind in $5; do
		r=$(compare "$4" "$out/$2" "$out/$1.$3" "$kind" | cut -c -300 | tr '|' '/' | sed 's/(conn=[0-9]*) //g')
		[ "$r" = "$last" ] && continue
		result="$result${result:+; }$kind $r" last=$r
	done
	# One word, or one reason, if it is the same for all kinds.
	case $result in *"; "*) echo "$result" ;; *) echo "$last" ;; esac
}
table=$w/table.md
row() {
	case $* in *fails*) failed=1 ;; esac
	echo "| $* |" | tee -a "$table"
}
{
	echo '| client | version | statements | full | ciphertext | blocked | sidecar | decrypts itself |'
	echo '|---|---|---|---|---|---|---|---|'
} | tee "$table"

# check NAME TITLE VERSION KINDS [MEK]: a client in all places.
check() {
	run "$1" server "$db_port" dba "$server_ca" ""
	for kind in $4; do
		truth "$out/$1.server" "$kind" || {
			row "$2 | $3 | $4 | without a gate it $(compare same "$out/$1.server" "$out/$1.server" "$kind" | cut -c -300) | | | |"
			return
		}
	done
	run "$1" full "$gate_port" dba "$w/tls.pem" ""
	run "$1" ciphertext "$gate_port" app "$w/tls.pem" ""
	run "$1" blocked "$gate_port" guest "$w/tls.pem" ""
	run "$1" sidecar "$sidecar_port" app "" ""
	own=""
	if [ -n "${5:-}" ]; then
		run "$1" own "$gate_port" app "$w/tls.pem" "$5"
		own=$(cell "$1" "$1.server" own same "$4")
	fi
	row "$2 | $3 | $4 | $(cell "$1" "$1.server" full same "$4") | $(cell "$1" "$1.server" ciphertext sealed "$4") |" \
		"$(cell "$1" "$1.server" blocked sealed "$4") | $(cell "$1" "$1.server" sidecar same "$4") | $own"
}
# reveals NAME TITLE VERSION BASE: a client that decrypts itself, and that cannot
# be used without a key; its values are compared with those of client BASE.
reveals() {
	run "$1" own "$gate_port" app "$w/tls.pem" "$w/mek"
	row "$2 | $3 | text prepared | | | | | $(cell "$1" "$4.server" own values "text prepared")"
}
# pool NAME TITLE VERSION BASE [PORT]: the same with a pool, whose connections must
# all be like the first one.
pool() {
	run "$1" own "${5:-$gate_port}" app "$w/tls.pem" "$w/mek"
	result=ok
	for n in 1 2 3 4 5 6 7 8; do
		sed -n "s/^$n	//p" "$out/$1.own" >"$out/$1.own$n"
		r=$(cell "$1" "$4.server" "own$n" values "text prepared")
		[ "$result" != ok ] || [ "$r" = ok ] || result="connection $n $r"
	done
	row "$2 | $3 | text prepared | | | | | $result"
}

check cli "\`mariadb\`" "$(mariadb --version | sed -n 's/.*Distrib \([0-9.]*\).*/\1/p; s/.*from \([0-9.]*\)-MariaDB.*/\1/p')" text
[ "$server" != mysql ] || check mysql_cli "\`mysql\`" "$("$bin/mysql" --version | sed -n 's/.*Ver \([0-9.]*\).*/\1/p')" text
check go go-sql-driver/mysql "$(module github.com/go-sql-driver/mysql)" "text prepared"
run go own "$gate_port" app "$w/tls.pem" "$w/mek"
row "veilsql | this one | text prepared | | | | | $(cell go go.server own same "text prepared")"
check mariadb_j "MariaDB Connector/J" "$(version mariadb-java-client java)" "text prepared"
check mysql_j "MySQL Connector/J" "$(version mysql-connector-j java)" "text prepared"
pip_version() { sed -n "s/^$2==//p" "$here/python/requirements$1.txt"; }
check pymysql PyMySQL "$(pip_version "" PyMySQL)" text
check connector "mysql-connector-python, C" "$(pip_version -c mysql-connector-python)" text
check connector_pure "mysql-connector-python, pure" "$(pip_version "" mysql-connector-python)" "text prepared"
check mysql2 "mysql2 (Node)" "$(sed -n 's/.*"mysql2": "\(.*\)".*/\1/p' "$here/node/package.json")" "text prepared"
if [ -d "$w/encjdbc" ]; then
	reveals encjdbc "EncJDBC (vendor's)" "$(version aliyun-encdb-mysql-jdbc encjdbc)" mysql_j
	pool encjdbc_pool "EncJDBC, a pool" "$(version aliyun-encdb-mysql-jdbc encjdbc)" mysql_j
	pool encjdbc_failover "EncJDBC, a failover" "$(version aliyun-encdb-mysql-jdbc encjdbc)" mysql_j "$first_port"
else
	row "EncJDBC (vendor's) | | | | | | | not run: its artifact cannot be had"
fi
if [ -x "$w/encdbgo" ]; then
	reveals encdbgo "vendor's Go driver" "$(sed -n 's/.*go-client \(v.*\)/\1/p' "$here/encdbgo/go.mod")" go
else
	row "vendor's Go driver | | | | | | | not run: the module proxy does not have it"
fi

# sysbench prepares its statements or not; the gate protects its text columns.
bench() { # bench PORT TEST MODE COMMAND
	bounded 60 sysbench "oltp_$2" --db-driver=mysql --mysql-host=127.0.0.1 --mysql-port="$1" --mysql-user=dba --mysql-password="$password" \
		--mysql-db=shop --tables=2 --table-size=500 --threads=4 --time=3 --db-ps-mode="$3" --mysql-ignore-errors=1213 "$4"
}
say "running sysbench"
bench "$gate_port" read_write auto prepare >"$out/sysbench.prepare" 2>&1 || true
result=""
for mode in disable auto; do
	for test in point_select read_write; do
		log=$out/sysbench.$test.$mode
		if ! bench "$gate_port" $test $mode run >"$log" 2>&1 || grep -q FATAL "$log" || ! grep -q 'queries: *[1-9]' "$log"; then
			result="${result:+$result; }fails: $test, prepared $mode: $(grep -m 1 FATAL "$log" | tr '|' '/')"
		fi
	done
done
row "sysbench | $(sysbench --version | cut -d' ' -f2) | text prepared | ${result:-ok} | | | |"

doc=docs/interop.md
awk -v table="$table" -v server="$server" '
	/<!-- end of table -->/ { inside = 0 }
	!inside { print }
	$0 == "<!-- table of " server " -->" { inside = 1; while ((getline line <table) > 0) print line }
' "$doc" >"$w/interop.md"
cat "$w/interop.md" >"$doc"
exit $failed
