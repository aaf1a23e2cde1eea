package cells

import (
	"bytes"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/veildb/veildb/internal/crypto/aead"
	"github.com/veildb/veildb/internal/crypto/secret"
)

// A KeySource gives the data keys cells are sealed under, one for each policy
// version. It is safe for concurrent use.
type KeySource interface {
	// Current returns the version new cells are sealed under.
	Current() (version uint32)
	// DEK returns the 32-byte key of a version. It belongs to the source.
	DEK(version uint32) (*secret.Bytes, error)
}

// A keyID says under which key a cell is sealed, and is part of every cell:
//
//	key version (4, big-endian) || salt (8) || check (4)
//
// The cell key is the first 32 bytes, the check the next 4 bytes of
//
//	HKDF-SHA-256(secret DEK[version], salt, info "veildb cell 1" || version)
//
// A changed version or salt leads to another cell key, so the tag covers the
// key ID without naming it. The check only tells a wrong key from a damaged
// cell; nobody relies on it for more.
type keyID [keyIDSize]byte

const (
	keyIDSize = 16
	saltSize  = 8
	checkSize = 4
	keyInfo   = "veildb cell 1"
)

func (id *keyID) version() uint32 { return binary.BigEndian.Uint32(id[:4]) }
func (id *keyID) salt() []byte    { return id[4 : 4+saltSize] }
func (id *keyID) check() []byte   { return id[4+saltSize:] }

// derive returns the cell key followed by the check of version and salt. The
// caller wipes it.
func derive(keys KeySource, version uint32, salt []byte) ([]byte, error) {
	dek, err := keys.DEK(version)
	if err != nil {
		return nil, fmt.Errorf("get data key %d: %w", version, err)
	}
	info := string(binary.BigEndian.AppendUint32([]byte(keyInfo), version))
	return hkdf.Key(sha256.New, dek.Reveal(), salt, info, aead.KeySize+checkSize)
}

// newKey makes a fresh cell key under the current version.
func newKey(keys KeySource) (id keyID, s *aead.Sealer, err error) {
	version := keys.Current()
	binary.BigEndian.PutUint32(id[:], version)
	rand.Read(id.salt()) // never fails, see crypto/rand
	key, err := derive(keys, version, id.salt())
	if err != nil {
		return id, nil, err
	}
	defer clear(key)
	copy(id.check(), key[aead.KeySize:])
	s, err = aead.NewSealer(key[:aead.KeySize])
	return id, s, err
}

// openKey finds the cell key id stands for. It fails with ErrWrongKey, and
// with the source's error beside it where the source does not know the version.
func openKey(keys KeySource, id keyID) (*aead.Opener, error) {
	key, err := derive(keys, id.version(), id.salt())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWrongKey, err)
	}
	defer clear(key)
	if !bytes.Equal(key[aead.KeySize:], id.check()) {
		return nil, fmt.Errorf("%w: version %d", ErrWrongKey, id.version())
	}
	return aead.NewOpener(key[:aead.KeySize])
}
