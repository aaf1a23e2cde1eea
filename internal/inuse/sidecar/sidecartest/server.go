package sidecartest

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/bench/target/targettest"

	_ "github.com/go-sql-driver/mysql" // the plain driver, to compare with
)

// User and Password are an account that may do everything.
const (
	User     = "app"
	Password = "pw/of:app@" // what a DSN must not trip over
	Database = "veildb"
)

// Columns are the protected ones of the tables that Setup makes.
var Columns = []string{
	"kinds.ti", "kinds.tu", "kinds.si", "kinds.su", "kinds.mi", "kinds.mu", "kinds.i", "kinds.iu", "kinds.bi", "kinds.bu",
	"kinds.f", "kinds.f2", "kinds.d", "kinds.d2", "kinds.de", "kinds.da", "kinds.dt", "kinds.dt6", "kinds.ts", "kinds.ts3", "kinds.tm", "kinds.tm2",
	"kinds.y", "kinds.bt", "kinds.c", "kinds.v", "kinds.bn", "kinds.vb", "kinds.tx", "kinds.bl", "kinds.e", "kinds.s", "kinds.j", "kinds.g",
	"people.name", "people.salary",
}

// setup makes the account and the tables; kinds has a column of each type, and
// rows of ordinary, extreme, empty and NULL values.
var setup = []string{
	"CREATE USER app@'%' IDENTIFIED BY 'pw/of:app@'",
	"GRANT ALL ON *.* TO app@'%'",
	`CREATE TABLE kinds (id INT PRIMARY KEY,
		ti TINYINT, tu TINYINT UNSIGNED, si SMALLINT, su SMALLINT UNSIGNED, mi MEDIUMINT, mu MEDIUMINT UNSIGNED,
		i INT, iu INT UNSIGNED ZEROFILL, bi BIGINT, bu BIGINT UNSIGNED,
		f FLOAT, f2 FLOAT(7,2), d DOUBLE, d2 DOUBLE(12,3), de DECIMAL(30,10),
		da DATE, dt DATETIME, dt6 DATETIME(6), ts TIMESTAMP NULL, ts3 TIMESTAMP(3) NULL, tm TIME, tm2 TIME(2), y YEAR,
		bt BIT(12), c CHAR(5), v VARCHAR(300), bn BINARY(4), vb VARBINARY(20), tx TEXT, bl BLOB,
		e ENUM('a','b'), s SET('x','y'), j JSON, g POINT)`,
	"INSERT INTO kinds (id) VALUES (1)",
	`INSERT INTO kinds VALUES (2,
		-128, 255, -32768, 65535, -8388608, 16777215, -2147483648, 4294967295, -9223372036854775808, 18446744073709551615,
		1.5, -12345.67, -2.25e300, 123456789.125, '-12345678901234567890.0123456789',
		'2024-02-29', '2024-02-29 23:59:59', '2024-02-29 23:59:59.123456', '2024-02-29 01:02:03', '2024-02-29 01:02:03.004', '-838:59:58', '838:59:58.99', 2155,
		b'101010101010', 'ch', REPEAT('ü', 300), 'ab', x'00ff', REPEAT('t', 60000), REPEAT(x'00', 300), 'b', 'x,y', '{"a":1}', POINT(1,2))`,
	`INSERT INTO kinds VALUES (3,
		127, 0, 1, 1, 1, 1, 7, 7, 9223372036854775807, 9223372036854775808,
		0.1, 0, 0.1, 1, '0.5', '0000-00-00', '0000-00-00 00:00:00', '2024-01-01', '2024-01-01', '2024-01-01', '00:00:00', '00:00:01.5', 1901,
		b'0', '', '', '', '', '', '', 'a', '', '[]', POINT(0,0))`,
	"CREATE TABLE people (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40), city VARCHAR(40), salary INT UNSIGNED, hired DATE)",
	`INSERT INTO people (name, city, salary, hired) VALUES ('Ada', 'London', 4100000000, '1843-01-01'), ('Grace', 'York', 2, '1944-07-02'), ('Zed', NULL, NULL, NULL)`,
	"CREATE PROCEDURE both_tables() BEGIN SELECT name, salary FROM people ORDER BY id; SELECT COUNT(*) FROM kinds; SELECT v FROM kinds WHERE id = 2; END",
}

// Setup starts a MariaDB with the account and the tables. stop stops it.
func Setup(tb testing.TB) (s *target.Server, stop func()) {
	tb.Helper()
	s, stop = targettest.New(tb, target.MariaDB, map[string]string{"max_allowed_packet": "128M", "local_infile": "ON"})
	db, err := sql.Open("mysql", fmt.Sprintf("root@tcp(%s)/%s", s.Addr(), Database))
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	ctx := context.Background()
	for _, q := range append([]string{"SET sql_mode = ''"}, setup...) {
		if _, err := db.ExecContext(ctx, q); err != nil {
			tb.Fatalf("%s: %v", q, err)
		}
	}
	return s, stop
}
