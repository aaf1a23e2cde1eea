package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/keys/keyring"
)

// An openedVolume is a volume with the key file it was opened with.
type openedVolume struct {
	*volume.Dir
	ring *keyring.Ring
}

// Close releases the volume, then its keys.
func (v *openedVolume) Close() error {
	err := v.Dir.Close()
	if v.ring != nil {
		err = errors.Join(err, v.ring.Close())
	}
	return err
}

// openVolume opens the volume lower for this process alone.
func openVolume(ctx context.Context, env *Env, lower, key, purpose string) (*openedVolume, error) {
	return openVolumeWith(ctx, env, lower, key, volume.DirOptions{Purpose: purpose})
}

// openStill is openVolume for who does not change it.
func openStill(ctx context.Context, env *Env, lower, key, purpose string) (*openedVolume, error) {
	return openVolumeWith(ctx, env, lower, key, volume.DirOptions{Purpose: purpose, ReadOnly: true})
}

func openVolumeWith(ctx context.Context, env *Env, lower, key string, opts volume.DirOptions) (*openedVolume, error) {
	v := new(openedVolume)
	var err error
	v.Dir, err = volume.OpenDir(lower, v.keys(ctx, env, key), opts)
	if err != nil {
		if v.ring != nil {
			v.ring.Close()
		}
		return nil, hintCopy(err)
	}
	return v, nil
}

// hintCopy names the way back from a configuration that is damaged or missing.
func hintCopy(err error) error {
	if errors.Is(err, volume.ErrCorrupt) {
		err = &Error{Err: err, Hint: "the configuration has a copy; to use it: veildb volume check LOWER --key KEYFILE --repair"}
	}
	return err
}

// keys returns the function that opens the key file once it is needed.
func (v *openedVolume) keys(ctx context.Context, env *Env, key string) func() (volume.KeySource, error) {
	return func() (volume.KeySource, error) {
		var err error
		if v.ring == nil {
			v.ring, err = openKeyring(ctx, env, key)
		}
		if err != nil {
			return nil, err // not a nil *Ring in an interface
		}
		return v.ring, nil
	}
}

// viewVolume opens the volume lower for looking at it, beside others. Without a
// key file nothing is authenticated.
func viewVolume(ctx context.Context, env *Env, lower, key string) (*openedVolume, error) {
	v := new(openedVolume)
	var keys volume.KeySource
	if _, err := keyPath(key); err == nil {
		if keys, err = v.keys(ctx, env, key)(); err != nil {
			return nil, err
		}
	}
	var err error
	if v.Dir, err = volume.ViewDir(lower, keys); err != nil {
		if v.ring != nil {
			v.ring.Close()
		}
		return nil, hintCopy(err)
	}
	return v, nil
}

// counted prints a number of things for people: "1 file", "2 files", "0 files".
// Words with another plural than one with an s bring it along.
func counted[N int | int64 | uint64](n N, word string, plural ...string) string {
	switch {
	case n == 1:
	case len(plural) > 0:
		word = plural[0]
	default:
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}

// megabytes prints a size for people.
func megabytes(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return counted(n, "byte")
}
