package volume

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"
)

// The configuration of a volume directory is JSON, indented by two spaces, in
// exactly the order of the fields of dirFile. mac is HMAC-SHA-256, in hex, of
// all bytes before the comma that precedes it, under
// HKDF-Expand-SHA-256(DEK of key_version, "veildb/volume/dir/v1" || 0 || id);
// sum is SHA-256, in hex, of all bytes before the comma that precedes it, and
// tells damage from a wrong key; check is the first half of
// HMAC-SHA-256(the same key, "kcv" || id).
const (
	dirFormatPrefix = "veildb.volume/"
	dirFormatV1     = dirFormatPrefix + "1"
	contextDir      = "veildb/volume/dir/v1\x00" // the volume id follows
	maxDirConfig    = 64 << 10

	dirMACField = ",\n  \"mac\": \""
	dirSumField = "\",\n  \"sum\": \""
	dirFileEnd  = "\"\n}\n"
	dirHexSum   = 2 * sha256.Size
	dirSumTail  = len(dirSumField) + dirHexSum + len(dirFileEnd)
	dirMACTail  = len(dirMACField) + dirHexSum + dirSumTail

	cipherName = "aes-256-xts"
)

var dirFormatLine = regexp.MustCompile(`^\{\n  "format": "` + dirFormatPrefix + `([0-9]{1,9})",\n`)

// A State says how far the making of a volume directory is.
type State string

const (
	// StateReady is a volume that may be mounted.
	StateReady State = "ready"
	// StateConverting is a volume that a conversion is still filling.
	StateConverting State = "converting"
)

// Names says how a volume keeps the names of its files.
type Names string

const (
	// NamesPlain keeps the names as they are.
	NamesPlain Names = "plain"
	// NamesEncrypted encrypts names and the targets of symbolic links; see
	// names.go for how.
	NamesEncrypted Names = "encrypted"
)

// A Config is what a volume directory says of itself. It is authenticated by
// the data key KeyVersion.
type Config struct {
	ID         FileID    // of the volume, for its life
	Names      Names     // how names are kept
	State      State     // whether the volume may be mounted
	KeyVersion uint32    // the data key that authenticates this
	Created    time.Time // UTC, to the second
	Rekeyed    time.Time // when all files last reached one key version; zero if never
	Generation uint64    // counts the changes of the configuration, from 1
}

type dirFile struct {
	Format     string     `json:"format"`
	ID         string     `json:"id"`
	Generation uint64     `json:"generation"`
	Created    time.Time  `json:"created"`
	Rekeyed    *time.Time `json:"rekeyed,omitempty"`
	Cipher     string     `json:"cipher"`
	Unit       int        `json:"unit"`
	Names      Names      `json:"names"`
	State      State      `json:"state"`
	KeyVersion uint32     `json:"key_version"`
	Check      string     `json:"check"`
	MAC        string     `json:"mac,omitempty"`
	Sum        string     `json:"sum,omitempty"`
}

// dirKey derives the key that authenticates the configuration of volume id.
func dirKey(keys KeySource, version uint32, id FileID) (key [32]byte, err error) {
	dek, err := keys.DEK(version)
	if err != nil {
		return key, fmt.Errorf("load key version %d: %w", version, err)
	}
	if dek.Len() != dekSize {
		return key, fmt.Errorf("%w: key version %d has %d bytes, not %d", ErrWrongKey, version, dek.Len(), dekSize)
	}
	expand(hmac.New(sha256.New, dek.Reveal()), key[:], contextDir+string(id[:]))
	return key, nil
}

// encode returns the bytes of the configuration, authenticated under key.
func (c *Config) encode(key *[32]byte) ([]byte, error) {
	kcv := (&Header{FileID: c.ID}).checkValue(key)
	f := dirFile{
		Format: dirFormatV1, ID: hex.EncodeToString(c.ID[:]), Generation: c.Generation, Created: c.Created,
		Cipher: cipherName, Unit: UnitSize, Names: c.Names, State: c.State,
		KeyVersion: c.KeyVersion, Check: hex.EncodeToString(kcv[:]),
	}
	if !c.Rekeyed.IsZero() {
		f.Rekeyed = &c.Rekeyed
	}
	data, err := json.MarshalIndent(&f, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	out := bytes.TrimSuffix(data, []byte("\n}"))
	mac := hmac.New(sha256.New, key[:])
	mac.Write(out)
	out = append(out, dirMACField...)
	out = hex.AppendEncode(out, mac.Sum(nil))
	sum := sha256.Sum256(out)
	out = append(out, dirSumField...)
	out = hex.AppendEncode(out, sum[:])
	return append(out, dirFileEnd...), nil
}

// decodeConfig parses a configuration; verify authenticates it. Errors:
// ErrCorrupt, and ErrUnsupported for a newer format.
func decodeConfig(data []byte) (*Config, error) {
	if len(data) > maxDirConfig {
		return nil, fmt.Errorf("%w: configuration larger than %d bytes", ErrCorrupt, maxDirConfig)
	}
	switch m := dirFormatLine.FindSubmatch(data); {
	case m == nil:
		return nil, fmt.Errorf("%w: not a volume configuration", ErrCorrupt)
	case dirFormatPrefix+string(m[1]) != dirFormatV1:
		return nil, fmt.Errorf("%w: format %s%s", ErrUnsupported, dirFormatPrefix, m[1])
	case len(data) < dirMACTail:
		return nil, fmt.Errorf("%w: configuration is cut off", ErrCorrupt)
	}
	summed := data[:len(data)-dirSumTail]
	sum := sha256.Sum256(summed)
	if string(data[len(summed):]) != dirSumField+hex.EncodeToString(sum[:])+dirFileEnd {
		return nil, fmt.Errorf("%w: checksum of configuration", ErrCorrupt)
	}
	var f dirFile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, fmt.Errorf("%w: configuration does not parse", ErrCorrupt)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: configuration holds more than one value", ErrCorrupt)
	}
	return f.config()
}

func (f *dirFile) config() (*Config, error) {
	switch {
	case f.Cipher != cipherName:
		return nil, fmt.Errorf("%w: cipher %.40q", ErrUnsupported, f.Cipher)
	case f.Unit != UnitSize:
		return nil, fmt.Errorf("%w: data units of %d bytes", ErrUnsupported, f.Unit)
	case f.Names != NamesPlain && f.Names != NamesEncrypted:
		return nil, fmt.Errorf("%w: names %.40q", ErrUnsupported, f.Names)
	case f.State != StateReady && f.State != StateConverting:
		return nil, fmt.Errorf("%w: state %.40q", ErrUnsupported, f.State)
	}
	c := &Config{Names: f.Names, State: f.State, KeyVersion: f.KeyVersion, Created: f.Created, Generation: f.Generation}
	if f.Rekeyed != nil {
		c.Rekeyed = *f.Rekeyed
	}
	id, err := hex.DecodeString(f.ID)
	if err != nil || len(id) != len(c.ID) || f.Generation == 0 || len(f.MAC) != dirHexSum {
		return nil, fmt.Errorf("%w: bad or missing field in configuration", ErrCorrupt)
	}
	c.ID = FileID(id)
	return c, nil
}

// verify checks data, which decodeConfig made c from, under the keys:
// ErrWrongKey if it was made under another key, ErrCorrupt if it was changed
// since.
func (c *Config) verify(data []byte, keys KeySource) error {
	key, err := dirKey(keys, c.KeyVersion, c.ID)
	if err != nil {
		return err
	}
	defer clear(key[:])
	var f dirFile
	if err := json.Unmarshal(data, &f); err != nil {
		return errors.New("volume: internal error: configuration parses once only")
	}
	kcv := (&Header{FileID: c.ID}).checkValue(&key)
	if got, err := hex.DecodeString(f.Check); err != nil || subtle.ConstantTimeCompare(got, kcv[:]) != 1 {
		return ErrWrongKey
	}
	body, tail := data[:len(data)-dirMACTail], data[len(data)-dirMACTail:len(data)-dirSumTail]
	mac := hmac.New(sha256.New, key[:])
	mac.Write(body)
	if want := dirMACField + hex.EncodeToString(mac.Sum(nil)); !hmac.Equal(tail, []byte(want)) {
		return fmt.Errorf("%w: authentication of the configuration", ErrCorrupt)
	}
	return nil
}
