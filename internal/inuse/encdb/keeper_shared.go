package encdb

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/veildb/veildb/internal/crypto/aead"
	"github.com/veildb/veildb/internal/crypto/secret"
)

const (
	sharedLabel = "veildb encdb kept key 1\x00"
	// sharedHead is what precedes a master key that is shared:
	//
	//	handed over (8) || used (8), both Unix nanoseconds || hash (1) || algorithm (1)
	sharedHead = 18
	// sharedTimeout bounds the wait for a store: clients wait too.
	sharedTimeout = 5 * time.Second
	// lookAgain is how often a session without a key looks for one at most.
	lookAgain = 2 * time.Second
)

// A KeptStore is where the Keepers of several gates have keys in common, each
// sealed. It is safe for concurrent use.
type KeptStore interface {
	// Load returns what was saved last for an account, nil if there is nothing.
	Load(ctx context.Context, account [32]byte) ([]byte, error)
	// Save keeps it in place of what was there, and drops what is older than lifetime.
	Save(ctx context.Context, account [32]byte, sealed []byte, lifetime time.Duration) error
	// Drop forgets it.
	Drop(ctx context.Context, account [32]byte) error
}

// A Sharing is a KeptStore and the key of the gates that share it. Without that
// key, who reads the store learns which accounts have keys and when they were
// used, no more; who writes it can delete one, or bring back the one before.
type Sharing struct {
	store  KeptStore
	seal   *aead.Sealer
	open   *aead.Opener
	report func(error)
}

// NewSharing returns a Sharing under a key of aead.KeySize bytes. It tells report
// of each failure; report must be quick.
func NewSharing(store KeptStore, key []byte, report func(error)) (*Sharing, error) {
	seal, err := aead.NewSealer(key)
	if err != nil {
		return nil, fmt.Errorf("share keys: %w", err)
	}
	open, err := aead.NewOpener(key)
	if err != nil {
		return nil, fmt.Errorf("share keys: %w", err)
	}
	return &Sharing{store: store, seal: seal, open: open, report: report}, nil
}

// accountID names an account in a store: the SHA-256 of
//
//	label || user, host, login, server   length (4, big endian) and bytes
func accountID(a Account) [32]byte {
	text := []byte(sharedLabel)
	for _, s := range [...]string{a.User, a.Host, a.Login, a.Server} {
		text = append(binary.BigEndian.AppendUint32(text, uint32(len(s))), s...)
	}
	return sha256.Sum256(text)
}

// sharedText is what is authenticated beside a key: label || account id.
func sharedText(id [32]byte) []byte { return append([]byte(sharedLabel), id[:]...) }

// save stores a key for other gates.
func (s *Sharing) save(a Account, key *keptKey, lifetime time.Duration) {
	plain := make([]byte, 0, sharedHead+32)
	plain = binary.BigEndian.AppendUint64(plain, uint64(key.given.UnixNano()))
	plain = binary.BigEndian.AppendUint64(plain, uint64(key.used.UnixNano()))
	plain = append(plain, byte(key.hash), byte(key.algorithm))
	plain = append(plain, key.mek.Reveal()...)
	defer clear(plain)
	id := accountID(a)
	sealed, err := s.seal.Seal(nil, plain, sharedText(id))
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), sharedTimeout)
		defer cancel()
		err = s.store.Save(ctx, id, sealed, lifetime)
	}
	if err != nil {
		s.report(fmt.Errorf("share key: %w", err))
	}
}

// load returns the key of an account, nil if there is none that opens. The caller
// closes its mek.
func (s *Sharing) load(a Account) *keptKey {
	ctx, cancel := context.WithTimeout(context.Background(), sharedTimeout)
	defer cancel()
	id := accountID(a)
	sealed, err := s.store.Load(ctx, id)
	if err == nil && sealed == nil {
		return nil
	}
	var key *keptKey
	if err == nil {
		key, err = s.unseal(id, sealed)
	}
	if err != nil {
		s.report(fmt.Errorf("read shared key: %w", err))
		return nil
	}
	return key
}

func (s *Sharing) unseal(id [32]byte, sealed []byte) (*keptKey, error) {
	plain, err := s.open.Open(nil, sealed, sharedText(id))
	defer clear(plain)
	if err != nil {
		return nil, err
	}
	key, n := new(keptKey), len(plain)-sharedHead
	if n == 16 || n == 32 {
		key.hash, key.algorithm = Hash(plain[16]), Algorithm(plain[17])
	}
	if n != 16 && n != 32 || key.hash > SM3 || !key.algorithm.Authenticated() {
		return nil, ErrMessage
	}
	key.given = time.Unix(0, int64(binary.BigEndian.Uint64(plain)))
	key.used = time.Unix(0, int64(binary.BigEndian.Uint64(plain[8:])))
	key.mek, err = secret.From(plain[sharedHead:])
	return key, err
}

// drop takes keys of accounts out of the store.
func (s *Sharing) drop(accounts []Account) {
	for _, a := range accounts {
		ctx, cancel := context.WithTimeout(context.Background(), sharedTimeout)
		if err := s.store.Drop(ctx, accountID(a)); err != nil {
			s.report(fmt.Errorf("forget shared key: %w", err))
		}
		cancel()
	}
}

// fetch keeps the key that an account handed over at another gate, if that is newer
// than the one here.
func (k *Keeper) fetch(a Account) {
	a.TLS = false
	if k.shared == nil || !k.allowed(a) {
		return
	}
	key := k.shared.load(a)
	if key == nil {
		return
	}
	defer key.mek.Close()
	verifier, err := verifierOf(key.mek.Reveal(), k.registry.Salt())
	if err != nil {
		return
	}
	id, accepted := k.registry.find(verifier)
	if !accepted { // another gate may have registered it a moment ago
		ctx, cancel := context.WithTimeout(context.Background(), sharedTimeout)
		defer cancel()
		if err := k.registry.Refresh(ctx); err != nil {
			return
		}
		if id, accepted = k.registry.find(verifier); !accepted {
			k.shared.drop([]Account{a})
			return
		}
	}
	key.verifier, key.id = verifier, id
	stale := k.now().Sub(key.used) > k.lifetime/8
	if k.put(a, key) && stale {
		key.used = k.now() // as it is about to be
		k.shared.save(a, key, k.lifetime)
	}
}
