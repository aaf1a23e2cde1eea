package encdb

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/crypto/aead"
)

// A shelf is a KeptStore in memory.
type shelf struct {
	mu      sync.Mutex
	rows    map[[32]byte][]byte
	loads   int
	failing error
}

func (s *shelf) Load(_ context.Context, account [32]byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loads++
	return s.rows[account], s.failing
}

func (s *shelf) Save(_ context.Context, account [32]byte, sealed []byte, _ time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing == nil {
		s.rows[account] = bytes.Clone(sealed)
	}
	return s.failing
}

func (s *shelf) Drop(_ context.Context, account [32]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.rows, account)
	return s.failing
}

// gates are two servers that share a registry and keys.
type gates struct {
	*shelf
	first, second *keeping
	troubles      []error
}

func newGates(t *testing.T) *gates {
	t.Helper()
	g := &gates{shelf: &shelf{rows: map[[32]byte][]byte{}}}
	source := new(inMemory)
	for _, k := range []**keeping{&g.first, &g.second} {
		*k = newKeeping(t)
		r, err := OpenRegistry(t.Context(), source)
		if err != nil {
			t.Fatal(err)
		}
		(*k).registry, (*k).cfg.Registry, (*k).keeper.registry = r, r, r
		(*k).cfg.Now = func() time.Time { return (*k).clock }
		(*k).keeper.Share(g.sharing(t, 7))
	}
	return g
}

func (g *gates) sharing(t *testing.T, key byte) *Sharing {
	t.Helper()
	s, err := NewSharing(g.shelf, bytes.Repeat([]byte{key}, aead.KeySize), func(err error) { g.troubles = append(g.troubles, err) })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// later moves the clocks of both.
func (g *gates) later(d time.Duration) {
	g.first.clock, g.second.clock = g.first.clock.Add(d), g.second.clock.Add(d)
}

// TestSharedKeys says who gets cells, at another gate, under a key that was handed
// over at the first.
func TestSharedKeys(t *testing.T) {
	other := poolAccount
	other.User = "other"
	for name, tc := range map[string]struct {
		do      func(*testing.T, *gates)
		want    int
		trouble error
		rows    int
	}{
		"nobody":      {func(*testing.T, *gates) {}, -1, nil, 0},
		"handed over": {func(_ *testing.T, g *gates) { g.first.provision(poolAccount, 0, true) }, 0, nil, 1},
		"the first gate is gone": {func(_ *testing.T, g *gates) {
			g.first.provision(poolAccount, 0, true)
			g.first.keeper.Close()
		}, 0, nil, 1},
		"our own client":  {func(_ *testing.T, g *gates) { g.first.provision(poolAccount, 0, false) }, -1, nil, 0},
		"another account": {func(_ *testing.T, g *gates) { g.first.provision(other, 0, true) }, -1, nil, 1},
		"another gate's key": {func(t *testing.T, g *gates) {
			g.first.provision(poolAccount, 0, true)
			g.second.keeper.Share(g.sharing(t, 8))
		}, -1, aead.ErrNotAuthentic, 1},
		"the row of another account": {func(_ *testing.T, g *gates) {
			g.first.provision(other, 0, true)
			g.rows[accountID(poolAccount)] = g.rows[accountID(other)]
		}, -1, aead.ErrNotAuthentic, 2},
		"a row that was changed": {func(_ *testing.T, g *gates) {
			g.first.provision(poolAccount, 0, true)
			g.rows[accountID(poolAccount)][30] ^= 1
		}, -1, aead.ErrNotAuthentic, 1},
		"a row cut short": {func(_ *testing.T, g *gates) {
			g.first.provision(poolAccount, 0, true)
			g.rows[accountID(poolAccount)] = []byte{1}
		}, -1, aead.ErrNotAuthentic, 1},
		"the store is gone": {func(_ *testing.T, g *gates) {
			g.first.provision(poolAccount, 0, true)
			g.failing = errors.New("gone")
		}, -1, nil, 1},
		"retired": {func(t *testing.T, g *gates) {
			g.first.provision(poolAccount, 0, true)
			if err := g.first.registry.Retire(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
		}, -1, nil, 0},
		"retired, and swept where it was": {func(t *testing.T, g *gates) {
			g.first.provision(poolAccount, 0, true)
			if err := g.first.registry.Retire(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			g.first.keeper.shared.drop(g.first.keeper.sweep())
			if len(g.rows) != 0 {
				t.Errorf("the row is still there")
			}
		}, -1, nil, 0},
		"account blocked at the second": {func(_ *testing.T, g *gates) {
			g.first.provision(poolAccount, 0, true)
			g.second.denied["app"] = true
		}, -1, nil, 1},
		"too old": {func(_ *testing.T, g *gates) {
			g.first.provision(poolAccount, 0, true)
			g.later(time.Hour)
		}, -1, nil, 1},
		"in use at the second only": {func(_ *testing.T, g *gates) {
			g.first.provision(poolAccount, 0, true)
			for range 3 {
				g.later(59 * time.Minute)
				g.second.fresh(poolAccount)
				g.first.keeper.shared.drop(g.first.keeper.sweep())
			}
			g.second.keeper.Close()
			g.second.keeper.closed = false // as a gate that is started anew
		}, 0, nil, 1},
		"in use, and the store has the row of the beginning": {func(_ *testing.T, g *gates) {
			g.second.provision(poolAccount, 0, true)
			row := g.rows[accountID(poolAccount)]
			for range 3 {
				g.later(59 * time.Minute)
				g.second.fresh(poolAccount)
				g.rows[accountID(poolAccount)] = row
			}
		}, 0, nil, 1},
		"a later one at the first": {func(_ *testing.T, g *gates) {
			g.second.provision(poolAccount, 0, true)
			g.later(time.Second)
			g.first.provision(poolAccount, 1, true)
		}, 1, nil, 1},
		"a later one that was not stored": {func(_ *testing.T, g *gates) {
			g.first.provision(poolAccount, 0, true)
			g.later(time.Second)
			g.failing = errors.New("gone")
			g.second.provision(poolAccount, 1, true)
			g.failing = nil
		}, 1, nil, 1},
		"from a gate before": {func(t *testing.T, g *gates) {
			g.second.provision(poolAccount, 0, true)
			state := g.second.keeper.Export()
			g.later(time.Second)
			g.first.provision(poolAccount, 1, true)
			if err := g.second.keeper.Import(state); err != nil {
				t.Fatal(err)
			}
		}, 1, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGates(t)
			tc.do(t, g)
			if got := g.second.under(g.second.fresh(poolAccount)); got != tc.want {
				t.Errorf("cells under key %d, want %d", got, tc.want)
			}
			if len(g.rows) != tc.rows {
				t.Errorf("%d rows, want %d", len(g.rows), tc.rows)
			}
			told := errors.Join(g.troubles...)
			if tc.trouble != nil && !errors.Is(told, tc.trouble) || tc.trouble == nil && told != nil && !errors.Is(told, g.failing) && name != "a later one that was not stored" {
				t.Errorf("troubles %v, want %v", told, tc.trouble)
			}
			for _, row := range g.rows {
				for _, mek := range g.second.meks {
					if bytes.Contains(row, mek.Reveal()) {
						t.Error("a master key is in the store as it is")
					}
				}
			}
		})
	}
}

// TestSharedKeysAreNotAskedForAlways: a session without a key asks again, but not
// with every statement; one that has a key does not ask.
func TestSharedKeysAreNotAskedForAlways(t *testing.T) {
	g := newGates(t)
	s := g.second.fresh(poolAccount)
	for range 10 {
		s.Adopt()
	}
	if g.loads != 1 {
		t.Errorf("asked %d times, want once", g.loads)
	}
	g.first.provision(poolAccount, 0, true)
	g.later(lookAgain)
	if _, ok := s.Adopt(); !ok || g.second.under(s) != 0 {
		t.Error("a key that was handed over since is not found")
	}
	for range 10 {
		g.later(lookAgain)
		s.Adopt()
	}
	if g.loads != 2 {
		t.Errorf("asked %d times, want twice", g.loads)
	}
}
