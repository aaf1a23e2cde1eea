package sm

import (
	"crypto/ecdsa"
	"crypto/rand"
	"encoding/pem"
	"fmt"

	"github.com/emmansun/gmsm/sm2"
	"github.com/emmansun/gmsm/smx509"
	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
)

// MaxSM2Plaintext is the longest plaintext, in bytes: SM2 carries keys, not
// data.
const MaxSM2Plaintext = 1024

const (
	coordinate = 32 // bytes of a point's x or y
	rawHeader  = 1 + 2*coordinate + SM3Size
)

// An SM2PrivateKey decrypts. It is on the heap, where the library needs it.
type SM2PrivateKey struct{ key *sm2.PrivateKey }

// An SM2PublicKey encrypts.
type SM2PublicKey struct{ key *ecdsa.PublicKey }

// GenerateSM2 makes a key pair.
func GenerateSM2() (*SM2PrivateKey, error) {
	key, err := sm2.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate SM2 key: %w", err)
	}
	return &SM2PrivateKey{key}, nil
}

// String keeps the key out of print.
func (SM2PrivateKey) String() string { return "[secret]" }

// GoString keeps the key out of print.
func (SM2PrivateKey) GoString() string { return "[secret]" }

// Format keeps the key out of print under every verb.
func (SM2PrivateKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, "[secret]") }

// Public returns the public half.
func (k *SM2PrivateKey) Public() *SM2PublicKey { return &SM2PublicKey{&k.key.PublicKey} }

// MarshalPEM returns the key as "PRIVATE KEY" (PKCS #8).
func (k *SM2PrivateKey) MarshalPEM() ([]byte, error) {
	der, err := smx509.MarshalPKCS8PrivateKey(k.key)
	if err != nil {
		return nil, fmt.Errorf("encode SM2 key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// ParseSM2PrivateKey reads what MarshalPEM writes; other bytes give ErrKey.
func ParseSM2PrivateKey(data []byte) (*SM2PrivateKey, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, fmt.Errorf("read PEM block PRIVATE KEY: %w", ErrKey)
	}
	key, err := smx509.ParsePKCS8PrivateKey(block.Bytes)
	if k, ok := key.(*sm2.PrivateKey); ok && err == nil {
		return &SM2PrivateKey{k}, nil
	}
	return nil, fmt.Errorf("parse private key: %w", ErrKey)
}

// MarshalDER returns the key as SubjectPublicKeyInfo.
func (p *SM2PublicKey) MarshalDER() ([]byte, error) {
	der, err := smx509.MarshalPKIXPublicKey(p.key)
	if err != nil {
		return nil, fmt.Errorf("encode SM2 key: %w", err)
	}
	return der, nil
}

// MarshalPEM returns the key as "PUBLIC KEY".
func (p *SM2PublicKey) MarshalPEM() ([]byte, error) {
	der, err := p.MarshalDER()
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// ParseSM2PublicKey reads what MarshalPEM writes. Other bytes, and points that
// are not on the curve, give ErrKey.
func ParseSM2PublicKey(data []byte) (*SM2PublicKey, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "PUBLIC KEY" {
		return nil, fmt.Errorf("read PEM block PUBLIC KEY: %w", ErrKey)
	}
	key, err := smx509.ParsePKIXPublicKey(block.Bytes)
	if k, ok := key.(*ecdsa.PublicKey); ok && err == nil && sm2.IsSM2PublicKey(k) {
		return &SM2PublicKey{k}, nil
	}
	return nil, fmt.Errorf("parse public key: %w", ErrKey)
}

// Encrypt returns the ciphertext of 1 to MaxSM2Plaintext bytes (else ErrSize)
// as DER,
//
//	SEQUENCE { INTEGER x, INTEGER y, OCTET STRING C3, OCTET STRING C2 }
//
// x and y have no leading zero byte: there are decoders that expect 32 bytes.
func (p *SM2PublicKey) Encrypt(plaintext []byte) ([]byte, error) {
	for {
		raw, err := p.EncryptRaw(plaintext)
		if err != nil {
			return nil, err
		}
		if x, y := raw[1], raw[1+coordinate]; x == 0 || y == 0 {
			continue // one in 128
		}
		der, err := sm2.PlainCiphertext2ASN1(raw, sm2.C1C3C2)
		if err != nil {
			return nil, fmt.Errorf("encode SM2 ciphertext: %w", err)
		}
		return der, nil
	}
}

// EncryptRaw is Encrypt with the result 04 || x (32) || y (32) || C3 (32) || C2.
func (p *SM2PublicKey) EncryptRaw(plaintext []byte) ([]byte, error) {
	if len(plaintext) == 0 || len(plaintext) > MaxSM2Plaintext {
		return nil, fmt.Errorf("encrypt %d bytes with SM2: %w", len(plaintext), ErrSize)
	}
	raw, err := sm2.Encrypt(rand.Reader, p.key, plaintext, sm2.NewPlainEncrypterOpts(sm2.MarshalUncompressed, sm2.C1C3C2))
	if err != nil {
		return nil, fmt.Errorf("encrypt with SM2: %w", err)
	}
	return raw, nil
}

// Decrypt opens the results of Encrypt and EncryptRaw. It also takes DER whose
// INTEGERs hold the 32 bytes of x or y without the zero byte that makes them
// positive, as some encoders write. Any failure is ErrDecrypt.
func (k *SM2PrivateKey) Decrypt(ciphertext []byte) ([]byte, error) {
	raw := ciphertext
	if len(ciphertext) > 0 && ciphertext[0] != 0x04 {
		var ok bool
		if raw, ok = rawFromDER(ciphertext); !ok {
			return nil, ErrDecrypt
		}
	}
	if len(raw) <= rawHeader || len(raw) > rawHeader+MaxSM2Plaintext {
		return nil, ErrDecrypt
	}
	plaintext, err := k.key.Decrypt(rand.Reader, raw, sm2.NewPlainDecrypterOpts(sm2.C1C3C2))
	if err != nil {
		return nil, ErrDecrypt
	}
	return plaintext, nil
}

// rawFromDER turns a DER ciphertext into a raw one.
func rawFromDER(der []byte) (raw []byte, ok bool) {
	in := cryptobyte.String(der)
	var seq, x, y, c3, c2 cryptobyte.String
	ok = in.ReadASN1(&seq, asn1.SEQUENCE) && in.Empty() &&
		seq.ReadASN1(&x, asn1.INTEGER) && seq.ReadASN1(&y, asn1.INTEGER) &&
		seq.ReadASN1(&c3, asn1.OCTET_STRING) && seq.ReadASN1(&c2, asn1.OCTET_STRING) && seq.Empty() &&
		len(c3) == SM3Size
	if !ok {
		return nil, false
	}
	raw = make([]byte, 1+2*coordinate, rawHeader+len(c2))
	raw[0] = 0x04
	for i, c := range []cryptobyte.String{x, y} {
		if len(c) == coordinate+1 && c[0] == 0 {
			c = c[1:]
		}
		if len(c) > coordinate {
			return nil, false
		}
		end := 1 + (i+1)*coordinate
		copy(raw[end-len(c):end], c) // unsigned, padded on the left
	}
	return append(append(raw, c3...), c2...), true
}
