package encdb

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"

	"github.com/veildb/veildb/internal/crypto/sm"
)

// An Algorithm is a cell cipher; the numbers are those of the cell header.
type Algorithm byte

// The algorithms. Cells are sealed under GCM only; the others can be opened by
// a client that was told to (ClientConfig.AllowWeak).
const (
	AES128GCM Algorithm = 0
	AES128ECB Algorithm = 1
	AES128CTR Algorithm = 2
	AES128CBC Algorithm = 3
	SM4CBC    Algorithm = 4
	SM4ECB    Algorithm = 5
	SM4CTR    Algorithm = 6
	SM4GCM    Algorithm = 7
	AES256GCM Algorithm = 9
	AES256CBC Algorithm = 10
	AES256ECB Algorithm = 11
	AES256CTR Algorithm = 12
)

type mode byte

const (
	modeGCM mode = iota
	modeCBC
	modeCTR
	modeECB
)

type algorithm struct {
	name    string
	keySize int // bytes; 0 where the number means nothing
	mode    mode
	strong  Algorithm // the GCM algorithm of the same family
	sm4     bool
}

// algorithms is indexed by Algorithm. Number 8 reveals the order of values; it
// has no place in this protocol and none here.
var algorithms = [...]algorithm{
	AES128GCM: {"AES_128_GCM", 16, modeGCM, AES128GCM, false},
	AES128ECB: {"AES_128_ECB", 16, modeECB, AES128GCM, false},
	AES128CTR: {"AES_128_CTR", 16, modeCTR, AES128GCM, false},
	AES128CBC: {"AES_128_CBC", 16, modeCBC, AES128GCM, false},
	SM4CBC:    {"SM4_128_CBC", 16, modeCBC, SM4GCM, true},
	SM4ECB:    {"SM4_128_ECB", 16, modeECB, SM4GCM, true},
	SM4CTR:    {"SM4_128_CTR", 16, modeCTR, SM4GCM, true},
	SM4GCM:    {"SM4_128_GCM", 16, modeGCM, SM4GCM, true},
	AES256GCM: {"AES_256_GCM", 32, modeGCM, AES256GCM, false},
	AES256CBC: {"AES_256_CBC", 32, modeCBC, AES256GCM, false},
	AES256ECB: {"AES_256_ECB", 32, modeECB, AES256GCM, false},
	AES256CTR: {"AES_256_CTR", 32, modeCTR, AES256GCM, false},
}

func (a Algorithm) known() bool {
	return int(a) < len(algorithms) && algorithms[a].keySize != 0
}

// Authenticated reports whether cells under a carry a tag: whether a is GCM.
func (a Algorithm) Authenticated() bool { return a.known() && algorithms[a].mode == modeGCM }

func (a Algorithm) String() string {
	if !a.known() {
		return fmt.Sprintf("algorithm %d", byte(a))
	}
	return algorithms[a].name
}

// ParseAlgorithm finds an algorithm by its protocol name, or ErrUnsupported.
func ParseAlgorithm(name string) (Algorithm, error) {
	for i, a := range algorithms {
		if a.keySize != 0 && a.name == name {
			return Algorithm(i), nil
		}
	}
	return 0, fmt.Errorf("find algorithm: %w", ErrUnsupported)
}

// strengthen answers a client's wish: the GCM algorithm of the family it asks
// for, or of the suite's family where it asks for nothing known. The client
// reads the algorithm from each cell, so it may be another than it asked for.
func strengthen(wish string, s Suite) Algorithm {
	if a, err := ParseAlgorithm(wish); err == nil {
		return algorithms[a].strong
	}
	if s.Hash() == SM3 {
		return SM4GCM
	}
	return AES128GCM
}

// block returns the block cipher under a key of the algorithm's size.
func (a Algorithm) block(key []byte) (cipher.Block, error) {
	if algorithms[a].sm4 {
		return sm.NewSM4(key)
	}
	return aes.NewCipher(key)
}

func (a Algorithm) gcm(key []byte) (cipher.AEAD, error) {
	b, err := a.block(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(b)
}

// openWeak decrypts body, which it overwrites, under a mode without
// authentication, and returns the part of it that is the result.
func (a Algorithm) openWeak(b cipher.Block, body []byte) ([]byte, bool) {
	size := b.BlockSize()
	var iv []byte
	if m := algorithms[a].mode; m != modeECB {
		if len(body) < size {
			return nil, false
		}
		iv, body = body[:size], body[size:]
		if m == modeCTR {
			cipher.NewCTR(b, iv).XORKeyStream(body, body)
			return body, true
		}
	}
	if len(body) == 0 || len(body)%size != 0 {
		return nil, false
	}
	if iv == nil {
		for p := body; len(p) > 0; p = p[size:] {
			b.Decrypt(p[:size], p[:size])
		}
	} else {
		cipher.NewCBCDecrypter(b, iv).CryptBlocks(body, body)
	}
	n, ok := unpad(body, size)
	return body[:n], ok == 1
}
