package volume

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"

	siv "github.com/tink-crypto/tink-go/v2/daead/subtle"
	"golang.org/x/sys/unix"
)

// Names of a volume with NamesEncrypted, format version 1, frozen by
// testdata/v1.names.dir.
//
// A directory that holds an entry holds the file .veildb.dir, too: a header as
// every file has (see header.go), of role "name", and nothing behind it. Its
// file id is the directory's, for the directory's life, wherever it is moved,
// and its key version says which data key the names are under. The directory's
// key is HKDF-Expand-SHA-256(DEK, "veildb/volume/names/v1" || 0 || id), 64
// bytes for AES-SIV (RFC 5297) with one empty string of associated data.
//
//	padded name   the name, and zeros up to a multiple of 16 bytes
//	sealed name   AES-SIV(padded name): 16 bytes more
//	short         lower name = base64url(sealed name), without padding; names
//	              of up to 160 bytes, 235 below
//	long          lower name = ".veildb.long." + base64url(SHA-256(sealed name));
//	              the file ".veildb.name." + the same holds the sealed name
//
// base64url has no full stop, so no name of ours is that of an entry. The target
// of a symbolic link is base64url(version || salt || AES-SIV(padded target)): the
// data key in 4 bytes, big-endian, 16 random bytes, and as key
// HKDF-Expand-SHA-256(DEK, "veildb/volume/link/v1" || 0 || salt). It holds up to
// 3024 bytes.
const (
	ownPrefix    = ".veildb."
	dirFileName  = ownPrefix + "dir"
	longPrefix   = ownPrefix + "long."
	sealedPrefix = ownPrefix + "name."

	contextNames = "veildb/volume/names/v1\x00" // the directory's id follows
	contextLink  = "veildb/volume/link/v1\x00"  // the salt follows

	namePad     = 16 // names are padded to a multiple of it
	sivSize     = 16 // what sealing adds
	maxName     = 255
	maxSealed   = sivSize + (maxName+namePad-1)/namePad*namePad
	linkHead    = 4 + 16 // key version and salt
	maxLinkText = unix.PathMax - 1
)

// roleNames is the role of a directory's id file.
var roleNames = Role{'n', 'a', 'm', 'e'}

// ErrName is a name, or the target of a link, that was not encrypted here; it
// matches ErrCorrupt.
var ErrName error = nameError{}

type nameError struct{}

func (nameError) Error() string {
	return "name was not encrypted for this directory, or was changed since"
}
func (nameError) Is(target error) bool { return target == ErrCorrupt }

// encoding is strict, so that no two lower names are one name.
var encoding = base64.RawURLEncoding.Strict()

// A DirNames translates the names of one directory. It is safe for concurrent
// use.
type DirNames struct {
	cipher *siv.AESSIV // nil: names are kept as they are
	header Header
}

// PlainNames keeps names as they are.
var PlainNames = new(DirNames)

// A LowerName is what a name is below.
type LowerName struct {
	Name   string // of the entry
	sealed []byte // content of the file that goes with a long name, or nil
	sealer bool   // names of this directory are encrypted
}

// newDirNames derives the key of the directory with that header.
func newDirNames(keys KeySource, h Header) (*DirNames, error) {
	cipher, err := newSIV(keys, h.KeyVersion, contextNames, h.FileID[:])
	if err != nil {
		return nil, err
	}
	return &DirNames{cipher, h}, nil
}

func newSIV(keys KeySource, version uint32, context string, salt []byte) (*siv.AESSIV, error) {
	dek, err := keys.DEK(version)
	if err != nil {
		return nil, fmt.Errorf("load key version %d: %w", version, err)
	}
	if dek.Len() != dekSize {
		return nil, fmt.Errorf("%w: key version %d has %d bytes, not %d", ErrWrongKey, version, dek.Len(), dekSize)
	}
	key := make([]byte, siv.AESSIVKeySize) // the cipher keeps it
	expand(hmac.New(sha256.New, dek.Reveal()), key, context+string(salt))
	return siv.NewAESSIV(key)
}

// Lower returns what name is below. The error is unix.ENAMETOOLONG for more
// than 255 bytes.
func (d *DirNames) Lower(name string) (LowerName, error) {
	if d.cipher == nil {
		return LowerName{Name: name}, nil
	}
	if len(name) > maxName {
		return LowerName{}, unix.ENAMETOOLONG
	}
	sealed, err := d.cipher.EncryptDeterministically(pad(name), nil)
	if err != nil {
		return LowerName{}, fmt.Errorf("encrypt name: %w", err)
	}
	if encoding.EncodedLen(len(sealed)) <= maxName {
		return LowerName{Name: encoding.EncodeToString(sealed), sealer: true}, nil
	}
	return LowerName{Name: longPrefix + longSum(sealed), sealed: sealed, sealer: true}, nil
}

// longSum stands for a sealed name that is too long for a directory.
func longSum(sealed []byte) string {
	sum := sha256.Sum256(sealed)
	return encoding.EncodeToString(sum[:])
}

// Name returns the name of the entry lower of the open directory dir, in which
// a long name is looked up. The error matches ErrName, or is one of reading
// the file with the long name, such as unix.ENOENT.
func (d *DirNames) Name(dir int, lower string) (string, error) {
	if d.cipher == nil {
		return lower, nil
	}
	if sum, long := strings.CutPrefix(lower, longPrefix); long {
		sealed, err := readSealed(dir, sealedPrefix+sum)
		if err != nil {
			return "", err
		}
		if longSum(sealed) != sum {
			return "", ErrName
		}
		return d.open(sealed)
	}
	sealed, err := encoding.DecodeString(lower)
	if err != nil || encoding.EncodedLen(len(sealed)) > maxName {
		return "", ErrName
	}
	return d.open(sealed)
}

// open decrypts a sealed name.
func (d *DirNames) open(sealed []byte) (string, error) {
	name, ok := unseal(d.cipher, sealed)
	if !ok || len(name) > maxName || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return "", ErrName
	}
	return name, nil
}

// pad returns s with zeros up to a multiple of namePad.
func pad(s string) []byte {
	b := make([]byte, (len(s)+namePad-1)/namePad*namePad)
	copy(b, s)
	return b
}

// unseal decrypts what was padded and sealed; ok is false for anything else.
func unseal(cipher *siv.AESSIV, sealed []byte) (s string, ok bool) {
	if len(sealed) < sivSize+namePad || len(sealed)%namePad != 0 {
		return "", false
	}
	padded, err := cipher.DecryptDeterministically(sealed, nil)
	if err != nil {
		return "", false
	}
	s = strings.TrimRight(string(padded), "\x00")
	return s, len(padded)-len(s) < namePad
}

// IsOwnName reports whether lower is a file that encrypted names need, and no
// entry.
func IsOwnName(lower string) bool {
	return lower == dirFileName || strings.HasPrefix(lower, sealedPrefix)
}

// IsHidden reports whether lower is no entry of a directory, though it is there
// below: what names need, or what nobody of ours made.
func (d *DirNames) IsHidden(lower string) bool {
	return d.cipher != nil && strings.HasPrefix(lower, ownPrefix) && !strings.HasPrefix(lower, longPrefix)
}

// SealLink returns what the target of a symbolic link is below. The error is
// unix.ENAMETOOLONG if it does not fit.
func SealLink(keys KeySource, target string) (string, error) {
	head := binary.BigEndian.AppendUint32(nil, keys.Current())
	head = append(head, make([]byte, linkHead-len(head))...)
	rand.Read(head[4:]) // never fails, see crypto/rand
	cipher, err := newSIV(keys, keys.Current(), contextLink, head[4:])
	if err != nil {
		return "", fmt.Errorf("encrypt link: %w", err)
	}
	sealed, err := cipher.EncryptDeterministically(pad(target), nil)
	if err != nil {
		return "", fmt.Errorf("encrypt link: %w", err)
	}
	text := encoding.EncodeToString(append(head, sealed...))
	if len(text) > maxLinkText {
		return "", unix.ENAMETOOLONG
	}
	return text, nil
}

// OpenLink returns the target of the symbolic link that is lower below. The
// error matches ErrName, or is one of keys.
func OpenLink(keys KeySource, lower string) (string, error) {
	b, err := encoding.DecodeString(lower)
	if err != nil || len(b) < linkHead || len(lower) > maxLinkText {
		return "", fmt.Errorf("decrypt link: %w", ErrName)
	}
	cipher, err := newSIV(keys, binary.BigEndian.Uint32(b), contextLink, b[4:linkHead])
	if err != nil {
		return "", fmt.Errorf("decrypt link: %w", err)
	}
	target, ok := unseal(cipher, b[linkHead:])
	if !ok || strings.Contains(target, "\x00") {
		return "", fmt.Errorf("decrypt link: %w", ErrName)
	}
	return target, nil
}
