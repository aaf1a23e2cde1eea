package sidecar

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/veildb/veildb/internal/crypto/secret"
)

// Errors of a master key that cannot be had.
var (
	// ErrKey means what should be a master key is none.
	ErrKey = errors.New("not a master key: want 16 or 32 bytes, or 32 or 64 hexadecimal digits")
	// ErrKeyFile means others may read or write the file of a master key.
	ErrKeyFile = errors.New("key file is not only its owner's")
)

// maxKeyText bounds the text of a master key, in bytes: 64 digits, space around
// them.
const maxKeyText = 128

// ParseKey reads a master key, which it wipes from text: 32 or 64 hexadecimal
// digits with white space around them, or 16 or 32 bytes that are not all such
// digits. It returns ErrKey, which says nothing of the text.
func ParseKey(text []byte) (*secret.Bytes, error) {
	defer clear(text)
	digits := bytes.TrimSpace(text)
	raw := make([]byte, hex.DecodedLen(len(digits)))
	defer clear(raw)
	switch _, err := hex.Decode(raw, digits); {
	case err == nil && (len(raw) == 16 || len(raw) == 32):
		return secret.From(raw)
	case err == nil, errors.Is(err, hex.ErrLength), len(text) != 16 && len(text) != 32:
		return nil, ErrKey // ErrLength: digits, one too few or too many
	}
	return secret.From(text)
}

// ReadKeyFile reads a master key, as ParseKey does, from a regular file that
// only its owner, who is this user or root, may use. Errors: ErrKey, ErrKeyFile,
// those of opening the file.
func ReadKeyFile(path string) (*secret.Bytes, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read master key: %w", err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read master key: %w", err)
	}
	if !fi.Mode().IsRegular() || !ownerOnly(fi) {
		return nil, fmt.Errorf("read master key %s: %w", path, ErrKeyFile)
	}
	buf := make([]byte, maxKeyText+1)
	defer clear(buf)
	n, err := io.ReadFull(f, buf)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("read master key: %w", err)
	}
	key, err := ParseKey(buf[:n])
	if err != nil {
		return nil, fmt.Errorf("read master key %s: %w", path, err)
	}
	return key, nil
}
