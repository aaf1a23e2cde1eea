package veilsql

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/sidecar"
)

// An Option changes what the DSN says.
type Option func(*connector) error

// WithKey has get return the master key, 16 or 32 bytes, for each new
// connection. The driver owns what it returns, and wipes it.
func WithKey(get func(context.Context) ([]byte, error)) Option {
	return func(c *connector) error {
		return c.setKey(func(ctx context.Context) (*secret.Bytes, error) {
			raw, err := get(ctx)
			if err != nil {
				return nil, err
			}
			if len(raw) != 16 && len(raw) != 32 {
				clear(raw)
				return nil, sidecar.ErrKey
			}
			return secret.From(raw)
		})
	}
}

// WithKeyFile reads the master key from a file for each new connection: 16 or
// 32 bytes, or twice as many hexadecimal digits. Only its owner, who is this
// user or root, may have access to it.
func WithKeyFile(path string) Option {
	return func(c *connector) error {
		return c.setKey(func(context.Context) (*secret.Bytes, error) { return sidecar.ReadKeyFile(path) })
	}
}

// WithKeyEnv takes the master key, 32 or 64 hexadecimal digits, from an
// environment variable for each new connection.
func WithKeyEnv(name string) Option {
	return func(c *connector) error {
		return c.setKey(func(context.Context) (*secret.Bytes, error) {
			text, ok := os.LookupEnv(name)
			if !ok {
				return nil, fmt.Errorf("environment variable %s is not set", name)
			}
			return sidecar.ParseKey([]byte(text))
		})
	}
}

// WithPin accepts only a server with this key: the pin of a gate ("sha256:…",
// as the gate shows it), or the public_key_hash of a server whose key never
// changes.
func WithPin(pin string) Option {
	return func(c *connector) error {
		if pin == "" {
			return fmt.Errorf("empty pin: %w", ErrDSN)
		}
		c.side.Pin = strings.ReplaceAll(pin, " ", "+") // a "+" that a DSN did not escape
		return nil
	}
}

// WithTLS connects over TLS with cfg. Without a ServerName it is the host's.
func WithTLS(cfg *tls.Config) Option {
	return func(c *connector) error {
		c.mysql.TLS, c.mysql.TLSConfig = cfg.Clone(), ""
		return nil
	}
}

// WithDialer connects to the server by dial, which gets the network and address
// of the DSN.
func WithDialer(dial func(ctx context.Context, network, addr string) (net.Conn, error)) Option {
	return func(c *connector) error {
		c.mysql.DialFunc = dial
		return nil
	}
}

// WithMySQL applies options of go-sql-driver/mysql.
func WithMySQL(opts ...mysql.Option) Option {
	return func(c *connector) error { return c.mysql.Apply(opts...) }
}

// WithPlainServers also accepts servers that do not have the protocol, and
// works with them as go-sql-driver/mysql would. It is requireProtection=false.
func WithPlainServers() Option {
	return func(c *connector) error { c.side.Plain = true; return nil }
}

// parameters are those of the DSN that are ours. The values have been unescaped.
var parameters = map[string]func(c *connector, value string) error{
	"mekFile":     func(c *connector, v string) error { return WithKeyFile(v)(c) },
	"mekEnv":      func(c *connector, v string) error { return WithKeyEnv(v)(c) },
	"gateKeyHash": func(c *connector, v string) error { return WithPin(v)(c) },
	"algorithm": func(c *connector, v string) (err error) {
		c.side.Algorithm, err = encdb.ParseAlgorithm(v)
		return err
	},
	"requireProtection": func(c *connector, v string) (err error) {
		required, err := strconv.ParseBool(v)
		c.side.Plain = !required
		return err
	},
	"allowUnmarked": func(c *connector, v string) (err error) { c.side.Guess, err = strconv.ParseBool(v); return err },
	"allowWeak":     func(c *connector, v string) (err error) { c.side.AllowWeak, err = strconv.ParseBool(v); return err },
	"allowInsecure": func(c *connector, v string) (err error) {
		c.side.Insecure, err = strconv.ParseBool(v)
		c.side.Passwords.FetchServerKey = c.side.Insecure
		return err
	},
}

// NewConnector returns a connector for sql.OpenDB. It does not connect. Errors:
// ErrDSN, ErrKeyInDSN, ErrNoKey.
func NewConnector(dsn string, opts ...Option) (driver.Connector, error) {
	c := &connector{side: sidecar.Config{AllowSocket: true}}
	err := c.parse(dsn)
	for _, o := range opts {
		if err == nil {
			err = o(c)
		}
	}
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return nil, fmt.Errorf("veilsql: %w", err)
	}
	return c, nil
}

// parse reads the DSN. Its errors name parameters but quote no value, and
// nothing before the parameters: with a mistake in it, a password can be
// anywhere.
func (c *connector) parse(dsn string) error {
	if err := refuseKeys(dsn); err != nil {
		return err
	}
	base, params := split(dsn)
	if _, err := mysql.ParseDSN(base); err != nil {
		return fmt.Errorf("want user:password@tcp(host:port)/database?name=value&…: %w", ErrDSN)
	}
	for _, p := range params {
		if _, err := mysql.ParseDSN("/?" + p); err != nil {
			name, _, _ := strings.Cut(p, "=")
			return fmt.Errorf("parameter %q: %w", name, ErrDSN)
		}
	}
	if len(params) > 0 {
		base += "?" + strings.Join(params, "&")
	}
	cfg, err := mysql.ParseDSN(base)
	if err != nil {
		return fmt.Errorf("parameters do not go together: %w", ErrDSN)
	}
	c.mysql = cfg
	return c.parameters()
}

// parameters takes our own parameters from those of the MySQL driver.
func (c *connector) parameters() error {
	for name, set := range parameters {
		value, ok := c.mysql.Params[name]
		if !ok {
			continue
		}
		delete(c.mysql.Params, name)
		if err := set(c, value); err != nil {
			if errors.Is(err, ErrDSN) {
				return err
			}
			return fmt.Errorf("parameter %q: %w", name, ErrDSN)
		}
	}
	return nil
}

// param is one parameter of a DSN.
var param = regexp.MustCompile(`^$|^[A-Za-z][A-Za-z0-9_]*=`)

// split returns what stands before the parameters of a DSN, and the parameters.
// For go-sql-driver/mysql they begin behind the last slash, so a path in them
// must be escaped; here they begin at the last question mark from which on all
// has their form, and slashes are escaped.
func split(dsn string) (base string, params []string) {
next:
	for q := len(dsn); ; {
		if q = strings.LastIndexByte(dsn[:q], '?'); q < 0 {
			return dsn, nil
		}
		params = strings.Split(dsn[q+1:], "&")
		for i, p := range params {
			if !param.MatchString(p) {
				continue next
			}
			params[i] = strings.ReplaceAll(p, "/", "%2F")
		}
		return dsn[:q], params
	}
}

// refuseKeys looks for the parameters by which other drivers take the key. It
// looks everywhere: where a slash or a question mark is missing, they are not
// where parameters are.
func refuseKeys(dsn string) error {
	for part := range strings.FieldsFuncSeq(dsn, func(r rune) bool { return r == '?' || r == '&' || r == '/' }) {
		name, _, ok := strings.Cut(part, "=")
		if name = strings.TrimSpace(name); ok && (strings.EqualFold(name, "MEK") || strings.EqualFold(name, "ENC_ALGO")) {
			return ErrKeyInDSN
		}
	}
	return nil
}

func (c *connector) setKey(get func(context.Context) (*secret.Bytes, error)) error {
	if c.key != nil {
		return fmt.Errorf("more than one source of the master key: %w", ErrDSN)
	}
	c.key = get
	return nil
}

// check completes the configuration.
func (c *connector) check() error {
	cfg := c.mysql
	if c.key == nil {
		return fmt.Errorf("%w: name its source with mekFile, mekEnv or WithKey", ErrNoKey)
	}
	if cfg.AllowFallbackToPlaintext {
		return fmt.Errorf("tls=preferred would go on without TLS: %w", ErrDSN)
	}
	if cfg.DialFunc == nil && cfg.Net != "unix" && !strings.HasPrefix(cfg.Net, "tcp") {
		return fmt.Errorf("network of the address: %w: use WithDialer", ErrDSN)
	}
	if t := cfg.TLS; t != nil {
		if host, _, err := net.SplitHostPort(cfg.Addr); err == nil && t.ServerName == "" {
			t.ServerName = host
		}
		c.side.TLS = t
	}
	return nil
}
