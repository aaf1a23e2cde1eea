package keyring

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
)

// A key file is JSON, indented by two spaces, in exactly this order of fields:
//
//	format, id, generation, written, rotate_days, record, root, retired_roots,
//	keks, deks, mac, sum
//
// mac is HMAC-SHA256, in hex, of all bytes before the comma that precedes it,
// under a key derived from the current key encryption key. sum is SHA-256, in
// hex, of all bytes before the comma that precedes it: without any key it
// tells a damaged file from a wrong key.
const (
	formatPrefix  = "veildb.keyring/"
	formatV1      = formatPrefix + "1"
	maxFileSize   = 4 << 20
	maxEntries    = 10_000
	macField      = ",\n  \"mac\": \""
	sumField      = "\",\n  \"sum\": \""
	fileEnd       = "\"\n}\n"
	hexSum        = 2 * sha256.Size
	sumTailLength = len(sumField) + hexSum + len(fileEnd)
	macTailLength = len(macField) + hexSum + sumTailLength
)

var formatLine = regexp.MustCompile(`^\{\n  "format": "` + formatPrefix + `([0-9]{1,9})",\n`)

// keySize is the length of every key, in bytes.
const keySize = 32

type file struct {
	Format     string    `json:"format"`
	ID         string    `json:"id"` // 16 random bytes in hex, for life
	Generation uint64    `json:"generation"`
	Written    time.Time `json:"written"`
	RotateDays int       `json:"rotate_days,omitempty"`
	Record     string    `json:"record,omitempty"` // path of the generation record
	Root       root      `json:"root"`
	Retired    []string  `json:"retired_roots,omitempty"` // key versions of roots given up
	KEKs       []entry   `json:"keks"`                    // the last one is current and wrapped by root
	DEKs       []entry   `json:"deks"`

	MAC string `json:"mac,omitempty"`
	Sum string `json:"sum,omitempty"`
}

// root tells how the current key encryption key is wrapped.
type root struct {
	Provider   string    `json:"provider"`
	KeyVersion string    `json:"key_version,omitempty"`
	Since      time.Time `json:"since"`
	Blob       []byte    `json:"blob"`
}

// entry is one version of a key. Versions count from 1 without gaps.
type entry struct {
	Version uint32    `json:"version"`
	Created time.Time `json:"created"`
	Check   []byte    `json:"check"`          // key check value, 32 bytes
	Blob    []byte    `json:"blob,omitempty"` // cell of package aead under the current KEK
}

// encode returns the bytes of the key file, authenticated under kek.
func (f *file) encode(kek *secret.Bytes) ([]byte, error) {
	c := *f
	c.MAC, c.Sum = "", ""
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(&c); err != nil {
		return nil, fmt.Errorf("encode key file: %w", err)
	}
	body := bytes.TrimSuffix(buf.Bytes(), []byte("\n}\n"))
	mac, err := f.mac(kek, body)
	if err != nil {
		return nil, err
	}
	out := append(body, macField...)
	out = hex.AppendEncode(out, mac)
	sum := sha256.Sum256(out)
	out = append(out, sumField...)
	out = hex.AppendEncode(out, sum[:])
	return append(out, fileEnd...), nil
}

func (f *file) mac(kek *secret.Bytes, body []byte) ([]byte, error) {
	key, err := hkdf.Key(sha256.New, kek.Reveal(), []byte(f.ID), formatV1+" mac", sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("derive key of key file: %w", err)
	}
	defer clear(key)
	h := hmac.New(sha256.New, key)
	h.Write(body)
	return h.Sum(nil), nil
}

// verify checks the MAC of data, which decode made f from.
func (f *file) verify(kek *secret.Bytes, data []byte) error {
	want, err := f.mac(kek, data[:len(data)-macTailLength])
	if err != nil {
		return err
	}
	if got, err := hex.DecodeString(f.MAC); err != nil || !hmac.Equal(got, want) {
		return fmt.Errorf("authenticate key file: %w", ErrCorrupt)
	}
	return nil
}

// decode parses a key file. Nothing in the result is authenticated before
// verify. Errors: ErrCorrupt, and ErrUnsupported for a newer format.
func decode(data []byte) (*file, error) {
	if len(data) > maxFileSize {
		return nil, fmt.Errorf("not a key file, since larger than %d bytes: %w", maxFileSize, ErrCorrupt)
	}
	switch m := formatLine.FindSubmatch(data); {
	case m == nil:
		return nil, fmt.Errorf("not a key file: %w", ErrCorrupt)
	case formatPrefix+string(m[1]) != formatV1:
		return nil, fmt.Errorf("read key file of format %s%s: %w", formatPrefix, m[1], ErrUnsupported)
	case len(data) < macTailLength:
		return nil, fmt.Errorf("truncated key file: %w", ErrCorrupt)
	}
	summed := data[:len(data)-sumTailLength]
	sum := sha256.Sum256(summed)
	if want := sumField + hex.EncodeToString(sum[:]) + fileEnd; string(data[len(summed):]) != want {
		return nil, fmt.Errorf("compare checksum of key file: %w", ErrCorrupt)
	}
	f := new(file)
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(f); err != nil {
		return nil, fmt.Errorf("parse key file: %w", ErrCorrupt)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("parse key file: more than one value: %w", ErrCorrupt)
	}
	if err := f.validate(); err != nil {
		return nil, fmt.Errorf("parse key file: %w: %w", err, ErrCorrupt)
	}
	return f, nil
}

func (f *file) validate() error {
	if id, err := hex.DecodeString(f.ID); err != nil || len(id) != 16 {
		return errors.New("bad id")
	}
	if f.Generation == 0 || f.RotateDays < 0 || f.Root.Provider == "" || len(f.Root.Blob) == 0 || len(f.MAC) != hexSum {
		return errors.New("bad or missing field")
	}
	for kind, list := range map[string][]entry{kindKEK: f.KEKs, kindDEK: f.DEKs} {
		if len(list) == 0 || len(list) > maxEntries {
			return fmt.Errorf("%d keys of kind %s", len(list), kind)
		}
		for i, e := range list {
			wrapped := kind == kindDEK || i < len(list)-1
			if e.Version != uint32(i+1) || len(e.Check) != sha256.Size || (len(e.Blob) > 0) != wrapped {
				return fmt.Errorf("bad entry %d of kind %s", i+1, kind)
			}
		}
	}
	return nil
}
