package kms

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/keys/keyring"
)

// Argon2 is the cost of Argon2id (RFC 9106).
type Argon2 struct {
	Time    uint32 // passes, 1 to 32
	Memory  uint32 // KiB, 8 for each thread to 2 GiB
	Threads uint8  // 1 to 64
}

// Limits of what a blob may ask for: it is not authenticated when it is read.
const (
	maxTime       = 32
	maxMemory     = 2 << 20 // KiB
	maxThreads    = 64
	maxPassphrase = 1024
	saltSize      = 16

	// kind, time, memory, threads, salt
	passphraseHeader = 1 + 4 + 4 + 1 + saltSize
)

func (a Argon2) validate() error {
	if a.Time < 1 || a.Time > maxTime || a.Threads < 1 || a.Threads > maxThreads || a.Memory < 8*uint32(a.Threads) || a.Memory > maxMemory {
		return fmt.Errorf("Argon2id cost %+v out of range", a)
	}
	return nil
}

// unlockTarget is how long an unlock may take on the machine that wraps; half
// of it, or more, is used.
const unlockTarget = 500 * time.Millisecond

// Calibrate measures Argon2id here, for about a second, and returns the highest
// cost within the default time: never less than 19 MiB and 2 passes.
func Calibrate() Argon2 {
	cost := Argon2{Time: 2, Memory: 19 << 10, Threads: 4}
	for next := (Argon2{Time: 3, Memory: 32 << 10, Threads: 4}); next.Memory <= 1<<20; next.Memory *= 2 {
		start := time.Now()
		argon2.IDKey([]byte("passphrase"), make([]byte, saltSize), next.Time, next.Memory, next.Threads, rootSize)
		took := time.Since(start)
		if took > unlockTarget {
			break
		}
		cost = next
		if took > unlockTarget/2 {
			break // twice as much would not fit
		}
	}
	return cost
}

// Passphrase derives the root key from a passphrase by Argon2id. Each wrapping
// has its own salt and stores its cost:
//
//	kind (1) || time (4) || memory in KiB (4) || threads (1) || salt (16)
type Passphrase struct {
	uri    string
	argon2 Argon2
	read   func(ctx context.Context, isNew bool) (*secret.Bytes, error)

	mu    sync.Mutex
	known *secret.Bytes // what the user answered, if asked
}

// URI implements keyring.Provider.
func (p *Passphrase) URI() string { return p.uri }

// asked returns a source that asks once and remembers.
func (p *Passphrase) asked(ask func(context.Context, bool) (*secret.Bytes, error)) func(context.Context, bool) (*secret.Bytes, error) {
	return func(ctx context.Context, isNew bool) (*secret.Bytes, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.known == nil {
			answer, err := ask(ctx, isNew)
			if err != nil {
				return nil, err
			}
			p.known = answer
		}
		return p.known.Clone()
	}
}

// forget makes an asked passphrase be asked for again.
func (p *Passphrase) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known.Close()
	p.known = nil
}

func fromFile(path string) func(context.Context, bool) (*secret.Bytes, error) {
	return func(context.Context, bool) (*secret.Bytes, error) {
		s, err := readSecretFile(path, maxPassphrase)
		if err != nil {
			return nil, err
		}
		return trimNewline(s)
	}
}

func fromCredential(name string) func(context.Context, bool) (*secret.Bytes, error) {
	return func(context.Context, bool) (*secret.Bytes, error) {
		dir := os.Getenv("CREDENTIALS_DIRECTORY")
		if dir == "" || name != filepath.Base(name) {
			return nil, fmt.Errorf("no credential %q from systemd, see LoadCredential=: %w", name, keyring.ErrUnreachable)
		}
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", err, keyring.ErrUnreachable)
		}
		defer f.Close()
		s, err := readSecret(f, name, maxPassphrase)
		if err != nil {
			return nil, err
		}
		return trimNewline(s)
	}
}

// trimNewline replaces s by a secret without one line end at the end.
func trimNewline(s *secret.Bytes) (*secret.Bytes, error) {
	defer s.Close()
	b := bytes.TrimSuffix(bytes.TrimSuffix(s.Reveal(), []byte("\n")), []byte("\r"))
	t, err := secret.New(len(b))
	if err != nil {
		return nil, err
	}
	copy(t.Reveal(), b)
	return t, nil
}

// root derives the root key.
func (p *Passphrase) root(ctx context.Context, isNew bool, cost Argon2, salt []byte) (*secret.Bytes, error) {
	pass, err := p.read(ctx, isNew)
	if err != nil {
		return nil, fmt.Errorf("read passphrase: %w", err)
	}
	defer pass.Close()
	if pass.Len() == 0 || pass.Len() > maxPassphrase {
		if isNew {
			return nil, fmt.Errorf("a new passphrase of %d bytes, want 1 to %d: %w", pass.Len(), maxPassphrase, ErrConfig)
		}
		return nil, fmt.Errorf("passphrase of %d bytes, want 1 to %d: %w", pass.Len(), maxPassphrase, keyring.ErrWrongKey)
	}
	return secret.From(argon2.IDKey(pass.Reveal(), salt, cost.Time, cost.Memory, cost.Threads, rootSize))
}

// Wrap implements keyring.Provider. The key version is the salt.
func (p *Passphrase) Wrap(ctx context.Context, plaintext *secret.Bytes, aad []byte) ([]byte, string, error) {
	cost := p.argon2
	if cost == (Argon2{}) {
		cost = Calibrate()
	}
	if err := cost.validate(); err != nil {
		return nil, "", err
	}
	salt := make([]byte, saltSize)
	rand.Read(salt) // never fails, see crypto/rand
	root, err := p.root(ctx, true, cost, salt)
	if err != nil {
		return nil, "", err
	}
	defer root.Close()
	header := binary.BigEndian.AppendUint32([]byte{kindPassphrase}, cost.Time)
	header = binary.BigEndian.AppendUint32(header, cost.Memory)
	header = append(append(header, cost.Threads), salt...)
	blob, err := sealLocal(root, header, plaintext, aad)
	return blob, hex.EncodeToString(salt), err
}

// Unwrap implements keyring.Provider.
func (p *Passphrase) Unwrap(ctx context.Context, blob, aad []byte) (*secret.Bytes, error) {
	cost, salt, err := parseHeader(blob)
	if err != nil {
		return nil, err
	}
	root, err := p.root(ctx, false, cost, salt)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	plaintext, err := openLocal(root, passphraseHeader, blob, aad)
	if errors.Is(err, keyring.ErrWrongKey) {
		p.forget()
	}
	return plaintext, err
}

func parseHeader(blob []byte) (Argon2, []byte, error) {
	if len(blob) < passphraseHeader || blob[0] != kindPassphrase {
		return Argon2{}, nil, fmt.Errorf("the wrapped key is not of a passphrase: %w", keyring.ErrWrongKey)
	}
	cost := Argon2{binary.BigEndian.Uint32(blob[1:]), binary.BigEndian.Uint32(blob[5:]), blob[9]}
	if err := cost.validate(); err != nil {
		return Argon2{}, nil, fmt.Errorf("%w: %w", err, keyring.ErrCorrupt)
	}
	return cost, blob[10:passphraseHeader], nil
}
