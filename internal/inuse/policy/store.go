package policy

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/veildb/veildb/internal/sql/schema"
)

// A Source is where the rules of an installation are kept: a file, or a table
// that several gates share. It is safe for concurrent use.
type Source interface {
	// Read returns the text of the rules.
	Read(ctx context.Context) ([]byte, error)
	// Write replaces the text old by text, whole or not at all. It fails with
	// ErrConflict if the text is not old any more.
	Write(ctx context.Context, old, text []byte) error
}

// A File keeps rules in a file.
type File struct {
	Path string
	// Replace replaces a file atomically.
	Replace func(path string, data []byte, perm fs.FileMode) error
}

// Read implements Source.
func (f *File) Read(context.Context) ([]byte, error) {
	text, err := os.ReadFile(f.Path)
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	return text, nil
}

// Write implements Source. It keeps the mode of the file.
func (f *File) Write(ctx context.Context, old, text []byte) error {
	now, err := f.Read(ctx)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, old) {
		return ErrConflict
	}
	info, err := os.Stat(f.Path)
	if err != nil {
		return fmt.Errorf("write rules: %w", err)
	}
	if err := f.Replace(f.Path, text, info.Mode().Perm()); err != nil {
		return fmt.Errorf("write rules: %w", err)
	}
	return nil
}

// A Version is a Set and its number, which grows with each change.
type Version struct {
	Number uint64
	*Set
	text []byte
}

// A Store holds the rules of an installation. It is safe for concurrent use.
type Store struct {
	source  Source
	names   schema.Names
	current atomic.Pointer[Version]
	trouble atomic.Pointer[error]

	mu sync.Mutex // serialises changes
}

// NewStore reads the rules of a source. Errors: those of the source, ErrRule.
func NewStore(ctx context.Context, source Source, names schema.Names) (*Store, error) {
	s := &Store{source: source, names: names}
	if _, err := s.Reload(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Current returns the rules that count now. Whoever keeps a View compares the
// number from time to time, best with each statement.
func (s *Store) Current() *Version { return s.current.Load() }

// Reload reads the source again and reports whether the rules are other ones
// now. On an error, one of the source or ErrRule, the ones before go on.
func (s *Store) Reload(ctx context.Context) (changed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.note(err) }()
	text, err := s.source.Read(ctx)
	if err != nil {
		return false, err
	}
	return s.use(text)
}

// Trouble says why the current rules may not be those of the source: what was
// wrong when it was read last. It is nil if nothing was.
func (s *Store) Trouble() error {
	if err := s.trouble.Load(); err != nil {
		return *err
	}
	return nil
}

func (s *Store) note(err error) {
	if err == nil {
		s.trouble.Store(nil)
	} else {
		s.trouble.Store(&err)
	}
}

// use makes text the current rules. The caller holds the lock.
func (s *Store) use(text []byte) (changed bool, err error) {
	before := s.current.Load()
	if before != nil && bytes.Equal(before.text, text) {
		return false, nil
	}
	set, err := Parse(text, s.names)
	if err != nil {
		return false, err
	}
	v := &Version{Number: 1, Set: set, text: text}
	if before != nil {
		v.Number = before.Number + 1
	}
	s.current.Store(v)
	return true, nil
}

// Watch looks at the source in intervals until ctx ends, and takes over other
// rules once it has read the same twice, so that it does not take the half of a
// file that is being written. It tells report of each change, and of each new
// reason why there was none; report must be quick.
func (s *Store) Watch(ctx context.Context, interval time.Duration, report func(*Version, error)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	w := watcher{store: s, report: report}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.look(ctx)
		}
	}
}

// A watcher is what Watch remembers between two looks.
type watcher struct {
	store  *Store
	report func(*Version, error)
	last   []byte // read last time
	reason string // reported last
}

func (w *watcher) look(ctx context.Context) {
	settled, changed, err := w.read(ctx)
	if !settled && err == nil {
		return
	}
	if changed {
		w.report(w.store.Current(), nil)
	}
	if ctx.Err() != nil {
		return
	}
	w.store.note(err)
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	if reason != "" && reason != w.reason {
		w.report(w.store.Current(), fmt.Errorf("keep rules %d: %w", w.store.Current().Number, err))
	}
	w.reason = reason
}

// read reads the source and uses what it read twice. It holds the lock all the while:
// what is read before a change of ours must not be used after it.
func (w *watcher) read(ctx context.Context) (settled, changed bool, err error) {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	text, err := w.store.source.Read(ctx)
	if err != nil {
		return false, false, err
	}
	settled = bytes.Equal(text, w.last)
	if w.last = text; settled {
		changed, err = w.store.use(text)
	}
	return settled, changed, err
}

// Import adds rules in the vendor's form for an account, which must be one of
// the admins. Rules of the same name, and the lists of accounts if there are
// any, are replaced. Errors: ErrDenied, ErrRule, ErrConflict, those of the
// source.
func (s *Store) Import(ctx context.Context, user, host string, document []byte) error {
	return s.change(ctx, user, host, func(d *Document) error {
		in, _, err := ParseVendor(document)
		if err != nil {
			return err
		}
		if _, err := Compile(in, s.names); err != nil {
			return err // with the lines of the document that came in
		}
		d.Merge(in)
		return nil
	})
}

// Delete removes a rule for an account, which must be one of the admins.
// Errors: ErrDenied, ErrUnknownRule, ErrConflict, those of the source.
func (s *Store) Delete(ctx context.Context, user, host, name string) error {
	return s.change(ctx, user, host, func(d *Document) error { return d.remove(name) })
}

// change writes changed rules to the source and then uses them. The source is
// read first: another gate may have changed it.
func (s *Store) change(ctx context.Context, user, host string, f func(*Document) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := s.source.Read(ctx)
	if err != nil {
		return err
	}
	now, err := Parse(text, s.names)
	if err != nil {
		return err
	}
	if !now.MayChange(user, host) {
		return ErrDenied
	}
	d := now.doc
	if err := f(&d); err != nil {
		return err
	}
	changed := d.Encode()
	if _, err := Parse(changed, s.names); err != nil {
		return err
	}
	if err := s.source.Write(ctx, text, changed); err != nil {
		return err
	}
	_, err = s.use(changed)
	return err
}
