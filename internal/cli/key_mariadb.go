package cli

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/veildb/veildb/internal/keys/keyring"
)

// maxMariadbID is the highest key id of the plugin, a 32-bit number.
const maxMariadbID = 1<<32 - 1

// mariadbKeys returns a key file of file_key_management: a line "ID;HEX" for
// each id, encrypted if filekey names a passphrase file.
func mariadbKeys(r *keyring.Ring, version uint32, ids []uint, filekey string) ([]byte, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(ids) == 0 || ids[0] < 1 || uint64(ids[len(ids)-1]) > maxMariadbID {
		return nil, usagef("export key", "see: veildb key export --help", "ids are %v, want numbers from 1", ids)
	}
	var out bytes.Buffer
	out.Grow(64 + len(ids)*80)
	fmt.Fprintf(&out, "# veildb key file %s, data key %d\n", r.ID(), version)
	for _, id := range ids {
		key, err := r.Subkey("mariadb/"+strconv.FormatUint(uint64(id), 10), version)
		if err != nil {
			return nil, err
		}
		out.WriteString(strconv.FormatUint(uint64(id), 10) + ";")
		out.Write(hex.AppendEncode(out.AvailableBuffer(), key.Reveal()))
		out.WriteByte('\n')
		key.Close()
	}
	if filekey == "" {
		return out.Bytes(), nil
	}
	defer clear(out.Bytes())
	return encryptMariadb(out.Bytes(), filekey)
}

// encryptMariadb encrypts as "openssl enc -aes-256-cbc -md sha1" does, which is
// what the plugin decrypts:
//
//	"Salted__" (8) || salt (8) || AES-256-CBC with PKCS #7 padding
//
// The passphrase is the first line of the file, at most 256 bytes. It is worth
// what the passphrase is worth: this derivation is fast.
func encryptMariadb(plain []byte, filekey string) ([]byte, error) {
	pass, err := os.ReadFile(filekey)
	if err != nil {
		return nil, &Error{Code: ExitUsage, Op: "read passphrase of exported keys", Err: err}
	}
	defer clear(pass)
	line, _, _ := bytes.Cut(pass, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) == 0 || len(line) > 256 {
		return nil, usagef("read passphrase of exported keys", "write 1 to 256 bytes to its first line", "%s has %d bytes", filekey, len(line))
	}
	salt := make([]byte, 8)
	rand.Read(salt) // never fails, see crypto/rand
	var derived, prev []byte
	for len(derived) < 32+aes.BlockSize {
		h := sha1.New()
		h.Write(prev)
		h.Write(line)
		h.Write(salt)
		prev = h.Sum(nil)
		derived = append(derived, prev...)
	}
	defer clear(derived)
	block, err := aes.NewCipher(derived[:32])
	if err != nil {
		return nil, err
	}
	pad := aes.BlockSize - len(plain)%aes.BlockSize
	body := append(slices.Clone(plain), bytes.Repeat([]byte{byte(pad)}, pad)...)
	cipher.NewCBCEncrypter(block, derived[32:32+aes.BlockSize]).CryptBlocks(body, body)
	return slices.Concat([]byte("Salted__"), salt, body), nil
}
