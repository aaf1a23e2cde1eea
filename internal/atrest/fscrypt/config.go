package fscrypt

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/crypto/secret"
)

const (
	configFormat = "veildb.kernel/1"
	maxConfig    = 512 // bytes

	labelKey    = "veildb/kernel/key/v1\x00"
	labelConfig = "veildb/kernel/config/v1\x00"
	masterSize  = 64
)

// A Config is what is known of a directory besides its policy. It holds no
// secret.
type Config struct {
	ID         [16]byte
	KeyVersion uint32 // of the data key
	KeyID      KeyID
	Created    time.Time // whole seconds, UTC
	tag        []byte
}

// configJSON is a Config as it is written. Tag is HMAC-SHA256 of the same JSON
// with an empty tag.
type configJSON struct {
	Format     string    `json:"format"`
	ID         string    `json:"id"`
	KeyVersion uint32    `json:"key_version"`
	KeyID      string    `json:"key_identifier"`
	Created    time.Time `json:"created"`
	Tag        string    `json:"tag"`
}

// newConfig makes a Config with a new id, and the master key that goes with it,
// which the caller closes.
func newConfig(keys volume.KeySource, now time.Time) (Config, *secret.Bytes, error) {
	c := Config{KeyVersion: keys.Current(), Created: now.UTC().Truncate(time.Second)}
	if _, err := rand.Read(c.ID[:]); err != nil {
		return c, nil, err
	}
	dek, err := keys.DEK(c.KeyVersion)
	if err != nil {
		return c, nil, err
	}
	master, err := c.master(dek)
	if err != nil {
		return c, nil, err
	}
	if c.KeyID, err = identify(master); err == nil {
		c.tag, err = c.sum(dek)
	}
	if err != nil {
		master.Close()
		return c, nil, err
	}
	return c, master, nil
}

// Key authenticates c and returns the master key of its directory, which the
// caller closes. Errors: ErrWrongKey, and those of keys.
func (c Config) Key(keys volume.KeySource) (*secret.Bytes, error) {
	dek, err := keys.DEK(c.KeyVersion)
	if err != nil {
		return nil, err
	}
	sum, err := c.sum(dek)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(sum, c.tag) {
		return nil, fmt.Errorf("%w, or the configuration was tampered with", ErrWrongKey)
	}
	master, err := c.master(dek)
	if err != nil {
		return nil, err
	}
	if id, err := identify(master); err != nil || id != c.KeyID {
		master.Close()
		return nil, fmt.Errorf("%w: key identifier", ErrCorrupt)
	}
	return master, nil
}

func (c Config) master(dek *secret.Bytes) (*secret.Bytes, error) {
	key, err := hkdf.Expand(sha256.New, dek.Reveal(), labelKey+string(c.ID[:]), masterSize)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	return secret.From(key)
}

// identify computes what the kernel will call key.
func identify(key *secret.Bytes) (id KeyID, err error) {
	prk, err := hkdf.Extract(sha512.New, key.Reveal(), nil)
	if err != nil {
		return id, err
	}
	defer clear(prk)
	b, err := hkdf.Expand(sha512.New, prk, "fscrypt\x00\x01", len(id))
	copy(id[:], b)
	return id, err
}

func (c Config) sum(dek *secret.Bytes) ([]byte, error) {
	key, err := hkdf.Expand(sha256.New, dek.Reveal(), labelConfig+string(c.ID[:]), sha256.Size)
	if err != nil {
		return nil, err
	}
	defer clear(key)
	c.tag = nil
	m := hmac.New(sha256.New, key)
	m.Write(c.encode())
	return m.Sum(nil), nil
}

func (c Config) encode() []byte {
	b, err := json.Marshal(configJSON{
		configFormat, hex.EncodeToString(c.ID[:]), c.KeyVersion, c.KeyID.String(), c.Created, hex.EncodeToString(c.tag),
	})
	if err != nil {
		panic("fscrypt: internal error: " + err.Error())
	}
	return b
}

// decodeConfig parses what encode made. Nothing is authenticated. Errors:
// ErrCorrupt, ErrUnsupported.
func decodeConfig(b []byte) (Config, error) {
	var c Config
	var j configJSON
	if len(b) > maxConfig {
		return c, fmt.Errorf("%w: %d bytes", ErrCorrupt, len(b))
	}
	var probe struct{ Format string }
	if err := json.Unmarshal(b, &probe); err == nil && probe.Format != configFormat && probe.Format != "" {
		return c, fmt.Errorf("%w: format %q", ErrUnsupported, probe.Format)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&j); err != nil || j.Format != configFormat {
		return c, fmt.Errorf("%w: no line of JSON", ErrCorrupt)
	}
	if _, err := d.Token(); err != io.EOF {
		return c, fmt.Errorf("%w: more than a line", ErrCorrupt)
	}
	c.KeyVersion, c.Created = j.KeyVersion, j.Created
	tag := make([]byte, sha256.Size)
	for _, f := range []struct {
		text string
		to   []byte
	}{{j.ID, c.ID[:]}, {j.KeyID, c.KeyID[:]}, {j.Tag, tag}} {
		if len(f.text) != 2*len(f.to) {
			return c, fmt.Errorf("%w: a field of %d digits", ErrCorrupt, len(f.text))
		}
		if _, err := hex.Decode(f.to, []byte(f.text)); err != nil {
			return c, fmt.Errorf("%w: a field is no hex number", ErrCorrupt)
		}
	}
	c.tag = tag
	return c, nil
}
