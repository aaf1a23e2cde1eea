// Package sm gives the Chinese national ciphers: SM3 (GB/T 32905), SM4 (GB/T
// 32907) and SM2 encryption (GB/T 32918.4).
package sm

import (
	"crypto/cipher"
	"errors"
	"fmt"
	"hash"

	"github.com/emmansun/gmsm/sm3"
	"github.com/emmansun/gmsm/sm4"
)

// Sizes in bytes.
const (
	SM3Size    = 32 // digest
	SM4KeySize = 16
)

var (
	// ErrSize means a key or plaintext has a length that is not allowed.
	ErrSize = errors.New("length not allowed")
	// ErrKey means the bytes do not hold a key of the expected kind.
	ErrKey = errors.New("not an SM2 key")
	// ErrDecrypt means a ciphertext does not decrypt: another key, or altered.
	// It says no more, so that it serves no oracle.
	ErrDecrypt = errors.New("SM2 ciphertext does not decrypt")
)

// NewSM3 returns a hash of 32 bytes; it can be the hash of an HMAC or HKDF.
func NewSM3() hash.Hash { return sm3.New() }

// NewSM4 returns the block cipher under a key of SM4KeySize bytes (else
// ErrSize), for the modes of crypto/cipher. It keeps no reference to key.
func NewSM4(key []byte) (cipher.Block, error) {
	if len(key) != SM4KeySize {
		return nil, fmt.Errorf("use SM4 key of %d bytes, want %d: %w", len(key), SM4KeySize, ErrSize)
	}
	return sm4.NewCipher(key)
}

// NewSM4GCM returns SM4-GCM (RFC 8998) with a nonce of 12 bytes, which the
// caller must never use twice, and a tag of 16. The key is as for NewSM4.
func NewSM4GCM(key []byte) (cipher.AEAD, error) {
	block, err := NewSM4(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
