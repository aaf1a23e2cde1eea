package dsn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

// A Dialect is a kind of SQL.
type Dialect int

// The dialects. MySQL includes MariaDB.
const (
	SQLite Dialect = iota + 1
	MySQL
	Postgres
)

func (d Dialect) String() string {
	switch d {
	case SQLite:
		return "sqlite"
	case MySQL:
		return "mysql"
	case Postgres:
		return "postgres"
	}
	return "dialect " + strconv.Itoa(int(d))
}

func (d Dialect) port() int {
	switch d {
	case MySQL:
		return 3306
	case Postgres:
		return 5432
	}
	return 0
}

// Placeholder is the n-th parameter (from 1) of a statement.
func (d Dialect) Placeholder(n int) string {
	if d == Postgres {
		return "$" + strconv.Itoa(n)
	}
	return "?"
}

// Placeholders is n parameters, the first numbered from, joined by commas.
func (d Dialect) Placeholders(from, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(d.Placeholder(from + i))
	}
	return b.String()
}

// Rebind turns the "?" of query into the dialect's parameters. The query must
// not contain a "?" in a literal.
func (d Dialect) Rebind(query string) string {
	if d != Postgres {
		return query
	}
	var b strings.Builder
	n := 0
	for {
		head, tail, found := strings.Cut(query, "?")
		b.WriteString(head)
		if !found {
			return b.String()
		}
		n++
		b.WriteString(d.Placeholder(n))
		query = tail
	}
}

// temporary is what the SQLite driver's error says of SQLITE_BUSY.
type temporary interface{ Temporary() bool }

// IsSerializationFailure reports whether err says that the transaction met
// another one and may succeed when repeated: MySQL's lock wait time-out (1205)
// and changed record (1020), PostgreSQL's 40001, SQLite's busy. Deadlocks are
// apart, see IsDeadlock.
func (d Dialect) IsSerializationFailure(err error) bool {
	switch d {
	case MySQL:
		n := mysqlNumber(err)
		return n == 1205 || n == 1020
	case Postgres:
		return sqlState(err) == "40001"
	case SQLite:
		var t temporary
		return !isContext(err) && !isNetwork(err) && errors.As(err, &t) && t.Temporary()
	}
	return false
}

// IsDeadlock reports whether err says that the server broke a deadlock by
// rolling this transaction back: MySQL 1213, PostgreSQL 40P01.
func (d Dialect) IsDeadlock(err error) bool {
	return d == MySQL && mysqlNumber(err) == 1213 || d == Postgres && sqlState(err) == "40P01"
}

// IsDuplicate reports whether err is a violated unique key: MySQL 1062,
// PostgreSQL 23505, SQLite's unique and primary key constraints.
func (d Dialect) IsDuplicate(err error) bool {
	switch d {
	case MySQL:
		return mysqlNumber(err) == 1062
	case Postgres:
		return sqlState(err) == "23505"
	case SQLite:
		return err != nil && strings.Contains(err.Error(), "UNIQUE constraint failed")
	}
	return false
}

// IsPreparedLimit reports whether the server holds as many prepared statements
// as max_prepared_stmt_count allows (MySQL 1461).
func (d Dialect) IsPreparedLimit(err error) bool {
	return d == MySQL && mysqlNumber(err) == 1461
}

// IsConnectionLost reports whether the connection that returned err is gone.
func (d Dialect) IsConnectionLost(err error) bool {
	if err == nil || d == SQLite || isContext(err) {
		return false
	}
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || isNetwork(err) {
		return true
	}
	if d == MySQL {
		switch mysqlNumber(err) {
		case 1053, 1152, 1927, 2006, 2013, 4031: // shutdown, aborted, killed, gone, lost, idle
			return true
		}
		return false
	}
	switch state := sqlState(err); {
	case strings.HasPrefix(state, "08"): // connection exceptions
		return true
	case state == "57P01", state == "57P02", state == "57P03": // shutdown, crash, starting
		return true
	}
	return false
}

func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

func isNetwork(err error) bool {
	var op *net.OpError
	return errors.As(err, &op)
}

func mysqlNumber(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

func sqlState(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// ServerVersion asks db for its engine, as named in results ("sqlite",
// "mariadb", "mysql", "postgres"), and that engine's version.
func (d Dialect) ServerVersion(ctx context.Context, db *sql.DB) (engine, version string, err error) {
	query := map[Dialect]string{
		SQLite: "SELECT sqlite_version()", MySQL: "SELECT VERSION()", Postgres: "SHOW server_version",
	}[d]
	if err := db.QueryRowContext(ctx, query).Scan(&version); err != nil {
		return "", "", fmt.Errorf("read server version: %w", err)
	}
	engine = d.String()
	if d == MySQL && strings.Contains(strings.ToLower(version), "mariadb") {
		engine = "mariadb"
	}
	return engine, version, nil
}

// IsAccessDenied reports whether the server refused the user or the password:
// MySQL 1045, 1044 and 1698, PostgreSQL 28P01 and 28000.
func (d Dialect) IsAccessDenied(err error) bool {
	switch d {
	case MySQL:
		n := mysqlNumber(err)
		return n == 1044 || n == 1045 || n == 1698
	case Postgres:
		state := sqlState(err)
		return state == "28P01" || state == "28000"
	}
	return false
}

// IsUnknownDatabase reports whether the server has no database of that name:
// MySQL 1049, PostgreSQL 3D000.
func (d Dialect) IsUnknownDatabase(err error) bool {
	return d == MySQL && mysqlNumber(err) == 1049 || d == Postgres && sqlState(err) == "3D000"
}

// IsUnknownTable reports whether a statement named a table that is not there:
// MySQL 1146, PostgreSQL 42P01, SQLite's "no such table".
func (d Dialect) IsUnknownTable(err error) bool {
	switch d {
	case MySQL:
		return mysqlNumber(err) == 1146
	case Postgres:
		return sqlState(err) == "42P01"
	case SQLite:
		return err != nil && strings.Contains(err.Error(), "no such table")
	}
	return false
}

// IsConnectionLimit reports whether the server has as many connections as it
// allows: MySQL 1040 and 1203, PostgreSQL 53300.
func (d Dialect) IsConnectionLimit(err error) bool {
	switch d {
	case MySQL:
		n := mysqlNumber(err)
		return n == 1040 || n == 1203
	case Postgres:
		return sqlState(err) == "53300"
	}
	return false
}

// IsBusy reports whether another process holds a lock on the SQLite database.
func (d Dialect) IsBusy(err error) bool { return d == SQLite && d.IsSerializationFailure(err) }
