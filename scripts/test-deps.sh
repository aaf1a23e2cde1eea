#!/bin/sh
# Installs what the tests need: Debian packages when run as root on Debian,
# otherwise it says exactly what is missing and fails. Fetches modules, too: go
# itself asks once, and a network that fails once would fail the tests.
set -eu

retry() { # retry COMMAND...: up to four times
	for wait in 5 20 60; do
		"$@" && return 0
		sleep $wait
	done
	"$@"
}

# What cannot be fetched is missed where it is needed, if it is.
retry go mod download || true
retry go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 -version >/dev/null || true

need=""
want() { # want COMMAND PACKAGE: PACKAGE provides COMMAND
	command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || need="$need $2"
}

want mariadbd mariadb-server
want mariadb mariadb-client
want garbd galera-arbitrator-4
[ -e /usr/lib/galera/libgalera_smm.so ] || need="$need galera-4"
want rsync rsync
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || need="$need postgresql"
want sysbench sysbench
want chromium chromium
want qemu-aarch64 qemu-user
want openssl openssl
want softhsm2-util softhsm2
want pkcs11-tool opensc
want mkfs.ext4 e2fsprogs
want mount mount
want gcc gcc
[ -e /usr/include/stdlib.h ] || need="$need libc6-dev"

[ -n "$need" ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
	echo "make test needs these Debian packages (or their like):$need" >&2
	echo "install them, then run make test again" >&2
	exit 6
fi

echo "installing:$need"
# The packages' own servers must not start: the tests start private ones.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod +x "$policy"
	trap 'rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
install() { # and wait for whoever else installs something
	# shellcheck disable=SC2086
	apt-get -o Acquire::Retries=5 -o DPkg::Lock::Timeout=300 update -qq &&
		apt-get -o Acquire::Retries=5 -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends $need >/dev/null
}
retry install
