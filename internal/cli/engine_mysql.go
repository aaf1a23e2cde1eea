package cli

import (
	"maps"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/target"
)

// mysql is MySQL, with what can stand before and below it.
var mysql = serverKind{
	engine: target.MySQL, program: target.MySQL, title: "MySQL", dialect: dsn.MySQL, nodes: 1,
	variants: map[string]string{
		"plain": "MySQL as it is",
		"tde":   mariadb.variants["tde"],
		"fuse":  mariadb.variants["fuse"],
		"relay": mariadb.variants["relay"],
	},
	loading: mysqlLoading(),
	prepare: mariadb.prepare,
}

// mysqlLoading is as MariaDB's, but that MySQL has a binary log unless it is told
// to have none.
func mysqlLoading() map[string]string {
	m := maps.Clone(mariadb.loading)
	m["skip_log_bin"] = "ON"
	return m
}

// mysqlSettings are a study's settings by the names that MySQL has for them.
func mysqlSettings(settings map[string]string) map[string]string {
	m := maps.Clone(settings)
	if size, ok := m["innodb_log_file_size"]; ok { // of MariaDB, and of MySQL before 9
		delete(m, "innodb_log_file_size")
		m["innodb_redo_log_capacity"] = size
	}
	return m
}
