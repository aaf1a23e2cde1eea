#!/bin/sh
# Fetches a MySQL server and its command line, and prints their directory, whose
# bin belongs into PATH. The second time it only prints.
#
#	fetch-mysql.sh [DIR]
set -eu
dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/veildb/mysql}
sh "$(dirname "$0")/fetch-debian.sh" "$dir" mysql-server-core mysql-client-core
(cd "$dir" && pwd)
