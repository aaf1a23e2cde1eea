package volume

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"github.com/veildb/veildb/internal/disk"
)

// A Locker is a lower file that can exclude other processes for a moment.
// Create locks one while it looks for a header and writes it.
type Locker interface {
	// Lock waits for an exclusive lock of the file and returns its release.
	Lock() (unlock func(), err error)
}

// Open opens the encrypted file in lower, which it owns from then on unless it
// returns an error. Besides errors of lower and keys it returns ErrEmpty,
// ErrNotOurs, ErrTruncated, ErrCorrupt, ErrUnsupported, ErrWrongKey or, for
// another role or parent than opts says, ErrMismatch.
func Open(lower disk.File, keys KeySource, opts Options) (*File, error) {
	b, err := readHeader(lower, &opts)
	if err != nil {
		return nil, fmt.Errorf("read header: %w", err)
	}
	h, err := Inspect(b)
	if err != nil {
		return nil, fmt.Errorf("read header: %w", err)
	}
	key, cipher, err := fileKeys(keys, h.KeyVersion, h.FileID)
	if err != nil {
		return nil, fmt.Errorf("read header: %w", err)
	}
	defer clear(key[:])
	if err := h.verify(b, &key); err != nil {
		cipher.Wipe()
		return nil, fmt.Errorf("read header: %w", err)
	}
	if h.Role != opts.role() || h.Parent != opts.Parent && opts.Parent != (FileID{}) {
		cipher.Wipe()
		return nil, fmt.Errorf("read header: %w: role %q", ErrMismatch, h.Role)
	}
	return newFile(lower, HeaderSize, cipher, h, opts)
}

// readHeader reads the first HeaderSize bytes of lower, or fewer if it is
// shorter. A file that cannot hold content yet, or whose header is lost in the
// way opts allows, is ErrEmpty.
func readHeader(lower disk.File, opts *Options) ([]byte, error) {
	b := make([]byte, HeaderSize+1)
	n, err := lower.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	b = b[:n]
	if n > HeaderSize && isZero(b[:HeaderSize]) {
		if opts.Unsynced {
			return nil, fmt.Errorf("%w: %w", ErrEmpty, ErrHeaderLost)
		}
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, ErrHeaderLost)
	}
	return b, nil
}

// Create opens the encrypted file in lower, and if lower is empty first makes
// it one: it writes a header with a new file id under the current key and
// syncs it (see Options.Unsynced), so that it is durable before any content.
//
// When several processes may create one file, lower must be a Locker, or the
// caller must hold a lock of its own.
func Create(lower disk.File, keys KeySource, opts Options) (*File, error) {
	if l, ok := lower.(Locker); ok {
		unlock, err := l.Lock()
		if err != nil {
			return nil, fmt.Errorf("create header: %w", err)
		}
		defer unlock()
	}
	f, err := Open(lower, keys, opts)
	if !errors.Is(err, ErrEmpty) {
		return f, err
	}
	h := Header{KeyVersion: keys.Current(), Role: opts.role(), Parent: opts.Parent}
	rand.Read(h.FileID[:]) // never fails, see crypto/rand
	key, cipher, err := fileKeys(keys, h.KeyVersion, h.FileID)
	if err != nil {
		return nil, fmt.Errorf("create header: %w", err)
	}
	defer clear(key[:])
	err = writeHeader(lower, h.seal(nil, &key), opts.Unsynced)
	if err == nil {
		f, err = newFile(lower, HeaderSize, cipher, h, opts)
	}
	if err != nil {
		cipher.Wipe()
		return nil, fmt.Errorf("create header: %w", err)
	}
	return f, nil
}

// writeHeader makes b the whole of lower. A failure leaves lower empty if it
// can, so that the next attempt finds no half header.
func writeHeader(lower disk.File, b []byte, unsynced bool) error {
	// An empty file may be a lost header with stale data behind it.
	err := lower.Truncate(0)
	if err == nil {
		_, err = lower.WriteAt(b, 0)
	}
	if err == nil && !unsynced {
		err = lower.Sync()
	}
	if err != nil {
		return errors.Join(err, lower.Truncate(0))
	}
	return nil
}

// Scratch returns an encrypted file for data that nobody reads after this
// process: its key is random and kept in memory only, and it has no header.
// lower must be empty.
func Scratch(lower disk.File) (*File, error) {
	cipher, err := randomCipher()
	if err != nil {
		return nil, fmt.Errorf("make scratch file: %w", err)
	}
	return newFile(lower, 0, cipher, Header{}, Options{})
}
