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
	"strconv"
	"strings"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/run"
	"github.com/veildb/veildb/internal/bench/study"
	"github.com/veildb/veildb/internal/inuse/cells"
	"github.com/veildb/veildb/internal/inuse/sqlend"
	"github.com/veildb/veildb/internal/keys/keyring"
	"github.com/veildb/veildb/internal/keys/kms"
)

// sqliteVariants says what each variant of the embedded engine is.
var sqliteVariants = map[string]string{
	"plain":   "SQLite as it is",
	"tde":     "database, WAL, journal and temporary files encrypted (AES-256-XTS)",
	"cols20":  "20 % of the columns sealed on the way out and opened again (AES-256-GCM)",
	"cols50":  "50 % of the columns",
	"cols100": "all columns",
	"cols":    "the columns that --columns FILE lists",
}

// embeddedEngine keeps a study's SQLite databases in one directory: an
// original NAME.db, its encrypted twin NAME.tde.db, and the copies at work.
type embeddedEngine struct {
	dir     string
	options sqlvfs.Options
	ring    *keyring.Ring // throwaway keys of this directory
	columns *cells.Set    // of the variant cols; nil without
}

// openEmbeddedEngine makes or opens the directory dir. The keys in it protect
// benchmark data only.
func openEmbeddedEngine(ctx context.Context, dir string, settings map[string]string) (*embeddedEngine, error) {
	options, err := sqliteSettings(settings)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	ring, err := throwawayRing(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &embeddedEngine{dir: dir, options: options, ring: ring}, nil
}

// throwawayRing opens the key file in dir, made on first use.
func throwawayRing(ctx context.Context, dir string) (*keyring.Ring, error) {
	root, path := filepath.Join(dir, "root.key"), filepath.Join(dir, "keys.json")
	open := func(context.Context, string) (keyring.Provider, error) {
		return kms.Open("file:"+root, kms.Config{})
	}
	if _, err := os.Stat(path); err == nil {
		return keyring.Open(ctx, path, keyring.Options{Provider: open})
	}
	if err := kms.CreateFile(root); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make benchmark key: %w", err)
	}
	p, err := open(ctx, "")
	if err != nil {
		return nil, err
	}
	return keyring.Init(ctx, path, p, keyring.InitOptions{}, keyring.Options{Provider: open})
}

// sqliteSettings turns a study's settings into options of a database.
func sqliteSettings(settings map[string]string) (sqlvfs.Options, error) {
	o := sqlvfs.Options{MustExist: true}
	for name, value := range settings {
		switch name {
		case "journal_mode":
			o.JournalMode = value
		case "synchronous":
			o.Synchronous = value
		case "temp_store":
			o.TempStore = value
		case "cache_size":
			kib, err := strconv.Atoi(strings.TrimPrefix(value, "-"))
			if err != nil || !strings.HasPrefix(value, "-") {
				return o, usagef("read study", "write cache_size as SQLite does for KiB: \"-2000\"", "cache_size %q is not a negative number", value)
			}
			o.CacheKiB = kib
		default:
			return o, usagef("read study", "known: journal_mode, synchronous, cache_size, temp_store", "unknown setting %q for sqlite", name)
		}
	}
	return o, nil
}

func (e *embeddedEngine) Dialect() dsn.Dialect { return dsn.SQLite }

func (e *embeddedEngine) Version(context.Context) (string, error) {
	v, err := sqlvfs.Version()
	return "SQLite " + v, err
}

func (e *embeddedEngine) original(dataset string) string { return filepath.Join(e.dir, dataset+".db") }

// Dataset fills a new database under another name and renames it when it is
// complete, so that an original is either whole or absent.
func (e *embeddedEngine) Dataset(ctx context.Context, name string, fill func(context.Context, *sql.DB) error) error {
	path, temp := e.original(name), filepath.Join(e.dir, name+".loading.db")
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := removeDatabase(temp); err != nil {
		return err
	}
	db, err := sqlvfs.Open(temp, sqlvfs.Options{JournalMode: "memory", Synchronous: "off", CacheKiB: 256 << 10})
	if err != nil {
		return err
	}
	if err := errors.Join(fill(ctx, db), db.Close()); err != nil {
		return errors.Join(err, removeDatabase(temp))
	}
	return os.Rename(temp, path)
}

// Open copies the original and opens the copy under variant.
func (e *embeddedEngine) Open(ctx context.Context, dataset, variant, arm string) (*study.Database, error) {
	source, options := e.original(dataset), e.options
	if variant == "tde" {
		twin := filepath.Join(e.dir, dataset+".tde.db")
		if _, err := os.Stat(twin); errors.Is(err, fs.ErrNotExist) {
			c := sqlvfs.Conversion{Source: source, Target: twin, TargetKeys: e.ring}
			if err := c.Run(ctx); err != nil {
				return nil, fmt.Errorf("encrypt copy: %w", err)
			}
		}
		source, options.Keys = twin, e.ring
	}
	path := filepath.Join(e.dir, arm+".db")
	if err := errors.Join(removeDatabase(path), copyFile(source, path)); err != nil {
		return nil, err
	}
	connector, err := sqlvfs.Connector(path, options)
	if err != nil {
		return nil, err
	}
	connector, release, err := e.ends(connector, dataset, variant)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	return &study.Database{
		DB: db, CPU: run.EmbeddedCPU, Verify: func(ctx context.Context) ([]result.Check, error) { return quickCheck(ctx, path, options) },
		Close: func() error { return errors.Join(db.Close(), release(), removeDatabase(path)) },
	}, nil
}

// ends puts the protecting and the revealing end around a connector, for the
// variants that have them.
func (e *embeddedEngine) ends(c driver.Connector, dataset, variant string) (driver.Connector, func() error, error) {
	if !strings.HasPrefix(variant, "cols") {
		return c, func() error { return nil }, nil
	}
	columns, err := columnsOf(dataset, variant, e.columns)
	if err != nil {
		return nil, nil, err
	}
	sealer, err := cells.NewSealer(e.ring)
	if err != nil {
		return nil, nil, err
	}
	opener := cells.NewOpener(e.ring)
	release := func() error { return errors.Join(sealer.Close(), opener.Close()) }
	c, err = sqlend.Protect(c, sqlend.Config{Engine: sqliteEngine{}, Columns: columns, Sealer: sealer})
	if err == nil {
		c, err = sqlend.Reveal(c, opener)
	}
	if err != nil {
		return nil, nil, errors.Join(err, release())
	}
	return c, release, nil
}

func (e *embeddedEngine) Close() error { return e.ring.Close() }

// removeDatabase removes a database file and what SQLite keeps beside it.
func removeDatabase(path string) error {
	var errs []error
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync() // or the first arm to checkpoint would write out both
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	return nil
}
