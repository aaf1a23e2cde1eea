package sqlvfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// A file is an encrypted file of SQLite's: a database or a temporary file as
// it stands, a log or a journal through walFile or journalFile. Like every
// vfs.File it is used by one connection at a time.
//
// A file that is empty gets its header with the first write: SQLite must find
// new databases empty. Whoever writes first holds SQLite's lock for it.
type file struct {
	vfs.File // the lower file, for locks and whatever is not content

	owner   *encVFS
	keys    volume.KeySource
	opts    volume.Options
	lower   lowerFile
	vol     *volume.File // nil while the file has no header
	main    *file        // the database of a log or journal
	journal *journalFile // the journal of a database
	wal     *walFile     // the log of a database
}

// lowerFile makes a vfs.File a disk.File, and remembers its last error: that
// one carries the result code that SQLite should see.
type lowerFile struct {
	vfs.File
	err error
}

func (l *lowerFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := l.File.ReadAt(p, off)
	if err != nil && err != io.EOF {
		l.err = err
	}
	return n, err
}

func (l *lowerFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := l.File.WriteAt(p, off)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		// The base VFS reports these as I/O errors.
		err = vfs.SystemError(err, sqlite3.FULL)
	}
	return n, l.note(err)
}

func (l *lowerFile) Truncate(size int64) error { return l.note(l.File.Truncate(size)) }
func (l *lowerFile) Sync() error               { return l.note(l.File.Sync(vfs.SYNC_NORMAL)) }

func (l *lowerFile) Size() (int64, error) {
	size, err := l.File.Size()
	return size, l.note(err)
}

func (l *lowerFile) note(err error) error {
	if err != nil {
		l.err = err
	}
	return err
}

// result turns an error of the volume into one with SQLite's result code.
func (f *file) result(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if lower := f.lower.err; lower != nil {
		f.lower.err = nil
		return lower
	}
	f.owner.blame(err)
	// Only for results of the IOERR family does the driver keep the cause.
	code := sqlite3.IOERR_BADKEY
	for _, damage := range []error{volume.ErrCorrupt, volume.ErrTruncated, volume.ErrMismatch, volume.ErrNotOurs, volume.ErrUnsupported} {
		if errors.Is(err, damage) {
			code = sqlite3.IOERR_CORRUPTFS
		}
	}
	return vfs.SystemError(err, code)
}

// open opens the volume file below if it has a header by now.
func (f *file) open() error {
	if f.vol != nil {
		return nil
	}
	if f.main != nil {
		if err := f.main.open(); err != nil {
			return err
		}
		if f.main.vol != nil {
			f.opts.Parent = f.main.vol.Header().FileID
		}
	}
	vol, err := volume.Open(&f.lower, f.keys, f.opts)
	if errors.Is(err, volume.ErrEmpty) {
		return nil
	}
	if err != nil {
		return f.result(f.explain(err))
	}
	f.vol = vol
	return nil
}

// explain says which of a database's files did not open. A log or journal that
// is no encrypted file lies beside a database that it cannot belong to.
func (f *file) explain(err error) error {
	what := map[volume.Role]string{roleWAL: "write-ahead log", roleJournal: "journal"}[f.opts.Role]
	switch notOurs := errors.Is(err, volume.ErrNotOurs); {
	case what == "" && notOurs && isPlain(&f.lower):
		return fmt.Errorf("%w: %w", ErrNotEncrypted, err)
	case what == "":
		return err
	case notOurs:
		return fmt.Errorf("%s: %w: it is not encrypted", what, volume.ErrMismatch)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// isPlain reports whether r starts like a plain SQLite database.
func isPlain(r io.ReaderAt) bool {
	const magic = "SQLite format 3\x00"
	b := make([]byte, len(magic))
	_, err := r.ReadAt(b, 0)
	return err == nil && bytes.Equal(b, []byte(magic))
}

// create opens the volume file below and makes its header first if need be.
// The caller holds the lock that SQLite takes before it writes to the file.
func (f *file) create() error {
	if f.vol != nil {
		return nil
	}
	if f.main != nil {
		// Its lock covers the database, too.
		if err := f.main.create(); err != nil {
			return err
		}
		f.opts.Parent = f.main.vol.Header().FileID
	}
	vol, err := volume.Create(&f.lower, f.keys, f.opts)
	if err != nil {
		return f.result(err)
	}
	f.vol = vol
	return nil
}

// ReadAt implements vfs.File.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if f.vol == nil {
		if err := f.open(); err != nil {
			return 0, err
		}
		if f.vol == nil {
			return 0, io.EOF
		}
	}
	n, err := f.vol.ReadAt(p, off)
	if err != nil {
		err = f.result(err)
	}
	return n, err
}

// WriteAt implements vfs.File.
func (f *file) WriteAt(p []byte, off int64) (int, error) {
	if f.vol == nil {
		if err := f.create(); err != nil {
			return 0, err
		}
	}
	if f.journal != nil {
		// What undoes this write must be on its way first.
		if err := f.journal.flush(); err != nil {
			return 0, err
		}
	}
	n, err := f.vol.WriteAt(p, off)
	if err != nil {
		err = f.result(err)
	}
	return n, err
}

// writePair writes a and b, whole blocks, one behind the other.
func (f *file) writePair(a, b []byte, off int64) error {
	if err := f.create(); err != nil {
		return err
	}
	return f.result(f.vol.WritePair(a, b, off))
}

// Truncate implements vfs.File. The header stays, also in an empty file.
func (f *file) Truncate(size int64) error {
	err := f.open()
	if err == nil && f.vol == nil && size > 0 {
		err = f.create()
	}
	if err != nil || f.vol == nil {
		return err
	}
	return f.result(f.vol.Truncate(size))
}

// Size implements vfs.File.
func (f *file) Size() (int64, error) {
	if f.vol == nil {
		if err := f.open(); err != nil || f.vol == nil {
			return 0, err
		}
	}
	size, err := f.vol.Size()
	if err != nil {
		err = f.result(err)
	}
	return size, err
}

// Close implements vfs.File.
func (f *file) Close() error {
	defer f.owner.fileClosed()
	if f.vol == nil {
		return f.File.Close()
	}
	return f.vol.Close()
}

// DeviceCharacteristics implements vfs.File. Of what the lower file promises
// it passes on what stays true. A write of whole 16-byte blocks is one lower
// write of the same length at the same alignment (4096 further), and blocks
// do not depend on each other; so writes are as atomic as below (ATOMIC*,
// BATCH_ATOMIC), and a write that is cut short by power loss leaves bytes
// outside its range as they were (POWERSAFE_OVERWRITE) or, for a range that
// ends inside a block, rewrites the rest of that block with the same content,
// inside the same disk sector. Parts of pages can be read (SUBPAGE_READ).
// Not passed on: SAFE_APPEND, since the block at an odd end is overwritten,
// and SEQUENTIAL, since log and journal files put small writes together.
func (f *file) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return f.File.DeviceCharacteristics() & (0 |
		vfs.IOCAP_ATOMIC | vfs.IOCAP_ATOMIC512 | vfs.IOCAP_ATOMIC1K | vfs.IOCAP_ATOMIC2K |
		vfs.IOCAP_ATOMIC4K | vfs.IOCAP_ATOMIC8K | vfs.IOCAP_ATOMIC16K | vfs.IOCAP_ATOMIC32K |
		vfs.IOCAP_ATOMIC64K | vfs.IOCAP_BATCH_ATOMIC |
		vfs.IOCAP_POWERSAFE_OVERWRITE |
		vfs.IOCAP_SUBPAGE_READ |
		vfs.IOCAP_IMMUTABLE |
		vfs.IOCAP_UNDELETABLE_WHEN_OPEN)
}

// The optional interfaces of a vfs.File. There is no vfs.FileMemoryMapper: a
// mapped page would be ciphertext, so mmap_size has no effect.
var (
	_ vfs.FileUnwrap             = (*file)(nil)
	_ vfs.FileLockState          = (*file)(nil)
	_ vfs.FilePersistWAL         = (*file)(nil)
	_ vfs.FilePowersafeOverwrite = (*file)(nil)
	_ vfs.FileChunkSize          = (*file)(nil)
	_ vfs.FileSizeHint           = (*file)(nil)
	_ vfs.FileHasMoved           = (*file)(nil)
	_ vfs.FileOverwrite          = (*file)(nil)
	_ vfs.FileSync               = (*file)(nil)
	_ vfs.FileCommitPhaseTwo     = (*file)(nil)
	_ vfs.FileBatchAtomicWrite   = (*file)(nil)
	_ vfs.FileCheckpoint         = (*file)(nil)
	_ vfs.FilePragma             = (*file)(nil)
	_ vfs.FileBusyHandler        = (*file)(nil)
	_ vfs.FileSharedMemory       = (*file)(nil)
)

func (f *file) Unwrap() vfs.File                { return f.File }
func (f *file) LockState() vfs.LockLevel        { return vfsutil.WrapLockState(f.File) }
func (f *file) PersistWAL() bool                { return vfsutil.WrapPersistWAL(f.File) }
func (f *file) SetPersistWAL(keep bool)         { vfsutil.WrapSetPersistWAL(f.File, keep) }
func (f *file) PowersafeOverwrite() bool        { return vfsutil.WrapPowersafeOverwrite(f.File) }
func (f *file) SetPowersafeOverwrite(psow bool) { vfsutil.WrapSetPowersafeOverwrite(f.File, psow) }
func (f *file) ChunkSize(size int)              { vfsutil.WrapChunkSize(f.File, size) }
func (f *file) HasMoved() (bool, error)         { return vfsutil.WrapHasMoved(f.File) }
func (f *file) Overwrite() error                { return vfsutil.WrapOverwrite(f.File) }
func (f *file) SyncSuper(super string) error    { return vfsutil.WrapSyncSuper(f.File, super) }
func (f *file) CommitAtomicWrite() error        { return vfsutil.WrapCommitAtomicWrite(f.File) }
func (f *file) CheckpointStart()                { vfsutil.WrapCheckpointStart(f.File) }
func (f *file) CheckpointDone()                 { vfsutil.WrapCheckpointDone(f.File) }
func (f *file) BusyHandler(handler func() bool) { vfsutil.WrapBusyHandler(f.File, handler) }

// SharedMemory implements vfs.FileSharedMemory. SQLite asks for it each time
// it is about to lock, unlock or publish something there; the log must be as
// SQLite believes by then.
func (f *file) SharedMemory() vfs.SharedMemory {
	if f.wal != nil {
		f.wal.settle()
	}
	return vfsutil.WrapSharedMemory(f.File)
}

// CommitPhaseTwo implements vfs.FileCommitPhaseTwo: a transaction has ended.
func (f *file) CommitPhaseTwo() error {
	if f.wal != nil {
		if err := f.wal.flush(); err != nil {
			return err
		}
	}
	return vfsutil.WrapCommitPhaseTwo(f.File)
}

// SizeHint implements vfs.FileSizeHint: it allocates space below.
func (f *file) SizeHint(size int64) error {
	if err := f.create(); err != nil {
		return err
	}
	return vfsutil.WrapSizeHint(f.File, volume.LowerSize(size))
}

// BeginAtomicWrite implements vfs.FileBatchAtomicWrite. The header is not part
// of the batch.
func (f *file) BeginAtomicWrite() error {
	if err := f.create(); err != nil {
		return err
	}
	return vfsutil.WrapBeginAtomicWrite(f.File)
}

// RollbackAtomicWrite implements vfs.FileBatchAtomicWrite.
func (f *file) RollbackAtomicWrite() error {
	if err := vfsutil.WrapRollbackAtomicWrite(f.File); err != nil {
		return err
	}
	_, err := f.Size()
	return err
}

// keyPragmas are the names under which other encrypting builds of SQLite take
// or change a key. SQLite ignores pragmas it does not know, so that someone
// who believes to have changed the key would hear nothing.
var keyPragmas = map[string]bool{
	"key": true, "hexkey": true, "textkey": true, "rekey": true, "hexrekey": true, "textrekey": true,
	"cipher": true, "cipher_migrate": true, "cipher_export": true,
}

// Pragma implements vfs.FilePragma. "veildb_encryption" tells how the database
// is encrypted; pragmas that would set a key are refused.
func (f *file) Pragma(name, value string) (string, error) {
	switch {
	case keyPragmas[name]:
		return "", fmt.Errorf("pragma %s: the key is given when the database is opened; to change it, convert the database", name)
	case name == "veildb_encryption":
		if err := f.open(); err != nil {
			return "", err
		}
		if f.vol == nil {
			return "aes-256-xts, new database", nil
		}
		h := f.vol.Header()
		return fmt.Sprintf("aes-256-xts, key version %d, file id %x", h.KeyVersion, h.FileID), nil
	}
	return vfsutil.WrapPragma(f.File, name, value)
}
