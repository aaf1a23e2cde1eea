package encdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
)

// A keeping is a server that keeps keys, and what it goes by.
type keeping struct {
	testing.TB
	cfg      *Config
	registry *Registry
	keeper   *Keeper
	clock    time.Time
	denied   map[string]bool // users
	meks     [2]*secret.Bytes
}

func newKeeping(t *testing.T) *keeping {
	t.Helper()
	r, err := OpenRegistry(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	k := &keeping{TB: t, registry: r, clock: time.Now(), denied: map[string]bool{}}
	k.keeper = NewKeeper(r, time.Hour, func(a Account) bool { return !k.denied[a.User] })
	k.keeper.now = func() time.Time { return k.clock }
	t.Cleanup(k.keeper.Close)
	k.cfg = &Config{Registry: r, Keeper: k.keeper, MayRegister: func(Account) bool { return true }}
	for i := range k.meks {
		k.meks[i] = secretOf(t, bytes.Repeat([]byte{byte(i + 1)}, 16))
	}
	return k
}

var poolAccount = Account{User: "app", Host: "10.0.0.1", TLS: true, Login: "app", Server: "app@10.%"}

// provision hands over master key mek in a new session of a.
func (k *keeping) provision(a Account, mek int, only64 bool) *Session {
	k.Helper()
	s := k.cfg.NewSession(a)
	k.Cleanup(s.Close)
	if _, err := handshake(k, newClient(k, ClientConfig{MEK: k.meks[mek], Only64: only64}), s); err != nil {
		k.Fatal(err)
	}
	return s
}

// fresh is a new session of a, after it has tried to adopt a key.
func (k *keeping) fresh(a Account) *Session {
	k.Helper()
	s := k.cfg.NewSession(a)
	k.Cleanup(s.Close)
	_, ok := s.Adopt()
	if ok != s.Provisioned() {
		k.Errorf("adopted %v, provisioned %v", ok, s.Provisioned())
	}
	return s
}

// under returns which master key opens the cells of s, -1 for none.
func (k *keeping) under(s *Session) int {
	k.Helper()
	cells, err := s.Cells()
	if err != nil {
		k.Fatal(err)
	}
	c := NewColumn("hr", "employee", "ssn", TypeVarString, false, 0)
	text, err := cells.Append(nil, c, false, []byte("721-07-4426"))
	if err != nil {
		k.Fatal(err)
	}
	for i, mek := range k.meks {
		o, err := newOpener(mek, s.cfg.Suite.Hash(), false)
		if err != nil {
			k.Fatal(err)
		}
		defer o.Close()
		if _, got, err := o.Open(nil, c, false, text); err == nil && string(got) == "721-07-4426" {
			return i
		}
	}
	return -1
}

// TestKeeper says who gets cells under a key that another connection handed over.
func TestKeeper(t *testing.T) {
	with := func(change func(*Account)) Account {
		a := poolAccount
		change(&a)
		return a
	}
	for name, tc := range map[string]struct {
		do   func(k *keeping)
		as   Account
		want int
	}{
		"nobody":                   {func(k *keeping) {}, poolAccount, -1},
		"same account":             {func(k *keeping) { k.provision(poolAccount, 0, true) }, poolAccount, 0},
		"after the first has gone": {func(k *keeping) { k.provision(poolAccount, 0, true).Close() }, poolAccount, 0},
		"the last counts": {func(k *keeping) {
			k.provision(poolAccount, 0, true)
			k.provision(poolAccount, 1, true)
		}, poolAccount, 1},
		"another user":    {func(k *keeping) { k.provision(poolAccount, 0, true) }, with(func(a *Account) { a.User = "other" }), -1},
		"another address": {func(k *keeping) { k.provision(poolAccount, 0, true) }, with(func(a *Account) { a.Host = "10.0.0.2" }), -1},
		"another login":   {func(k *keeping) { k.provision(poolAccount, 0, true) }, with(func(a *Account) { a.Login = "x" }), -1},
		"another account": {func(k *keeping) { k.provision(poolAccount, 0, true) }, with(func(a *Account) { a.Server = "app@%" }), -1},
		"without TLS":     {func(k *keeping) { k.provision(poolAccount, 0, true) }, with(func(a *Account) { a.TLS = false }), -1},
		"our own client":  {func(k *keeping) { k.provision(poolAccount, 0, false) }, poolAccount, -1},
		"a key that is wrong": {func(k *keeping) {
			k.provision(poolAccount, 0, true)
			k.cfg.MayRegister = nil
			s := k.cfg.NewSession(poolAccount)
			defer s.Close()
			if _, err := handshake(k, newClient(k, ClientConfig{MEK: k.meks[1], Only64: true}), s); err == nil {
				k.Error("a key was taken that is not registered")
			}
		}, poolAccount, 0},
		"retired": {func(k *keeping) {
			k.provision(poolAccount, 0, true)
			if err := k.registry.Retire(t.Context(), 1); err != nil {
				k.Error(err)
			}
		}, poolAccount, -1},
		"restricted further": {func(k *keeping) {
			k.provision(poolAccount, 0, true)
			k.denied["app"] = true
		}, poolAccount, -1},
		"restricted before": {func(k *keeping) {
			k.denied["app"] = true
			k.provision(poolAccount, 0, true)
			k.denied["app"] = false
		}, poolAccount, -1},
		"still in use": {func(k *keeping) {
			k.provision(poolAccount, 0, true)
			for range 3 {
				k.clock = k.clock.Add(59 * time.Minute)
				k.fresh(poolAccount)
			}
		}, poolAccount, 0},
		"too old": {func(k *keeping) {
			k.provision(poolAccount, 0, true)
			k.clock = k.clock.Add(time.Hour)
		}, poolAccount, -1},
		"closed": {func(k *keeping) {
			k.provision(poolAccount, 0, true)
			k.keeper.Close()
			k.provision(poolAccount, 0, true)
		}, poolAccount, -1},
		"off": {func(k *keeping) {
			k.keeper.lifetime = 0
			k.provision(poolAccount, 0, true)
		}, poolAccount, -1},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeeping(t)
			k.TB = t
			tc.do(k)
			if got := k.under(k.fresh(tc.as)); got != tc.want {
				t.Errorf("cells are under key %d, want %d", got, tc.want)
			}
		})
	}
}

// TestAdopt: a session keeps the key it has, gives it up for its own and with its
// user, and shares no cell key.
func TestAdopt(t *testing.T) {
	k := newKeeping(t)
	first := k.provision(poolAccount, 0, true)
	s := k.fresh(poolAccount)
	if s.Layout() != Layout64 || s.cells.nonce == first.cells.nonce {
		t.Error("not in cells of its own")
	}
	if _, err := s.Opener(); err == nil {
		t.Error("a session opens cells with a key it did not bring")
	}
	k.provision(poolAccount, 1, true)
	if _, ok := s.Adopt(); ok || k.under(s) != 0 || k.under(first) != 0 {
		t.Error("the key of another connection took the place of that at work")
	}
	if _, err := handshake(t, newClient(t, ClientConfig{MEK: k.meks[1], Only64: true}), s); err != nil || k.under(s) != 1 {
		t.Errorf("its own key: %v, cells are under %d", err, k.under(s))
	}
	s.ChangeUser(Account{User: "other", Login: "other", Server: "other@%", TLS: true})
	if _, ok := s.Adopt(); ok || k.under(s) != -1 {
		t.Error("another user has adopted the key")
	}
	s.ChangeUser(poolAccount)
	if id, ok := s.Adopt(); !ok || id != 2 || k.under(s) != 1 {
		t.Errorf("changed back: key %d, cells are under %d", id, k.under(s))
	}
	own := k.cfg.NewSession(poolAccount)
	defer own.Close()
	carry(t, own, newClient(t, ClientConfig{MEK: k.meks[0]}).Hello())
	if _, ok := own.Adopt(); ok {
		t.Error("our own client gets cells that are not bound")
	}
	s.Close()
	if _, ok := s.Adopt(); ok {
		t.Error("a closed session adopts")
	}
}

// TestKeeperWipes: what may not be used is not kept either, and there is a bound.
func TestKeeperWipes(t *testing.T) {
	k := newKeeping(t)
	k.provision(poolAccount, 0, true)
	mek := k.keeper.kept[Account{User: "app", Host: "10.0.0.1", Login: "app", Server: "app@10.%"}].mek
	if err := k.registry.Retire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.keeper.Watch(ctx, time.Millisecond)
	}()
	for k.keeper.Len() > 0 {
		time.Sleep(time.Millisecond)
	}
	stop()
	<-done
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the key is not wiped")
			}
		}()
		mek.Reveal()
	}()
	k.provision(poolAccount, 1, true)
	for i := range maxKept {
		k.clock = k.clock.Add(time.Millisecond)
		a := poolAccount
		a.Host = fmt.Sprint("host ", i)
		k.keeper.keep(a, k.meks[1], k.cfg.Suite.Hash(), AES128GCM)
	}
	if n := k.keeper.Len(); n != maxKept {
		t.Errorf("%d keys are kept, want %d", n, maxKept)
	}
	if k.under(k.fresh(poolAccount)) != -1 {
		t.Error("the key used longest ago was kept")
	}
	last := poolAccount
	last.Host = fmt.Sprint("host ", maxKept-1)
	if k.under(k.fresh(last)) != 1 {
		t.Error("the key used last was not kept")
	}
}

// TestKeeperHandsOver: what a Keeper exports another one keeps, but only what its
// own registry and rules allow.
func TestKeeperHandsOver(t *testing.T) {
	k := newKeeping(t)
	other := poolAccount
	other.User = "other"
	k.provision(poolAccount, 0, true)
	k.provision(other, 1, true)
	for name, tc := range map[string]struct {
		prepare func(*Keeper)
		want    [2]int
	}{
		"both":     {func(*Keeper) {}, [2]int{0, 1}},
		"rules":    {func(s *Keeper) { s.allowed = func(a Account) bool { return a.User == "app" } }, [2]int{0, -1}},
		"off":      {func(s *Keeper) { s.lifetime = 0 }, [2]int{-1, -1}},
		"registry": {func(s *Keeper) { s.registry, _ = OpenRegistry(t.Context(), nil) }, [2]int{-1, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			state := k.keeper.Export()
			next := NewKeeper(k.registry, time.Hour, func(Account) bool { return true })
			defer next.Close()
			tc.prepare(next)
			if err := next.Import(state); err != nil {
				t.Error(err)
			}
			if len(bytes.Trim(state, "\x00")) > 0 {
				t.Error("the state is not wiped")
			}
			cfg := *k.cfg
			cfg.Keeper = next
			for i, a := range []Account{poolAccount, other} {
				s := cfg.NewSession(a)
				defer s.Close()
				s.Adopt()
				if got := k.under(s); got != tc.want[i] {
					t.Errorf("%s: cells are under key %d, want %d", a.User, got, tc.want[i])
				}
			}
		})
	}
}

func FuzzKeeperImport(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("\x03app\x08" + "10.0.0.1\x03app\x05app@%\x10" + "0123456789abcdef\x01\x07"))
	f.Add([]byte("\xff"))
	r, err := OpenRegistry(f.Context(), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, state []byte) {
		k := NewKeeper(r, time.Hour, func(Account) bool { return true })
		defer k.Close()
		if err := k.Import(state); err != nil && !errors.Is(err, ErrMessage) {
			t.Error(err)
		}
		if k.Len() > 0 {
			t.Error("keys are kept that the registry does not know")
		}
		if len(bytes.Trim(state, "\x00")) > 0 {
			t.Error("the state is not wiped")
		}
	})
}
