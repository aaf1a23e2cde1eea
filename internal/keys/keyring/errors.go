package keyring

import (
	"errors"

	"github.com/veildb/veildb/internal/disk"
)

// Errors that a caller decides on.
var (
	// ErrWrongKey means the root key is not the one that wrapped the key file.
	ErrWrongKey = errors.New("wrong key")
	// ErrCorrupt means the key file or a wrapped key is damaged or altered.
	ErrCorrupt = errors.New("damaged or altered")
	// ErrUnreachable means the key manager does not answer.
	ErrUnreachable = errors.New("key manager unreachable")
	// ErrDenied means the key manager answers and refuses.
	ErrDenied = errors.New("denied by key manager")
	// ErrRollback means the key file is older than the generation on record.
	ErrRollback = errors.New("older than the generation on record")
	// ErrStray means a file beside the key file looks like another version of
	// it. No such file is ever read.
	ErrStray = errors.New("stray copy beside the key file")
	// ErrBusy means another process is changing the key file.
	ErrBusy = disk.ErrBusy
	// ErrMissing means there is no key file.
	ErrMissing = errors.New("no such key file")
	// ErrExists means there is a key file already.
	ErrExists = errors.New("key file exists")
	// ErrUnknownVersion means no key has that version.
	ErrUnknownVersion = errors.New("unknown key version")
	// ErrUnsupported means a newer program wrote the key file.
	ErrUnsupported = errors.New("format not supported")
	// ErrReused means a root key that was given up would be used again.
	ErrReused = errors.New("root key was given up before")
)
