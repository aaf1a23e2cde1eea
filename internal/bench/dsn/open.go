package dsn

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Options say how to open a database.
type Options struct {
	// Password is asked once, when a server database is opened; nil means no
	// password.
	Password func(context.Context) (string, error)
	// SQLite opens a SQLite database. This package has no SQLite driver: which
	// one, and whether the file is encrypted, is the caller's business.
	SQLite func(ctx context.Context, d DSN) (*sql.DB, error)
	// TextStatements sends statements with parameters as one text with the
	// values in it instead of preparing them (sysbench's db-ps-mode=disable).
	TextStatements bool
}

// Open opens the database and connects once, so that a wrong address or
// password is reported here; ErrNoAnswer if nothing that speaks the protocol is
// there. Sessions run in UTC; MySQL's use utf8mb4, never
// take several statements in one text, and return dates as time.Time. The
// caller closes the database.
func (d DSN) Open(ctx context.Context, o Options) (*sql.DB, error) {
	password := ""
	if o.Password != nil && d.dialect != SQLite {
		var err error
		if password, err = o.Password(ctx); err != nil {
			return nil, fmt.Errorf("read password: %w", err)
		}
	}
	var db *sql.DB
	var err error
	switch d.dialect {
	case SQLite:
		if o.SQLite == nil {
			return nil, errors.New("open sqlite: no opener given")
		}
		db, err = o.SQLite(ctx, d)
	case MySQL:
		db, err = d.openMySQL(password, o.TextStatements)
	case Postgres:
		db, err = d.openPostgres(password, o.TextStatements)
	default:
		return nil, errors.New("open database: the DSN is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", d.dialect, err)
	}
	if err := d.ping(ctx, db); err != nil {
		db.Close()
		return nil, fmt.Errorf("connect to %s: %w", d, err)
	}
	return db, nil
}

// ping connects once. A server of another kind may wait for us to speak first,
// as we wait for it; so the wait is bounded and ends with ErrNoAnswer.
func (d DSN) ping(ctx context.Context, db *sql.DB) error {
	if d.dialect == SQLite {
		return db.PingContext(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	err := db.PingContext(limited)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return fmt.Errorf("%w within %v", ErrNoAnswer, connectTimeout)
	}
	return err
}

// ErrNoAnswer means that something accepted the connection and then did not
// speak the protocol.
var ErrNoAnswer = errors.New("no answer from the server")

// connectTimeout bounds one attempt to reach a server.
var connectTimeout = 10 * time.Second // shorter in a test

func (d DSN) openMySQL(password string, text bool) (*sql.DB, error) {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.DBName = d.User, password, d.Database
	c.Net, c.Addr = "tcp", net.JoinHostPort(d.Host, strconv.Itoa(d.Port))
	if d.Socket != "" {
		c.Net, c.Addr = "unix", d.Socket
	}
	c.Timeout, c.DialFunc = connectTimeout, Dial
	c.ParseTime, c.Loc = true, time.UTC
	c.Params = map[string]string{"time_zone": "'+00:00'"}
	c.InterpolateParams = text
	c.MultiStatements = false
	c.ClientFoundRows = true      // count rows an UPDATE met, as PostgreSQL and SQLite do
	c.Logger = &mysql.NopLogger{} // its errors are returned as well
	switch d.TLS {
	case "on":
		c.TLSConfig = "true"
	case "preferred", "skip-verify":
		c.TLSConfig = d.TLS
	case "":
		if !d.local() {
			c.TLSConfig = "preferred"
		}
	}
	if err := c.Apply(mysql.Charset("utf8mb4", "utf8mb4_general_ci")); err != nil {
		return nil, err
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

func (d DSN) openPostgres(password string, text bool) (*sql.DB, error) {
	q := url.Values{"sslmode": {d.TLS}, "port": {strconv.Itoa(d.Port)}, "host": {d.Host}}
	if d.Socket != "" {
		q.Set("host", d.Socket)
	}
	switch {
	case d.TLS != "":
	case d.local():
		q.Set("sslmode", "disable")
	default:
		q.Set("sslmode", "prefer")
	}
	u := url.URL{Scheme: "postgres", User: url.User(d.User), Path: "/" + d.Database, RawQuery: q.Encode()}
	c, err := pgx.ParseConfig(u.String())
	if err != nil {
		return nil, err
	}
	if password != "" {
		c.Password = password
	}
	c.ConnectTimeout, c.DialFunc = connectTimeout, Dial
	c.RuntimeParams["timezone"] = "UTC"
	c.RuntimeParams["application_name"] = "veildb"
	if text {
		c.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	}
	return stdlib.OpenDB(*c), nil
}

// local reports whether the server is reached without leaving the machine, so
// that TLS would protect nothing.
func (d DSN) local() bool {
	if d.Socket != "" || d.Host == "localhost" {
		return true
	}
	ip := net.ParseIP(d.Host)
	return ip != nil && ip.IsLoopback()
}

// CopyText sends rows to a PostgreSQL server by statement, which must be a
// COPY ... FROM STDIN in text format, and returns how many there were.
func CopyText(ctx context.Context, conn *sql.Conn, statement string, rows io.Reader) (int64, error) {
	var n int64
	err := conn.Raw(func(c any) error {
		pg, ok := c.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("copy rows: a PostgreSQL connection is needed, not %T", c)
		}
		tag, err := pg.Conn().PgConn().CopyFrom(ctx, rows, statement)
		n = tag.RowsAffected()
		return err
	})
	return n, err
}
