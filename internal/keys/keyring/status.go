package keyring

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/disk"
)

// A KeyInfo describes one version of a key.
type KeyInfo struct {
	Version uint32    `json:"version"`
	Created time.Time `json:"created"`
	Check   string    `json:"check"` // first 8 bytes of the key check value, in hex
}

// Status is what a key file tells without any key. Only a Ring, which has
// authenticated the file, can vouch for it.
type Status struct {
	Path             string     `json:"path"`
	Format           string     `json:"format"`
	ID               string     `json:"id"`
	Authenticated    bool       `json:"authenticated"`
	Generation       uint64     `json:"generation"`
	Written          time.Time  `json:"written"`
	Provider         string     `json:"provider"`
	RootKeyVersion   string     `json:"root_key_version,omitempty"`
	RootSince        time.Time  `json:"root_since"`
	KEKs             []KeyInfo  `json:"keks"` // the last one is current
	DEKs             []KeyInfo  `json:"deks"`
	LastRotation     time.Time  `json:"last_rotation"`
	RotateDays       int        `json:"rotate_days,omitempty"`
	NextDue          *time.Time `json:"next_due,omitempty"`
	Record           string     `json:"record,omitempty"`
	RecordGeneration uint64     `json:"record_generation,omitempty"`
	PrevGeneration   uint64     `json:"previous_generation,omitempty"`
	Warnings         []string   `json:"warnings,omitempty"`
}

// ReadStatus describes the key file at path without unwrapping a key, so it
// works when the key manager is away. Errors: ErrMissing, ErrCorrupt,
// ErrUnsupported.
func ReadStatus(path string, opts Options) (*Status, error) {
	path, err := resolve(path)
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	f, err := decodeAt(path)
	if err != nil {
		return nil, fmt.Errorf("read key file %s: %w", path, err)
	}
	return newStatus(path, f, opts.withDefaults()), nil
}

// Status describes the key file as loaded.
func (r *Ring) Status() *Status {
	r.mu.RLock()
	defer r.mu.RUnlock()
	s := newStatus(r.path, r.file, r.opts)
	s.Authenticated = true
	return s
}

func newStatus(path string, f *file, opts Options) *Status {
	s := &Status{
		Path: path, Format: f.Format, ID: f.ID, Generation: f.Generation, Written: f.Written,
		Provider: f.Root.Provider, RootKeyVersion: f.Root.KeyVersion, RootSince: f.Root.Since,
		KEKs: infos(f.KEKs), DEKs: infos(f.DEKs), RotateDays: f.RotateDays, Record: recordPath(f, opts),
	}
	s.LastRotation = s.KEKs[len(s.KEKs)-1].Created
	now := opts.Now()
	if now.Before(f.Written.Add(-time.Minute)) {
		s.warn("the clock (%s) is before the last change (%s)", now.UTC().Format(time.RFC3339), f.Written.Format(time.RFC3339))
	}
	if f.RotateDays > 0 {
		due := s.LastRotation.AddDate(0, 0, f.RotateDays)
		s.NextDue = &due
		if now.After(due) {
			s.warn("rotation was due %s", due.Format(time.DateOnly))
		}
	}
	s.lookAround(f)
	return s
}

func (s *Status) warn(format string, args ...any) {
	s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...))
}

// lookAround adds what lies beside the key file and in its record.
func (s *Status) lookAround(f *file) {
	if s.Record != "" {
		g, exists, err := readRecord(s.Record, f.ID)
		s.RecordGeneration = g
		switch {
		case err != nil:
			s.warn("%v", err)
		case !exists:
			s.warn("generation record %s is missing", s.Record)
		case g > f.Generation:
			s.warn("generation %d is older than %d, which is on record", f.Generation, g)
		case g < f.Generation:
			s.warn("the record has generation %d only; the next rotation corrects it", g)
		}
	}
	switch prev, err := decodeAt(prevPath(s.Path)); {
	case err == nil:
		s.PrevGeneration = prev.Generation
		if prev.Generation > f.Generation {
			s.warn("the previous generation beside it is newer: %d", prev.Generation)
		}
	case !errors.Is(err, ErrMissing):
		s.warn("previous generation %s: %v", prevPath(s.Path), err)
	}
	if err := refuseStrays(s.Path); err != nil {
		s.warn("%v", err)
	}
	if temps, err := disk.Strays(s.Path); err == nil {
		for _, t := range temps {
			s.warn("left over by an interrupted write: %s; the next rotation removes it", t)
		}
	}
	if w := secret.Warning(); w != "" {
		s.warn("%s", w)
	}
}

func infos(entries []entry) []KeyInfo {
	out := make([]KeyInfo, len(entries))
	for i, e := range entries {
		out[i] = KeyInfo{e.Version, e.Created, hex.EncodeToString(e.Check[:8])}
	}
	return out
}

// A Finding is the result of one check; Err is nil if it holds.
type Finding struct {
	Name string
	Err  error
}

// Check proves, before anything depends on it, that the key file opens anew
// and that its provider wraps and unwraps with the rights it has.
func (r *Ring) Check(ctx context.Context) []Finding {
	return []Finding{
		{"every key unwraps and has its check value", r.checkReopen(ctx)},
		{"the provider wraps and unwraps", r.checkProvider(ctx)},
		{"the generation is the one on record", r.checkRecord(ctx)},
		{"only the owner can change the key file", r.checkMode()},
		{"no other version lies beside it", refuseStrays(r.path)},
	}
}

func (r *Ring) checkReopen(ctx context.Context) error {
	r.mu.RLock()
	opts, p := r.opts, r.provider
	r.mu.RUnlock()
	opts.AllowRollback = true                                                         // a check of its own
	opts.Provider = func(context.Context, string) (Provider, error) { return p, nil } // which may know a passphrase
	again, err := Open(ctx, r.path, opts)
	if err != nil {
		return err
	}
	defer again.Close()
	return r.equal(again)
}

func (r *Ring) equal(o *Ring) error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.file.Generation == o.file.Generation && string(r.data) != string(o.data) {
		return fmt.Errorf("the key file changed without a new generation: %w", ErrCorrupt)
	}
	return nil
}

func (r *Ring) checkProvider(ctx context.Context) error {
	r.mu.RLock()
	p, aad := r.provider, place("probe", r.file.ID, rand.Text(), 0, nil)
	r.mu.RUnlock()
	probe, err := secret.Random(keySize)
	if err != nil {
		return err
	}
	defer probe.Close()
	blob, _, err := p.Wrap(ctx, probe, aad)
	if err != nil {
		return fmt.Errorf("wrap with %s: %w", p.URI(), err)
	}
	back, err := p.Unwrap(ctx, blob, aad)
	if err != nil {
		return fmt.Errorf("unwrap with %s: %w", p.URI(), err)
	}
	defer back.Close()
	if !probe.Equal(back) {
		return fmt.Errorf("unwrap with %s: it gave another key than it wrapped: %w", p.URI(), ErrWrongKey)
	}
	return nil
}

// checkRecord compares the generation with those on record; a file that was
// replaced meanwhile is read again, see load.
func (r *Ring) checkRecord(ctx context.Context) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	for {
		highest, err := recorded(ctx, r.file, r.path, r.provider, r.opts)
		if err != nil || highest <= r.file.Generation {
			return err
		}
		if changed, err := r.reloadLocked(ctx); err != nil {
			return err
		} else if !changed {
			return fmt.Errorf("generation %d, on record %d: %w", r.file.Generation, highest, ErrRollback)
		}
	}
}

func (r *Ring) checkMode() error {
	fi, err := os.Stat(r.path)
	if err != nil {
		return err
	}
	if mode := fi.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("others may write to %s, its mode is %04o: chmod 600 %s", r.path, mode, r.path)
	}
	return nil
}
