package volume

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// The header is one sector of meaning and zeros up to HeaderSize, so that no
// torn write can produce half of one. Integers are little-endian.
//
//	offset  size  field
//	     0     8  magic 89 'V' 'E' 'I' 'L' 0d 0a 1a
//	     8     2  format version, 1
//	    10     1  cipher, 1 = AES-256-XTS
//	    11     1  size rule, 1 = length of the lower file (see package comment)
//	    12     4  data unit size, 4096
//	    16    16  file id
//	    32     4  key version
//	    36     4  flags a reader may ignore, 0
//	    40     4  flags a reader must know, 0
//	    44     4  role, four characters
//	    48    16  parent's file id, or zeros
//	    64    16  key check value: HMAC-SHA-256(header key, "kcv" || file id)
//	    80   368  zeros
//	   448    32  HMAC-SHA-256(header key, bytes 0 to 447)
//	   480    16  SHA-256(bytes 0 to 479), tells damage from a wrong key
//	   496    16  zeros
const (
	magic         = "\x89VEIL\r\n\x1a"
	formatVersion = 1
	cipherXTS256  = 1
	sizeByLength  = 1

	offVersion    = 8
	offCipher     = 10
	offSizeRule   = 11
	offUnit       = 12
	offFileID     = 16
	offKeyVersion = 32
	offIgnorable  = 36
	offRequired   = 40
	offRole       = 44
	offParent     = 48
	offKCV        = 64
	offMAC        = 448
	offSum        = 480
	offEnd        = 496
)

// A Header is what the header of a file says.
type Header struct {
	FileID     FileID
	KeyVersion uint32
	Role       Role
	Parent     FileID
}

// IsEncrypted reports whether a file that starts with prefix, at least 8
// bytes, carries the mark of this format.
func IsEncrypted(prefix []byte) bool { return bytes.HasPrefix(prefix, []byte(magic)) }

// Inspect decodes a header without its key. It checks against damage, not
// against tampering. b must hold at least HeaderSize bytes of the file, or all
// of them. The error matches ErrEmpty, ErrNotOurs, ErrTruncated, ErrCorrupt or
// ErrUnsupported.
func Inspect(b []byte) (Header, error) {
	if len(b) > HeaderSize {
		b = b[:HeaderSize]
	}
	if len(b) == 0 || isZero(b) && len(b) <= HeaderSize {
		return Header{}, ErrEmpty
	}
	if len(b) < HeaderSize {
		if len(b) < len(magic) && bytes.HasPrefix([]byte(magic), b) || IsEncrypted(b) {
			return Header{}, fmt.Errorf("%w: %d bytes", ErrTruncated, len(b))
		}
		return Header{}, ErrNotOurs
	}
	if !IsEncrypted(b) && !damagedMagic(b) {
		return Header{}, ErrNotOurs
	}
	sum := sha256.Sum256(b[:offSum])
	if !IsEncrypted(b) || !bytes.Equal(sum[:offEnd-offSum], b[offSum:offEnd]) || !isZero(b[offEnd:]) {
		return Header{}, fmt.Errorf("%w: header checksum", ErrCorrupt)
	}
	le := binary.LittleEndian
	switch {
	case le.Uint16(b[offVersion:]) != formatVersion:
		return Header{}, fmt.Errorf("%w: format version %d", ErrUnsupported, le.Uint16(b[offVersion:]))
	case b[offCipher] != cipherXTS256:
		return Header{}, fmt.Errorf("%w: cipher %d", ErrUnsupported, b[offCipher])
	case b[offSizeRule] != sizeByLength:
		return Header{}, fmt.Errorf("%w: size rule %d", ErrUnsupported, b[offSizeRule])
	case le.Uint32(b[offUnit:]) != UnitSize:
		return Header{}, fmt.Errorf("%w: data units of %d bytes", ErrUnsupported, le.Uint32(b[offUnit:]))
	case le.Uint32(b[offRequired:]) != 0:
		return Header{}, fmt.Errorf("%w: features %#x", ErrUnsupported, le.Uint32(b[offRequired:]))
	}
	return Header{
		FileID:     FileID(b[offFileID:]),
		KeyVersion: le.Uint32(b[offKeyVersion:]),
		Role:       Role(b[offRole:]),
		Parent:     FileID(b[offParent:]),
	}, nil
}

// damagedMagic tells a flipped bit in the magic from another file's start.
func damagedMagic(b []byte) bool {
	diff := binary.BigEndian.Uint64(b) ^ binary.BigEndian.Uint64([]byte(magic))
	return bits.OnesCount64(diff) <= 4
}

// seal appends the header h to dst, authenticated under key.
func (h *Header) seal(dst []byte, key *[32]byte) []byte {
	dst = append(dst, make([]byte, HeaderSize)...)
	b := dst[len(dst)-HeaderSize:]
	le := binary.LittleEndian
	copy(b, magic)
	le.PutUint16(b[offVersion:], formatVersion)
	b[offCipher] = cipherXTS256
	b[offSizeRule] = sizeByLength
	le.PutUint32(b[offUnit:], UnitSize)
	copy(b[offFileID:], h.FileID[:])
	le.PutUint32(b[offKeyVersion:], h.KeyVersion)
	copy(b[offRole:], h.Role[:])
	copy(b[offParent:], h.Parent[:])
	kcv := h.checkValue(key)
	copy(b[offKCV:], kcv[:])
	mac := hmac.New(sha256.New, key[:])
	mac.Write(b[:offMAC])
	mac.Sum(b[offMAC:offMAC])
	sum := sha256.Sum256(b[:offSum])
	copy(b[offSum:offEnd], sum[:])
	return dst
}

// verify checks a header that Inspect accepted under key: ErrWrongKey if it
// was made under another key, ErrCorrupt if it was changed since.
func (h *Header) verify(b []byte, key *[32]byte) error {
	kcv := h.checkValue(key)
	if subtle.ConstantTimeCompare(kcv[:], b[offKCV:offKCV+len(kcv)]) != 1 {
		return ErrWrongKey
	}
	mac := hmac.New(sha256.New, key[:])
	mac.Write(b[:offMAC])
	if !hmac.Equal(mac.Sum(nil), b[offMAC:offSum]) {
		return fmt.Errorf("%w: header authentication", ErrCorrupt)
	}
	return nil
}

func (h *Header) checkValue(key *[32]byte) (kcv [16]byte) {
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte("kcv"))
	mac.Write(h.FileID[:])
	copy(kcv[:], mac.Sum(nil))
	return kcv
}

// isZero reports whether b holds only zeros.
func isZero(b []byte) bool {
	for len(b) >= 8 {
		if binary.NativeEndian.Uint64(b) != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
