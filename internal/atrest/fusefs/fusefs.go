// Package fusefs mounts a tree of encrypted files as a file system for stock
// programs, such as database servers.
//
// Every file of the lower tree is an encrypted file of package volume;
// directories, links, owners, modes and times are those of the lower tree, and
// so are names unless Options.Names says that they are encrypted. The kernel's page cache holds content in plain, the lower file system's
// holds ciphertext, and nothing is kept in between: a write is in the lower
// file before it returns, an fsync is the lower file's fsync.
//
// # Caching
//
// Write-through: a write(2) reaches the lower file before it returns. What a
// server wrote survives its own death and that of this program, and a full disk
// fails the write that filled it. Logs that servers sync with each commit, which
// are told by their names, go past the page cache.
//
// Write-back: a write(2) ends in the page cache and goes down later, at the
// latest with fsync. What was not synced is lost when this program dies, and a
// full disk may show only at fsync or close. Those logs and files opened with
// O_DIRECT are written through all the same, past the page cache; while they are
// open their time of change is that of opening.
//
// # Syncing ahead
//
// A file that is written and synced in turn is synced below as soon as a write is
// answered, and a sync that asks for it meanwhile is answered at its end. A sync is
// answered only when a lower sync that began after the last change has succeeded.
//
// Nobody else may change the lower tree meanwhile: the kernel keeps names,
// attributes and pages until it is told otherwise.
//
// # Without a cipher
//
// With Options.Keys nil files are stored as they are. It is for measuring what
// of a mount's price is the price of FUSE.
package fusefs

import (
	"errors"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// ErrUnavailable says that this system cannot mount volumes at all.
var ErrUnavailable = errors.New("mounting needs Linux")

// A CacheMode says when written data leaves the kernel's page cache.
type CacheMode int

const (
	WriteThrough CacheMode = iota // before write(2) returns
	WriteBack                     // later, at the latest with fsync
)

// Options for Mount. The zero value stores without a cipher, for this user
// alone.
type Options struct {
	// Keys gives the keys of files; nil means no cipher.
	Keys volume.KeySource
	// Names says how names are kept; the zero value is volume.NamesPlain.
	// Anything else needs Keys.
	Names volume.Names
	// Volume is handed to package volume.
	Volume volume.Options
	// Source is what mount tables show.
	Source string
	Cache  CacheMode
	// AllowOther lets other users in, as modes and owners of files allow.
	AllowOther bool
	ReadOnly   bool
	// Loops is the number of threads that serve; 0 means a number that suits
	// the machine.
	Loops int
	// Lost is a directory, made when needed, for copies of files whose header is
	// all zeros though there is data behind it. They read as zeros, and the
	// copy is made before one is opened for writing. Empty keeps none.
	Lost string
	// Log is told, once a file, why a file cannot be opened, and of each copy
	// in Lost. Calls may come
	// from several goroutines at once.
	Log func(error)
}
