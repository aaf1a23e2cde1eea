package keyring_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/keys/keyring"
)

// gate is a provider that can go away, and counts its calls.
type gate struct {
	keyring.Provider
	err   atomic.Pointer[error]
	calls atomic.Int64
	slow  time.Duration
}

func (g *gate) enter(ctx context.Context) error {
	g.calls.Add(1)
	if g.slow > 0 {
		select {
		case <-time.After(g.slow):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), keyring.ErrUnreachable)
		}
	}
	if err := g.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (g *gate) Wrap(ctx context.Context, key *secret.Bytes, aad []byte) ([]byte, string, error) {
	if err := g.enter(ctx); err != nil {
		return nil, "", err
	}
	return g.Provider.Wrap(ctx, key, aad)
}

func (g *gate) Unwrap(ctx context.Context, blob, aad []byte) (*secret.Bytes, error) {
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	return g.Provider.Unwrap(ctx, blob, aad)
}

// TestRunningProcessFollows has a second ring, as of a mounted volume, while
// the first rotates.
func TestRunningProcessFollows(t *testing.T) {
	r, path := initRing(t, keyring.InitOptions{}, options)
	g := &gate{}
	opts := keyring.Options{Provider: func(ctx context.Context, uri string) (keyring.Provider, error) {
		p, err := byURI(ctx, uri)
		g.Provider = p
		return g, err
	}}
	running := openRing(t, path, opts)
	held, err := running.DEK(1)
	if err != nil {
		t.Fatal(err)
	}
	first, calls := string(held.Reveal()), g.calls.Load()

	// A new data key: found when it is asked for, without the provider.
	away := error(keyring.ErrUnreachable)
	g.err.Store(&away)
	if err := r.RotateDEK(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := dek(t, running, 2); got != dek(t, r, 2) || running.Current() != 2 {
		t.Error("the running process has another data key 2")
	}
	if g.calls.Load() != calls {
		t.Error("a new data key needed the provider")
	}

	// A new key encryption key: needs the provider, and works on without it.
	if err := r.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if changed, err := running.Reload(t.Context()); changed || !errors.Is(err, keyring.ErrUnreachable) {
		t.Errorf("reload without the provider: %v, %v; want ErrUnreachable", changed, err)
	}
	if _, err := running.DEK(3); !errors.Is(err, keyring.ErrUnreachable) {
		t.Errorf("an unknown data key without the provider: %v, want ErrUnreachable", err)
	}
	if dek(t, running, 2) != dek(t, r, 2) {
		t.Error("known data keys went away with the provider")
	}
	g.err.Store(nil)
	if changed, err := running.Reload(t.Context()); !changed || err != nil {
		t.Errorf("reload with the provider back: %v, %v", changed, err)
	}
	if changed, err := running.Reload(t.Context()); changed || err != nil {
		t.Errorf("reload without a change: %v, %v", changed, err)
	}
	if running.Generation() != 3 || string(held.Reveal()) != first {
		t.Errorf("generation %d, and the key in use changed: %v", running.Generation(), string(held.Reveal()) != first)
	}

	// Another root key altogether.
	if err := r.Rewrap(t.Context(), newRoot(t, filepath.Dir(path), "other"), false); err != nil {
		t.Fatal(err)
	}
	if changed, err := running.Reload(t.Context()); !changed || err != nil {
		t.Errorf("reload after rewrap: %v, %v", changed, err)
	}
}

func TestReloadRefuses(t *testing.T) {
	r, path := initRing(t, keyring.InitOptions{}, options)
	_, foreign := initRing(t, keyring.InitOptions{}, options)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		change func()
		want   error
	}{
		"removed": {func() { os.Remove(path) }, keyring.ErrMissing},
		"damaged": {func() { os.WriteFile(path, good[:len(good)/2], 0o600) }, keyring.ErrCorrupt},
		"foreign": {func() { copyFile(t, foreign, path) }, keyring.ErrWrongKey},
	} {
		tc.change()
		if changed, err := r.Reload(t.Context()); changed || !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, %v; want %v", name, changed, err, tc.want)
		}
		if err := r.Rotate(t.Context()); !errors.Is(err, tc.want) {
			t.Errorf("%s: rotate: %v; want %v", name, err, tc.want)
		}
		dek(t, r, 1)
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Reload(t.Context()); err != nil {
			t.Errorf("%s: after it was restored: %v", name, err)
		}
	}
}

func TestProviderSlow(t *testing.T) {
	_, path := initRing(t, keyring.InitOptions{}, options)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := keyring.Open(ctx, path, keyring.Options{Provider: func(ctx context.Context, uri string) (keyring.Provider, error) {
		p, err := byURI(ctx, uri)
		return &gate{Provider: p, slow: time.Hour}, err
	}})
	if !errors.Is(err, keyring.ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("slow provider: %v, want ErrUnreachable after the deadline", err)
	}
}

func TestWatch(t *testing.T) {
	r, path := initRing(t, keyring.InitOptions{}, options)
	running := openRing(t, path, options)
	ctx, cancel := context.WithCancel(t.Context())
	reports := make(chan error, 100)
	done := make(chan struct{})
	go func() {
		running.Watch(ctx, time.Millisecond, func(err error) {
			select {
			case reports <- err:
			default: // enough of them
			}
		})
		close(done)
	}()
	if err := r.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-reports; err != nil || running.Generation() != 2 {
		t.Errorf("report %v, generation %d; want nil and 2", err, running.Generation())
	}
	os.Remove(path)
	if err := <-reports; !errors.Is(err, keyring.ErrMissing) {
		t.Errorf("report %v, want ErrMissing", err)
	}
	cancel()
	<-done
}

// TestConcurrent rotates, reloads and reads at once; with -race it tells more.
func TestConcurrent(t *testing.T) {
	r, path := initRing(t, keyring.InitOptions{}, options)
	running := openRing(t, path, options)
	first := dek(t, r, 1)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				for v := uint32(1); v <= running.Current(); v++ {
					k, err := running.DEK(v)
					if err != nil || v == 1 && string(k.Reveal()) != first {
						t.Errorf("data key %d: %v", v, err)
						return
					}
				}
				if _, err := running.Reload(t.Context()); err != nil {
					t.Error(err)
					return
				}
				running.Status()
			}
		})
	}
	for i := range 20 {
		err := r.Rotate(t.Context())
		if i%2 == 0 {
			err = r.RotateDEK(t.Context())
		}
		if err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wg.Wait()
	if _, err := running.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a, b := running.Status(), r.Status(); a.Generation != b.Generation || running.Current() != 11 {
		t.Errorf("generation %d and %d, data key %d; want 21 and 11", a.Generation, b.Generation, running.Current())
	}
}

// TestTwoWriters lets rings of one file rotate at once: each change is made
// once, or is told to be busy.
func TestTwoWriters(t *testing.T) {
	r, path := initRing(t, keyring.InitOptions{}, options)
	var wg sync.WaitGroup
	var made atomic.Int64
	for range 4 {
		w := openRing(t, path, options)
		wg.Go(func() {
			for range 10 {
				switch err := w.RotateDEK(t.Context()); {
				case err == nil:
					made.Add(1)
				case !errors.Is(err, keyring.ErrBusy):
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if _, err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := int64(r.Current()), made.Load()+1; got != want || made.Load() == 0 {
		t.Errorf("%d data keys after %d changes, want %d", got, made.Load(), want)
	}
}
