package encdb

import (
	"crypto/cipher"
	"crypto/subtle"
	"fmt"

	"github.com/veildb/veildb/internal/crypto/aead"
	"github.com/veildb/veildb/internal/crypto/secret"
)

// keepBuffer is the most an Opener keeps between cells, in bytes.
const keepBuffer = 64 << 10

// An Opener opens the cells of one connection. It is for one goroutine.
type Opener struct {
	key     *secret.Bytes // MEK or session key; owned by the Opener
	hash    Hash
	weak    bool // also open cells without authentication
	layout  byte // an own one: that only; else any other
	keyID   uint32
	session [sessionSize]byte

	recent [4]cellKey // the cell keys used last
	next   int
	buf    []byte
	plain  []byte
	aad    []byte
}

// A cellKey is a derived key, ready for use.
type cellKey struct {
	nonce     [nonceSize]byte
	algorithm Algorithm
	gcm       cipher.AEAD
	fast      *aead.Opener // in place of gcm, for AES-256
	block     cipher.Block // for modes other than GCM
}

func newOpener(key *secret.Bytes, h Hash, weak bool) (*Opener, error) {
	own, err := key.Clone()
	if err != nil {
		return nil, err
	}
	return &Opener{key: own, hash: h, weak: weak, layout: Layout64}, nil
}

// Close wipes the key. The Opener cannot be used any more.
func (o *Opener) Close() {
	if o != nil {
		o.key.Close()
		o.recent = [4]cellKey{}
		clear(o.buf[:cap(o.buf)])
		clear(o.plain[:cap(o.plain)])
		o.key = nil
	}
}

// cellKey finds or derives the key of a cell under an algorithm, with that nonce.
func (o *Opener) cellKey(a Algorithm, nonce []byte) (*cellKey, error) {
	for i := range o.recent {
		k := &o.recent[i]
		if (k.gcm != nil || k.block != nil) && k.algorithm == a && string(k.nonce[:]) == string(nonce) {
			return k, nil
		}
	}
	dek, err := o.hash.derive(o.key.Reveal(), nonce, "", algorithms[a].keySize)
	if err != nil {
		return nil, err
	}
	defer clear(dek)
	k := cellKey{algorithm: a}
	copy(k.nonce[:], nonce)
	if !a.Authenticated() {
		k.block, err = a.block(dek)
	} else if k.gcm, err = a.gcm(dek); err == nil && a == AES256GCM {
		k.fast, err = aead.NewOpener(dek)
	}
	if err != nil {
		return nil, fmt.Errorf("make cell key: %w", err)
	}
	at := &o.recent[o.next]
	o.next = (o.next + 1) % len(o.recent)
	*at = k
	return at, nil
}

// Open appends the plaintext of the cell that a row has as text to dst and returns its
// type byte with it. Restore turns both into the value of a row. bin says
// whether the cell came in a row of the binary protocol.
//
// Where the ends agreed on an own layout, only cells of that layout open, and only in
// the connection they are for and as the column they are of: its place, its type
// and, for an integer, whether it is UNSIGNED. Errors: ErrNotCell, ErrTampered, ErrWeak,
// ErrUnsupported, ErrClosed. On an error nothing is returned: a caller that
// must tell cells from ordinary strings, as with servers that do not mark
// columns, does so by ErrNotCell.
func (o *Opener) Open(dst []byte, c *Column, bin bool, text []byte) (typ byte, out []byte, err error) {
	if o.key == nil {
		return 0, nil, ErrClosed
	}
	if o.layout == Layout66 {
		return o.open66(dst, c, bin, text)
	}
	raw, ok := decodeText(o.buf[:0], text, tagSize)
	if !ok {
		return 0, nil, ErrNotCell
	}
	if cap(raw) <= keepBuffer {
		o.buf = raw
	}
	cell, err := parseCell(raw)
	switch {
	case err != nil:
		return 0, nil, err
	case (cell.layout == Layout65) != (o.layout == Layout65):
		return 0, nil, fmt.Errorf("open cell of layout %d: %w", cell.layout, ErrUnsupported)
	case !cell.algorithm.Authenticated() && !o.weak:
		return 0, nil, fmt.Errorf("open cell of %v: %w", cell.algorithm, ErrWeak)
	}
	key, err := o.cellKey(cell.algorithm, cell.nonce)
	if err != nil {
		return 0, nil, err
	}
	var good bool
	switch {
	case key.gcm == nil:
		var plain []byte
		if plain, good = cell.algorithm.openWeak(key.block, cell.body); good {
			out = append(dst, plain...)
		}
	case cell.layout == Layout65:
		return o.open65(dst, c, bin, &cell, key)
	default:
		out, good = key.openBody(dst, cell.body, nil)
	}
	if !good {
		return 0, nil, ErrTampered
	}
	n := len(out) - 1
	if n < len(dst) || xorAll(out[len(dst):]) != 0 {
		clear(out[len(dst):])
		return 0, nil, ErrTampered
	}
	return cell.typ, out[:n], nil
}

// OpenValue appends the value of the cell with that text to dst, as a row of
// column c has it without its length prefix, and returns the type byte of the
// cell with it. It is Open and Restore, in one step where nothing is to be
// restored. Errors: those of Open, and ErrValue.
func (o *Opener) OpenValue(dst []byte, c *Column, bin bool, text []byte) (typ byte, out []byte, err error) {
	if Own(o.layout) {
		typ, out, err = o.Open(dst, c, bin, text)
		if err == nil && bin && !fits(typ, len(out)-len(dst)) {
			return 0, nil, errType(typ, c.typ)
		}
		return typ, out, err
	}
	typ, plain, err := o.Open(o.plain[:0], c, bin, text)
	if err != nil {
		return 0, nil, err
	}
	if cap(plain) <= keepBuffer {
		o.plain = plain
	}
	out, err = Restore(dst, c, bin, typ, plain)
	return typ, out, err
}

// openBody opens IV || tag || ciphertext, appending to dst. The tag is moved
// behind the ciphertext, into whatever follows body in memory that is ours.
func openBody(dst []byte, gcm cipher.AEAD, body, aad []byte) ([]byte, bool) {
	const before = ivSize + tagSize
	if len(body) < before {
		return nil, false
	}
	sealed := append(body[before:], body[ivSize:before]...)
	out, err := gcm.Open(dst, body[:ivSize], sealed, aad)
	return out, err == nil
}

// openBody is openBody under k.
func (k *cellKey) openBody(dst, body, aad []byte) ([]byte, bool) {
	if k.fast == nil || len(body) < ivSize+tagSize || len(body) > ivSize+tagSize+aead.MaxPlaintext {
		return openBody(dst, k.gcm, body, aad)
	}
	// Its form is IV || ciphertext || tag. The IV takes the tag's place.
	body = append(body, body[ivSize:ivSize+tagSize]...)
	cell := body[tagSize:]
	copy(cell, body[:ivSize])
	out, err := k.fast.Open(dst, cell, aad)
	return out, err == nil
}

func (o *Opener) open65(dst []byte, c *Column, bin bool, cell *cell, key *cellKey) (byte, []byte, error) {
	o.aad = appendAAD(o.aad[:0], cell.header, c, &o.session)
	out, good := key.openBody(dst, cell.body, o.aad)
	if !good {
		return 0, nil, ErrTampered
	}
	unsigned := cell.flags&flagUnsigned != 0
	if cell.keyID != o.keyID || (cell.flags&flagBinary != 0) != bin || cell.typ != c.typ || isInteger(c.typ) && unsigned != c.unsigned {
		clear(out[len(dst):])
		return 0, nil, ErrTampered
	}
	if cell.flags&flagPadded != 0 {
		var err error
		if out, err = unpadded(dst, out); err != nil {
			return 0, nil, err
		}
	}
	return cell.typ, out, nil
}

// unpad returns the length without PKCS #7 padding of b, which is not empty and
// a multiple of size long, and 1 if the padding is right, in time that does not
// depend on it.
func unpad(b []byte, size int) (n, ok int) {
	last := int(b[len(b)-1])
	ok = subtle.ConstantTimeLessOrEq(1, last) & subtle.ConstantTimeLessOrEq(last, size)
	for i := 1; i <= size; i++ {
		same := subtle.ConstantTimeByteEq(b[len(b)-i], byte(last))
		ok &= same | subtle.ConstantTimeLessOrEq(last+1, i)
	}
	return subtle.ConstantTimeSelect(ok, len(b)-last, 0), ok
}
