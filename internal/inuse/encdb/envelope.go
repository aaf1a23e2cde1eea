package encdb

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"fmt"
)

// An envelope is
//
//	n (2, little endian) || wrapped key (n) || body
//
// where the wrapped key is a random 16-byte key under the server's public key
// (RSA-OAEP with SHA-256, or SM2 as C1 || C3 || C2 in DER), and body the
// message under that key: IV (16) || CBC with PKCS #7, or IV (12) || tag (16)
// || GCM.
const (
	envelopeKey = 16
	maxEnvelope = 16 << 10 // longest envelope, in bytes
	block       = 16
)

// SealEnvelope returns the envelope of a message under a fresh key.
func (p *PublicKey) SealEnvelope(message []byte) ([]byte, error) {
	key := make([]byte, envelopeKey)
	defer clear(key)
	rand.Read(key) // never fails, see crypto/rand
	iv := make([]byte, block)
	rand.Read(iv)
	wrapped, err := p.wrap(key)
	if err != nil {
		return nil, fmt.Errorf("seal envelope: %w", err)
	}
	out := binary.LittleEndian.AppendUint16(nil, uint16(len(wrapped)))
	out = append(out, wrapped...)
	return sealEnvelopeBody(out, p.suite, key, iv, message)
}

// sealEnvelopeBody appends a body to dst. It uses as much of iv as it needs.
func sealEnvelopeBody(dst []byte, s Suite, key, iv, message []byte) ([]byte, error) {
	alg := s.bulk()
	b, err := alg.block(key)
	if err != nil {
		return nil, fmt.Errorf("seal envelope: %w", err)
	}
	if s.authenticated() {
		aead, err := cipher.NewGCM(b)
		if err != nil {
			return nil, fmt.Errorf("seal envelope: %w", err)
		}
		sealed := aead.Seal(nil, iv[:ivSize], message, nil)
		dst = append(append(dst, iv[:ivSize]...), sealed[len(message):]...)
		return append(dst, sealed[:len(message)]...), nil
	}
	pad := block - len(message)%block
	dst = append(dst, iv[:block]...)
	at := len(dst)
	dst = append(dst, message...)
	for range pad {
		dst = append(dst, byte(pad))
	}
	cipher.NewCBCEncrypter(b, iv[:block]).CryptBlocks(dst[at:], dst[at:])
	return dst, nil
}

// Open returns the message of an envelope, which it overwrites. Suites with GCM
// also take a CBC body. Every failure is ErrEnvelope, after the same work: a
// key that does not unwrap is replaced by a random one, and padding is looked
// at in constant time. On failure the message is what came out all the same,
// for a caller that goes on so as not to tell the time.
func (k *KeyPair) Open(envelope []byte) (message []byte, err error) {
	good := true
	var wrapped, body []byte
	if len(envelope) >= 2 && len(envelope) <= maxEnvelope {
		n := int(binary.LittleEndian.Uint16(envelope))
		if rest := envelope[2:]; n <= len(rest) {
			wrapped, body = rest[:n], rest[n:]
		}
	}
	key, err := k.unwrap(wrapped)
	if err != nil || len(key) != envelopeKey {
		good = false
		key = make([]byte, envelopeKey)
		rand.Read(key) // never fails, see crypto/rand
	}
	defer clear(key)
	alg := k.suite.bulk()
	b, err := alg.block(key)
	if err != nil {
		return nil, ErrEnvelope
	}
	if k.suite.authenticated() {
		aead, err := cipher.NewGCM(b)
		if err != nil {
			return nil, ErrEnvelope
		}
		// openBody overwrites, and CBC may still want the body.
		if m, ok := openBody(nil, aead, append([]byte(nil), body...), nil); ok && good {
			return m, nil
		}
	}
	m, ok := openCBC(b, body)
	if !good || !ok {
		return m, ErrEnvelope
	}
	return m, nil
}

// openCBC decrypts body in place.
func openCBC(b cipher.Block, body []byte) ([]byte, bool) {
	if len(body) < 2*block || len(body)%block != 0 {
		return nil, false
	}
	iv, text := body[:block], body[block:]
	cipher.NewCBCDecrypter(b, iv).CryptBlocks(text, text)
	n, ok := unpad(text, block)
	return text[:n], ok == 1
}
