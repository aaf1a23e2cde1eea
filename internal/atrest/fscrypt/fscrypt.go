// Package fscrypt has the kernel encrypt a directory, with its own file
// encryption, under a key that comes from a data key.
//
// # What the kernel does
//
// A directory of ext4 or f2fs, made with the feature "encrypt", can be given a
// policy while it is empty: version 2, AES-256-XTS for contents, AES-256-CTS for
// names, padded to 32 bytes. Everything made below inherits it. Each file has a
// key of its own that the kernel derives from the master key and a random nonce.
// The policy names the master key by its identifier, the first 16 bytes of
// HKDF-SHA512(key, no salt, "fscrypt" || 0 || 1); without that key names show
// encoded and files do not open. See the kernel's
// Documentation/filesystems/fscrypt.rst.
//
// # What this package keeps
//
// The master key is HKDF-Expand-SHA-256(DEK, "veildb/kernel/key/v1" || 0 || id),
// 64 bytes. The id, random, and the version of the DEK are in the Config, a line
// of JSON in the attribute user.veildb.kernel of the directory: attributes can be read
// while the directory is locked, and go where it goes. A copy is in the file
// .veildb/IDENTIFIER beside the directory. The Config is authenticated under
// HKDF-Expand-SHA-256(DEK, "veildb/kernel/config/v1" || 0 || id), and it names
// the key identifier, which ties it to the policy.
//
// A DEK is used for as long as the directory lives; wrapping it anew changes
// nothing here.
package fscrypt

import (
	"encoding/hex"
	"errors"
)

// Errors that a caller decides on.
var (
	// ErrFileSystem is a file system that cannot encrypt by itself.
	ErrFileSystem = errors.New("file system has no encryption of its own")
	// ErrFeature is one that could, but was made without it.
	ErrFeature = errors.New("file system lacks the feature encrypt")
	// ErrKernel is a kernel without file encryption.
	ErrKernel = errors.New("kernel has no file encryption")
	// ErrNotEmpty is a directory that cannot be given a policy any more.
	ErrNotEmpty = errors.New("directory is not empty")
	// ErrEncrypted is a directory that has a policy already.
	ErrEncrypted = errors.New("directory is encrypted already")
	// ErrNotEncrypted is a directory that this package did not encrypt.
	ErrNotEncrypted = errors.New("directory is not one that veildb had the kernel encrypt")
	// ErrLocked is a directory whose key the kernel does not have.
	ErrLocked = errors.New("directory is locked")
	// ErrBusy is a directory that cannot be locked completely.
	ErrBusy = errors.New("files are in use")
	// ErrOtherUsers is one that another user unlocked, too.
	ErrOtherUsers = errors.New("another user has unlocked it, too")
	// ErrWrongKey is a key file that is not the directory's.
	ErrWrongKey = errors.New("wrong key")
	// ErrCorrupt is a configuration that is damaged or was tampered with.
	ErrCorrupt = errors.New("configuration is damaged or was tampered with")
	// ErrMismatch is a configuration of another directory.
	ErrMismatch = errors.New("configuration belongs to another directory")
	// ErrUnsupported is a configuration or policy of another version.
	ErrUnsupported = errors.New("configuration or policy needs another version of this program")
)

// A KeyID is what the kernel calls a master key by.
type KeyID [16]byte

// String returns 32 hex digits.
func (k KeyID) String() string { return hex.EncodeToString(k[:]) }
