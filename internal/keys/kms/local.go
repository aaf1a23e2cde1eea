package kms

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/veildb/veildb/internal/crypto/aead"
	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/disk"
	"github.com/veildb/veildb/internal/keys/keyring"
)

// Providers that hold the root key here wrap with AES-256-GCM. Their blobs are
//
//	header || check (32) || cell (see package aead)
//
// with a header that begins with the number of its kind. The check value is
// HMAC-SHA256 under the root key: it tells a wrong key from a damaged blob and
// makes the wrapping commit to the key.
const (
	kindFile       = 1
	kindPassphrase = 2

	rootSize  = 32
	checkSize = sha256.Size
)

func checkValue(root *secret.Bytes) []byte {
	h := hmac.New(sha256.New, root.Reveal())
	h.Write([]byte("veildb.root/1 check"))
	return h.Sum(nil)
}

// sealLocal returns the blob of plaintext. It does not keep header.
func sealLocal(root *secret.Bytes, header []byte, plaintext *secret.Bytes, aad []byte) ([]byte, error) {
	s, err := aead.NewSealer(root.Reveal())
	if err != nil {
		return nil, err
	}
	blob := append(slices.Clone(header), checkValue(root)...)
	return s.Seal(blob, plaintext.Reveal(), slices.Concat(blob, aad))
}

// openLocal opens a blob whose header has the given length. Errors:
// keyring.ErrWrongKey, keyring.ErrCorrupt.
func openLocal(root *secret.Bytes, headerLen int, blob, aad []byte) (*secret.Bytes, error) {
	cellAt := headerLen + checkSize
	if len(blob) < cellAt+aead.Overhead || len(blob) > 1<<16 {
		return nil, fmt.Errorf("wrapped key of %d bytes: %w", len(blob), keyring.ErrCorrupt)
	}
	if !hmac.Equal(blob[headerLen:cellAt], checkValue(root)) {
		return nil, keyring.ErrWrongKey
	}
	o, err := aead.NewOpener(root.Reveal())
	if err != nil {
		return nil, err
	}
	plaintext, err := secret.New(len(blob) - cellAt - aead.Overhead)
	if err != nil {
		return nil, err
	}
	if _, err := o.Open(plaintext.Reveal()[:0], blob[cellAt:], slices.Concat(blob[:cellAt], aad)); err != nil {
		plaintext.Close()
		return nil, fmt.Errorf("open wrapped key: %w: %w", err, keyring.ErrCorrupt)
	}
	return plaintext, nil
}

// readSecretFile reads a file of at most max bytes that only its owner, who is
// this user or root, may read. Errors: keyring.ErrUnreachable if there is none,
// keyring.ErrDenied, ErrInsecure.
func readSecretFile(path string, max int) (*secret.Bytes, error) {
	f, err := disk.OpenRegular(path)
	switch {
	case errors.Is(err, disk.ErrNotRegular):
		return nil, fmt.Errorf("%w: %w", err, ErrInsecure)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %w", err, keyring.ErrUnreachable)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%w: %w", err, keyring.ErrDenied)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", err, keyring.ErrUnreachable)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := ownerOnly(path, fi); err != nil {
		return nil, err
	}
	return readSecret(f, path, max)
}

// readSecret reads at most max bytes into a secret.
func readSecret(r io.Reader, name string, max int) (*secret.Bytes, error) {
	buf := make([]byte, max+1)
	defer clear(buf)
	n, err := io.ReadFull(r, buf)
	switch {
	case err == nil:
		return nil, fmt.Errorf("%s is longer than %d bytes: %w", name, max, keyring.ErrWrongKey)
	case err != io.EOF && err != io.ErrUnexpectedEOF:
		return nil, fmt.Errorf("read %s: %w: %w", name, err, keyring.ErrUnreachable)
	}
	return secret.From(buf[:n])
}
