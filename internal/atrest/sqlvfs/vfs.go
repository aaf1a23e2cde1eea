package sqlvfs

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// What the files of a database are, in their headers. A database, its log and
// its journal have each its own file id and key, and a log or journal names
// the database it belongs to, so that none can stand in for another.
var (
	roleDatabase = volume.Role{'s', 'q', 'd', 'b'}
	roleWAL      = volume.Role{'s', 'q', 'w', 'l'}
	roleJournal  = volume.Role{'s', 'q', 'j', 'n'}
)

// An encVFS encrypts what SQLite writes through the base VFS.
//
//	file               stored as                       key
//	database           volume file                     from the key source
//	write-ahead log    volume file, see walFile        from the key source
//	rollback journal   volume file, see journalFile    from the key source
//	temporary files    no header                       random, in memory only
//	super-journal      as it is: names of journals
//	-shm               as it is: page and frame numbers, checksums of the log
//
// Files that were attached or are made by VACUUM INTO go the same way, under
// the same key source.
//
// Locks and shared memory are those of the base VFS, so connections and
// processes meet as they do on plain files. SQLite's locks make readers and
// writers of one page, one log frame or one journal exclude each other; since
// no two of these share a 16-byte block in the lower file (pages are multiples
// of 512, walFile spaces the frames, a journal has one user), a reader never
// sees half of a rewritten block and no lock of our own is needed.
type encVFS struct {
	vfs.VFS // the base

	mu     sync.Mutex
	keys   volume.KeySource // nil once released
	files  int              // open files
	closed bool
	cause  error // why an encrypted file was last refused
}

var vfsCount atomic.Int64

// register makes a VFS over base known to SQLite and returns its name.
// Connections refer to it by that name for as long as they live, so the name
// stays registered; release lets go of the keys.
func register(base vfs.VFS, keys volume.KeySource) (name string, v *encVFS) {
	v = &encVFS{VFS: base, keys: keys}
	return registerAs(v), v
}

func registerAs(v vfs.VFS) (name string) {
	name = "veildb-" + strconv.FormatInt(vfsCount.Add(1), 10)
	vfs.Register(name, v)
	return name
}

// release drops the keys when the last file is closed, or now.
func (v *encVFS) release() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	if v.files == 0 {
		v.keys = nil
	}
}

// blame keeps why a file was refused: SQLite often does more to other files
// before it returns the result code, and the driver then forgets the cause.
func (v *encVFS) blame(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cause = err
}

// takeCause returns what blame kept since the last call.
func (v *encVFS) takeCause() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	err := v.cause
	v.cause = nil
	return err
}

func (v *encVFS) acquire() (volume.KeySource, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.keys == nil {
		return nil, errors.New("the key was released")
	}
	v.files++
	return v.keys, nil
}

func (v *encVFS) fileClosed() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.files--
	if v.closed && v.files == 0 {
		v.keys = nil
	}
}

// Open implements vfs.VFS; SQLite calls OpenFilename instead.
func (v *encVFS) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	if name == "" {
		return v.OpenFilename(nil, flags)
	}
	return nil, flags, sqlite3.CANTOPEN
}

const tempFlags = vfs.OPEN_TEMP_DB | vfs.OPEN_TRANSIENT_DB | vfs.OPEN_TEMP_JOURNAL | vfs.OPEN_SUBJOURNAL

// OpenFilename implements vfs.VFSFilename.
func (v *encVFS) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	lower, flags, err := vfsutil.WrapOpenFilename(v.VFS, name, flags)
	if err != nil || flags&vfs.OPEN_MEMORY != 0 || flags&vfs.OPEN_SUPER_JOURNAL != 0 && !startsEncrypted(lower) {
		return lower, flags, err
	}
	keys, err := v.acquire()
	if err != nil {
		lower.Close()
		return nil, flags, vfs.SystemError(err, sqlite3.CANTOPEN)
	}
	f, err := v.wrap(lower, keys, name, flags)
	if err != nil {
		lower.Close()
		v.fileClosed()
		return nil, flags, err
	}
	return f, flags, nil
}

// startsEncrypted reports whether f has an encrypted file's mark.
func startsEncrypted(f vfs.File) bool {
	b := make([]byte, 8)
	n, _ := f.ReadAt(b, 0)
	return n == len(b) && volume.IsEncrypted(b)
}

// wrap makes the file of the kind that flags name over lower.
func (v *encVFS) wrap(lower vfs.File, keys volume.KeySource, name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, error) {
	f := file{File: lower, owner: v, keys: keys}
	f.opts.SectorHoles = true // nobody reads what lies between two journal headers
	f.lower.File = lower
	if name == nil || flags&tempFlags != 0 {
		vol, err := volume.Scratch(&f.lower)
		f.vol = vol
		return &f, err
	}
	if flags&vfs.OPEN_SUPER_JOURNAL != 0 {
		// Before SQLite deletes a super-journal it looks into the journals of
		// the other databases, and opens them under this flag.
		f.opts.Role, f.opts.Unsynced = roleJournal, true
		return &f, f.open()
	}
	f.main, _ = vfsutil.UnwrapFile[*file](name.DatabaseFile())
	switch {
	case flags&vfs.OPEN_MAIN_DB != 0:
		f.opts.Role, f.main = roleDatabase, nil
		return &f, f.open()
	case flags&vfs.OPEN_WAL != 0:
		f.opts.Role = roleWAL
		w := &walFile{file: f}
		err := w.open()
		if err == nil && f.main != nil {
			f.main.wal = w
		}
		return w, err
	case flags&vfs.OPEN_MAIN_JOURNAL != 0:
		f.opts.Role, f.opts.Unsynced = roleJournal, true
		j := &journalFile{file: f}
		err := j.open()
		if err == nil && f.main != nil {
			f.main.journal = j
		}
		return j, err
	}
	return nil, vfs.SystemError(fmt.Errorf("open %s: unknown kind of file %#x", name, flags), sqlite3.CANTOPEN)
}

// Errors that say a database was opened the wrong way.
var (
	// ErrNotEncrypted: a plain database was opened with a key.
	ErrNotEncrypted = errors.New("the database is not encrypted")
	// ErrEncrypted: an encrypted database was opened without a key.
	ErrEncrypted = errors.New("the database is encrypted")
	// ErrNotADatabase: the file is no SQLite database, plain or encrypted.
	ErrNotADatabase = errors.New("not a SQLite database")
)

// Results of SQLite that a caller decides on. Errors of databases opened here
// match them.
var (
	// ErrDamaged: SQLite met a page that cannot be what it wrote. In an
	// encrypted database that is what altered ciphertext looks like.
	ErrDamaged error = sqlite3.CORRUPT
	// ErrFull: there is no room on the disk.
	ErrFull error = sqlite3.FULL
	// ErrIO: the system refused to read or write. On a plain database a full
	// disk may look like this, too.
	ErrIO error = sqlite3.IOERR
	// ErrReadOnly: the database or its directory must not be written to.
	ErrReadOnly error = sqlite3.READONLY
	// ErrCannotOpen: the system refused to open the database or its log.
	ErrCannotOpen error = sqlite3.CANTOPEN
)

// Version returns the version of SQLite.
func Version() (string, error) {
	db, err := sqlite3.Open(":memory:")
	if err != nil {
		return "", fmt.Errorf("ask SQLite for its version: %w", err)
	}
	defer db.Close()
	stmt, _, err := db.Prepare("SELECT sqlite_version()")
	if err != nil {
		return "", fmt.Errorf("ask SQLite for its version: %w", err)
	}
	defer stmt.Close()
	stmt.Step()
	return stmt.ColumnText(0), stmt.Err()
}
