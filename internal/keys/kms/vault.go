package kms

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/keys/keyring"
)

// Vault is a key of the transit secrets engine of HashiCorp Vault or OpenBao,
// reached over HTTPS:
//
//	vault:https://HOST:PORT/MOUNT#KEY
//	vault:https://HOST:PORT/MOUNT?namespace=NAME#KEY
//
// MOUNT is "transit" if it is left out. Plain HTTP is for loopback addresses
// only, since the unwrapped key passes. It needs the rights to update
// MOUNT/encrypt/KEY and MOUNT/decrypt/KEY, no others. How it logs in is told by
// the environment, see vaultLogin; VAULT_NAMESPACE, VAULT_CACERT, VAULT_CAPATH,
// VAULT_CLIENT_CERT, VAULT_CLIENT_KEY and VAULT_TLS_SERVER_NAME mean what they
// mean to Vault's own client. VAULT_ADDR and VAULT_SKIP_VERIFY mean nothing.
//
// The name in a blob is MOUNT/KEY, the payload what the engine gave, such as
// "vault:v3:…": it keeps its version, so a key can be rotated at any time.
type Vault struct {
	uri, address, mount, key, namespace string
	timeout                             time.Duration

	mu     sync.Mutex // guards what follows
	client *http.Client
	token  *vaultToken
}

// openVault makes the provider of "URL#KEY".
func openVault(rest string, c Config) (*Vault, error) {
	refuse := func(why string) (*Vault, error) {
		return nil, fmt.Errorf("use vault key: %s; want vault:https://HOST:PORT/MOUNT#KEY: %w", why, ErrConfig)
	}
	u, err := url.Parse(rest)
	if err != nil {
		return refuse("not a URL") // the error would repeat what may hold a password
	}
	q, qerr := url.ParseQuery(u.RawQuery)
	mount := cmp.Or(strings.Trim(u.Path, "/"), "transit")
	namespace := q.Get("namespace")
	for name := range q {
		if name != "namespace" {
			qerr = ErrConfig
		}
	}
	switch {
	case u.User != nil:
		return refuse("a URL holds no user or password")
	case u.Hostname() == "":
		return refuse("no host")
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		return refuse("the key would pass unencrypted: not https")
	case qerr != nil || len(q["namespace"]) > 1:
		return refuse("the only parameter is namespace")
	case !nameOK(u.Fragment) || strings.Contains(u.Fragment, "/"):
		return refuse("no key, or not one that transit can have")
	case !nameOK(mount) || path.Clean(mount) != mount || namespace != "" && !nameOK(namespace):
		return refuse("not a mount or namespace")
	case len(mount)+len(u.Fragment) > maxName/2:
		return refuse("too long")
	}
	address := url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host)}
	canonical := url.URL{Scheme: u.Scheme, Host: address.Host, Path: "/" + mount, Fragment: u.Fragment}
	if namespace != "" {
		canonical.RawQuery = url.Values{"namespace": {namespace}}.Encode()
	}
	return &Vault{
		uri: "vault:" + canonical.String(), address: address.String(), mount: mount, key: u.Fragment,
		namespace: namespace, timeout: cmp.Or(c.Timeout, defaultTimeout),
	}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// nameOK allows what Vault allows in names of keys, mounts and namespaces.
func nameOK(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") == "" &&
		!strings.HasPrefix(s, ".") && !strings.Contains(s, "/.") && !strings.HasSuffix(s, "/")
}

// URI implements keyring.Provider.
func (p *Vault) URI() string { return p.uri }

func (p *Vault) name() string { return p.mount + "/" + p.key }

// Wrap implements keyring.Provider. Errors: keyring.ErrUnreachable,
// keyring.ErrDenied, keyring.ErrWrongKey if there is no such key, ErrConfig.
func (p *Vault) Wrap(ctx context.Context, plaintext *secret.Bytes, aad []byte) ([]byte, string, error) {
	bound, err := bind(plaintext, aad)
	if err != nil {
		return nil, "", err
	}
	defer bound.Close()
	text := make([]byte, base64.StdEncoding.EncodedLen(bound.Len()))
	defer clear(text)
	base64.StdEncoding.Encode(text, bound.Reveal())
	var answer struct{ Ciphertext string }
	if err := p.transit(ctx, "encrypt", "plaintext", text, &answer); err != nil {
		return nil, "", err
	}
	version, err := transitVersion(answer.Ciphertext)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", err, keyring.ErrUnreachable)
	}
	blob, err := sealRemote(kindVault, p.name(), []byte(answer.Ciphertext))
	return blob, version, err
}

// transitVersion returns the "v3" of "vault:v3:…", the text of transit.
func transitVersion(ciphertext string) (string, error) {
	part := strings.SplitN(ciphertext, ":", 3)
	if len(part) != 3 || len(part[1]) < 2 || len(part[1]) > 12 || part[1][0] != 'v' || strings.Trim(part[1][1:], "0123456789") != "" || part[2] == "" {
		return "", errors.New("the answer holds no ciphertext of transit")
	}
	return part[1], nil
}

// Unwrap implements keyring.Provider. Errors: keyring.ErrWrongKey,
// keyring.ErrCorrupt, keyring.ErrUnreachable, keyring.ErrDenied, ErrConfig.
func (p *Vault) Unwrap(ctx context.Context, blob, aad []byte) (*secret.Bytes, error) {
	ciphertext, err := openNamed(kindVault, p.name(), blob)
	if err != nil {
		return nil, err
	}
	if _, err := transitVersion(string(ciphertext)); err != nil {
		return nil, fmt.Errorf("wrapped key is not of transit: %w", keyring.ErrCorrupt)
	}
	var answer struct{ Plaintext jsonBytes }
	defer func() { clear(answer.Plaintext) }()
	if err := p.transit(ctx, "decrypt", "ciphertext", ciphertext, &answer); err != nil {
		return nil, err
	}
	bound := make([]byte, base64.StdEncoding.DecodedLen(len(answer.Plaintext)))
	defer clear(bound)
	n, err := base64.StdEncoding.Decode(bound, answer.Plaintext)
	if err != nil {
		return nil, fmt.Errorf("the answer holds no plaintext: %w", keyring.ErrUnreachable)
	}
	return unbind(bound[:n], aad)
}

// jsonBytes is a JSON string without escapes, in memory that can be wiped.
type jsonBytes []byte

// UnmarshalJSON implements json.Unmarshaler.
func (b *jsonBytes) UnmarshalJSON(text []byte) error {
	if len(text) < 2 || text[0] != '"' || bytes.IndexByte(text, '\\') >= 0 {
		return errors.New("want a string")
	}
	*b = bytes.Clone(text[1 : len(text)-1])
	return nil
}
