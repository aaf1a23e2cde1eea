#!/bin/sh
# Installs what the long suite of volumes needs beyond what make test does.
#
#	deps.sh SUITES
set -eu
sh "$(dirname "$0")/../test-deps.sh"
need=""
case ,$1, in *,pg15,* | *,pg18,* | *,go,*) [ -x /usr/lib/postgresql/15/bin/pg_amcheck ] || need="$need postgresql-15" ;; esac
case ,$1, in *,mtr,*)
	[ -e /usr/share/mysql/mysql-test/mysql-test-run.pl ] || need="$need mariadb-test mariadb-test-data" ;;
esac
case ,$1, in *,go,*)
	command -v mariabackup >/dev/null 2>&1 || need="$need mariadb-backup"
	command -v mkfs.ext4 >/dev/null 2>&1 || [ -x /sbin/mkfs.ext4 ] || need="$need e2fsprogs" ;;
esac
if [ -n "$need" ]; then
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
		echo "the suite needs these Debian packages (or their like):$need" >&2
		exit 6
	fi
	apt-get update -qq
	# shellcheck disable=SC2086
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $need >/dev/null
fi
[ "$(id -u)" = 0 ] || {
	echo "the suite mounts file systems and runs servers as other users: it needs root" >&2
	exit 6
}
