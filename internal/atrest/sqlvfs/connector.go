// Package sqlvfs opens SQLite databases, plain or encrypted below SQLite by a
// virtual file system.
//
// What is encrypted and how is told at encVFS; the format is that of package
// volume.
package sqlvfs

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	sqlitedriver "github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// Options says how to open a database. The zero value creates the file if it
// is missing and uses write-ahead logging, synchronous=FULL and a busy time-out
// of ten seconds. Settings hold for each connection; those that SQLite stores
// in the file (JournalMode, PageSize) are applied by every connection too.
type Options struct {
	// Keys encrypts the database; nil opens a plain one. It must stay usable
	// until the connector and all its connections are closed.
	Keys volume.KeySource
	// JournalMode is wal (default), delete, truncate, persist, memory or off.
	JournalMode string
	// Synchronous is full (default), normal, extra or off.
	Synchronous string
	// BusyTimeout is how long a statement waits for a lock; 0 means 10 s,
	// negative means not at all.
	BusyTimeout time.Duration
	// CacheKiB bounds the page cache of one connection; 0 is SQLite's default.
	CacheKiB int
	// PageSize in bytes matters for a new database only; 0 is SQLite's default.
	PageSize int
	// TempStore is default, file or memory.
	TempStore string
	// ForeignKeys enforces them.
	ForeignKeys bool
	// ReadOnly refuses to write; the file must exist.
	ReadOnly bool
	// MustExist refuses to create the file.
	MustExist bool
	// TxLock is what BEGIN takes: immediate (default), deferred or exclusive.
	TxLock string
	// Pragmas are applied last, each "name=value" or "name".
	Pragmas []string

	base vfs.VFS // for tests; nil means the operating system's
}

// Open returns a pool of connections to the database file path. It does not
// touch the file; the first connection does. Closing the pool closes its
// connector.
func Open(path string, opts Options) (*sql.DB, error) {
	c, err := Connector(path, opts)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

// Connector returns a connector to the database file path, for sql.OpenDB or
// to be wrapped. Its connections are those of the SQLite driver itself, so
// they keep all optional interfaces. A connector with Keys must be closed, as
// sql.DB does; it is an io.Closer.
//
// Connecting with Keys returns volume.ErrWrongKey, ErrUnknownKey, ErrCorrupt,
// ErrTruncated, ErrNotOurs or ErrMismatch, all before a byte of content is
// touched, or ErrNotEncrypted for a plain database, or ErrDamaged if the first
// page makes no sense; without Keys it returns ErrEncrypted for an encrypted one
// and, when the first statement touches the file, ErrNotADatabase. Anything but
// a regular file is ErrNotADatabase.
func Connector(path string, opts Options) (driver.Connector, error) {
	c := &connector{path: path, plain: opts.Keys == nil}
	var name string
	base := opts.base
	if base == nil {
		base = vfs.Find("")
	}
	switch {
	case opts.Keys != nil:
		name, c.vfs = register(base, opts.Keys)
	case opts.base != nil:
		name = registerAs(base)
	}
	uri, err := fileURI(path, name, opts)
	if err == nil {
		c.base, err = (&sqlitedriver.SQLite{}).OpenConnector(uri)
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("open database: %w", err)
	}
	return c, nil
}

type connector struct {
	base  driver.Connector
	path  string
	plain bool
	vfs   *encVFS // nil if plain
}

func (c *connector) Driver() driver.Driver { return c.base.Driver() }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	if fi, err := os.Stat(c.path); err == nil && !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("open database %s: %w: it is no regular file", c.path, ErrNotADatabase)
	}
	if c.plain && isEncrypted(c.path) {
		return nil, fmt.Errorf("open database %s: %w", c.path, ErrEncrypted)
	}
	conn, err := c.base.Connect(ctx)
	if errors.Is(err, sqlite3.NOTADB) {
		kind := ErrNotADatabase
		if !c.plain {
			kind = ErrDamaged // the header is ours, so what follows was a database
		}
		err = fmt.Errorf("%w: %w", kind, err)
	}
	if err != nil && c.vfs != nil {
		if cause := c.vfs.takeCause(); cause != nil && !errors.Is(err, cause) {
			err = fmt.Errorf("%w: %w", err, cause)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", c.path, err)
	}
	return conn, nil
}

// Close lets go of the keys as soon as no connection needs them.
func (c *connector) Close() error {
	if c.vfs != nil {
		c.vfs.release()
	}
	return nil
}

// isEncrypted reports whether path starts like an encrypted file.
func isEncrypted(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, 8)
	_, err = io.ReadFull(f, b)
	return err == nil && volume.IsEncrypted(b)
}

// keepMode as a JournalMode leaves the mode of the database as it is.
const keepMode = "keep"

// fileURI writes path and opts as the driver's data source name, to be opened
// through the VFS vfsName unless it is empty.
func fileURI(path, vfsName string, opts Options) (string, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("bad file name %q", path)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	pragmas, err := opts.pragmas()
	if err != nil {
		return "", err
	}
	q := url.Values{"_pragma": pragmas, "mode": {"rwc"}, "_txlock": {"immediate"}}
	switch {
	case opts.ReadOnly:
		q.Set("mode", "ro")
	case opts.MustExist:
		q.Set("mode", "rw")
	}
	if vfsName != "" {
		q.Set("vfs", vfsName)
	}
	if opts.TxLock != "" {
		q.Set("_txlock", opts.TxLock)
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(abs), RawQuery: q.Encode()}
	return u.String(), nil
}

// pragmas lists what a connection sets, in the order SQLite needs: the busy
// time-out before anything that locks, the page size before the first write.
func (o *Options) pragmas() ([]string, error) {
	var list []string
	var bad error
	word := func(name, value, fallback string, known ...string) {
		if value == "" {
			value = fallback
		}
		if value = strings.ToLower(value); !slices.Contains(known, value) {
			bad = fmt.Errorf("bad %s %q; know %s", name, value, strings.Join(known, ", "))
		}
		list = append(list, name+"("+value+")")
	}
	number := func(name string, value int) { list = append(list, name+"("+strconv.Itoa(value)+")") }

	busy := o.BusyTimeout
	if busy == 0 {
		busy = 10 * time.Second
	}
	number("busy_timeout", int(max(busy, 0)/time.Millisecond))
	if o.PageSize != 0 {
		number("page_size", o.PageSize)
	}
	if !o.ReadOnly && o.JournalMode != keepMode { // the file tells the mode
		word("journal_mode", o.JournalMode, "wal", "wal", "delete", "truncate", "persist", "memory", "off")
	}
	word("synchronous", o.Synchronous, "full", "full", "normal", "extra", "off")
	word("temp_store", o.TempStore, "default", "default", "file", "memory")
	if o.CacheKiB != 0 {
		number("cache_size", -o.CacheKiB)
	}
	if o.ForeignKeys {
		number("foreign_keys", 1)
	}
	for _, p := range o.Pragmas {
		if strings.ContainsAny(p, ";\x00") {
			bad = fmt.Errorf("bad pragma %q", p)
		}
		list = append(list, p)
	}
	return list, bad
}
