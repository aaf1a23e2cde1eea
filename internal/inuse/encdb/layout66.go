package encdb

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/veildb/veildb/internal/crypto/aead"
)

// Layout66 is the first byte of cells between our own ends that are the bytes
// themselves, not their base64:
//
//	42 || algorithm (1) || flags (1) || nonce (8) || IV (12) || ciphertext || tag (16)
//
// Flags are those of Layout65. Additional data is
//
//	header (11) || type (1) || key id (4, big endian) ||
//	lenenc database || lenenc table || lenenc column || session id (16)
//
// so a cell opens in its column and connection only, and as a value of the
// column's type. 39 bytes more than the value.
const Layout66 = 0x42

const (
	header66 = 11
	around66 = header66 + ivSize + tagSize
)

// Own reports whether cells of a layout are for our own ends only: those know
// the whole definition of their column.
func Own(layout byte) bool { return layout == Layout65 || layout == Layout66 }

// ownLayout returns the layout to answer a client with that knows own layouts up
// to most; first clients do not say.
func ownLayout(most byte) byte {
	if most >= Layout66 {
		return Layout66
	}
	return Layout65
}

// appendAAD66 appends the additional data of a cell of Layout66.
func appendAAD66(dst, header []byte, c *Column, keyID uint32, session *[sessionSize]byte) []byte {
	dst = binary.BigEndian.AppendUint32(append(append(dst, header...), c.typ), keyID)
	return append(append(dst, c.place...), session[:]...)
}

// append66 appends a cell; step is the first that its value takes.
func (s *Sealer) append66(dst []byte, c *Column, bin bool, step uint32, value []byte) ([]byte, error) {
	flags := byte(0)
	if c.unsigned {
		flags |= flagUnsigned
	}
	if bin {
		flags |= flagBinary
	}
	inner := len(value)
	if s.padTo > 0 {
		inner, flags = (inner/s.padTo+1)*s.padTo, flags|flagPadded
	}
	at := len(dst)
	dst = slices.Grow(dst, around66+inner)
	dst = append(dst, Layout66, byte(s.algorithm), flags)
	dst = append(dst, s.nonce[:]...)
	s.aad = appendAAD66(s.aad[:0], dst[at:], c, s.keyID, &s.session)
	if s.padTo > 0 { // where its ciphertext will be
		padded := dst[len(dst)+ivSize : len(dst)+ivSize+inner]
		n := copy(padded, value)
		clear(padded[n:])
		padded[n] = 0x80
		value = padded
	}
	if s.fast != nil && inner <= aead.MaxPlaintext {
		out, err := s.fast.Seal(dst, value, s.aad)
		if err != nil {
			return nil, fmt.Errorf("seal: %w", err)
		}
		return out, nil
	}
	dst = binary.BigEndian.AppendUint32(append(dst, s.prefix[:]...), step)
	return s.gcm.Seal(dst, dst[len(dst)-ivSize:], value, s.aad), nil
}

// open66 is Open where the ends agreed on Layout66.
func (o *Opener) open66(dst []byte, c *Column, bin bool, raw []byte) (typ byte, out []byte, err error) {
	if len(raw) < around66 || raw[0] != Layout66 {
		return 0, nil, ErrNotCell
	}
	a, flags := Algorithm(raw[1]), raw[2]
	if !a.Authenticated() || flags&^(flagUnsigned|flagBinary|flagPadded) != 0 {
		return 0, nil, fmt.Errorf("open cell of %v: %w", a, ErrUnsupported)
	}
	key, err := o.cellKey(a, raw[header66-nonceSize:header66])
	if err != nil {
		return 0, nil, err
	}
	o.aad = appendAAD66(o.aad[:0], raw[:header66], c, o.keyID, &o.session)
	body := raw[header66:]
	if key.fast != nil && len(body) <= aead.MaxPlaintext+aead.Overhead {
		out, err = key.fast.Open(dst, body, o.aad)
	} else {
		out, err = key.gcm.Open(dst, body[:ivSize], body[ivSize:], o.aad)
	}
	if err != nil {
		return 0, nil, ErrTampered
	}
	if (flags&flagBinary != 0) != bin || isInteger(c.typ) && (flags&flagUnsigned != 0) != c.unsigned {
		clear(out[len(dst):])
		return 0, nil, ErrTampered
	}
	if flags&flagPadded != 0 {
		if out, err = unpadded(dst, out); err != nil {
			return 0, nil, err
		}
	}
	return c.typ, out, nil
}

// unpadded is out, which begins with dst, without the padding that our own
// layouts have behind a value.
func unpadded(dst, out []byte) ([]byte, error) {
	n := len(out)
	for n > len(dst) && out[n-1] == 0 {
		n--
	}
	if n == len(dst) || out[n-1] != 0x80 {
		return nil, ErrTampered
	}
	return out[:n-1], nil
}
