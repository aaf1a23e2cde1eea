//go:build pkcs11

package kms

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/miekg/pkcs11"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/keys/keyring"
)

// PKCS11 is an AES key of a hardware security module, or of another token with
// a PKCS #11 library, used by the mechanism CKM_AES_GCM; parsePKCS11 tells how
// it is named. The key must have CKA_ENCRYPT and CKA_DECRYPT and should not be
// extractable.
//
// The PIN comes from the URI's pin-source, VEILDB_PKCS11_PIN,
// VEILDB_PKCS11_PIN_FILE, or Config.PIN, in this order. A PIN that was refused
// is not tried again until its source gives another: tokens lock after a few.
//
// The name in a blob is empty, its payload iv (12) || ciphertext and tag. It
// wraps SHA-256(aad) || key, since not every token takes additional data.
type PKCS11 struct {
	at      tokenURI
	askPIN  func(ctx context.Context, token string) (*secret.Bytes, error)
	timeout time.Duration

	mu      sync.Mutex    // one session at a time
	pin     *secret.Bytes // an answer of askPIN that the token took
	refused *secret.Bytes // a PIN that it did not take
}

const (
	gcmIV  = 12
	gcmTag = 16
)

func openPKCS11(uri string, c Config) (keyring.Provider, error) {
	at, err := parsePKCS11(uri)
	if err != nil {
		return nil, err
	}
	return &PKCS11{at: at, askPIN: c.PIN, timeout: cmp.Or(c.Timeout, defaultTimeout)}, nil
}

// URI implements keyring.Provider.
func (p *PKCS11) URI() string { return p.at.uri() }

// Wrap implements keyring.Provider. The version is the serial number of the
// token and the key's CKA_ID. Errors: keyring.ErrUnreachable,
// keyring.ErrDenied, keyring.ErrWrongKey if there is no such key, ErrConfig.
func (p *PKCS11) Wrap(ctx context.Context, plaintext *secret.Bytes, aad []byte) (blob []byte, version string, err error) {
	bound, err := bind(plaintext, aad)
	if err != nil {
		return nil, "", err
	}
	defer bound.Close()
	iv := make([]byte, gcmIV)
	rand.Read(iv) // never fails, see crypto/rand
	var payload []byte
	version, err = p.withKey(ctx, func(s *session) error {
		params := pkcs11.NewGCMParams(iv, nil, gcmTag*8)
		defer params.Free()
		if err := s.EncryptInit(s.handle, mechanism(params), s.key); err != nil {
			return err
		}
		sealed, err := s.Encrypt(s.handle, bound.Reveal())
		if err != nil {
			return err
		}
		used := params.IV() // some tokens make their own
		if len(used) != gcmIV || len(sealed) != bound.Len()+gcmTag {
			return fmt.Errorf("the token gave %d bytes under an IV of %d: %w", len(sealed), len(used), keyring.ErrUnreachable)
		}
		payload = append(bytes.Clone(used), sealed...)
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("encrypt on token: %w", err)
	}
	blob, err = sealRemote(kindPKCS11, "", payload)
	return blob, version, err
}

func mechanism(params *pkcs11.GCMParams) []*pkcs11.Mechanism {
	return []*pkcs11.Mechanism{pkcs11.NewMechanism(pkcs11.CKM_AES_GCM, params)}
}

// Unwrap implements keyring.Provider. Errors: keyring.ErrWrongKey,
// keyring.ErrCorrupt, keyring.ErrUnreachable, keyring.ErrDenied, ErrConfig.
func (p *PKCS11) Unwrap(ctx context.Context, blob, aad []byte) (*secret.Bytes, error) {
	payload, err := openNamed(kindPKCS11, "", blob)
	if err != nil {
		return nil, err
	}
	if len(payload) < gcmIV+gcmTag || len(payload) > 2*maxPlaintext {
		return nil, fmt.Errorf("wrapped key is not of a token: %w", keyring.ErrCorrupt)
	}
	var bound []byte
	defer func() { clear(bound) }()
	_, err = p.withKey(ctx, func(s *session) error {
		params := pkcs11.NewGCMParams(payload[:gcmIV], nil, gcmTag*8)
		defer params.Free()
		if err := s.DecryptInit(s.handle, mechanism(params), s.key); err != nil {
			return err
		}
		bound, err = s.Decrypt(s.handle, payload[gcmIV:])
		// The blob's sum was right: what fails here is of another key, unless the
		// key does not work at all. Tokens report both with many codes.
		if err != nil && s.works() {
			return fmt.Errorf("%w: %w", err, keyring.ErrWrongKey)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("decrypt on token: %w", err)
	}
	return unbind(bound, aad)
}

// A session is a logged-in session with its key.
type session struct {
	*pkcs11.Ctx
	handle pkcs11.SessionHandle
	key    pkcs11.ObjectHandle
}

// works reports whether the key encrypts.
func (s *session) works() bool {
	params := pkcs11.NewGCMParams(make([]byte, gcmIV), nil, gcmTag*8)
	defer params.Free()
	if err := s.EncryptInit(s.handle, mechanism(params), s.key); err != nil {
		return false
	}
	_, err := s.Encrypt(s.handle, make([]byte, 16))
	return err == nil
}

// withKey does something in a session of its own and returns the key's version.
// Token libraries know no context, so a call that takes too long is left behind,
// and the next ones wait for it no longer than their own time.
func (p *PKCS11) withKey(ctx context.Context, do func(*session) error) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	type result struct {
		version string
		err     error
	}
	done := make(chan result, 1)
	go func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		version, err := p.inSession(ctx, do)
		done <- result{version, explainToken(err)}
	}()
	select {
	case r := <-done:
		return r.version, r.err
	case <-ctx.Done():
		return "", fmt.Errorf("no answer: %w: %w", context.Cause(ctx), keyring.ErrUnreachable)
	}
}

func (p *PKCS11) inSession(ctx context.Context, do func(*session) error) (version string, err error) {
	m, err := useModule(p.at.module)
	if err != nil {
		return "", err
	}
	defer func() { m.release(errors.Is(explainToken(err), keyring.ErrUnreachable)) }()
	slot, token, err := p.findToken(m.Ctx)
	if err != nil {
		return "", err
	}
	handle, err := m.OpenSession(slot, pkcs11.CKF_SERIAL_SESSION)
	if err != nil {
		return "", err
	}
	defer m.CloseSession(handle)
	s := &session{Ctx: m.Ctx, handle: handle}
	if err := p.logIn(ctx, s, token); err != nil {
		return "", err
	}
	id, err := s.findKey(p.at)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(token.SerialNumber) + "/" + hex.EncodeToString(id), do(s)
}

// findToken returns the one slot whose token the URI names.
func (p *PKCS11) findToken(m *pkcs11.Ctx) (slot uint, token pkcs11.TokenInfo, err error) {
	slots, err := m.GetSlotList(true)
	if err != nil {
		return 0, token, err
	}
	found := 0
	for _, s := range slots {
		info, err := m.GetTokenInfo(s)
		if err != nil || info.Flags&pkcs11.CKF_TOKEN_INITIALIZED == 0 {
			continue
		}
		match := true
		for want, got := range map[string]string{p.at.token: info.Label, p.at.serial: info.SerialNumber, p.at.manufacturer: info.ManufacturerID, p.at.model: info.Model} {
			match = match && (want == "" || want == strings.TrimRight(got, " \x00"))
		}
		if match {
			found++
			slot, token = s, info
		}
	}
	switch found {
	case 0:
		return 0, token, fmt.Errorf("no such token in any slot: %w", keyring.ErrUnreachable)
	case 1:
		return slot, token, nil
	}
	return 0, token, fmt.Errorf("%d tokens match; add serial= to the URI: %w", found, ErrConfig)
}

// findKey sets the session's key to the one that the URI names, and returns its
// CKA_ID.
func (s *session) findKey(at tokenURI) (id []byte, err error) {
	want := []*pkcs11.Attribute{
		pkcs11.NewAttribute(pkcs11.CKA_CLASS, pkcs11.CKO_SECRET_KEY),
		pkcs11.NewAttribute(pkcs11.CKA_KEY_TYPE, pkcs11.CKK_AES),
	}
	if at.object != "" {
		want = append(want, pkcs11.NewAttribute(pkcs11.CKA_LABEL, at.object))
	}
	if len(at.id) > 0 {
		want = append(want, pkcs11.NewAttribute(pkcs11.CKA_ID, at.id))
	}
	if err := s.FindObjectsInit(s.handle, want); err != nil {
		return nil, err
	}
	found, _, err := s.FindObjects(s.handle, 2)
	if ferr := s.FindObjectsFinal(s.handle); err == nil {
		err = ferr
	}
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, fmt.Errorf("the token has no such AES key: %w", keyring.ErrWrongKey)
	case len(found) > 1:
		return nil, fmt.Errorf("several keys of the token match; add id= to the URI: %w", ErrConfig)
	}
	s.key = found[0]
	attrs, err := s.GetAttributeValue(s.handle, s.key, []*pkcs11.Attribute{pkcs11.NewAttribute(pkcs11.CKA_ID, nil)})
	if err != nil {
		return nil, err
	}
	return attrs[0].Value, nil
}
