package encdb

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/veildb/veildb/internal/crypto/secret"
)

// defaultFailures is how many failed provisions a connection may have.
const defaultFailures = 3

// errKey is every way in which a key can be wrong: the client gets the same
// words for all of them, the audit log the cause.
func errKey(cause string, args ...any) error {
	return fmt.Errorf("%w (%s)", problem(uniformProblem), fmt.Sprintf(cause, args...))
}

// provision takes a master key, or the key of our own client's session.
func (s *Session) provision(r *request) (body string, ev Event) {
	ev.Request = "provision"
	most := s.cfg.MaxFailures
	if most == 0 {
		most = defaultFailures
	}
	switch {
	case !s.account.TLS && !s.cfg.AllowClear:
		ev.Err = problem("a master key is taken over an encrypted connection only")
	case s.pair == nil:
		ev.Err = problem("ask for the server info first")
	case s.failures >= most || !s.cfg.Limiter.allowed(s.account.User, s.now()):
		ev.Err = errKey("too many failed attempts")
	}
	if ev.Err != nil {
		return "", ev
	}
	body, ev = s.provisionKey(r)
	if ev.Err != nil {
		s.failures++
		s.cfg.Limiter.failed(s.account.User, s.now())
	}
	return body, ev
}

func (s *Session) provisionKey(r *request) (body string, ev Event) {
	ev = Event{Request: "provision", Algorithm: strengthen(r.Algorithm, s.pair.suite)}
	own := r.Extension != nil && Own(r.Extension.Layout) && !s.cfg.Only64
	if ev.Algorithm.String() != r.Algorithm {
		ev.Wish = printable(r.Algorithm)
	}
	key, verifier, err := s.openKey(r, own)
	if err != nil {
		ev.Err = err
		return "", ev
	}
	defer key.Close()
	if ev.KeyID, ev.Registered, ev.Err = s.admit(verifier); ev.Err != nil {
		return "", ev
	}
	layout, out := byte(Layout64), provisionBody{}
	if own {
		layout = r.Extension.Layout
		out.Extension = &extension{Layout: layout, KeyID: ev.KeyID}
		if ev.Algorithm == AES128GCM {
			ev.Algorithm = AES256GCM
		}
	}
	if ev.Err = s.take(key, ev.Algorithm, layout, ev.KeyID); ev.Err != nil {
		return "", ev
	}
	if !own {
		s.cfg.Keeper.keep(s.account, key, s.pair.suite.Hash(), ev.Algorithm)
	}
	return encodeBody(out), ev
}

// openKey opens the envelope of a request: a master key of 16 or 32 bytes, or
// our own client's session key with a proof that the client has the master key
// of its verifier. All failures go through the same steps and end in errKey.
func (s *Session) openKey(r *request, own bool) (key *secret.Bytes, verifier []byte, err error) {
	envelope, decodeErr := base64.StdEncoding.DecodeString(r.Envelope)
	if len(r.Envelope) > maxProvision {
		envelope, decodeErr = nil, ErrMessage
	}
	var proven bool
	if own && len(r.Extension.Verifier) == ed25519.PublicKeySize {
		verifier = r.Extension.Verifier
		proven = ed25519.Verify(verifier, proofText(s.id[:], s.pair.pub, envelope), r.Extension.Proof)
	}
	message, openErr := s.pair.Open(envelope)
	defer clear(message)
	var m keyMessage
	defer m.wipe()
	jsonErr := json.Unmarshal(message, &m)
	raw := m.MEK
	if own {
		raw = m.SessionKey
	}
	switch {
	case decodeErr != nil || openErr != nil || jsonErr != nil:
		return nil, nil, errKey("the envelope does not open")
	case r.PublicKeyHash != s.pair.pub.Hash():
		return nil, nil, errKey("the envelope is for another public key")
	case own && (!proven || len(raw) != sessionKeySize):
		return nil, nil, errKey("the session key is not proven")
	case len(raw) != 16 && len(raw) != 32:
		return nil, nil, errKey("the key has %d bytes", len(raw))
	case !own && s.cfg.Registry != nil:
		if verifier, err = verifierOf(raw, s.cfg.Registry.Salt()); err != nil {
			return nil, nil, err
		}
	}
	key, err = secret.From(raw)
	return key, verifier, err
}

// admit looks a key up, or registers it for an account that may.
func (s *Session) admit(verifier []byte) (id uint32, registered bool, err error) {
	r := s.cfg.Registry
	if r == nil {
		return 0, false, nil
	}
	if id, ok := r.find(verifier); ok {
		return id, false, nil
	}
	// Another gate may have it.
	ctx, cancel := context.WithTimeout(context.Background(), registryTimeout)
	defer cancel()
	unread := r.Refresh(ctx)
	if id, ok := r.find(verifier); ok {
		return id, false, nil
	}
	switch {
	case unread != nil:
		return 0, false, errKey("it is not known, and the registry cannot be read: %v", unread)
	case s.cfg.MayRegister == nil || !s.cfg.MayRegister(s.account):
		return 0, false, errKey("it is not registered")
	}
	id, err = r.register(ctx, verifier)
	if err != nil {
		return 0, false, errKey("it cannot be registered: %v", err)
	}
	return id, true, nil
}
