//go:build cloudkms

package kmstest

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// cloudKeys are versioned keys by name.
type cloudKeys struct {
	mu   sync.Mutex
	keys map[string][][]byte
}

// Add makes a key, or a new version of it.
func (c *cloudKeys) Add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keys == nil {
		c.keys = map[string][][]byte{}
	}
	key := make([]byte, 32)
	rand.Read(key)
	c.keys[name] = append(c.keys[name], key)
}

var (
	errNoKey   = errors.New("no such key")
	errBadBlob = errors.New("bad ciphertext")
)

// seal returns a ciphertext that names its key and version, and the version.
func (c *cloudKeys) seal(name string, plain []byte) (blob []byte, version int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	version = len(c.keys[name])
	if version == 0 {
		return nil, 0, errNoKey
	}
	head := fmt.Sprintf("%s\n%d\n", name, version)
	nonce := make([]byte, 12)
	rand.Read(nonce)
	return gcm(c.keys[name][version-1]).Seal(append([]byte(head), nonce...), nonce, plain, []byte(head)), version, nil
}

// open opens what seal gave, and tells the key that it names.
func (c *cloudKeys) open(blob []byte) (name string, plain []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	part := strings.SplitN(string(blob), "\n", 3)
	if len(part) != 3 || len(part[2]) < 12 {
		return "", nil, errBadBlob
	}
	version, err := strconv.Atoi(part[1])
	if err != nil || version < 1 || version > len(c.keys[part[0]]) {
		return "", nil, errBadBlob
	}
	head := part[0] + "\n" + part[1] + "\n"
	plain, err = gcm(c.keys[part[0]][version-1]).Open(nil, []byte(part[2][:12]), []byte(part[2][12:]), []byte(head))
	if err != nil {
		return "", nil, errBadBlob
	}
	return part[0], plain, nil
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value)
}

// AWS answers Encrypt and Decrypt like AWS KMS. Keys are added by ARN.
type AWS struct {
	cloudKeys
	AccessKeyID string
}

func awsError(w http.ResponseWriter, code, message string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(400)
	json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": message})
}

// RefuseAll answers as to a user without rights.
func (a *AWS) RefuseAll(w http.ResponseWriter, _ *http.Request) {
	awsError(w, "AccessDeniedException", "User: arn:aws:iam::111122223333:user/veildb is not authorized to perform: kms:Decrypt on this resource")
}

// ServeHTTP implements http.Handler.
func (a *AWS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="+a.AccessKeyID+"/") {
		awsError(w, "UnrecognizedClientException", "The security token included in the request is invalid.")
		return
	}
	var in struct {
		KeyId                     string
		Plaintext, CiphertextBlob []byte
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		awsError(w, "SerializationException", "")
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	switch op := r.Header.Get("X-Amz-Target"); op {
	case "TrentService.Encrypt":
		blob, _, err := a.seal(in.KeyId, in.Plaintext)
		if err != nil {
			awsError(w, "NotFoundException", "Key '"+in.KeyId+"' does not exist")
			return
		}
		answer(w, 200, map[string]any{"CiphertextBlob": blob, "KeyId": in.KeyId, "EncryptionAlgorithm": "SYMMETRIC_DEFAULT"})
	case "TrentService.Decrypt":
		name, plain, err := a.open(in.CiphertextBlob)
		if err != nil {
			awsError(w, "InvalidCiphertextException", "")
			return
		}
		answer(w, 200, map[string]any{"Plaintext": plain, "KeyId": name, "EncryptionAlgorithm": "SYMMETRIC_DEFAULT"})
	default:
		awsError(w, "UnknownOperationException", op)
	}
}

// AliCloud answers DescribeKey, Encrypt and Decrypt like Alibaba Cloud KMS.
type AliCloud struct {
	cloudKeys
	AccessKeyID string
}

func aliError(w http.ResponseWriter, status int, code, message string) {
	answer(w, status, map[string]string{"Code": code, "Message": message, "RequestId": "475f1620-b9d3-4d35-b5c6-3fbdd941423d", "HostId": "kms.cn-hangzhou.aliyuncs.com"})
}

// RefuseAll answers as to a user without rights.
func (a *AliCloud) RefuseAll(w http.ResponseWriter, _ *http.Request) {
	aliError(w, 403, "Forbidden.NoPermission", "This operation is forbidden by permission system.")
}

// ServeHTTP implements http.Handler.
func (a *AliCloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ParseForm() != nil || r.Form.Get("AccessKeyId") != a.AccessKeyID || r.Form.Get("Signature") == "" {
		aliError(w, 404, "InvalidAccessKeyId.NotFound", "The Access Key ID provided does not exist in our records.")
		return
	}
	key := r.Form.Get("KeyId")
	switch op := r.Form.Get("Action"); op {
	case "DescribeKey":
		answer(w, 200, map[string]any{"KeyMetadata": map[string]string{"KeyId": key, "KeyState": "Enabled"}})
	case "Encrypt":
		plain, err := base64.StdEncoding.DecodeString(r.Form.Get("Plaintext"))
		if err != nil {
			aliError(w, 400, "InvalidParameter", "The specified parameter is not valid.")
			return
		}
		blob, _, err := a.seal(key, plain)
		if err != nil {
			aliError(w, 404, "Forbidden.KeyNotFound", "The specified Key is not found.")
			return
		}
		answer(w, 200, map[string]string{"CiphertextBlob": base64.StdEncoding.EncodeToString(blob), "KeyId": key})
	case "Decrypt":
		blob, err := base64.StdEncoding.DecodeString(r.Form.Get("CiphertextBlob"))
		var name string
		var plain []byte
		if err == nil {
			name, plain, err = a.open(blob)
		}
		if err != nil {
			aliError(w, 400, "InvalidParameter", "The specified parameter CiphertextBlob is not valid.")
			return
		}
		answer(w, 200, map[string]string{"Plaintext": base64.StdEncoding.EncodeToString(plain), "KeyId": name})
	default:
		aliError(w, 404, "InvalidAction.NotFound", op)
	}
}

// Azure answers wrapkey and unwrapkey like Azure Key Vault; Login answers like
// Entra ID. Keys are added by name.
type Azure struct {
	cloudKeys
	Vault, Tenant, ClientID, ClientSecret string
}

func azureError(w http.ResponseWriter, status int, code, message string) {
	answer(w, status, map[string]any{"error": map[string]string{"code": code, "message": message}})
}

// RefuseAll answers as to an application without rights.
func (a *Azure) RefuseAll(w http.ResponseWriter, _ *http.Request) {
	azureError(w, 403, "Forbidden", "The user, group or application does not have keys unwrapKey permission on key vault.")
}

const azureToken = "eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9.e30.c2ln"

// Login implements http.Handler for login.microsoftonline.com.
func (a *Azure) Login(w http.ResponseWriter, r *http.Request) {
	base := "https://login.microsoftonline.com/" + a.Tenant
	switch {
	case strings.HasSuffix(r.URL.Path, "/discovery/instance"):
		answer(w, 200, map[string]any{"tenant_discovery_endpoint": base + "/v2.0/.well-known/openid-configuration", "api-version": "1.1",
			"metadata": []map[string]any{{"preferred_network": "login.microsoftonline.com", "preferred_cache": "login.windows.net", "aliases": []string{"login.microsoftonline.com"}}}})
	case strings.HasSuffix(r.URL.Path, "/openid-configuration"):
		answer(w, 200, map[string]string{"token_endpoint": base + "/oauth2/v2.0/token", "authorization_endpoint": base + "/oauth2/v2.0/authorize", "issuer": base + "/v2.0"})
	case r.ParseForm() == nil && r.Form.Get("client_id") == a.ClientID && r.Form.Get("client_secret") == a.ClientSecret:
		answer(w, 200, map[string]any{"token_type": "Bearer", "expires_in": 3599, "access_token": azureToken})
	default:
		answer(w, 401, map[string]string{"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret provided."})
	}
}

// ServeHTTP implements http.Handler.
func (a *Azure) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+azureToken {
		w.Header().Set("WWW-Authenticate", `Bearer authorization="https://login.microsoftonline.com/`+a.Tenant+`", resource="https://vault.azure.net"`)
		azureError(w, 401, "Unauthorized", "AKV10000: Request is missing a Bearer or PoP token.")
		return
	}
	var in struct{ Alg, Value string }
	part := strings.Split(strings.Trim(r.URL.Path, "/"), "/") // keys/NAME[/VERSION]/OP
	if json.NewDecoder(r.Body).Decode(&in) != nil || in.Alg != "RSA-OAEP-256" || len(part) < 3 || part[0] != "keys" {
		azureError(w, 400, "BadParameter", "Property has invalid value")
		return
	}
	value, err := base64.RawURLEncoding.DecodeString(in.Value)
	if err != nil {
		azureError(w, 400, "BadParameter", "Property has invalid value")
		return
	}
	kid := func(version int) string { return fmt.Sprintf("https://%s/keys/%s/%032x", r.Host, part[1], version) }
	var out []byte
	version := 0
	switch part[len(part)-1] {
	case "wrapkey":
		if out, version, err = a.seal(part[1], value); err != nil {
			azureError(w, 404, "KeyNotFound", "A key with (name/id) "+part[1]+" was not found in this key vault.")
			return
		}
	case "unwrapkey":
		var name string
		if name, out, err = a.open(value); err != nil || name != part[1] {
			azureError(w, 400, "BadParameter", "The parameter is incorrect.")
			return
		}
	}
	answer(w, 200, map[string]string{"kid": kid(version), "value": base64.RawURLEncoding.EncodeToString(out)})
}
