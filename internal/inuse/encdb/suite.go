package encdb

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"

	"github.com/veildb/veildb/internal/crypto/sm"
)

// A Suite says how a master key travels: the cipher of the envelope, the wrap
// of its key, and the hash that derives cell keys. It does not limit the cell
// algorithm.
type Suite byte

// The suites. SM2CBC reaches every client: some seal envelopes in CBC mode
// whatever the suite says, and are understood all the same.
const (
	SM2CBC Suite = iota
	SM2GCM
	RSACBC
	RSAGCM
)

var suiteNames = [...]string{
	SM2CBC: "SM2_WITH_SM4_128_CBC_SM3",
	SM2GCM: "SM2_WITH_SM4_128_GCM_SM3",
	RSACBC: "RSA_WITH_AES_128_CBC_SHA256",
	RSAGCM: "RSA_WITH_AES_128_GCM_SHA256",
}

func (s Suite) String() string {
	if int(s) >= len(suiteNames) {
		return fmt.Sprintf("suite %d", byte(s))
	}
	return suiteNames[s]
}

// ParseSuite finds a suite by its protocol name, or ErrUnsupported.
func ParseSuite(name string) (Suite, error) {
	for i, n := range suiteNames {
		if n == name {
			return Suite(i), nil
		}
	}
	return 0, fmt.Errorf("find cipher suite: %w", ErrUnsupported)
}

// Hash returns the hash that derives cell keys.
func (s Suite) Hash() Hash {
	if s == SM2CBC || s == SM2GCM {
		return SM3
	}
	return SHA256
}

func (s Suite) authenticated() bool { return s == SM2GCM || s == RSAGCM }

// bulk is the cell algorithm whose cipher and mode seal the envelope's body.
func (s Suite) bulk() Algorithm {
	switch s {
	case SM2CBC:
		return SM4CBC
	case SM2GCM:
		return SM4GCM
	case RSACBC:
		return AES128CBC
	}
	return AES128GCM
}

const (
	rsaBits    = 2048
	maxRSABits = 8192
)

// A KeyPair receives envelopes of its suite.
type KeyPair struct {
	suite Suite
	sm2   *sm.SM2PrivateKey
	rsa   *rsa.PrivateKey
	pub   *PublicKey
}

// GenerateKeyPair makes a key pair: some 0.1 ms for SM2, some 0.1 s for RSA
// (2048 bits).
func GenerateKeyPair(s Suite) (*KeyPair, error) {
	if s.Hash() == SM3 {
		key, err := sm.GenerateSM2()
		if err != nil {
			return nil, err
		}
		return newSM2KeyPair(s, key)
	}
	key, err := rsa.GenerateKey(rand.Reader, rsaBits)
	if err != nil {
		return nil, fmt.Errorf("generate RSA key: %w", err)
	}
	return newRSAKeyPair(s, key)
}

func newSM2KeyPair(s Suite, key *sm.SM2PrivateKey) (*KeyPair, error) {
	text, err := key.Public().MarshalPEM()
	if err != nil {
		return nil, err
	}
	pub, err := ParsePublicKey(s, text)
	return &KeyPair{suite: s, sm2: key, pub: pub}, err
}

func newRSAKeyPair(s Suite, key *rsa.PrivateKey) (*KeyPair, error) {
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("encode RSA key: %w", err)
	}
	pub, err := ParsePublicKey(s, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	return &KeyPair{suite: s, rsa: key, pub: pub}, err
}

// Public returns the public half.
func (k *KeyPair) Public() *PublicKey { return k.pub }

// String keeps the key out of print.
func (KeyPair) String() string { return "[secret]" }

// GoString keeps the key out of print.
func (KeyPair) GoString() string { return "[secret]" }

// Format keeps the key out of print under every verb.
func (KeyPair) Format(f fmt.State, _ rune) { fmt.Fprint(f, "[secret]") }

// unwrap opens the wrapped key of an envelope.
func (k *KeyPair) unwrap(wrapped []byte) ([]byte, error) {
	if k.sm2 != nil {
		return k.sm2.Decrypt(wrapped)
	}
	return rsa.DecryptOAEP(SHA256.new(), nil, k.rsa, wrapped, nil)
}

// A PublicKey seals envelopes of its suite.
type PublicKey struct {
	suite Suite
	sm2   *sm.SM2PublicKey
	rsa   *rsa.PublicKey
	pem   string
	der   []byte // SubjectPublicKeyInfo
}

// ParsePublicKey reads a "PUBLIC KEY" in PEM. Another kind of key than the
// suite's, and RSA keys outside 2048 to 8192 bits, give ErrUnsupported.
func ParsePublicKey(s Suite, text []byte) (*PublicKey, error) {
	p := &PublicKey{suite: s, pem: string(text)}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PUBLIC KEY" {
		return nil, fmt.Errorf("read PEM block PUBLIC KEY: %w", ErrUnsupported)
	}
	p.der = block.Bytes
	if s.Hash() == SM3 {
		key, err := sm.ParseSM2PublicKey(text)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
		}
		p.sm2 = key
		return p, nil
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	key, ok := parsed.(*rsa.PublicKey)
	if err != nil || !ok || key.N.BitLen() < rsaBits || key.N.BitLen() > maxRSABits {
		return nil, fmt.Errorf("use public key for %v: %w", s, ErrUnsupported)
	}
	p.rsa = key
	return p, nil
}

// PEM returns the key as the server info carries it.
func (p *PublicKey) PEM() string { return p.pem }

// Hash returns the protocol's public_key_hash: base64 of the suite's hash of
// the SubjectPublicKeyInfo.
func (p *PublicKey) Hash() string {
	return base64.StdEncoding.EncodeToString(p.suite.Hash().sum(p.der))
}

func (p *PublicKey) wrap(key []byte) ([]byte, error) {
	if p.sm2 != nil {
		return p.sm2.Encrypt(key)
	}
	return rsa.EncryptOAEP(SHA256.new(), rand.Reader, p.rsa, key, nil)
}
