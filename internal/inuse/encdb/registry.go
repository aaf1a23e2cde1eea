package encdb

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// registryFormat names the form of a Registry's state.
const registryFormat = "veildb.meks/1"

const (
	registrySalt = 16
	maxKeyID     = 1 << 30
	verifierInfo = "encdb-verifier"
)

// ErrRegistry means the state of a registry is damaged, or of another version.
var ErrRegistry = errors.New("not a registry of master keys")

// ErrUnknownKey means a registry has no such key.
var ErrUnknownKey = errors.New("no such master key")

// A Registry knows the master keys of an installation without having them: a
// key that is not in it is refused, so that an account cannot bring its own key
// and read what was meant for another. It is safe for concurrent use.
//
// Of a key it keeps a verifier, the Ed25519 public key of the seed
//
//	HKDF-SHA-256(MEK, salt of the registry, info "encdb-verifier"), 32 bytes
//
// A client that sends its MEK is checked by deriving the verifier again. One
// that keeps it signs instead; so whoever reads the registry can do neither.
type Registry struct {
	source RegistrySource

	changing sync.Mutex // serialises what reads and writes the source
	mu       sync.Mutex // of what follows
	text     []byte     // as the source has it
	state    registryState
}

// A RegistrySource is where the state of a Registry is kept: a file, or a table
// that several gates share. It is safe for concurrent use.
type RegistrySource interface {
	// Read returns the state, nil if there is none yet.
	Read(ctx context.Context) ([]byte, error)
	// Write replaces the state old by state, whole or not at all. It fails if the
	// state is not old any more.
	Write(ctx context.Context, old, state []byte) error
}

type registryState struct {
	Format string        `json:"format"`
	Salt   []byte        `json:"salt"`
	Keys   []registryKey `json:"keys"`
}

type registryKey struct {
	ID       uint32 `json:"id"`
	Verifier []byte `json:"verifier"`
	Retired  bool   `json:"retired,omitempty"`
}

// registryTimeout bounds the wait for the source when a client waits too.
const registryTimeout = 10 * time.Second

// NewRegistryState is the state of an empty registry.
func NewRegistryState() []byte {
	salt := make([]byte, registrySalt)
	rand.Read(salt) // never fails, see crypto/rand
	text, _ := json.Marshal(registryState{Format: registryFormat, Salt: salt})
	return text
}

// OpenRegistry reads a registry from its source, and makes an empty one if there
// is none. A nil source keeps it in memory. Errors: ErrRegistry, and those of the
// source.
func OpenRegistry(ctx context.Context, source RegistrySource) (*Registry, error) {
	if source == nil {
		source = new(inMemory)
	}
	r := &Registry{source: source}
	err := r.Refresh(ctx)
	if errors.Is(err, errNoRegistry) {
		failed := source.Write(ctx, nil, NewRegistryState())
		// If it failed, another may have made one.
		if err = r.Refresh(ctx); errors.Is(err, errNoRegistry) && failed != nil {
			err = failed
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open registry: %w", err)
	}
	return r, nil
}

// inMemory is a source of one process.
type inMemory struct{ state atomic.Pointer[[]byte] }

func (m *inMemory) Read(context.Context) ([]byte, error) {
	if s := m.state.Load(); s != nil {
		return *s, nil
	}
	return nil, nil
}

func (m *inMemory) Write(_ context.Context, _, state []byte) error {
	m.state.Store(&state)
	return nil
}

// errNoRegistry means that a source has no state.
var errNoRegistry = errors.New("there is no registry of master keys")

// Refresh takes over what others have changed in the source. On an error, one of
// the source or ErrRegistry, what was known before counts.
func (r *Registry) Refresh(ctx context.Context) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	_, err := r.refresh(ctx)
	return err
}

// refresh reports whether the state is another one now. The caller holds changing.
func (r *Registry) refresh(ctx context.Context) (changed bool, err error) {
	text, err := r.source.Read(ctx)
	if err != nil {
		return false, err
	}
	if text == nil {
		return false, errNoRegistry
	}
	if r.text != nil && bytes.Equal(text, r.text) {
		return false, nil
	}
	var s registryState
	if err := json.Unmarshal(text, &s); err != nil || !s.valid() {
		return false, ErrRegistry
	}
	r.use(s, text)
	return true, nil
}

// use makes a state the one that counts. The caller holds changing.
func (r *Registry) use(s registryState, text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.text = s, text
}

// Watch refreshes in intervals until ctx ends. It tells report of each new reason
// why it cannot, nil for none any more; report must be quick.
func (r *Registry) Watch(ctx context.Context, interval time.Duration, report func(error)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	reason := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := r.Refresh(ctx)
		if ctx.Err() != nil {
			return
		}
		now := ""
		if err != nil {
			now = err.Error()
		}
		if now != reason {
			reason = now
			report(err)
		}
	}
}

func (s *registryState) valid() bool {
	last := uint32(0)
	for _, k := range s.Keys {
		if k.ID <= last || k.ID > maxKeyID || len(k.Verifier) != ed25519.PublicKeySize {
			return false
		}
		last = k.ID
	}
	return s.Format == registryFormat && len(s.Salt) == registrySalt
}

// change saves what f makes of the keys and then lets it count. If others have
// changed them meanwhile, f gets theirs, also when it failed on what was known
// before. An error of f changes nothing.
func (r *Registry) change(ctx context.Context, f func(keys []registryKey) ([]registryKey, error)) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	for {
		err := r.try(ctx, f)
		if err == nil {
			return nil
		}
		if changed, again := r.refresh(ctx); again != nil || !changed {
			return err
		}
	}
}

// try is change with what is known. The caller holds changing.
func (r *Registry) try(ctx context.Context, f func(keys []registryKey) ([]registryKey, error)) error {
	s, err := r.state, error(nil) // nobody else writes it
	if s.Keys, err = f(slices.Clone(s.Keys)); err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err == nil {
		err = r.source.Write(ctx, r.text, text)
	}
	if err != nil {
		return fmt.Errorf("save registry: %w", err)
	}
	r.use(s, text)
	return nil
}

// Salt returns the salt of all verifiers.
func (r *Registry) Salt() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.state.Salt)
}

// Current returns the newest key that is not retired.
func (r *Registry) Current() (id uint32, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range slices.Backward(r.state.Keys) {
		if !k.Retired {
			return k.ID, true
		}
	}
	return 0, false
}

// Retire makes a key unacceptable, for good. Connections that have it keep it.
func (r *Registry) Retire(ctx context.Context, id uint32) error {
	return r.change(ctx, func(keys []registryKey) ([]registryKey, error) {
		for i := range keys {
			if keys[i].ID == id {
				keys[i].Retired = true
				return keys, nil
			}
		}
		return nil, fmt.Errorf("retire master key %d: %w", id, ErrUnknownKey)
	})
}

// find returns the key of a verifier, in time that does not depend on it.
func (r *Registry) find(verifier []byte) (id uint32, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.state.Keys {
		if subtle.ConstantTimeCompare(k.Verifier, verifier) == 1 && !k.Retired {
			id, ok = k.ID, true
		}
	}
	return id, ok
}

// register adds a verifier and returns its number. One that was retired cannot
// come back.
func (r *Registry) register(ctx context.Context, verifier []byte) (id uint32, err error) {
	err = r.change(ctx, func(keys []registryKey) ([]registryKey, error) {
		id = 1
		for _, k := range keys {
			if subtle.ConstantTimeCompare(k.Verifier, verifier) == 1 {
				id = k.ID
				if k.Retired {
					return nil, ErrUnknownKey
				}
				return keys, nil
			}
			id = k.ID + 1
		}
		return append(keys, registryKey{ID: id, Verifier: slices.Clone(verifier)}), nil
	})
	if err != nil {
		return 0, err
	}
	return id, nil
}

// signer returns the private key whose public half is the verifier of mek. The
// caller wipes it.
func signer(mek, salt []byte) (ed25519.PrivateKey, error) {
	seed, err := SHA256.derive(mek, salt, verifierInfo, ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	defer clear(seed)
	return ed25519.NewKeyFromSeed(seed), nil
}

func verifierOf(mek, salt []byte) ([]byte, error) {
	key, err := signer(mek, salt)
	if err != nil {
		return nil, err
	}
	defer clear(key)
	return slices.Clone(key.Public().(ed25519.PublicKey)), nil
}

const (
	sessionKeyInfo = "veildb session key"
	sessionKeySize = 32
	proofLabel     = "veildb encdb session 1\x00"
	identityLabel  = "veildb encdb server 1\x00"
)

// proofText is what a client signs that hands over a session key:
//
//	label || session id (16) || SHA-256 of the server's public key || SHA-256 of the envelope
func proofText(session []byte, server *PublicKey, envelope []byte) []byte {
	key, sealed := sha256.Sum256(server.der), sha256.Sum256(envelope)
	return slices.Concat([]byte(proofLabel), session, key[:], sealed[:])
}

// identityText is what a server signs that has an identity:
//
//	label || nonce of the client (16) || session id (16) ||
//	SHA-256 of the public key of this connection || layout (1) || salt || suite
func identityText(nonce, session []byte, server *PublicKey, layout byte, salt []byte) []byte {
	key := sha256.Sum256(server.der)
	return slices.Concat([]byte(identityLabel), nonce, session, key[:], []byte{layout}, salt, []byte(server.suite.String()))
}
