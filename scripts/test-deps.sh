#!/bin/sh
# Installs what the tests need: Debian packages when run as root on Debian,
# otherwise it says exactly what is missing and fails.
set -eu

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
apt-get -o Acquire::Retries=5 update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=5 install -y -qq --no-install-recommends $need >/dev/null
