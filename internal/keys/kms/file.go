package kms

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/disk"
	"github.com/veildb/veildb/internal/keys/keyring"
)

// File is a root key in a file: 32 bytes, and nothing else, readable only for
// the owner, who is this user or root. The file is read for each call, so it
// may come and go with its disk.
type File struct{ path string }

// CreateFile makes a root key file of random bytes with mode 0600. It returns
// an error that matches fs.ErrExist if there is one.
func CreateFile(path string) error {
	key, err := secret.Random(rootSize)
	if err != nil {
		return fmt.Errorf("make root key: %w", err)
	}
	defer key.Close()
	f, err := disk.CreateNew(path, 0o600)
	if err != nil {
		return fmt.Errorf("make root key: %w", err)
	}
	_, err = f.WriteAt(key.Reveal(), 0)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = disk.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		os.Remove(path)
		return fmt.Errorf("make root key: %w", err)
	}
	return nil
}

// URI implements keyring.Provider.
func (p *File) URI() string { return "file:" + p.path }

// root reads the root key.
func (p *File) root() (*secret.Bytes, error) {
	root, err := readSecretFile(p.path, rootSize)
	if err != nil {
		return nil, fmt.Errorf("read root key: %w", err)
	}
	if err := plausible(root.Reveal()); err != nil {
		root.Close()
		return nil, fmt.Errorf("read root key %s: %w: %w", p.path, err, keyring.ErrWrongKey)
	}
	return root, nil
}

// plausible refuses what cannot be a random key.
func plausible(key []byte) error {
	if len(key) != rootSize {
		return fmt.Errorf("it has %d bytes, want %d", len(key), rootSize)
	}
	for _, b := range key {
		if b != key[0] {
			return nil
		}
	}
	return fmt.Errorf("all its bytes are the same")
}

// Wrap implements keyring.Provider. The key version is a fingerprint of the
// root key.
func (p *File) Wrap(_ context.Context, plaintext *secret.Bytes, aad []byte) ([]byte, string, error) {
	root, err := p.root()
	if err != nil {
		return nil, "", err
	}
	defer root.Close()
	blob, err := sealLocal(root, []byte{kindFile}, plaintext, aad)
	return blob, hex.EncodeToString(checkValue(root)[:16]), err
}

// Unwrap implements keyring.Provider.
func (p *File) Unwrap(_ context.Context, blob, aad []byte) (*secret.Bytes, error) {
	if len(blob) == 0 || blob[0] != kindFile {
		return nil, fmt.Errorf("the wrapped key is not of a root key file: %w", keyring.ErrWrongKey)
	}
	root, err := p.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return openLocal(root, 1, blob, aad)
}
