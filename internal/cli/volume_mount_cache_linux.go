package cli

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fusefs"
	"github.com/veildb/veildb/internal/atrest/volume"
)

// chooseCache replaces --cache auto by the mode that suits what src holds. Of a
// database of PostgreSQL, it is known that all its recovery relies on is synced,
// and that writing through costs it much; see docs/volume-mount.md.
func (o *mountOptions) chooseCache(src *source) error {
	if o.cache != cacheAuto {
		return nil
	}
	o.cache = cacheThrough
	postgres, err := src.has("PG_VERSION")
	if postgres {
		o.cache = cacheBack
	}
	return err
}

// cacheMode is what the file system calls --cache.
func (o *mountOptions) cacheMode() fusefs.CacheMode {
	if o.cache == cacheBack {
		return fusefs.WriteBack
	}
	return fusefs.WriteThrough
}

// has reports whether there is a file of that name at the top of what is mounted.
func (s *source) has(name string) (bool, error) {
	root := int(s.root.Fd())
	if s.dir != nil && s.dir.Config().Names == volume.NamesEncrypted {
		names, err := volume.LoadNames(root, s.keys)
		switch {
		case errors.Is(err, volume.ErrNoNames):
			return false, nil
		case err != nil:
			return false, err
		}
		lower, err := names.Lower(name)
		if err != nil {
			return false, err
		}
		name = lower.Name
	}
	err := unix.Faccessat(root, name, unix.F_OK, 0)
	if errors.Is(err, unix.ENOENT) {
		return false, nil
	}
	return err == nil, err
}
