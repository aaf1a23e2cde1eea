package volume

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"github.com/veildb/veildb/internal/crypto/aesxts"
)

const (
	dekSize       = 32
	contextHeader = "veildb/volume/header/v1"
	contextXTS    = "veildb/volume/xts/v1\x00" // the file id follows
)

// fileKeys derives the header key and the cipher of the file id from the data
// encryption key of that version.
func fileKeys(keys KeySource, version uint32, id FileID) (header [32]byte, cipher *aesxts.Cipher, err error) {
	dek, err := keys.DEK(version)
	if err != nil {
		return header, nil, fmt.Errorf("load key version %d: %w", version, err)
	}
	if dek.Len() != dekSize {
		return header, nil, fmt.Errorf("%w: key version %d has %d bytes, not %d", ErrWrongKey, version, dek.Len(), dekSize)
	}
	// A DEK is uniformly random, so HKDF's extract step adds nothing
	// (RFC 5869, section 3.3).
	hk, err := hkdf.Expand(sha256.New, dek.Reveal(), contextHeader, len(header))
	if err != nil {
		return header, nil, fmt.Errorf("derive header key: %w", err)
	}
	copy(header[:], hk)
	clear(hk)
	xk, err := hkdf.Expand(sha256.New, dek.Reveal(), contextXTS+string(id[:]), 64)
	if err != nil {
		return header, nil, fmt.Errorf("derive file key: %w", err)
	}
	defer clear(xk)
	cipher, err = aesxts.New(xk)
	if err != nil {
		return header, nil, fmt.Errorf("derive file key: %w", err)
	}
	return header, cipher, nil
}

// randomCipher returns a cipher whose key nobody knows.
func randomCipher() (*aesxts.Cipher, error) {
	var key [64]byte
	defer clear(key[:])
	rand.Read(key[:]) // never fails, see crypto/rand
	return aesxts.New(key[:])
}
