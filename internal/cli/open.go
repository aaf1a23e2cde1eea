package cli

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
	"github.com/veildb/veildb/internal/bench/dsn"
)

// passwordEnv names the variable that holds a server's password.
const passwordEnv = "VEILDB_PASSWORD"

// dsnHelp is part of the help of commands that take --dsn.
const dsnHelp = `DSN is one of
  sqlite:/path/file.db[?key=KEYFILE]
  mysql://user@host:3306/db        mysql://user@/db?socket=/run/x.sock
  postgres://user@host:5432/db     postgres://user@/db?host=/socket/directory
A password comes from --password-file or ` + passwordEnv + `, or is asked for on a
terminal when the server wants one.`

// dbOptions are the options of commands that work on a database.
type dbOptions struct {
	dsn          string
	passwordFile string
	mustExist    bool // refuse a SQLite file that is not there
}

func (f *dbOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dsn, "dsn", "", "the database, such as sqlite:/path/file.db or mysql://user@host/db")
	cmd.Flags().StringVar(&f.passwordFile, "password-file", "", "`FILE` whose first line is the server's password")
}

// parse reads --dsn.
func (f *dbOptions) parse() (dsn.DSN, error) {
	if f.dsn == "" {
		return dsn.DSN{}, usagef("open database", "name it with --dsn, such as --dsn sqlite:/path/file.db", "no --dsn given")
	}
	d, err := dsn.Parse(f.dsn)
	if err != nil {
		return d, fmt.Errorf("open database: %w", err)
	}
	return d, nil
}

// open opens d with o, to which it adds the password and the way to open
// SQLite. The caller closes the database, and with it the keys of d.
func (f *dbOptions) open(ctx context.Context, env *Env, d dsn.DSN, o dsn.Options) (*sql.DB, error) {
	if d.Dialect() == dsn.SQLite {
		if err := findFile(d.Path, !f.mustExist); err != nil {
			return nil, err
		}
	}
	password, given := os.LookupEnv(passwordEnv)
	if f.passwordFile != "" {
		var err error
		if password, err = readPassword(f.passwordFile); err != nil {
			return nil, err
		}
		given = true
	}
	o.Password = func(context.Context) (string, error) { return password, nil }
	o.SQLite = func(ctx context.Context, d dsn.DSN) (*sql.DB, error) {
		return openSQLite(ctx, env, d, sqlvfs.Options{MustExist: f.mustExist})
	}
	db, err := d.Open(ctx, o)
	if d.Dialect().IsAccessDenied(err) && !given {
		if in, ok := env.Stdin.(*os.File); ok && term.IsTerminal(int(in.Fd())) {
			o.Password = func(context.Context) (string, error) { return askPassword(env, in, d) }
			db, err = d.Open(ctx, o)
		}
	}
	switch {
	case d.Dialect().IsAccessDenied(err):
		return nil, &Error{Code: ExitUsage, Err: err, Hint: "check user and password: --password-file FILE or " + passwordEnv}
	case d.Dialect().IsConnectionLost(err):
		return nil, &Error{Code: ExitMissing, Err: err, Hint: "is the server running, and does it listen there?"}
	}
	return db, err
}

// findFile says in words what SQLite would only call "unable to open".
func findFile(path string, create bool) error {
	if create {
		path = filepath.Dir(path)
	}
	if _, err := os.Stat(path); err != nil {
		hint := "create it first, with prepare"
		if create {
			hint = "create the directory first"
		}
		return usagef("open database", hint, "%w", err)
	}
	return nil
}

// openSQLite opens a database file, encrypted if the DSN names a key file. The
// pool owns the keys and closes them.
func openSQLite(ctx context.Context, env *Env, d dsn.DSN, o sqlvfs.Options) (*sql.DB, error) {
	if d.Key == "" {
		return sqlvfs.Open(d.Path, o)
	}
	ring, err := openKeyring(ctx, env, d.Key)
	if err != nil {
		return nil, err
	}
	o.Keys = ring
	c, err := sqlvfs.Connector(d.Path, o)
	if err != nil {
		ring.Close()
		return nil, err
	}
	return sql.OpenDB(keyedConnector{c, ring}), nil
}

// keyedConnector closes the keys of a connector after it.
type keyedConnector struct {
	driver.Connector
	keys io.Closer
}

// Close implements io.Closer; sql.DB.Close calls it.
func (k keyedConnector) Close() error {
	var err error
	if c, ok := k.Connector.(io.Closer); ok {
		err = c.Close()
	}
	return errors.Join(err, k.keys.Close())
}

// readPassword reads the first line of a file. A regular file must not be
// readable by others.
func readPassword(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", usagef("read password", "name a file with the password in its first line", "%w", err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	if fi.Mode().IsRegular() && fi.Mode().Perm()&0o077 != 0 {
		return "", &Error{Code: ExitMissing, Op: "read password", Err: fmt.Errorf("%s may be read by others", path), Hint: "chmod 600 " + path}
	}
	line, err := readLine(f)
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	defer line.Close()
	return string(line.Reveal()), nil
}

func askPassword(env *Env, in *os.File, d dsn.DSN) (string, error) {
	fmt.Fprintf(env.Stderr, "Password of %s: ", d.User)
	b, err := term.ReadPassword(int(in.Fd()))
	fmt.Fprintln(env.Stderr)
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	return string(b), nil
}

// explainDB adds what SQLite's errors do not say: a full disk may look like a
// failing one, and a lock like a failure.
func explainDB(err error, d dsn.DSN) error {
	if err == nil || d.Dialect() != dsn.SQLite {
		return err
	}
	dir := filepath.Dir(d.Path)
	var fs syscall.Statfs_t
	switch text := err.Error(); {
	case d.Dialect().IsBusy(err):
		return &Error{Code: ExitBusy, Err: err, Hint: "another process is writing to it; try again when it has ended"}
	case strings.Contains(text, "disk I/O error"), strings.Contains(text, "disk is full"):
		if syscall.Statfs(dir, &fs) == nil {
			free := fs.Bavail * uint64(fs.Bsize) >> 20
			return &Error{Err: err, Hint: fmt.Sprintf("the disk is full or failing; %d MB are free in %s now", free, dir)}
		}
	}
	return err
}
