// Package dsn reads the URLs that name databases and opens them; it owns the
// MySQL and PostgreSQL drivers.
package dsn

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// ErrPassword is returned by Parse for a URL with a password in it. The
// error's text never contains the password.
var ErrPassword = errors.New("the DSN contains a password")

// ErrSyntax is returned by Parse for a string that is not one of its forms.
var ErrSyntax = errors.New("malformed DSN")

// A DSN names a database and how to reach it. It never holds a password.
//
//	mysql://user@host:3306/db            mariadb:// is the same
//	mysql://user@/db?socket=/run/x.sock
//	postgres://user@host:5432/db         postgresql:// is the same
//	postgres://user@/db?host=/run/dir    the directory of the socket
//	sqlite:/path/file.db?key=KEYFILE     key only for an encrypted database
//
// Options after "?": mysql takes socket and tls (off, preferred, skip-verify,
// on), postgres takes host and sslmode (libpq's words), sqlite takes key.
type DSN struct {
	dialect Dialect

	// The server databases.
	User     string
	Host     string // name or address, "" with a socket
	Port     int
	Socket   string // MySQL: the socket; PostgreSQL: its directory
	Database string
	TLS      string // the tls or sslmode option, "" for the default

	// SQLite.
	Path string // the database file
	Key  string // its key file, "" for a plain database
}

// Dialect is the SQL the database speaks.
func (d DSN) Dialect() Dialect { return d.dialect }

// options lists what may follow "?" in each dialect.
var options = map[Dialect][]string{
	MySQL:    {"socket", "tls"},
	Postgres: {"host", "sslmode"},
	SQLite:   {"key"},
}

// words lists what the TLS options may say.
var words = map[Dialect][]string{
	MySQL:    {"off", "preferred", "skip-verify", "on"},
	Postgres: {"disable", "allow", "prefer", "require", "verify-ca", "verify-full"},
}

// Parse reads s. It returns ErrPassword or ErrSyntax; neither repeats s, which
// may hold a secret the user put there by mistake.
func Parse(s string) (DSN, error) {
	d, err := ParseServer(s)
	if err == nil && d.dialect != SQLite && d.Database == "" {
		err = errNoDatabase
	}
	if err != nil {
		return DSN{}, err
	}
	return d, nil
}

var errNoDatabase = fmt.Errorf("%w: want one database name after the host", ErrSyntax)

// ParseServer is Parse for a server as a whole: the name of the database may be
// missing, as in mysql://user@host:3306/.
func ParseServer(s string) (DSN, error) {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok {
		return DSN{}, fmt.Errorf("%w: no scheme such as sqlite:, mysql:// or postgres://", ErrSyntax)
	}
	switch strings.ToLower(scheme) {
	case "sqlite":
		return parseSQLite(rest)
	case "mysql", "mariadb":
		return parseServer(MySQL, 3306, rest)
	case "postgres", "postgresql":
		return parseServer(Postgres, 5432, rest)
	}
	return DSN{}, fmt.Errorf("%w: unknown scheme; know sqlite:, mysql://, mariadb:// and postgres://", ErrSyntax)
}

func parseSQLite(rest string) (DSN, error) {
	raw, query, _ := strings.Cut(rest, "?")
	raw = strings.TrimPrefix(raw, "//")
	path, err := url.PathUnescape(raw)
	switch {
	case err != nil:
		return DSN{}, fmt.Errorf("%w: bad %%-escape in the path", ErrSyntax)
	case path == "":
		return DSN{}, fmt.Errorf("%w: no path; write sqlite:/path/file.db", ErrSyntax)
	case path == ":memory:":
		return DSN{}, fmt.Errorf("%w: :memory: is private to each connection; name a file", ErrSyntax)
	case strings.ContainsRune(path, 0):
		return DSN{}, fmt.Errorf("%w: the path contains a zero byte", ErrSyntax)
	}
	q, err := parseOptions(SQLite, query)
	if err != nil {
		return DSN{}, err
	}
	if q.Has("key") && q.Get("key") == "" {
		return DSN{}, fmt.Errorf("%w: key= names no file", ErrSyntax)
	}
	return DSN{dialect: SQLite, Path: path, Key: q.Get("key")}, nil
}

func parseServer(dialect Dialect, port int, rest string) (DSN, error) {
	if !strings.HasPrefix(rest, "//") {
		return DSN{}, fmt.Errorf("%w: want %s://user@host:%d/db", ErrSyntax, dialect, port)
	}
	// The error of url.Parse quotes its input, so it is not passed on.
	u, err := url.Parse("x:" + rest)
	if err != nil {
		return DSN{}, fmt.Errorf("%w: want %s://user@host:%d/db", ErrSyntax, dialect, port)
	}
	// An escaped colon is as good as the plain one: users are not named so,
	// and names are shown in errors.
	if _, has := u.User.Password(); has || strings.Contains(u.User.Username(), ":") {
		return DSN{}, ErrPassword
	}
	q, err := parseOptions(dialect, u.RawQuery)
	if err != nil {
		return DSN{}, err
	}
	d := DSN{
		dialect: dialect, User: u.User.Username(), Host: u.Hostname(),
		Port: port, Database: strings.TrimPrefix(u.Path, "/"),
	}
	d.Socket, d.TLS = q.Get("socket"), q.Get("tls")
	if dialect == Postgres {
		d.Socket, d.TLS = q.Get("host"), q.Get("sslmode")
	}
	if p := u.Port(); p != "" {
		if d.Port, err = strconv.Atoi(p); err != nil || d.Port < 1 || d.Port > 65535 {
			return DSN{}, fmt.Errorf("%w: port must be 1 to 65535", ErrSyntax)
		}
	}
	if err := d.validate(u); err != nil {
		return DSN{}, err
	}
	return d, nil
}

// validate checks what parseServer read.
func (d DSN) validate(u *url.URL) error {
	text := d.User + d.Host + d.Socket + d.Database
	switch {
	case u.Fragment != "" || u.RawFragment != "":
		return fmt.Errorf("%w: a # must be written %%23", ErrSyntax)
	case d.User == "":
		return fmt.Errorf("%w: no user; write %s://user@host/db", ErrSyntax, d.dialect)
	case strings.Contains(d.Database, "/"):
		return errNoDatabase
	case d.Host != "" && d.Socket != "":
		return fmt.Errorf("%w: both a host and a socket", ErrSyntax)
	case d.Host == "" && d.Socket == "":
		return fmt.Errorf("%w: neither a host nor a socket", ErrSyntax)
	case d.Socket != "" && !strings.HasPrefix(d.Socket, "/"):
		return fmt.Errorf("%w: a socket is named by its absolute path", ErrSyntax)
	case strings.ContainsAny(text, "\x00\n\r"):
		return fmt.Errorf("%w: a name contains a control character", ErrSyntax)
	case d.TLS != "" && !slices.Contains(words[d.dialect], d.TLS):
		return fmt.Errorf("%w: TLS option must be one of %s", ErrSyntax, strings.Join(words[d.dialect], ", "))
	}
	return nil
}

func parseOptions(dialect Dialect, query string) (url.Values, error) {
	q, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("%w: malformed options after ?", ErrSyntax)
	}
	for name, values := range q {
		switch {
		case name == "password" || name == "pwd":
			return nil, ErrPassword
		case !slices.Contains(options[dialect], name):
			return nil, fmt.Errorf("%w: unknown option after ?; %s knows %s",
				ErrSyntax, dialect, strings.Join(options[dialect], ", "))
		case len(values) > 1:
			return nil, fmt.Errorf("%w: option %s given twice", ErrSyntax, name)
		}
	}
	return q, nil
}

// String is the DSN in the form Parse reads. It holds no secret.
func (d DSN) String() string {
	if d.dialect == SQLite {
		s := "sqlite:" + escapePath(d.Path)
		if d.Key != "" {
			s += "?key=" + url.QueryEscape(d.Key)
		}
		return s
	}
	u := url.URL{Scheme: d.dialect.String(), User: url.User(d.User), Path: "/" + d.Database}
	q := url.Values{}
	socket, tls := "socket", "tls"
	if d.dialect == Postgres {
		socket, tls = "host", "sslmode"
	}
	if d.TLS != "" {
		q.Set(tls, d.TLS)
	}
	if d.Socket != "" {
		q.Set(socket, d.Socket)
	}
	if d.Host != "" || d.Port != d.dialect.port() {
		u.Host = d.Host
		if strings.Contains(d.Host, ":") {
			u.Host = "[" + d.Host + "]"
		}
		u.Host += ":" + strconv.Itoa(d.Port)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// escapePath escapes what Parse would not read back literally.
func escapePath(path string) string {
	u := url.URL{Path: path}
	s := strings.TrimPrefix(u.EscapedPath(), "./")
	if strings.HasPrefix(path, "./") {
		s = "./" + s
	}
	if strings.HasPrefix(s, "//") {
		s = "//" + s // Parse removes one "//"
	}
	return s
}
