package volume

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"

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
	prf := hmac.New(sha256.New, dek.Reveal())
	expand(prf, header[:], contextHeader)
	xk := make([]byte, 64)
	defer clear(xk)
	expand(prf, xk, contextXTS+string(id[:]))
	cipher, err = aesxts.New(xk)
	if err != nil {
		return header, nil, fmt.Errorf("derive file key: %w", err)
	}
	return header, cipher, nil
}

// expand fills out with HKDF-Expand of prf, an HMAC under the pseudorandom key,
// which one caller may use for several outputs.
func expand(prf hash.Hash, out []byte, info string) {
	var block [sha256.Size]byte
	defer clear(block[:])
	for i := byte(1); len(out) > 0; i++ {
		prf.Reset()
		if i > 1 {
			prf.Write(block[:])
		}
		io.WriteString(prf, info)
		prf.Write([]byte{i})
		prf.Sum(block[:0])
		out = out[copy(out, block[:]):]
	}
}

// randomCipher returns a cipher whose key nobody knows.
func randomCipher() (*aesxts.Cipher, error) {
	var key [64]byte
	defer clear(key[:])
	rand.Read(key[:]) // never fails, see crypto/rand
	return aesxts.New(key[:])
}
