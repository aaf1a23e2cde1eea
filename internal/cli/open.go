package cli

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

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
terminal when the server wants one; PostgreSQL's PGPASSWORD counts as well.`

// dbOptions are the options of commands that work on a database.
type dbOptions struct {
	dsn          string
	passwordFile string
	passwordVar  string // variable with the password, before passwordEnv; "" is none
	mustExist    bool   // refuse a SQLite file that is not there
}

func (f *dbOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dsn, "dsn", "", "`DSN` of the database, such as sqlite:/path/file.db or mysql://user@host/db")
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
	if own, ok := os.LookupEnv(f.passwordVar); ok && f.passwordVar != "" {
		password, given = own, true
	}
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
	if d.Dialect().IsAccessDenied(err) && !given && isTerminalInput(env) {
		o.Password = func(ctx context.Context) (string, error) { return askPassword(ctx, env, d) }
		db, err = d.Open(ctx, o)
	}
	if d.Dialect().IsConnectionLost(err) {
		return nil, &Error{Code: ExitMissing, Err: err, Hint: "is the server running, and does it listen there?"}
	}
	return db, explainDB(err, d)
}

// findFile says in words what SQLite would only call "unable to open".
func findFile(path string, create bool) error {
	fi, err := os.Stat(path)
	hint := hintPath
	switch {
	case errors.Is(err, fs.ErrNotExist) && create:
		_, err = os.Stat(filepath.Dir(path))
		hint = "create the directory first"
	case errors.Is(err, fs.ErrNotExist):
		hint = "create it first, with prepare"
	}
	if err == nil && fi != nil && !fi.Mode().IsRegular() {
		err, hint = fmt.Errorf("%s is not a regular file", path), "name a SQLite database, or a file to be made"
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("open database: %w", err)
	case err != nil:
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

func askPassword(ctx context.Context, env *Env, d dsn.DSN) (string, error) {
	password, err := ask(ctx, env, "Password of "+d.User+": ")
	if err != nil {
		return "", err
	}
	defer password.Close()
	return string(password.Reveal()), nil
}

// explainDB adds to an error of a database what it is for the user, and what
// to do.
func explainDB(err error, d dsn.DSN) error {
	k := d.Dialect()
	switch {
	case err == nil:
		return nil
	case k.IsBusy(err):
		return &Error{Code: ExitBusy, Err: err, Hint: "another process is writing to it; try again when it has ended"}
	case k.IsAccessDenied(err):
		return &Error{Code: ExitUsage, Err: err, Hint: "check user and password: --password-file FILE or " + passwordEnv}
	case k.IsUnknownDatabase(err):
		return &Error{Code: ExitUsage, Err: err, Hint: "create it on the server, or name another one"}
	case k.IsConnectionLimit(err):
		return &Error{Code: ExitUsage, Err: err, Hint: "use fewer connections, or raise the server's max_connections"}
	case k.IsPreparedLimit(err):
		return &Error{Code: ExitUsage, Err: err, Hint: "use fewer terminals, or: SET GLOBAL max_prepared_stmt_count = 1000000"}
	case k.IsConnectionLost(err):
		return &Error{Err: err, Hint: "the server has ended or gone away; look at its log"}
	case k == dsn.SQLite:
		return explainSQLite(err, filepath.Dir(d.Path))
	}
	return err
}

// explainSQLite adds what SQLite's errors do not say: a full disk may look like
// a failing one. dir is where the database is.
func explainSQLite(err error, dir string) error {
	full := errors.Is(err, sqlvfs.ErrFull) || errors.Is(err, syscall.ENOSPC)
	if !full && !errors.Is(err, sqlvfs.ErrIO) {
		return err
	}
	var disk syscall.Statfs_t
	if syscall.Statfs(dir, &disk) != nil {
		return err
	}
	free := fmt.Sprintf("%d MB are free in %s now", disk.Bavail*uint64(disk.Bsize)>>20, dir)
	if full {
		return &Error{Err: err, Hint: hintFull + "; " + free}
	}
	if code, _ := exitCode(err); code != ExitFailure {
		return err // a header that does not open is an I/O error to SQLite
	}
	return &Error{Err: err, Hint: "the disk is full or failing; " + free}
}
