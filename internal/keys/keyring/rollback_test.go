package keyring_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/disk"
	"github.com/veildb/veildb/internal/keys/keyring"
)

func TestRollback(t *testing.T) {
	record := filepath.Join(t.TempDir(), "generation")
	r, path := initRing(t, keyring.InitOptions{Record: record}, options)
	old := filepath.Join(t.TempDir(), "old")
	copyFile(t, path, old)
	if err := r.RotateDEK(t.Context()); err != nil {
		t.Fatal(err)
	}
	openRing(t, path, options)

	copyFile(t, old, path)
	os.Remove(path + ".prev")
	wantOpen(t, "older file", path, options, keyring.ErrRollback)
	if _, err := r.Reload(t.Context()); !errors.Is(err, keyring.ErrRollback) {
		t.Errorf("reload of an older file: %v, want ErrRollback", err)
	}
	if s, err := keyring.ReadStatus(path, options); err != nil || !strings.Contains(strings.Join(s.Warnings, " "), "older") {
		t.Errorf("status of an older file: %+v, %v", s, err)
	}

	allow := options
	allow.AllowRollback = true
	asked := openRing(t, path, allow)
	if g := asked.Generation(); g != 1 {
		t.Errorf("by name, the older file has generation %d, want 1", g)
	}
	wantOpen(t, "after a look by name", path, options, keyring.ErrRollback)
	if err := asked.AcceptRollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if g := openRing(t, path, options).Generation(); g != 3 {
		t.Errorf("accepted as generation %d, want 3: 2 has been used", g)
	}
}

func TestPreviousGenerationTells(t *testing.T) {
	r, path := initRing(t, keyring.InitOptions{}, options)
	first := filepath.Join(t.TempDir(), "first")
	copyFile(t, path, first)
	for range 2 {
		if err := r.Rotate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	copyFile(t, first, path) // generation 1 beside a previous generation 2
	wantOpen(t, "older than the previous generation", path, options, keyring.ErrRollback)
}

func TestRecordFile(t *testing.T) {
	for name, tc := range map[string]struct {
		content string // "" removes it
		want    error
	}{
		"missing":          {"", keyring.ErrRollback},
		"another key file": {"veildb.generation/1 00112233445566778899aabbccddeeff 1\n", keyring.ErrRollback},
		"text":             {"hello\n", keyring.ErrCorrupt},
		"no number":        {"veildb.generation/1 ID x\n", keyring.ErrCorrupt},
		"negative":         {"veildb.generation/1 ID -1\n", keyring.ErrCorrupt},
		"higher":           {"veildb.generation/1 ID 2\n", keyring.ErrRollback},
		"lower":            {"veildb.generation/1 ID 0\n", nil},
	} {
		record := filepath.Join(t.TempDir(), "generation")
		r, path := initRing(t, keyring.InitOptions{Record: record}, options)
		if err := os.WriteFile(record, []byte(strings.Replace(tc.content, "ID", r.ID(), 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if tc.content == "" {
			os.Remove(record)
		}
		if tc.want == nil {
			openRing(t, path, options)
			continue
		}
		wantOpen(t, name, path, options, tc.want)

		// Elsewhere there is a good one.
		elsewhere := options
		elsewhere.Record = filepath.Join(t.TempDir(), "generation")
		if err := os.WriteFile(elsewhere.Record, []byte("veildb.generation/1 "+r.ID()+" 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		openRing(t, path, elsewhere)
	}
}

// recorder remembers generations, as a key manager with labels would.
type recorder struct {
	keyring.Provider
	mu  sync.Mutex
	gen map[string]uint64
	err error
}

func (r *recorder) Generation(_ context.Context, id string) (uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gen[id], r.err
}

func (r *recorder) RecordGeneration(_ context.Context, id string, g uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gen[id] = max(r.gen[id], g)
	return r.err
}

func TestProviderRecords(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ring")
	rec := &recorder{Provider: newRoot(t, dir, "root"), gen: map[string]uint64{}}
	opts := keyring.Options{Provider: func(context.Context, string) (keyring.Provider, error) { return rec, nil }}
	r, err := keyring.Init(t.Context(), path, rec, keyring.InitOptions{}, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	old := filepath.Join(t.TempDir(), "old")
	copyFile(t, path, old)
	if err := r.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rec.gen[r.ID()] != 2 {
		t.Errorf("recorded %v, want 2", rec.gen)
	}
	openRing(t, path, opts)
	copyFile(t, old, path)
	os.Remove(path + ".prev")
	wantOpen(t, "older than the provider tells", path, opts, keyring.ErrRollback)
	rec.err = keyring.ErrUnreachable
	wantOpen(t, "the provider does not tell", path, opts, keyring.ErrUnreachable)
}

// overtaken is a provider that has something happen between the reading of a key
// file and of its generation on record.
type overtaken struct {
	keyring.Provider
	meanwhile func()
}

func (o overtaken) Generation(context.Context, string) (uint64, error) {
	o.meanwhile()
	return 0, nil
}

func (o overtaken) RecordGeneration(context.Context, string, uint64) error { return nil }

// TestReplacedMeanwhile opens a key file of which two later generations are written
// after it was read.
func TestReplacedMeanwhile(t *testing.T) {
	r, path := initRing(t, keyring.InitOptions{}, options)
	rotate := sync.OnceFunc(func() {
		for range 2 {
			if err := r.Rotate(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	opened := openRing(t, path, keyring.Options{Provider: func(ctx context.Context, uri string) (keyring.Provider, error) {
		p, err := byURI(ctx, uri)
		return overtaken{p, rotate}, err
	}})
	if g := opened.Generation(); g != 3 {
		t.Errorf("generation %d, want 3", g)
	}
}

// TestCheckedMeanwhile checks a key file of which two later generations were written
// after it was opened, and then one that was put back.
func TestCheckedMeanwhile(t *testing.T) {
	writer, path := initRing(t, keyring.InitOptions{}, options)
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	opts := options
	opts.AllowRollback = true // as the command has it: what does not hold is a finding
	checked := openRing(t, path, opts)
	for range 2 {
		if err := writer.Rotate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range checked.Check(t.Context()) {
		if f.Err != nil {
			t.Errorf("%s: %v", f.Name, f.Err)
		}
	}
	if err := os.WriteFile(path, first, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, f := range openRing(t, path, opts).Check(t.Context()) {
		if behind := errors.Is(f.Err, keyring.ErrRollback); behind != strings.Contains(f.Name, "on record") {
			t.Errorf("put back: %s: %v", f.Name, f.Err)
		}
	}
}

func TestStrays(t *testing.T) {
	r, path := initRing(t, keyring.InitOptions{}, options)
	dir := filepath.Dir(path)
	for _, name := range []string{
		"ring~", "ring.tmp", "ring.bak", "ring.backup", "ring.old", "ring.new", "ring.orig", ".ring.swp", "#ring#", "ring.rpmsave", "ring.dpkg-old",
	} {
		stray := filepath.Join(dir, name)
		copyFile(t, path, stray)
		wantOpen(t, name, path, options, keyring.ErrStray)
		if _, err := keyring.Open(t.Context(), path, options); err == nil || !strings.Contains(err.Error(), stray) {
			t.Errorf("%s: %v does not name it", name, err)
		}
		if err := r.Rotate(t.Context()); !errors.Is(err, keyring.ErrStray) {
			t.Errorf("%s: rotate: %v, want ErrStray", name, err)
		}
		if s, err := keyring.ReadStatus(path, options); err != nil || len(s.Warnings) != 1 {
			t.Errorf("%s: status %+v, %v; want a warning", name, s, err)
		}
		os.Remove(stray)
	}
	// Other files are no business of ours.
	for _, name := range []string{"ring.prev.txt", "ring.lock", "ring2", "other.bak", "ring-notes", "string.old"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	openRing(t, path, options)

	// A temporary file of ours is not read, and goes with the next write.
	temp := disk.TempName(path)
	if err := os.WriteFile(temp, []byte("half a key fi"), 0o600); err != nil {
		t.Fatal(err)
	}
	if w := openRing(t, path, options).Status().Warnings; len(w) != 1 || !strings.Contains(w[0], temp) {
		t.Errorf("warnings %q do not name the left-over", w)
	}
	if err := r.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(temp); err == nil {
		t.Error("the left-over is still there after a rotation")
	}
}

func TestBusy(t *testing.T) {
	r, path := initRing(t, keyring.InitOptions{}, options)
	lock, err := disk.Lock(path + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"rotate": func() error { return r.Rotate(t.Context()) },
		"init": func() error {
			_, err := keyring.Init(t.Context(), path, newRoot(t, t.TempDir(), "root"), keyring.InitOptions{}, options)
			return err
		},
	} {
		if err := do(); !errors.Is(err, keyring.ErrBusy) {
			t.Errorf("%s: %v, want ErrBusy", name, err)
		}
	}
	openRing(t, path, options) // reading needs no lock
	lock.Close()
	if err := r.Rotate(t.Context()); err != nil {
		t.Errorf("rotate after the lock: %v", err)
	}
}

func TestDue(t *testing.T) {
	start := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	now := start
	opts := options
	opts.Now = func() time.Time { return now }
	r, path := initRing(t, keyring.InitOptions{RotateDays: 90}, opts)
	status := func() *keyring.Status {
		s, err := keyring.ReadStatus(path, opts)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := status(); s.NextDue == nil || !s.NextDue.Equal(start.AddDate(0, 0, 90)) || len(s.Warnings) > 0 {
		t.Errorf("fresh: %+v", s)
	}
	now = start.AddDate(0, 0, 91)
	if s := status(); len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "due 2026-05-01") {
		t.Errorf("after 91 days: warnings %q", s.Warnings)
	}
	if err := r.RotateDEK(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := status(); len(s.Warnings) != 1 {
		t.Errorf("a new data key is no rotation of the key encryption key: %q", s.Warnings)
	}
	if err := r.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := status(); len(s.Warnings) > 0 || !s.LastRotation.Equal(now) {
		t.Errorf("after a rotation: %+v", s)
	}
	now = start
	if s := status(); len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "clock") {
		t.Errorf("the clock went back: warnings %q", s.Warnings)
	}
	if err := r.Rotate(t.Context()); err != nil {
		t.Errorf("rotate with the clock back: %v", err)
	}
}
