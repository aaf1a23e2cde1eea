package kms

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/keys/keyring"
)

// Providers that keep the root key elsewhere share one format of blobs:
//
//	kind (1) || format = 1 (1) || length of name (2, big endian) || name || payload || sum (32)
//
// name is the root key as its manager calls it, payload what the manager gave.
// sum is SHA-256 of everything before it. No key protects it: it only tells a
// damaged blob from an intact one that the manager cannot open, which most
// managers report with the same words.
const (
	kindCommand  = 3
	kindVault    = 4
	kindPKCS11   = 5
	kindAWS      = 6
	kindGCP      = 7
	kindAzure    = 8
	kindAliCloud = 9

	remoteFormat = 1
	remoteHeader = 4
	maxName      = 1 << 10
	maxBlob      = 1 << 16

	// maxPlaintext is what keyring.Provider promises.
	maxPlaintext = 4096
)

// sealRemote returns the blob of payload.
func sealRemote(kind byte, name string, payload []byte) ([]byte, error) {
	if len(name) > maxName || len(payload) == 0 || remoteHeader+len(name)+len(payload)+sha256.Size > maxBlob {
		return nil, fmt.Errorf("wrapped key of %d bytes under %.100q: out of range", len(payload), name)
	}
	blob := binary.BigEndian.AppendUint16([]byte{kind, remoteFormat}, uint16(len(name)))
	blob = append(append(blob, name...), payload...)
	sum := sha256.Sum256(blob)
	return append(blob, sum[:]...), nil
}

// openRemote returns the parts of a blob; payload aliases it. Errors:
// keyring.ErrCorrupt, keyring.ErrUnsupported.
func openRemote(kind byte, blob []byte) (name string, payload []byte, err error) {
	corrupt := func(why string) (string, []byte, error) {
		return "", nil, fmt.Errorf("wrapped key of %d bytes: %s: %w", len(blob), why, keyring.ErrCorrupt)
	}
	if len(blob) <= remoteHeader+sha256.Size || len(blob) > maxBlob {
		return corrupt("length out of range")
	}
	body := blob[:len(blob)-sha256.Size]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], blob[len(body):]) {
		return corrupt("sum does not match")
	}
	if body[0] != kind {
		return corrupt("it is of another kind of provider")
	}
	if body[1] != remoteFormat {
		return "", nil, fmt.Errorf("wrapped key of format %d: %w", body[1], keyring.ErrUnsupported)
	}
	n := int(binary.BigEndian.Uint16(body[2:]))
	if n > maxName || remoteHeader+n >= len(body) {
		return corrupt("length of name out of range")
	}
	return string(body[remoteHeader : remoteHeader+n]), body[remoteHeader+n:], nil
}

// openNamed is openRemote for a provider that has one root key, called want.
// Errors: also keyring.ErrWrongKey.
func openNamed(kind byte, want string, blob []byte) ([]byte, error) {
	name, payload, err := openRemote(kind, blob)
	if err == nil && name != want {
		err = fmt.Errorf("it was wrapped with %.200q, not %q: %w", name, want, keyring.ErrWrongKey)
	}
	return payload, err
}

// bind returns SHA-256(aad) || plaintext. It is what managers wrap that do not
// authenticate additional data, or that in some versions ignore it.
func bind(plaintext *secret.Bytes, aad []byte) (*secret.Bytes, error) {
	if plaintext.Len() > maxPlaintext {
		return nil, fmt.Errorf("key of %d bytes: more than %d", plaintext.Len(), maxPlaintext)
	}
	bound, err := secret.New(sha256.Size + plaintext.Len())
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(aad)
	copy(bound.Reveal(), sum[:])
	copy(bound.Reveal()[sha256.Size:], plaintext.Reveal())
	return bound, nil
}

// unbind undoes bind. Errors: keyring.ErrCorrupt.
func unbind(bound, aad []byte) (*secret.Bytes, error) {
	sum := sha256.Sum256(aad)
	if len(bound) < sha256.Size || len(bound) > sha256.Size+maxPlaintext || subtle.ConstantTimeCompare(bound[:sha256.Size], sum[:]) != 1 {
		return nil, fmt.Errorf("the unwrapped key belongs to another place: %w", keyring.ErrCorrupt)
	}
	plaintext, err := secret.New(len(bound) - sha256.Size)
	if err != nil {
		return nil, err
	}
	copy(plaintext.Reveal(), bound[sha256.Size:])
	return plaintext, nil
}

// maxForeign is how many bytes of others' messages errors repeat.
const maxForeign = 600

// foreign makes a message of another program fit for an error: one printable
// line of bounded length that holds none of the secrets, in any usual form.
func foreign(text []byte, secrets ...[]byte) string {
	for _, s := range secrets {
		if leaks(text, s) {
			return "(message withheld: it repeats a secret)"
		}
	}
	if len(text) > maxForeign {
		text = append([]byte("… "), text[len(text)-maxForeign:]...)
	}
	printable := func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}
	return strings.Join(strings.Fields(strings.Map(printable, string(text))), " ")
}

// leaks reports whether text holds s, or a good part of it: raw, in
// hexadecimal or in Base64.
func leaks(text, s []byte) bool {
	if len(s) < 8 {
		return len(s) > 0 && bytes.Contains(text, s)
	}
	part := s[:8]
	lower := bytes.ToLower(text)
	if bytes.Contains(text, part) || bytes.Contains(text, s[len(s)-8:]) || bytes.Contains(lower, []byte(hex.EncodeToString(part))) {
		return true
	}
	// Base64 of the 6 bytes from each of the three offsets: whole quanta.
	for at := range 3 {
		if bytes.Contains(text, []byte(base64.RawStdEncoding.EncodeToString(s[at:at+6]))) || bytes.Contains(text, []byte(base64.RawURLEncoding.EncodeToString(s[at:at+6]))) {
			return true
		}
	}
	return false
}
