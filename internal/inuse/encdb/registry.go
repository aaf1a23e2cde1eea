package encdb

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
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
	save func(state []byte) error

	mu    sync.Mutex
	state registryState
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

// OpenRegistry reads a registry from its state, or makes an empty one if state
// is nil. save keeps a new state before it counts; it may be nil. Errors:
// ErrRegistry, and those of save.
func OpenRegistry(state []byte, save func(state []byte) error) (*Registry, error) {
	r := &Registry{save: save}
	if r.save == nil {
		r.save = func([]byte) error { return nil }
	}
	if state == nil {
		salt := make([]byte, registrySalt)
		rand.Read(salt) // never fails, see crypto/rand
		return r, r.commit(registryState{Format: registryFormat, Salt: salt})
	}
	if err := json.Unmarshal(state, &r.state); err != nil || !r.state.valid() {
		return nil, fmt.Errorf("open registry: %w", ErrRegistry)
	}
	return r, nil
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

// commit saves a state and then makes it the one that counts. The caller holds
// the lock, or is alone.
func (r *Registry) commit(s registryState) error {
	text, err := json.Marshal(s)
	if err == nil {
		err = r.save(text)
	}
	if err != nil {
		return fmt.Errorf("save registry: %w", err)
	}
	r.state = s
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
func (r *Registry) Retire(id uint32) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.state
	s.Keys = slices.Clone(s.Keys)
	for i := range s.Keys {
		if s.Keys[i].ID == id {
			s.Keys[i].Retired = true
			return r.commit(s)
		}
	}
	return fmt.Errorf("retire master key %d: %w", id, ErrUnknownKey)
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
func (r *Registry) register(verifier []byte) (id uint32, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.state
	id = 1
	for _, k := range s.Keys {
		if subtle.ConstantTimeCompare(k.Verifier, verifier) == 1 {
			if k.Retired {
				return 0, ErrUnknownKey
			}
			return k.ID, nil
		}
		id = k.ID + 1
	}
	s.Keys = append(slices.Clone(s.Keys), registryKey{ID: id, Verifier: slices.Clone(verifier)})
	return id, r.commit(s)
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
