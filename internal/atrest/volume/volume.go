// Package volume is the encrypted file format: a header of 4096 bytes, then
// the content, encrypted in place so that every page keeps its alignment.
//
// # Layout
//
// Byte x of the content lies at byte 4096 + x of the lower file, encrypted
// with AES-256-XTS in data units of 4096 bytes; the unit number is x / 4096.
// Each 16-byte block depends on the file's key, its unit and its place only.
// Therefore a lower write that is torn or reordered leaves the same mix of old
// and new bytes as a plain file would hold, for tears at multiples of 16 (disks
// tear at 512), and a write of whole blocks needs no reading.
//
// The length of the lower file alone tells the length of the content:
//
//	content                         lower file
//	s, a multiple of 16             4096 + s
//	s = 16q + t, t = 1 to 15        4096 + s + 16: q blocks, the padded tail
//	                                block, t bytes that mean nothing
//
// So the header never changes after the file's creation, there is no second
// write to order after an append, and asking the size costs what it costs on a
// plain file. Database pages are multiples of 512; only logs and journals have
// tails. Examples: 0 → 4096, 8192 → 12288, 5 → 4117, 21 → 4133.
//
// # Holes
//
// A lower block of 16 zero bytes is not ciphertext: it would be some block's
// with probability 2^-128. It reads as zeros. So holes, space allocated ahead
// and gaps need no bookkeeping, and content that is zero, stored as ciphertext
// like any other, is told apart from what was never written.
//
// Data that was overwritten with zeros below (a failing disk, a copy over a bad
// share) would read as zeros, too. Options.RefuseZeros tells it from a hole as
// far as the lower file system can: a page of the lower file (4096 bytes,
// aligned) that is all zeros and yet was written, says SEEK_DATA, is
// ErrZeroed. It is an option because some file systems call holes data (NFS
// before version 4.2, ZFS while it writes) and copies may fill holes in.
//
// # Keys
//
// A KeySource yields 32-byte data encryption keys by version. The key of a
// file is HKDF-Expand-SHA-256(DEK, "veildb/volume/xts/v1" || 0 || file id), 64
// bytes; the header is authenticated under HKDF-Expand-SHA-256(DEK,
// "veildb/volume/header/v1"). File ids are random, so no two files share a
// key, and a name or inode used again never meets an old key.
//
// # What it does not do
//
// Content is not authenticated: whoever can write the lower file can change
// blocks to noise, put back old ones, and shorten the file. The header is.
package volume

import (
	"errors"

	"github.com/veildb/veildb/internal/crypto/secret"
)

// Errors that tell why a file cannot be opened. None of them is returned once
// a content byte was touched, except ErrZeroed, which matches ErrCorrupt.
var (
	ErrEmpty       = errors.New("file holds no header yet")
	ErrHeaderLost  = errors.New("header is all zeros, with data behind it") // besides ErrCorrupt or ErrEmpty
	ErrNotOurs     = errors.New("not an encrypted file of this program")
	ErrTruncated   = errors.New("encrypted file is shorter than its header")
	ErrCorrupt     = errors.New("encrypted file is damaged or was tampered with")
	ErrUnsupported = errors.New("encrypted file needs a newer version of this program")
	ErrWrongKey    = errors.New("wrong key")
	ErrUnknownKey  = errors.New("unknown key version")
	ErrMismatch    = errors.New("encrypted file belongs elsewhere")
	ErrZeroed      = zeroedError{}
)

type zeroedError struct{}

func (zeroedError) Error() string        { return "encrypted data was overwritten with zeros" }
func (zeroedError) Is(target error) bool { return target == ErrCorrupt }

// A KeySource gives data encryption keys of 32 bytes.
type KeySource interface {
	// Current is the version that new files use.
	Current() uint32
	// DEK returns the key of a version. It belongs to the source and is not
	// retained here. An unknown version is an error.
	DEK(version uint32) (*secret.Bytes, error)
}

// A FileID names a file for ever, across renames and copies.
type FileID [16]byte

// A Role says what a file is for, as four characters. Files opened for one
// role cannot stand in for another.
type Role [4]byte

// RoleFile is the role of a file of a mounted volume.
var RoleFile = Role{'f', 'i', 'l', 'e'}

// Options for Open and Create. The zero value opens a RoleFile.
type Options struct {
	// Role is what the file must be; zero means RoleFile.
	Role Role
	// Parent is the file this one belongs to, such as the database of a
	// journal; zero if none. Open refuses a file of another parent.
	Parent FileID
	// Unsynced makes Create leave syncing the header to the caller's first
	// Sync. A header of zeros, lost with the power before that Sync, is then
	// ErrEmpty besides ErrHeaderLost, and Create replaces the file: who must
	// not lose one to a damaged disk opens it first.
	Unsynced bool
	// SectorHoles promises that holes are whole sectors of 512 bytes, as those
	// of database files are. Reading then looks for them at sector starts
	// only, which is the cheaper way.
	SectorHoles bool
	// RefuseZeros makes reading fail with ErrZeroed where data was overwritten
	// with zeros; see the package comment. It needs a lower HoleFinder.
	RefuseZeros bool
}

func (o *Options) role() Role {
	if o.Role == (Role{}) {
		return RoleFile
	}
	return o.Role
}
