package encdb

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
)

// maxKept is how many accounts a Keeper keeps a key for; after that, the one used
// longest ago goes.
const maxKept = 1024

// A Keeper holds the master key that an account handed over last, for connections
// of the same account that hand over none: existing clients do so once in a
// process and rely on the server to keep it. It has keys of Layout64 only, which
// come whole, and only those that its Registry accepts. Who holds no master key
// cannot open the cells, but sees how long they are.
//
// A Keeper is safe for concurrent use. A nil one keeps nothing.
type Keeper struct {
	registry *Registry
	lifetime time.Duration
	allowed  func(Account) bool
	now      func() time.Time
	shared   *Sharing // nil: with nobody

	n      atomic.Int64 // len(kept)
	mu     sync.Mutex
	kept   map[Account]*keptKey // TLS is false
	closed bool
}

// A keptKey is what cells for an account are sealed under.
type keptKey struct {
	mek       *secret.Bytes
	verifier  []byte
	id        uint32
	hash      Hash
	algorithm Algorithm
	given     time.Time // by the client
	used      time.Time
}

// NewKeeper returns a Keeper of keys that r accepts, for accounts that are allowed,
// until nobody has used them for lifetime. Both are asked again at each use.
func NewKeeper(r *Registry, lifetime time.Duration, allowed func(Account) bool) *Keeper {
	return &Keeper{registry: r, lifetime: lifetime, allowed: allowed, now: time.Now, kept: map[Account]*keptKey{}}
}

// Share has keys in common with the Keepers of other gates, which have the same
// Registry. It must be called before the Keeper is used.
func (k *Keeper) Share(s *Sharing) { k.shared = s }

// Len returns how many keys are kept.
func (k *Keeper) Len() int {
	if k == nil {
		return 0
	}
	return int(k.n.Load())
}

// empty reports whether there is no key for anybody.
func (k *Keeper) empty() bool { return k.Len() == 0 && (k == nil || k.shared == nil) }

// Close wipes all keys. The Keeper keeps none after that.
func (k *Keeper) Close() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	for a := range k.kept {
		k.wipe(a)
	}
}

// Watch wipes keys that must not be used any more, in intervals until ctx ends.
func (k *Keeper) Watch(ctx context.Context, interval time.Duration) {
	if k == nil {
		return
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			barred := k.sweep()
			if k.shared != nil {
				k.shared.drop(barred)
			}
		}
	}
}

// sweep returns whose keys it has wiped for another reason than their age, which
// may be less where they are used.
func (k *Keeper) sweep() (barred []Account) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for a, key := range k.kept {
		if k.good(a, key) {
			continue
		}
		if k.now().Sub(key.used) < k.lifetime {
			barred = append(barred, a)
		}
		k.wipe(a)
	}
	return barred
}

// good reports whether a key may still be used. The caller holds the lock.
func (k *Keeper) good(a Account, key *keptKey) bool {
	_, accepted := k.registry.find(key.verifier)
	return accepted && k.now().Sub(key.used) < k.lifetime && k.allowed(a)
}

// wipe forgets the key of an account, if there is one. The caller holds the lock.
func (k *Keeper) wipe(a Account) {
	if key := k.kept[a]; key != nil {
		key.mek.Close()
		delete(k.kept, a)
		k.n.Store(int64(len(k.kept)))
	}
}

// keep keeps a copy of a master key that a client has handed over, in place of the
// one before, and shares it. If there is no memory for it, none is kept.
func (k *Keeper) keep(a Account, mek *secret.Bytes, h Hash, alg Algorithm) {
	if k == nil || k.lifetime <= 0 || k.registry == nil {
		return
	}
	key, err := k.newKey(mek, h, alg)
	if err != nil {
		return
	}
	key.given = key.used
	a.TLS = false
	if k.put(a, key) && k.shared != nil {
		k.shared.save(a, key, k.lifetime)
	}
}

// newKey returns a key as if it were used now. Its mek stays the caller's.
func (k *Keeper) newKey(mek *secret.Bytes, h Hash, alg Algorithm) (*keptKey, error) {
	verifier, err := verifierOf(mek.Reveal(), k.registry.Salt())
	if err != nil {
		return nil, err
	}
	id, _ := k.registry.find(verifier)
	return &keptKey{mek: mek, verifier: verifier, id: id, hash: h, algorithm: alg, used: k.now()}, nil
}

// put keeps a copy of a key that may be used, in place of the one before unless
// that was handed over later, and reports whether it did. One that was handed over
// at the same time is the same: it has been used when either was.
func (k *Keeper) put(a Account, key *keptKey) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if before := k.kept[a]; before != nil {
		if key.given.Before(before.given) {
			return false
		}
		if key.given.Equal(before.given) && key.used.Before(before.used) {
			key.used = before.used
		}
	}
	k.wipe(a)
	if k.closed || !k.good(a, key) {
		return false
	}
	mek, err := key.mek.Clone()
	if err != nil {
		return false
	}
	if len(k.kept) >= maxKept {
		k.wipe(k.oldest())
	}
	own := *key
	own.mek = mek
	k.kept[a] = &own
	k.n.Store(int64(len(k.kept)))
	return true
}

// oldest is the account whose key was used longest ago. The caller holds the lock.
func (k *Keeper) oldest() (oldest Account) {
	var used time.Time
	for a, key := range k.kept {
		if used.IsZero() || key.used.Before(used) {
			oldest, used = a, key.used
		}
	}
	return oldest
}

// sealer returns what seals cells under the key kept for an account, with a cell
// key of its own; nil if there is none.
func (k *Keeper) sealer(a Account, now func() time.Time) *Sealer {
	if k.Len() == 0 {
		return nil
	}
	a.TLS = false
	k.mu.Lock()
	defer k.mu.Unlock()
	key := k.kept[a]
	if key == nil {
		return nil
	}
	if !k.good(a, key) {
		k.wipe(a)
		return nil
	}
	s, err := newSealer(key.mek, key.hash, key.algorithm, now)
	if err != nil {
		return nil
	}
	key.used = k.now()
	s.keyID = key.id
	return s
}
