package kmstest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Vault answers like the transit engine, the token store and the login methods
// AppRole and Kubernetes of a Vault server, as its API documentation describes
// them: paths, fields, status codes and the texts of errors.
type Vault struct {
	Namespace string // that requests must name, or ""

	RoleID, SecretID string // of AppRole
	Role, JWT        string // of Kubernetes

	// TTL is the life of tokens from logins, in seconds.
	TTL int64

	mu     sync.Mutex
	keys   map[string][][]byte // versions of keys, by MOUNT/KEY
	tokens map[string]*vaultToken
	calls  map[string]int // by path
}

type vaultToken struct {
	paths     []string // that may be used; a prefix if it ends in *
	expires   time.Time
	renewable bool
}

// AddKey makes the key MOUNT/KEY.
func (v *Vault) AddKey(path string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.keys == nil {
		v.keys = map[string][][]byte{}
	}
	key := make([]byte, 32)
	rand.Read(key)
	v.keys[path] = append(v.keys[path], key)
}

// Rotate makes a new version of a key.
func (v *Vault) Rotate(path string) { v.AddKey(path) }

// Recreate deletes a key and makes another of its name.
func (v *Vault) Recreate(path string) {
	v.mu.Lock()
	v.keys[path] = nil
	v.mu.Unlock()
	v.AddKey(path)
}

// AddToken makes a token that may use paths.
func (v *Vault) AddToken(token string, life time.Duration, renewable bool, paths ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.tokens == nil {
		v.tokens = map[string]*vaultToken{}
	}
	v.tokens[token] = &vaultToken{paths, time.Now().Add(life), renewable}
}

// Expire ends all tokens.
func (v *Vault) Expire() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tokens = nil
}

// Calls returns how often a path below /v1/ was called.
func (v *Vault) Calls(path string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.calls[path]
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string][]string{"errors": {message}})
}

// RefuseAll answers as to a token without rights.
func (v *Vault) RefuseAll(w http.ResponseWriter, _ *http.Request) {
	refuse(w, 403, "1 error occurred:\n\t* permission denied\n\n")
}

// ServeHTTP implements http.Handler.
func (v *Vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ok := strings.CutPrefix(r.URL.Path, "/v1/")
	if !ok {
		http.NotFound(w, r)
		return
	}
	var body map[string]string
	if r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&body) != nil {
		refuse(w, 400, "failed to parse JSON input: unexpected EOF")
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.calls == nil {
		v.calls = map[string]int{}
	}
	v.calls[path]++
	if r.Header.Get("X-Vault-Namespace") != v.Namespace {
		refuse(w, 403, "permission denied")
		return
	}
	if r.Method == http.MethodPost && strings.HasPrefix(path, "auth/") && strings.HasSuffix(path, "/login") {
		v.login(w, path, body)
		return
	}
	token := v.tokens[r.Header.Get("X-Vault-Token")]
	if token == nil || time.Now().After(token.expires) || !token.may(path) {
		refuse(w, 403, "1 error occurred:\n\t* permission denied\n\n")
		return
	}
	left := int64(time.Until(token.expires).Seconds())
	op := strings.Split(path, "/")
	switch {
	case path == "auth/token/lookup-self" && r.Method == http.MethodGet:
		data(w, "data", map[string]any{"ttl": left, "renewable": token.renewable, "policies": []string{"default"}})
	case path == "auth/token/renew-self" && r.Method == http.MethodPost && token.renewable:
		token.expires = time.Now().Add(time.Duration(v.TTL) * time.Second)
		data(w, "auth", map[string]any{"client_token": r.Header.Get("X-Vault-Token"), "lease_duration": v.TTL, "renewable": true})
	case path == "auth/token/renew-self":
		refuse(w, 400, "lease is not renewable")
	case len(op) == 3 && r.Method == http.MethodPost && (op[1] == "encrypt" || op[1] == "decrypt"):
		v.transit(w, op[0]+"/"+op[2], op[1], body)
	default:
		refuse(w, 404, fmt.Sprintf("no handler for route %q. route entry not found.", path))
	}
}

func (t *vaultToken) may(path string) bool {
	for _, p := range append(t.paths, "auth/token/lookup-self", "auth/token/renew-self") {
		if prefix, ok := strings.CutSuffix(p, "*"); p == path || ok && strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

func data(w http.ResponseWriter, field string, value map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	answer := map[string]any{"request_id": "e9a7b5a2-3c5e-4b6e-8a44-0c1c33a3f0a1", "lease_id": "", "renewable": false, "lease_duration": 0, "data": nil, "wrap_info": nil, "warnings": nil, "auth": nil}
	answer[field] = value
	json.NewEncoder(w).Encode(answer)
}

func (v *Vault) login(w http.ResponseWriter, path string, body map[string]string) {
	switch {
	case path == "auth/approle/login" && v.RoleID != "":
		if body["role_id"] != v.RoleID || body["secret_id"] != v.SecretID {
			refuse(w, 400, "invalid role or secret ID")
			return
		}
	case path == "auth/kubernetes/login" && v.Role != "":
		if body["role"] != v.Role {
			refuse(w, 400, fmt.Sprintf("invalid role name %q", body["role"]))
			return
		}
		if body["jwt"] != v.JWT {
			refuse(w, 403, "permission denied")
			return
		}
	default:
		refuse(w, 403, "permission denied")
		return
	}
	token := "hvs." + rand.Text()
	if v.tokens == nil {
		v.tokens = map[string]*vaultToken{}
	}
	v.tokens[token] = &vaultToken{[]string{"transit/*"}, time.Now().Add(time.Duration(v.TTL) * time.Second), true}
	data(w, "auth", map[string]any{"client_token": token, "accessor": "a", "policies": []string{"default"}, "lease_duration": v.TTL, "renewable": true})
}

func (v *Vault) transit(w http.ResponseWriter, key, op string, body map[string]string) {
	versions := v.keys[key]
	if len(versions) == 0 {
		refuse(w, 400, "encryption key not found")
		return
	}
	if op == "encrypt" {
		plain, err := base64.StdEncoding.DecodeString(body["plaintext"])
		if err != nil {
			refuse(w, 400, "failed to base64-decode plaintext")
			return
		}
		nonce := make([]byte, 12)
		rand.Read(nonce)
		sealed := gcm(versions[len(versions)-1]).Seal(nonce, nonce, plain, nil)
		data(w, "data", map[string]any{"ciphertext": fmt.Sprintf("vault:v%d:%s", len(versions), base64.StdEncoding.EncodeToString(sealed)), "key_version": len(versions)})
		return
	}
	var version int
	_, text, ok := strings.Cut(strings.TrimPrefix(body["ciphertext"], "vault:v"), ":")
	if _, err := fmt.Sscanf(body["ciphertext"], "vault:v%d:", &version); err != nil || !ok {
		refuse(w, 400, "invalid ciphertext: no prefix")
		return
	}
	if version < 1 || version > len(versions) {
		refuse(w, 400, "invalid ciphertext: version is too new")
		return
	}
	sealed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(sealed) < 12 {
		refuse(w, 400, "invalid ciphertext: could not decode base64")
		return
	}
	plain, err := gcm(versions[version-1]).Open(nil, sealed[:12], sealed[12:], nil)
	if err != nil {
		refuse(w, 400, "cipher: message authentication failed")
		return
	}
	data(w, "data", map[string]any{"plaintext": base64.StdEncoding.EncodeToString(plain)})
}

func gcm(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(bytes.Clone(key))
	if err != nil {
		panic("kmstest: internal error: " + err.Error())
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic("kmstest: internal error: " + err.Error())
	}
	return aead
}
