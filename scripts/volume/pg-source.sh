#!/bin/sh
# Fetches PostgreSQL's regression suite from Debian's source package, and builds
# its C functions against the installed server.
#
#	pg-source.sh MAJOR DIR
#
# DIR/regress is the suite then, DIR/isolation that of concurrent sessions, and
# DIR/lib what --dlpath names. Nothing of the system's package lists changes.
# Needs root on Debian, gcc, and postgresql-MAJOR.
set -eu
major=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
[ ! -e "$dir/complete" ] || exit 0

bin=/usr/lib/postgresql/$major/bin
pgxs=/usr/lib/postgresql/$major/lib/pgxs/src/test
[ -x "$bin/postgres" ] && [ -x "$pgxs/regress/pg_regress" ] || {
	echo "needs the Debian package postgresql-$major" >&2
	exit 6
}

apt=$dir/apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
key=/usr/share/keyrings/debian-archive-keyring.gpg
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
cat >"$apt/sources.list" <<LIST
deb-src [signed-by=$key] http://deb.debian.org/debian-security $suite-security main
deb-src [signed-by=$key] http://deb.debian.org/debian $suite main
LIST
src() {
	program=$1
	shift
	"$program" -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root "$@"
}
src apt-get update -qq
cd "$dir"
# The newest version that is served: security updates lose their sources first.
for version in $(src apt-cache showsrc "postgresql-$major" | sed -n 's/^Version: //p'); do
	src apt-get source -qq --download-only "postgresql-$major=$version" >"$dir/apt.log" 2>&1 && break
	version=""
done
[ -n "$version" ] || {
	cat "$dir/apt.log" >&2
	exit 1
}
tar=$(ls "postgresql-${major}_"*.orig.tar.*)
tar -xf "$tar" --strip-components=3 --wildcards '*/src/test/regress' '*/src/test/isolation'
rm -f "postgresql-${major}_"*

# The server's headers: of the package only, not of what else it wants.
APT_OPTIONS="-o APT::Sandbox::User=root"
# shellcheck disable=SC2086
apt-get $APT_OPTIONS download -qq "postgresql-server-dev-$major"
dpkg-deb -x "postgresql-server-dev-${major}_"*.deb headers
rm -f "postgresql-server-dev-${major}_"*.deb
mkdir -p lib
gcc -O1 -fPIC -shared -w -I "headers/usr/include/postgresql/$major/server" -o lib/regress.so regress/regress.c
for contrib in refint autoinc; do
	ln -sf "/usr/lib/postgresql/$major/lib/$contrib.so" "lib/$contrib.so"
done
rm -rf headers "$apt"
echo "$version" >complete
