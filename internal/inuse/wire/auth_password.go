package wire

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"hash"
)

// password relays the part of an exchange in which the client sends its
// password: in the clear with a zero byte after it if it holds its connection
// for private, otherwise XORed with the challenge and encrypted by RSA with a key
// of the server, which it first asks for with the one byte askKey unless it has
// it already. An empty password is a zero byte, or nothing, on either.
func (l *login) password(askKey byte) error {
	p, err := l.client.ReadPacket()
	if err != nil {
		return err
	}
	asks := len(p) == 1 && p[0] == askKey
	inClear := !asks && l.client.private()
	switch {
	case len(p) == 0 || len(p) == 1 && p[0] == 0: // an empty password
		return l.client.CopyTo(l.server)
	case inClear && l.server.private():
		return l.server.sendSecret(p)
	case inClear:
		return l.encryptForServer(p, askKey)
	case !l.server.private():
		return l.sameKind(asks)
	}
	return l.decryptForServer(asks)
}

// sameKind is the case of two connections that are not private: the client's
// packet goes on as it is, and so does the key, if it asks for one, and what it answers to that.
func (l *login) sameKind(asks bool) error {
	if err := l.client.CopyTo(l.server); err != nil || !asks {
		return err
	}
	p, err := l.server.ReadPacket()
	if err != nil {
		return err
	}
	if len(p) > 0 && p[0] == errHeader {
		return l.denied(p)
	}
	if len(p) == 0 || p[0] != authMoreHeader {
		return malformed("public key packet")
	}
	return l.round()
}

// encryptForServer sends p, the password in the clear, to a server whose
// connection is not private, encrypted with that server's key.
func (l *login) encryptForServer(p []byte, askKey byte) error {
	pw := bytes.TrimSuffix(clone(p), []byte{0})
	defer clear(pw)
	defer clear(p)
	if len(pw) > maxPasswordSize {
		return malformed("password packet")
	}
	key := l.cfg.Passwords.ServerKey
	if key == nil && !l.cfg.Passwords.FetchServerKey {
		return refuseInsecure("the account needs its password sent to the backend, whose connection has no TLS; use TLS there, or log in once directly")
	}
	if key == nil {
		if err := l.server.WritePacket([]byte{askKey}); err != nil {
			return err
		}
		answer, err := l.server.ReadPacket()
		if err != nil {
			return err
		}
		if len(answer) > 0 && answer[0] == errHeader {
			return l.denied(answer)
		}
		if key, err = decodeKey(answer); err != nil {
			return err
		}
	}
	enc, err := encryptPassword(pw, l.session.scramble, key)
	if err != nil {
		return err
	}
	return l.server.WritePacket(enc)
}

// decryptForServer is for a client whose connection is not private and a server
// whose is: the client encrypts with our key, the server gets it in the clear.
func (l *login) decryptForServer(asks bool) error {
	key := l.cfg.Passwords.Key
	switch {
	case key == nil:
		return refuseInsecure("the account needs its password, and this connection has no TLS; connect with TLS")
	case !asks: // encrypted with a key the client had: the server's
		return refuseInsecure("the password is encrypted with a key the gate does not have; connect with TLS")
	}
	packet, err := encodeKey(&key.PublicKey)
	if err != nil {
		return err
	}
	if err := l.client.WritePacket(packet); err != nil {
		return err
	}
	enc, err := l.client.ReadPacket()
	if err != nil {
		return err
	}
	pw, err := decryptPassword(enc, l.session.scramble, key)
	if err != nil {
		return &refusal{CodeAccessDenied, "28000", "access denied", err}
	}
	return l.server.sendSecret(append(pw, 0))
}

// sendSecret sends p, a small packet, at once, past the shared write buffers,
// and wipes it.
func (c *Conn) sendSecret(p []byte) error {
	defer clear(p)
	if len(p) > maxPasswordSize {
		return malformed("password packet")
	}
	if err := c.Flush(); err != nil {
		return err
	}
	frame := append([]byte{byte(len(p)), byte(len(p) >> 8), 0, c.seq}, p...)
	defer clear(frame)
	c.seq++
	return c.send(frame)
}

// encryptPassword is RSA-OAEP-SHA1 of the password and its zero byte, XORed with
// the challenge repeated.
func encryptPassword(pw, scramble []byte, key *rsa.PublicKey) ([]byte, error) {
	if len(scramble) == 0 {
		return nil, malformed("challenge")
	}
	plain := append(clone(pw), 0)
	defer clear(plain)
	xorScramble(plain, scramble)
	enc, err := rsa.EncryptOAEP(newSHA1(), rand.Reader, key, plain, nil)
	if err != nil {
		return nil, fmt.Errorf("encrypt password: %w", err)
	}
	return enc, nil
}

// decryptPassword undoes encryptPassword.
func decryptPassword(enc, scramble []byte, key *rsa.PrivateKey) ([]byte, error) {
	plain, err := rsa.DecryptOAEP(newSHA1(), nil, key, enc, nil)
	if err != nil || len(plain) == 0 || len(scramble) == 0 {
		return nil, malformed("encrypted password")
	}
	xorScramble(plain, scramble)
	if plain[len(plain)-1] != 0 {
		clear(plain)
		return nil, malformed("encrypted password")
	}
	return plain[: len(plain)-1 : len(plain)-1], nil
}

func xorScramble(p, scramble []byte) {
	for i := range p {
		p[i] ^= scramble[i%len(scramble)]
	}
}

// newSHA1 is the hash the protocol fixes for OAEP, where collisions of it are
// of no use.
func newSHA1() hash.Hash { return sha1.New() }

// decodeKey is the RSA key in an AuthMoreData packet, PEM of a
// SubjectPublicKeyInfo.
func decodeKey(p []byte) (*rsa.PublicKey, error) {
	data, err := DecodeAuthMore(p)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, malformed("public key packet")
	}
	pub, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, malformed("public key packet")
	}
	key, ok := pub.(*rsa.PublicKey)
	if !ok || key.Size() < 2048/8 {
		return nil, refuseInsecure("the backend's public key is too weak")
	}
	return key, nil
}

func encodeKey(key *rsa.PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode public key: %w", err)
	}
	return AppendAuthMore(nil, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), nil
}
