package sqlvfs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/disk"
)

// ErrBusy says that someone else has the database open or locked.
var ErrBusy = errors.New("the database is in use")

// A Conversion copies a database into another form.
type Conversion struct {
	Source, Target string

	// SourceKeys opens the source, nil if it is plain; TargetKeys encrypts the
	// target, nil to leave it plain. With both, the target gets the current
	// key version of TargetKeys.
	SourceKeys, TargetKeys volume.KeySource

	// Progress, if not nil, is told the bytes done of all; writing counts half,
	// comparing the other half.
	Progress func(done, total int64)
}

// Run makes the target: a file with the same content, byte for byte, as the
// source has after what its log or journal still holds was put into it, which
// is all that happens to the source. The target appears when it is complete,
// durable and compared with the source, or not at all.
//
// The source is locked meanwhile. The error matches ErrBusy if another
// connection holds it, fs.ErrExist if the target or a log or journal of that
// name exists, and those of Connector.
func (c *Conversion) Run(ctx context.Context) error {
	if err := c.run(ctx); err != nil {
		return fmt.Errorf("convert %s: %w", c.Source, err)
	}
	return nil
}

func (c *Conversion) run(ctx context.Context) error {
	for _, name := range []string{c.Target, c.Target + "-wal", c.Target + "-journal"} {
		if _, err := os.Lstat(name); err == nil {
			return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
		}
	}
	fi, err := os.Stat(c.Source)
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return fmt.Errorf("%s: %w: it is no regular file", c.Source, ErrNotADatabase)
	}
	unlock, err := c.lockSource(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return c.copy(ctx, fi)
}

// lockSource brings the source to rest, all content in its main file, and
// keeps others out until unlock.
func (c *Conversion) lockSource(ctx context.Context) (unlock func(), err error) {
	db, err := Open(c.Source, Options{
		Keys: c.SourceKeys, MustExist: true, BusyTimeout: time.Second,
		// Whoever has a database in WAL mode open keeps a shared lock, which
		// shuts this mode out: nobody else can be there.
		JournalMode: keepMode, Pragmas: []string{"locking_mode=exclusive"},
	})
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // the one that holds the lock
	if err := rest(ctx, db); err != nil {
		db.Close()
		if errors.Is(err, sqlite3.BUSY) || errors.Is(err, sqlite3.LOCKED) {
			err = fmt.Errorf("%w: %w", ErrBusy, err)
		}
		return nil, err
	}
	return func() { db.Close() }, nil
}

// rest plays back a journal or log left by a crash, empties the log and takes
// the exclusive lock.
func rest(ctx context.Context, db *sql.DB) error {
	var n int
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&n); err != nil {
		return err
	}
	var busy, log, done int
	if err := db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &done); err != nil {
		return err
	}
	if busy != 0 {
		return ErrBusy
	}
	_, err := db.ExecContext(ctx, `BEGIN EXCLUSIVE`)
	return err
}

const copyChunk = 1 << 20

// unowned keeps a file open when a volume.File over it is closed.
type unowned struct{ disk.File }

func (unowned) Close() error { return nil }

// copy makes the target from the source, which is locked.
func (c *Conversion) copy(ctx context.Context, fi fs.FileInfo) error {
	lower, err := disk.OS.OpenFile(c.Source, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer lower.Close()
	source, err := view(lower, c.SourceKeys, volume.Open)
	if err != nil {
		return err
	}
	defer source.Close()
	pending, err := disk.CreatePending(c.Target, fi.Mode().Perm())
	if err != nil {
		return err
	}
	defer pending.Close()
	target, err := view(pending, c.TargetKeys, volume.Create)
	if err != nil {
		return err
	}
	defer target.Close()
	size, err := source.Size()
	if err != nil {
		return err
	}
	written := sha256.New()
	err = c.each(ctx, source, size, 0, func(p []byte, off int64) error {
		written.Write(p)
		_, err := target.WriteAt(p, off)
		return err
	})
	if err == nil {
		err = pending.Sync()
	}
	if err != nil {
		return err
	}
	// Read back through a second view, which must find everything below.
	again, err := view(pending, c.TargetKeys, volume.Open)
	if err != nil {
		return err
	}
	defer again.Close()
	read := sha256.New()
	if err := c.each(ctx, again, size, size, func(p []byte, _ int64) error { read.Write(p); return nil }); err != nil {
		return err
	}
	if n, err := again.Size(); err != nil || n != size || !bytes.Equal(read.Sum(nil), written.Sum(nil)) {
		return errors.Join(errors.New("the target does not read as it was written"), err)
	}
	return pending.Commit()
}

// view returns lower itself if keys is nil, else the database encrypted in it.
// Closing the view leaves lower open.
func view(lower disk.File, keys volume.KeySource, open func(disk.File, volume.KeySource, volume.Options) (*volume.File, error)) (disk.File, error) {
	if keys == nil {
		return unowned{lower}, nil
	}
	return open(unowned{lower}, keys, volume.Options{Role: roleDatabase})
}

// each calls do with the size bytes of r, chunk by chunk; before bytes of the
// job were done already.
func (c *Conversion) each(ctx context.Context, r io.ReaderAt, size, before int64, do func(p []byte, off int64) error) error {
	buf := make([]byte, copyChunk)
	defer clear(buf)
	for off := int64(0); off < size; off += copyChunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := buf[:min(copyChunk, size-off)]
		if n, err := r.ReadAt(p, off); n < len(p) {
			return fmt.Errorf("read at %d: %w", off, err)
		}
		if err := do(p, off); err != nil {
			return err
		}
		if c.Progress != nil {
			c.Progress(before+off+int64(len(p)), 2*size)
		}
	}
	return nil
}
