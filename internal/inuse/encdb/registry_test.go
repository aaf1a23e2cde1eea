package encdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// heldState is a source that has a state.
func heldState[T string | []byte](state T) *inMemory {
	text, m := []byte(state), new(inMemory)
	m.state.Store(&text)
	return m
}

// readOnly is a source nobody can write.
type readOnly struct{ RegistrySource }

func (readOnly) Write(context.Context, []byte, []byte) error { return errors.New("disk full") }

// lost is a source nobody can read.
type lost struct{ RegistrySource }

func (lost) Read(context.Context) ([]byte, error) { return nil, errors.New("no server") }

// shared is a source that several registries have: who did not see the last state
// cannot write.
type shared struct {
	mu    sync.Mutex
	state []byte
	reads int
}

func (s *shared) Read(context.Context) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	return s.state, nil
}

func (s *shared) Write(_ context.Context, old, state []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !bytes.Equal(s.state, old) {
		return errors.New("conflict")
	}
	s.state = state
	return nil
}

func verifier(n int) []byte { return bytes.Repeat([]byte{byte(n)}, 32) }

// TestSharedRegistry: what one gate registers or retires counts for the others.
func TestSharedRegistry(t *testing.T) {
	source := new(shared)
	var gates []*Registry
	for range 4 {
		r, err := OpenRegistry(t.Context(), source)
		if err != nil {
			t.Fatal(err)
		}
		gates = append(gates, r)
	}
	for _, r := range gates[1:] {
		if !bytes.Equal(r.Salt(), gates[0].Salt()) {
			t.Fatal("each gate has a salt of its own")
		}
	}
	// All at once: each key gets one number, whoever registers it.
	var mu sync.Mutex
	numbers := map[int]uint32{}
	var wg sync.WaitGroup
	for n := range 40 {
		wg.Go(func() {
			id, err := gates[n%4].register(t.Context(), verifier(n/2))
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if had := numbers[n/2]; had != 0 && had != id {
				t.Errorf("key %d is %d and %d", n/2, had, id)
			}
			numbers[n/2] = id
		})
	}
	wg.Wait()
	ids := map[uint32]bool{}
	for _, id := range numbers {
		ids[id] = true
	}
	if len(ids) != 20 {
		t.Errorf("%d numbers for 20 keys", len(ids))
	}
	if err := gates[0].Retire(t.Context(), numbers[7]); err != nil {
		t.Fatal(err)
	}
	for i, r := range gates {
		if err := r.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		for n, want := range numbers {
			if id, ok := r.find(verifier(n)); ok != (n != 7) || ok && id != want {
				t.Errorf("gate %d: key %d is %d %v, want %d", i, n, id, ok, want)
			}
		}
	}
	if _, err := gates[3].register(t.Context(), verifier(7)); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("a retired key comes back at another gate: %v", err)
	}
}

// TestRetireAtOnce: a gate retires a key that another has just registered.
func TestRetireAtOnce(t *testing.T) {
	source := new(shared)
	var gates [2]*Registry
	for i := range gates {
		var err error
		if gates[i], err = OpenRegistry(t.Context(), source); err != nil {
			t.Fatal(err)
		}
	}
	id, err := gates[1].register(t.Context(), verifier(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := gates[0].Retire(t.Context(), id); err != nil {
		t.Error(err)
	}
	if err := gates[0].Retire(t.Context(), id+1); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("a key that nobody has registered: %v", err)
	}
}

// TestKeyOfAnotherGate: an account that may not register reads with a key that
// another gate has taken meanwhile, also if it is the first it is asked for.
func TestKeyOfAnotherGate(t *testing.T) {
	source := new(shared)
	open := func() *Config {
		r, err := OpenRegistry(t.Context(), source)
		if err != nil {
			t.Fatal(err)
		}
		return &Config{Registry: r, MayRegister: func(a Account) bool { return a.User == "security" }}
	}
	first, second := open(), open()
	for _, only64 := range []bool{true, false} {
		mek := secretOf(t, bytes.Repeat([]byte{9, byte(len(fmt.Sprint(only64)))}, 8))
		as := func(cfg *Config, user string) (Event, error) {
			s := cfg.NewSession(Account{User: user, TLS: true})
			defer s.Close()
			return handshake(t, newClient(t, ClientConfig{MEK: mek, Only64: only64}), s)
		}
		if _, err := as(second, "app"); !errors.Is(err, ErrRefused) {
			t.Fatalf("nobody registered it: %v", err)
		}
		if ev, err := as(first, "security"); err != nil || !ev.Registered {
			t.Fatalf("%v %+v", err, ev)
		}
		if ev, err := as(second, "app"); err != nil || ev.Registered {
			t.Errorf("at the other gate: %v %+v", err, ev)
		}
		// Known keys do without the source.
		before := source.reads
		if _, err := as(second, "app"); err != nil || source.reads != before {
			t.Errorf("%v, and %d reads", err, source.reads-before)
		}
		second.Registry.source = lost{source}
		if _, err := as(second, "app"); err != nil {
			t.Errorf("without the source: %v", err)
		}
		other := secretOf(t, bytes.Repeat([]byte{3}, 16))
		s := second.NewSession(Account{User: "security", TLS: true})
		if ev, err := handshake(t, newClient(t, ClientConfig{MEK: other, Only64: only64}), s); !errors.Is(err, ErrRefused) || !strings.Contains(ev.Err.Error(), "cannot be read") {
			t.Errorf("an unknown key without the source: %v", ev.Err)
		}
		s.Close()
		second.Registry.source = source
	}
}

// TestWatchRegistry: trouble is told once, and ends.
func TestWatchRegistry(t *testing.T) {
	source := heldState(NewRegistryState())
	r, err := OpenRegistry(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	good := *source.state.Load()
	ctx, cancel := context.WithCancel(t.Context())
	told, done := make(chan error), make(chan struct{})
	go func() {
		defer close(done)
		r.Watch(ctx, time.Millisecond, func(err error) { told <- err })
	}()
	for _, c := range []struct {
		state []byte
		want  error
	}{{[]byte("{}"), ErrRegistry}, {nil, errNoRegistry}, {good, nil}} {
		source.state.Store(&c.state)
		if err := <-told; !errors.Is(err, c.want) {
			t.Errorf("state %q: %v, want %v", c.state, err, c.want)
		}
	}
	cancel()
	<-done
}
