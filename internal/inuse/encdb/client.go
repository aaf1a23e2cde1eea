package encdb

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/veildb/veildb/internal/crypto/secret"
)

// identityPrefix begins the pin of a server that signs its keys.
const identityPrefix = "sha256:"

// IdentityPin returns the pin of a server with that identity: "sha256:" and the
// base64 of the SHA-256 of the public key.
func IdentityPin(identity ed25519.PublicKey) string {
	sum := sha256.Sum256(identity)
	return identityPrefix + base64.StdEncoding.EncodeToString(sum[:])
}

// A ClientConfig says how a client hands its key over.
type ClientConfig struct {
	MEK       *secret.Bytes // 16 or 32 bytes; it stays the caller's
	Algorithm Algorithm     // what cells should be under
	// Pin is the key the server must have: what IdentityPin returned for it,
	// or, for a server whose key never changes, its public_key_hash. Without
	// it, only the certificate of the connection tells whom the MEK is sent to.
	Pin string
	// AllowWeak opens cells without authentication (ECB, CTR, CBC) too. Whoever
	// can change those can change values unnoticed.
	AllowWeak bool
	Only64    bool // do not ask for Layout65 and up
}

// A Client is the client's side of one connection. It is for one goroutine.
// The statements go out, and the values of their one cell come back, in the
// order Hello, Provision, Finish.
type Client struct {
	cfg     ClientConfig
	nonce   [sessionSize]byte
	version string
	key     *secret.Bytes // own layouts: the session key
	hash    Hash
	ext     *extension // of the server info
	layout  byte
	opener  *Opener
}

// NewClient begins a client's side. ErrNoKey means the MEK has not 16 or 32
// bytes.
func NewClient(cfg ClientConfig) (*Client, error) {
	if cfg.MEK == nil || cfg.MEK.Len() != 16 && cfg.MEK.Len() != 32 {
		return nil, fmt.Errorf("use a master key that has not 16 or 32 bytes: %w", ErrNoKey)
	}
	c := &Client{cfg: cfg, layout: Layout64}
	rand.Read(c.nonce[:]) // never fails, see crypto/rand
	return c, nil
}

// Close wipes what the client derived from its MEK.
func (c *Client) Close() {
	c.opener.Close()
	c.key.Close()
	c.opener, c.key = nil, nil
}

// Hello returns the statement that asks for the server info.
func (c *Client) Hello() []byte {
	r := request{Type: new(int), Version: ClientVersion}
	if !c.cfg.Only64 {
		r.Extension = &extension{Layout: Layout65, Most: Layout66, Nonce: c.nonce[:]}
	}
	return statement(&r)
}

// Provision takes the answer to Hello and returns the statement that hands the
// key over: the MEK, or to a server of ours a key for this session only.
// Errors: ErrMessage, ErrRefused, ErrUnsupported, ErrPin.
func (c *Client) Provision(cell []byte) ([]byte, error) {
	var body infoBody
	if err := parseAnswer(cell, &body); err != nil {
		return nil, fmt.Errorf("get server info: %w", err)
	}
	info := &body.Info
	suite, err := ParseSuite(info.CipherSuite)
	if err != nil {
		return nil, err
	}
	server, err := ParsePublicKey(suite, []byte(info.PublicKey))
	if err != nil {
		return nil, err
	}
	c.version, c.hash, c.ext = info.Version, suite.Hash(), info.Extension
	if c.cfg.Only64 || c.ext == nil || len(c.ext.SessionID) != sessionSize {
		c.ext = nil
	}
	if err := c.checkPin(server); err != nil {
		return nil, err
	}
	kind := reqProvision
	r := request{
		Type: &kind, Version: ClientVersion, Algorithm: c.cfg.Algorithm.String(),
		CipherSuite: info.CipherSuite, PublicKeyHash: info.PublicKeyHash,
	}
	if c.ext != nil && Own(c.ext.Layout) {
		err = c.sealSessionKey(&r, server)
	} else {
		err = sealKey(&r, server, keyMessage{MEK: c.cfg.MEK.Reveal()})
	}
	if err != nil {
		return nil, err
	}
	return statement(&r), nil
}

// checkPin holds the server's key against the pin.
func (c *Client) checkPin(server *PublicKey) error {
	good := true
	switch pin := c.cfg.Pin; {
	case pin == "":
	case !strings.HasPrefix(pin, identityPrefix):
		good = same(pin, server.Hash())
	case c.ext == nil || len(c.ext.Identity) != ed25519.PublicKeySize:
		good = false
	default:
		signed := identityText(c.nonce[:], c.ext.SessionID, server, c.ext.Layout, c.ext.Salt)
		good = same(pin, IdentityPin(c.ext.Identity)) && ed25519.Verify(c.ext.Identity, signed, c.ext.Signature)
	}
	if !good {
		return fmt.Errorf("check server: %w", ErrPin)
	}
	return nil
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// sealKey puts the envelope of m into r.
func sealKey(r *request, server *PublicKey, m keyMessage) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode key: %w", ErrMessage)
	}
	defer clear(text)
	envelope, err := server.SealEnvelope(text)
	if err != nil {
		return err
	}
	r.Envelope = base64.StdEncoding.EncodeToString(envelope)
	return nil
}

// sealSessionKey derives the key of this session, seals it, and proves with the
// MEK's signature that it comes from someone who has the MEK.
func (c *Client) sealSessionKey(r *request, server *PublicKey) error {
	raw, err := SHA256.derive(c.cfg.MEK.Reveal(), c.ext.SessionID, sessionKeyInfo, sessionKeySize)
	if err != nil {
		return err
	}
	c.key.Close()
	if c.key, err = secret.From(raw); err != nil {
		return err
	}
	if err := sealKey(r, server, keyMessage{SessionKey: c.key.Reveal()}); err != nil {
		return err
	}
	key, err := signer(c.cfg.MEK.Reveal(), c.ext.Salt)
	if err != nil {
		return err
	}
	defer clear(key)
	envelope, err := base64.StdEncoding.DecodeString(r.Envelope)
	if err != nil {
		return fmt.Errorf("prove master key: %w", ErrMessage)
	}
	r.Extension = &extension{
		Layout:   c.ext.Layout,
		Verifier: key.Public().(ed25519.PublicKey),
		Proof:    ed25519.Sign(key, proofText(c.ext.SessionID, server, envelope)),
	}
	return nil
}

// Finish takes the answer to Provision. From then on Opener opens cells.
// Errors: ErrMessage, ErrRefused. An answer that names another layout than the
// one offered is ErrMessage: it does not fall back.
func (c *Client) Finish(cell []byte) error {
	var body provisionBody
	if err := parseAnswer(cell, &body); err != nil {
		return fmt.Errorf("hand over key: %w", err)
	}
	key, own := c.cfg.MEK, c.key != nil
	if own {
		if body.Extension == nil || body.Extension.Layout != c.ext.Layout {
			return fmt.Errorf("hand over key: %w", ErrMessage)
		}
		key = c.key
	}
	o, err := newOpener(key, c.hash, c.cfg.AllowWeak)
	if err != nil {
		return err
	}
	if own {
		c.layout, o.layout, o.keyID, o.weak = c.ext.Layout, c.ext.Layout, body.Extension.KeyID, false
		copy(o.session[:], c.ext.SessionID)
	}
	c.opener.Close()
	c.opener = o
	return nil
}

// Opener opens the cells of this connection. ErrNoKey means Finish has not
// been reached.
func (c *Client) Opener() (*Opener, error) {
	if c.opener == nil {
		return nil, ErrNoKey
	}
	return c.opener, nil
}

// Layout returns the layout of the cells of this connection: Layout64, which
// here stands for the temporary layout too, Layout65 or Layout66.
func (c *Client) Layout() byte { return c.layout }

// Marked reports whether the server marks protected columns (CipherMark);
// probed is whether the statement of kind Probe gave a row. If it does not mark
// them, each string value may be a cell, and ErrNotCell tells them apart.
func (c *Client) Marked(probed bool) bool {
	return c.ext != nil || probed && c.version == Version
}

// ProbeStatement is the statement Marked wants to know about.
const ProbeStatement = "SHOW STATUS WHERE VARIABLE_NAME = 'Polar_role'"
