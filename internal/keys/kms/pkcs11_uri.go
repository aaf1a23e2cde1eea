package kms

import (
	"encoding/hex"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// A tokenURI is a key of a token, as RFC 7512 names it. Only what tells keys and
// tokens apart is kept; empty fields match anything.
type tokenURI struct {
	token, serial, manufacturer, model string
	object                             string
	id                                 []byte
	module                             string // path of the library
	pinFile                            string
}

// parsePKCS11 reads a URI such as
//
//	pkcs11:token=TOKEN;object=KEY?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:/etc/veildb/pin
//
// It needs module-path, and object or id. pin-value is refused: a PIN has no
// place in a key file. Errors: ErrConfig.
func parsePKCS11(uri string) (u tokenURI, err error) {
	refuse := func(why string) (tokenURI, error) {
		return tokenURI{}, fmt.Errorf("use pkcs11 key: %s; want pkcs11:token=TOKEN;object=KEY?module-path=/PATH: %w", why, ErrConfig)
	}
	rest, ok := strings.CutPrefix(uri, "pkcs11:")
	if !ok || len(uri) > maxName {
		return refuse("not a pkcs11 URI")
	}
	path, query, _ := strings.Cut(rest, "?")
	seen := map[string]bool{}
	for _, part := range slices.Concat(split(path, ";"), split(query, "&")) {
		name, raw, ok := strings.Cut(part, "=")
		value, verr := url.PathUnescape(raw)
		if !ok || verr != nil || seen[name] {
			return refuse("an attribute is malformed or given twice")
		}
		seen[name] = true
		if why := u.set(name, value); why != "" {
			return refuse(why)
		}
	}
	switch {
	case !filepath.IsAbs(u.module):
		return refuse("no module-path, or not an absolute one")
	case u.object == "" && len(u.id) == 0:
		return refuse("neither object nor id")
	}
	return u, nil
}

func split(s, sep string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, sep)
}

// set returns why an attribute is refused, or "".
func (u *tokenURI) set(name, value string) string {
	if value == "" || strings.ContainsRune(value, 0) {
		return name + " is empty"
	}
	switch name {
	case "token":
		u.token = value
	case "serial":
		u.serial = value
	case "manufacturer":
		u.manufacturer = value
	case "model":
		u.model = value
	case "object":
		u.object = value
	case "id":
		u.id = []byte(value)
	case "type":
		if value != "secret-key" {
			return "the key must be of type secret-key"
		}
	case "module-path":
		u.module = value
	case "pin-source":
		file, _ := strings.CutPrefix(value, "file:")
		file = strings.TrimPrefix(file, "//")
		if !filepath.IsAbs(file) {
			return "pin-source must be the absolute path of a file"
		}
		u.pinFile = file
	case "pin-value":
		return "pin-value would put the PIN into the key file; use pin-source, or " + envPIN
	default:
		return "unknown attribute" // not repeated: it may hold a PIN
	}
	return ""
}

// uri returns the canonical form: two URIs of the same fields give the same.
func (u tokenURI) uri() string {
	var path, query []string
	add := func(to *[]string, name, value string) {
		if value != "" {
			*to = append(*to, name+"="+escapeURI(value))
		}
	}
	add(&path, "token", u.token)
	add(&path, "serial", u.serial)
	add(&path, "manufacturer", u.manufacturer)
	add(&path, "model", u.model)
	add(&path, "object", u.object)
	if len(u.id) > 0 {
		digits := hex.EncodeToString(u.id)
		escaped := ""
		for ; digits != ""; digits = digits[2:] {
			escaped += "%" + digits[:2]
		}
		path = append(path, "id="+escaped)
	}
	add(&query, "module-path", u.module)
	add(&query, "pin-source", u.pinFile)
	return "pkcs11:" + strings.Join(path, ";") + "?" + strings.Join(query, "&")
}

// escapeURI escapes all but the characters that need it nowhere in a pkcs11 URI.
func escapeURI(s string) string {
	const keep = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/"
	var out strings.Builder
	for _, c := range []byte(s) {
		if strings.IndexByte(keep, c) >= 0 {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

// envPIN holds the PIN, or, with _FILE appended, names its file.
const envPIN = "VEILDB_PKCS11_PIN"
