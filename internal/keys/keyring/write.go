package keyring

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/disk"
)

// InitOptions tell what a new key file is like.
type InitOptions struct {
	Record     string // path of a generation record to be made; "" for none
	RotateDays int    // after how many days Status calls a rotation due; 0 for never
}

// Init makes the key file path with one KEK, wrapped by p, and one DEK, and
// opens it. p must prove that it unwraps what it wraps before anything is
// written. Errors: ErrExists, ErrStray, ErrBusy, and those of p.
func Init(ctx context.Context, path string, p Provider, init InitOptions, opts Options) (_ *Ring, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("make key file: %w", err)
	}
	r := &Ring{path: path, opts: opts.withDefaults(), provider: p}
	lock, err := lockForWrite(path)
	if err != nil {
		return nil, fmt.Errorf("make key file: %w", err)
	}
	defer lock.Close()
	if err := r.refuseExisting(init); err != nil {
		return nil, fmt.Errorf("make key file: %w", err)
	}

	id := make([]byte, 16)
	rand.Read(id) // never fails, see crypto/rand
	now := r.now()
	first := []entry{{Version: 1, Created: now}}
	f := &file{
		Format: formatV1, ID: hex.EncodeToString(id), Generation: 1, Written: now,
		RotateDays: init.RotateDays, Record: init.Record,
		Root: root{Since: now}, KEKs: first, DEKs: slices.Clone(first),
	}
	k := &keys{}
	defer func() {
		if err != nil {
			k.close()
		}
	}()
	for _, set := range []*[]*secret.Bytes{&k.keks, &k.deks} {
		key, err := secret.Random(keySize)
		if err != nil {
			return nil, fmt.Errorf("make key file: %w", err)
		}
		*set = append(*set, key)
	}
	if err := f.wrapRoot(ctx, k.kek(), p); err != nil {
		return nil, fmt.Errorf("make key file: %w", err)
	}
	data, err := r.prepare(ctx, f, k, p, true)
	if err != nil {
		return nil, fmt.Errorf("make key file: %w", err)
	}
	// The record first: a key file whose record is missing does not open.
	if err := r.record(ctx, f, p); err != nil {
		return nil, fmt.Errorf("make key file: %w", err)
	}
	if err := disk.AtomicWriteFS(r.opts.FS, path, data, 0o600); err != nil {
		return nil, fmt.Errorf("make key file: %w", err)
	}
	r.file, r.data, r.keys = f, data, k
	return r, nil
}

func (r *Ring) now() time.Time { return r.opts.Now().UTC().Truncate(time.Second) }

func (r *Ring) refuseExisting(init InitOptions) error {
	names := []string{r.path, prevPath(r.path)}
	if init.Record != "" {
		names = append(names, init.Record)
	}
	for _, name := range names {
		if _, err := os.Lstat(name); err == nil {
			return fmt.Errorf("%s: %w", name, ErrExists)
		}
	}
	return refuseStrays(r.path)
}

// prepare wraps the keys of f, encodes it and proves that the result opens; if
// the root blob is new, that p unwraps it.
func (r *Ring) prepare(ctx context.Context, f *file, k *keys, p Provider, newRoot bool) ([]byte, error) {
	if err := f.wrapAll(k); err != nil {
		return nil, err
	}
	data, err := f.encode(k.kek())
	if err != nil {
		return nil, err
	}
	back, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("read back key file: %w", err)
	}
	var kek *secret.Bytes
	if newRoot {
		kek, err = back.unwrapRoot(ctx, p)
	} else {
		kek, err = k.kek().Clone()
	}
	if err != nil {
		return nil, fmt.Errorf("prove new key: %w", err)
	}
	proof, err := back.unwrapAll(data, kek)
	if err != nil {
		return nil, fmt.Errorf("prove new key: %w", err)
	}
	proof.close()
	*f = *back
	return data, nil
}

// A draft is a key file about to be written as the next generation.
type draft struct {
	file     *file
	keys     keys // the secrets are the ring's, and new ones
	provider Provider
	newRoot  bool // the root blob is new
	now      time.Time
	added    []*secret.Bytes
}

// add appends a random key as the next version.
func (d *draft) add(entries *[]entry, secrets *[]*secret.Bytes) error {
	if len(*entries) >= maxEntries {
		return fmt.Errorf("more than %d versions: %w", maxEntries, ErrUnsupported)
	}
	key, err := secret.Random(keySize)
	if err != nil {
		return err
	}
	d.added = append(d.added, key)
	*entries = append(*entries, entry{Version: uint32(len(*entries) + 1), Created: d.now})
	*secrets = append(*secrets, key)
	return nil
}

// addKEK adds a KEK and lets the provider wrap it.
func (d *draft) addKEK(ctx context.Context) error {
	d.newRoot = true
	if err := d.add(&d.file.KEKs, &d.keys.keks); err != nil {
		return err
	}
	return d.file.wrapRoot(ctx, d.keys.kek(), d.provider)
}

// Rotate makes a new KEK and wraps all data keys with it. Data written before
// stays readable, and the data keys are the same: whoever has an old key file
// and its root key can still read. Errors are as for Open, and ErrBusy.
func (r *Ring) Rotate(ctx context.Context) error {
	return r.update(ctx, "rotate key", func(d *draft) error {
		return d.addKEK(ctx)
	})
}

// RotateDEK makes a new data key for new data. Old data keeps its key until it
// is written anew. Errors are as for Rotate.
func (r *Ring) RotateDEK(ctx context.Context) error {
	return r.update(ctx, "rotate data key", func(d *draft) error {
		return d.add(&d.file.DEKs, &d.keys.deks)
	})
}

// Rewrap moves the key file to another provider, with a new KEK that the old
// root key has never seen. A root key that was given up by an earlier Rewrap is
// ErrReused unless allowReuse is set; other errors are as for Rotate.
func (r *Ring) Rewrap(ctx context.Context, to Provider, allowReuse bool) error {
	return r.update(ctx, "rewrap key file", func(d *draft) error {
		f, old := d.file, rootName(d.file.Root)
		d.provider, f.Root = to, root{Since: d.now}
		if err := d.addKEK(ctx); err != nil {
			return err
		}
		name := rootName(f.Root)
		if slices.Contains(f.Retired, name) && !allowReuse {
			return fmt.Errorf("use %s: %w", to.URI(), ErrReused)
		}
		if name != old && old != "" && !slices.Contains(f.Retired, old) {
			f.Retired = append(f.Retired, old)
		}
		return nil
	})
}

// AcceptRollback makes the key file, which is older than the record tells, the
// newest generation. The ring must have been opened with AllowRollback.
func (r *Ring) AcceptRollback(ctx context.Context) error {
	return r.update(ctx, "accept older key file", func(*draft) error { return nil })
}

// rootName identifies a root key: a key version that is a fingerprint names the
// key wherever it lies, a mere number only together with the provider.
func rootName(r root) string {
	switch {
	case r.KeyVersion == "":
		return ""
	case len(r.KeyVersion) >= 32:
		return r.KeyVersion
	}
	return r.Provider + "#" + r.KeyVersion
}

func lockForWrite(path string) (*disk.FileLock, error) { return disk.Lock(lockPath(path)) }

// update changes the key file: it takes the lock, reads the newest generation,
// lets change edit a draft of the next one, proves that it opens, keeps the
// present file as KEYFILE.prev and replaces it.
func (r *Ring) update(ctx context.Context, what string, change func(*draft) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		}
	}()
	lock, err := lockForWrite(r.path)
	if err != nil {
		return err
	}
	defer lock.Close()
	r.changing.Lock()
	defer r.changing.Unlock()
	if err := refuseStrays(r.path); err != nil {
		return err
	}
	if err := r.removeTemps(); err != nil {
		return err
	}
	if _, err := r.reloadLocked(ctx); err != nil {
		return err
	}
	d, err := r.draft(ctx)
	if err != nil {
		return err
	}
	if err = change(d); err == nil {
		err = r.commit(ctx, d)
	}
	if err != nil {
		for _, s := range d.added {
			s.Close()
		}
	}
	return err
}

// draft returns a copy of the present file with the next generation number,
// higher than any on record. The caller holds r.changing.
func (r *Ring) draft(ctx context.Context) (*draft, error) {
	if r.closed {
		return nil, errors.New("key file is closed")
	}
	f := *r.file
	f.KEKs, f.DEKs, f.Retired = slices.Clone(f.KEKs), slices.Clone(f.DEKs), slices.Clone(f.Retired)
	highest, err := recorded(ctx, &f, r.path, r.provider, r.opts)
	if err != nil && !(r.opts.AllowRollback && errors.Is(err, ErrRollback)) {
		return nil, err
	}
	f.Generation, f.Written = max(f.Generation, highest)+1, r.now()
	return &draft{
		file: &f, provider: r.provider, now: f.Written,
		keys: keys{slices.Clone(r.keys.keks), slices.Clone(r.keys.deks)},
	}, nil
}

// commit writes the draft and makes it the content of the ring. After an error
// that follows the replacement of the file, the ring has the new content too.
func (r *Ring) commit(ctx context.Context, d *draft) error {
	data, err := r.prepare(ctx, d.file, &d.keys, d.provider, d.newRoot)
	if err != nil {
		return err
	}
	if err := disk.AtomicWriteFS(r.opts.FS, prevPath(r.path), r.data, 0o600); err != nil {
		return fmt.Errorf("keep previous generation: %w", err)
	}
	if err := disk.AtomicWriteFS(r.opts.FS, r.path, data, 0o600); err != nil {
		// The rename may have happened; the next Reload tells.
		return err
	}
	r.mu.Lock()
	r.file, r.data, r.provider = d.file, data, d.provider
	*r.keys = d.keys
	r.mu.Unlock()
	d.added = nil
	return r.record(ctx, d.file, d.provider)
}

// removeTemps removes what interrupted writes left. The caller holds the lock,
// so nobody is writing.
func (r *Ring) removeTemps() error {
	paths := []string{r.path, prevPath(r.path)}
	if rec := recordPath(r.file, r.opts); rec != "" {
		paths = append(paths, rec)
	}
	for _, path := range paths {
		strays, err := disk.Strays(path)
		if err != nil {
			return err
		}
		for _, s := range strays {
			if err := r.opts.FS.Remove(s); err != nil {
				return fmt.Errorf("remove left-over %s: %w", s, err)
			}
		}
	}
	return nil
}
