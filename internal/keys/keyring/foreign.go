package keyring

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/veildb/veildb/internal/crypto/aead"
	"github.com/veildb/veildb/internal/crypto/secret"
)

// A wrapped foreign key, such as the one a database server made for itself, is
//
//	"veildb.wrapped/1\n" (17) || data key version (4, big endian) || cell
//
// under a subkey of that data key, with the first two as additional data.
const foreignMagic = "veildb.wrapped/1\n"

const (
	foreignHeader = len(foreignMagic) + 4

	// MaxForeignKey is the longest foreign key, in bytes.
	MaxForeignKey = 64 << 10
)

const foreignPurpose = "wrap"

// WrapForeign wraps the key of another program, 1 to MaxForeignKey bytes, under
// the current data key.
func (r *Ring) WrapForeign(key *secret.Bytes) ([]byte, error) {
	if key.Len() == 0 || key.Len() > MaxForeignKey {
		return nil, fmt.Errorf("wrap foreign key of %d bytes, want 1 to %d: %w", key.Len(), MaxForeignKey, ErrUnsupported)
	}
	version := r.Current()
	sub, err := r.Subkey(foreignPurpose, version)
	if err != nil {
		return nil, fmt.Errorf("wrap foreign key: %w", err)
	}
	defer sub.Close()
	header := binary.BigEndian.AppendUint32([]byte(foreignMagic), version)
	cell, err := wrap(sub, key, header)
	if err != nil {
		return nil, fmt.Errorf("wrap foreign key: %w", err)
	}
	return append(header, cell...), nil
}

// UnwrapForeign opens what WrapForeign of this key file returned. The caller
// closes the result. Errors: ErrCorrupt, ErrWrongKey (another key file, or
// altered), ErrUnknownVersion.
func (r *Ring) UnwrapForeign(blob []byte) (*secret.Bytes, error) {
	if len(blob) <= foreignHeader+aead.Overhead || len(blob) > foreignHeader+aead.Overhead+MaxForeignKey ||
		!bytes.HasPrefix(blob, []byte(foreignMagic)) {
		return nil, fmt.Errorf("unwrap foreign key: not a wrapped key: %w", ErrCorrupt)
	}
	sub, err := r.Subkey(foreignPurpose, binary.BigEndian.Uint32(blob[len(foreignMagic):]))
	if err != nil {
		return nil, fmt.Errorf("unwrap foreign key: %w", err)
	}
	defer sub.Close()
	o, err := aead.NewOpener(sub.Reveal())
	if err != nil {
		return nil, fmt.Errorf("unwrap foreign key: %w", err)
	}
	key, err := secret.New(len(blob) - foreignHeader - aead.Overhead)
	if err != nil {
		return nil, fmt.Errorf("unwrap foreign key: %w", err)
	}
	if _, err := o.Open(key.Reveal()[:0], blob[foreignHeader:], blob[:foreignHeader]); err != nil {
		key.Close()
		return nil, fmt.Errorf("unwrap foreign key: it is of another key file, or was altered: %w", ErrWrongKey)
	}
	return key, nil
}
