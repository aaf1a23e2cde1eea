// Package keyring keeps the keys of databases in a key file: a root key outside
// wraps the current key encryption key (KEK), which wraps the data keys (DEK).
//
// The file holds every version of KEK and DEK, so that data written under any
// of them can be read, and counts its generations, so that an older copy is
// noticed. A new generation replaces the file in one step; the one before stays
// beside it as KEYFILE.prev and is never read back by this package, and
// KEYFILE.lock is the lock of those who write.
package keyring

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/disk"
)

// Options tell how a key file is opened. Only Provider is needed.
type Options struct {
	// Provider makes the provider that a key file names. The URI comes from a
	// file that is not authenticated yet.
	Provider func(ctx context.Context, uri string) (Provider, error)

	// Record is the path of the generation record; "" means the one the key
	// file names. It is best on another disk or host than the key file.
	Record string

	// AllowRollback opens a key file that is older than the record tells.
	AllowRollback bool

	// FS does the writes; nil means disk.OS.
	FS disk.FS

	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = disk.OS
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// reloadTimeout bounds the reload that an unknown key version causes.
const reloadTimeout = 10 * time.Second

// A Ring is an open key file. It is safe for concurrent use, and follows
// changes of the file when Reload is called or an unknown version is asked for.
type Ring struct {
	path string // symbolic links resolved
	opts Options

	mu       sync.RWMutex
	file     *file
	data     []byte // what file was decoded from
	keys     *keys
	provider Provider
	closed   bool

	// changing is held by Reload and by writers, and taken before mu. Fields
	// above change only with both held, so either is enough to read them.
	changing sync.Mutex
}

// Open opens the key file at path and proves that every key in it unwraps.
//
// Errors: ErrMissing, ErrCorrupt, ErrUnsupported, ErrWrongKey, ErrUnreachable,
// ErrDenied, ErrRollback, ErrStray, or an error of Options.Provider.
func Open(ctx context.Context, path string, opts Options) (*Ring, error) {
	path, err := resolve(path)
	if err != nil {
		return nil, fmt.Errorf("open key file: %w", err)
	}
	r := &Ring{path: path, opts: opts.withDefaults()}
	if err := refuseStrays(path); err != nil {
		return nil, fmt.Errorf("open key file: %w", err)
	}
	l, err := r.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("open key file %s: %w", path, err)
	}
	r.file, r.data, r.keys, r.provider = l.file, l.data, l.keys, l.provider
	return r, nil
}

// resolve follows symbolic links, so that a write replaces the file and not the
// link, and makes the path absolute.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: %w", path, ErrMissing)
	case err != nil:
		if _, named := os.Stat(path); named != nil {
			err = named // it has the path
		}
		return "", err
	}
	return filepath.Abs(real)
}

// loaded is the content of a key file with its keys.
type loaded struct {
	file     *file
	data     []byte
	keys     *keys
	provider Provider
}

// load reads, decodes, unwraps and authenticates the file, and compares its
// generation with those on record. The record moves after the file, so a file that
// is replaced meanwhile may seem to be behind it, and is read again.
func (r *Ring) load(ctx context.Context) (*loaded, error) {
	for {
		data, err := readFile(r.path)
		if err != nil {
			return nil, err
		}
		l, err := r.parse(ctx, data)
		if !errors.Is(err, ErrRollback) {
			return l, err
		}
		if again, readErr := readFile(r.path); readErr != nil || bytes.Equal(again, data) {
			return nil, err
		}
	}
}

// parse is load for the content of a key file.
func (r *Ring) parse(ctx context.Context, data []byte) (*loaded, error) {
	f, err := decode(data)
	if err != nil {
		return nil, err
	}
	p, kek, err := r.rootKey(ctx, f)
	if err != nil {
		return nil, err
	}
	k, err := f.unwrapAll(data, kek)
	if err != nil {
		return nil, err
	}
	if err := r.checkGeneration(ctx, f, p); err != nil {
		k.close()
		return nil, err
	}
	return &loaded{f, data, k, p}, nil
}

// rootKey returns the current KEK of f, and the provider it came from. A ring
// that holds that KEK already asks no provider.
func (r *Ring) rootKey(ctx context.Context, f *file) (Provider, *secret.Bytes, error) {
	if r.keys != nil && r.file.Root.Provider == f.Root.Provider && len(r.keys.keks) == len(f.KEKs) {
		if held := r.keys.kek(); bytes.Equal(checkValue(held, f.ID, kindKEK, uint32(len(f.KEKs))), f.KEKs[len(f.KEKs)-1].Check) {
			kek, err := held.Clone()
			return r.provider, kek, err
		}
	}
	p := r.provider
	if p == nil || p.URI() != f.Root.Provider {
		var err error
		if p, err = r.opts.Provider(ctx, f.Root.Provider); err != nil {
			return nil, nil, err
		}
	}
	kek, err := f.unwrapRoot(ctx, p)
	return p, kek, err
}

func readFile(path string) ([]byte, error) {
	f, err := disk.OpenRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrMissing
	case err != nil:
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFileSize+1))
}

// Close wipes the keys. No key of the ring may be in use any more.
func (r *Ring) Close() error {
	r.changing.Lock()
	defer r.changing.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		r.keys.close()
	}
	return nil
}

// Path returns the path of the key file, with symbolic links resolved.
func (r *Ring) Path() string { return r.path }

// ID returns the identity of the key file, 32 hex digits; it never changes.
func (r *Ring) ID() string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.file.ID
}

// Generation returns the generation of the key file as loaded.
func (r *Ring) Generation() uint64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.file.Generation
}

// Current returns the version of the data key for new data.
func (r *Ring) Current() uint32 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return uint32(len(r.keys.deks))
}

// DEK returns the data key of a version, 32 bytes. It stays valid, and belongs
// to the ring, until Close. An unknown version makes the ring read the key file
// again; one that is not there either is ErrUnknownVersion.
func (r *Ring) DEK(version uint32) (*secret.Bytes, error) {
	if key := r.dek(version); key != nil {
		return key, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), reloadTimeout)
	defer cancel()
	if _, err := r.Reload(ctx); err != nil {
		return nil, fmt.Errorf("find data key %d: %w", version, err)
	}
	if key := r.dek(version); key != nil {
		return key, nil
	}
	return nil, fmt.Errorf("find data key %d in %s: %w", version, r.path, ErrUnknownVersion)
}

func (r *Ring) dek(version uint32) *secret.Bytes {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if version == 0 || int64(version) > int64(len(r.keys.deks)) {
		return nil
	}
	return r.keys.deks[version-1]
}

// Subkey derives the key for a purpose from the data key of a version, by
// HKDF-SHA256: 32 bytes, which the caller closes. Errors are as for DEK.
func (r *Ring) Subkey(purpose string, version uint32) (*secret.Bytes, error) {
	dek, err := r.DEK(version)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, dek.Reveal(), []byte(r.ID()), formatV1+" subkey "+purpose, keySize)
	if err != nil {
		return nil, fmt.Errorf("derive subkey: %w", err)
	}
	return secret.From(key)
}

// Reload reads the key file if it has changed and takes over its new keys; keys
// handed out before stay valid. It reports whether there was a change. On an
// error, which is as for Open, the ring keeps what it has.
func (r *Ring) Reload(ctx context.Context) (changed bool, err error) {
	r.changing.Lock()
	defer r.changing.Unlock()
	return r.reloadLocked(ctx)
}

func (r *Ring) reloadLocked(ctx context.Context) (changed bool, err error) {
	data, err := readFile(r.path)
	if err == nil && bytes.Equal(data, r.data) {
		return false, nil
	}
	var l *loaded
	if err == nil {
		l, err = r.load(ctx)
	}
	if err == nil {
		err = r.adopt(l)
	}
	if err != nil {
		return false, fmt.Errorf("reload key file %s: %w", r.path, err)
	}
	return true, nil
}

// adopt replaces the content of the ring by a later generation of it. It takes
// over l, also on error. The caller holds r.changing.
func (r *Ring) adopt(l *loaded) error {
	if err := r.follows(l); err != nil {
		l.keys.close()
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// Keys that both have: keep the old ones, which may be in use.
	for have, set := range map[*[]*secret.Bytes][]*secret.Bytes{&r.keys.keks: l.keys.keks, &r.keys.deks: l.keys.deks} {
		for _, s := range set[:len(*have)] {
			s.Close()
		}
		*have = append(*have, set[len(*have):]...)
	}
	r.file, r.data, r.provider = l.file, l.data, l.provider
	return nil
}

// follows tells whether l is a later generation of what the ring has.
func (r *Ring) follows(l *loaded) error {
	switch {
	case r.closed:
		return errors.New("key file is closed")
	case l.file.ID != r.file.ID:
		return fmt.Errorf("it is another key file now (id %s, was %s): %w", l.file.ID, r.file.ID, ErrWrongKey)
	case l.file.Generation < r.file.Generation && !r.opts.AllowRollback:
		return fmt.Errorf("generation %d, had %d: %w", l.file.Generation, r.file.Generation, ErrRollback)
	case len(l.keys.keks) < len(r.keys.keks) || len(l.keys.deks) < len(r.keys.deks):
		return fmt.Errorf("it has lost keys: %w", ErrRollback)
	}
	for have, set := range map[*[]*secret.Bytes][]*secret.Bytes{&r.keys.keks: l.keys.keks, &r.keys.deks: l.keys.deks} {
		for i, s := range *have {
			if !s.Equal(set[i]) {
				return fmt.Errorf("key %d is another one now: %w", i+1, ErrCorrupt)
			}
		}
	}
	return nil
}

// Watch calls Reload every interval until ctx ends, and report with each change
// (nil) and each error. It is for processes that serve while keys rotate.
func (r *Ring) Watch(ctx context.Context, interval time.Duration, report func(error)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if changed, err := r.Reload(ctx); (changed || err != nil) && ctx.Err() == nil {
			report(err)
		}
	}
}
