#!/bin/sh
# Fetches programs from Debian sid into a directory, with the libraries and the
# dynamic loader they want, and leaves the system as it is.
#
#	fetch-debian.sh DIR PACKAGE...
#
# DIR/bin holds the programs then; DIR/complete says which versions. A directory
# that is complete is left alone. apt checks what it fetches against the archive's
# key, which is in debian-archive-keyring.
set -eu
dir=$1
shift
if [ -e "$dir/complete" ]; then exit 0; fi
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
if [ ! -e $keyring ] || ! command -v apt-get >/dev/null 2>&1; then
	echo "fetching $* needs apt-get and debian-archive-keyring" >&2
	exit 6
fi
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
case $dir in *[!A-Za-z0-9_./+-]*)
	echo "fetch-debian: $dir: a path may have letters, digits and _ . / + - only" >&2
	exit 2
	;;
esac

# An apt of its own, to which nothing is installed.
apt=$dir/apt
rm -rf "$apt"
mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/parts" "$apt/debs"
trap 'rm -rf "$apt"' EXIT
trap 'exit 130' INT TERM
: >"$apt/status"
cat >"$apt/sid.sources" <<SOURCES
Types: deb
URIs: ${DEBIAN_MIRROR:-http://deb.debian.org/debian}
Suites: sid
Components: main
Signed-By: $keyring
SOURCES
cat >"$apt/conf" <<CONF
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Dir::Etc::sourcelist "$apt/sid.sources";
Dir::Etc::sourceparts "$apt/parts";
Dir::Etc::preferences "$apt/none";
Dir::Etc::preferencesparts "$apt/parts";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
CONF
export APT_CONFIG="$apt/conf"
run() { # run COMMAND...: quiet unless it fails
	"$@" >"$apt/log" 2>&1 || {
		cat "$apt/log" >&2
		exit 1
	}
}
run apt-get update
run apt-get install --simulate "$@"
# Of what the packages need only libraries; what scripts of theirs run is not wanted.
packages=$(sed -n 's/^Inst \([^ ]*\) .*/\1/p' "$apt/log" | grep -e '^lib' | grep -v -e '-perl$' -e '^libperl' -e '-common$' -e '^libc-')
cd "$apt/debs"
# shellcheck disable=SC2086
run apt-get download "$@" $packages
for deb in *.deb; do
	dpkg-deb --extract "$deb" "$dir"
done

# Each program becomes a script that starts it through its own loader. The name it
# is called by stays, for programs look for their files beside themselves.
loader=$(echo "$dir"/usr/lib/*-linux-gnu*/ld-linux-*.so.*)
libraries=$(dirname "$loader")
mkdir -p "$dir/bin"
extra() { # what else a program is told, for the package is not where it was built for
	[ "$1" != mysqld ] || cat <<SCRIPT
case "\$*" in *secure?file?priv*) ;; *) set -- "\$@" --secure-file-priv=NULL ;; esac
set -- "\$@" --basedir=$dir/usr
SCRIPT
}
for program in "$dir"/usr/bin/* "$dir"/usr/sbin/* "$dir"/usr/lib/postgresql/*/bin/*; do
	if [ ! -f "$program" ] || [ -L "$program" ] || [ "$(head -c 4 "$program" | tail -c 3)" != ELF ]; then continue; fi
	mv "$program" "$program.elf"
	cat >"$program" <<SCRIPT
#!/bin/sh
$(extra "${program##*/}")
exec $loader --library-path $libraries --argv0 "\$0" $program.elf "\$@"
SCRIPT
	chmod 755 "$program"
	ln -sfn "$program" "$dir/bin/${program##*/}"
done
chmod -R a+rX "$dir/usr" "$dir/bin"
for deb in *.deb; do dpkg-deb --show --showformat '${Package} ${Version}\n' "$deb"; done >"$dir/complete.new"
mv "$dir/complete.new" "$dir/complete"
