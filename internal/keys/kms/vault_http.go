package kms

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/keys/keyring"
)

// maxAnswer bounds what is read of an answer.
const maxAnswer = 1 << 20

// transit calls encrypt or decrypt with one field and reads the answer's data.
// A refusal is tried once more with a new login: the token may have expired.
func (p *Vault) transit(ctx context.Context, op, field string, value []byte, data any) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	body := slices.Concat([]byte(`{"`+field+`":"`), value, []byte(`"}`))
	defer clear(body)
	for again := false; ; again = true {
		token, err := p.login(ctx, again)
		if err != nil {
			return fmt.Errorf("log in to vault: %w", err)
		}
		err = p.call(ctx, token, "/v1/"+p.mount+"/"+op+"/"+p.key, body, data, value)
		if err == nil {
			return nil
		}
		var refused *vaultError
		if errors.As(err, &refused) && refused.status == http.StatusForbidden && !again {
			continue
		}
		return fmt.Errorf("%s with vault key %s: %w", op, p.name(), err)
	}
}

// A vaultError is an answer that is not a success.
type vaultError struct {
	status  int
	message string // cleaned
}

func (e *vaultError) Error() string {
	return fmt.Sprintf("vault answers %d %s: %s", e.status, http.StatusText(e.status), e.message)
}

// Unwrap returns the sentinel. The blob's sum was right when a blob was sent, so
// what transit calls an invalid ciphertext is one of another key.
func (e *vaultError) Unwrap() error {
	disallowed := strings.Contains(e.message, "disallowed by policy")
	switch {
	case e.status == http.StatusForbidden || e.status == http.StatusUnauthorized || e.status == http.StatusBadRequest && disallowed:
		return keyring.ErrDenied
	case e.status == http.StatusBadRequest || e.status == http.StatusNotFound:
		return keyring.ErrWrongKey
	}
	return keyring.ErrUnreachable // 412, 429, 472, 473, 5xx: sealed, standby, busy
}

// call posts body, if it is not nil, or gets, and decodes the field "data" or,
// of logins, "auth". No error repeats the token or one of secrets.
func (p *Vault) call(ctx context.Context, token, path string, body []byte, data any, secrets ...[]byte) error {
	client, err := p.httpClient()
	if err != nil {
		return err
	}
	method, reader := http.MethodGet, io.Reader(nil)
	if body != nil {
		method, reader = http.MethodPost, bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, p.address+path, reader)
	if err != nil {
		return err
	}
	req.Header.Set("X-Vault-Request", "true")
	if token != "" {
		req.Header.Set("X-Vault-Token", token)
	}
	if ns := p.namespace; ns != "" {
		req.Header.Set("X-Vault-Namespace", ns)
	} else if ns := os.Getenv("VAULT_NAMESPACE"); ns != "" {
		req.Header.Set("X-Vault-Namespace", ns)
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", err, keyring.ErrUnreachable)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	defer clear(text)
	if err != nil {
		return fmt.Errorf("read answer: %w: %w", err, keyring.ErrUnreachable)
	}
	if resp.StatusCode != http.StatusOK {
		return &vaultError{resp.StatusCode, vaultMessage(text, append(secrets, []byte(token)))}
	}
	var answer struct{ Data, Auth json.RawMessage }
	if json.Unmarshal(text, &answer) != nil {
		return fmt.Errorf("the answer is not of a vault server: %w", keyring.ErrUnreachable)
	}
	defer clear(answer.Data)
	defer clear(answer.Auth)
	part := answer.Data
	if _, ok := data.(*vaultAuth); ok {
		part = answer.Auth
	}
	if len(part) == 0 || json.Unmarshal(part, data) != nil {
		return fmt.Errorf("the answer is not the one of this request: %w", keyring.ErrUnreachable)
	}
	return nil
}

// vaultMessage returns the errors that an answer tells.
func vaultMessage(text []byte, secrets [][]byte) string {
	var answer struct{ Errors []string }
	if json.Unmarshal(text, &answer) != nil || len(answer.Errors) == 0 {
		return "no reason given"
	}
	return foreign([]byte(strings.Join(answer.Errors, "; ")), secrets...)
}

// httpClient returns the client, made when it is first needed.
func (p *Vault) httpClient() (*http.Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client != nil {
		return p.client, nil
	}
	config, err := vaultTLS()
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = config
	p.client = &http.Client{
		Transport: transport,
		// A redirection would carry the token, and the key, to another host.
		CheckRedirect: func(req *http.Request, _ []*http.Request) error {
			return fmt.Errorf("it redirects to %s; name that address", req.URL.Host)
		},
	}
	return p.client, nil
}

// vaultTLS returns what the environment tells. Errors: ErrConfig.
func vaultTLS() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: os.Getenv("VAULT_TLS_SERVER_NAME")}
	files, err := caFiles()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrConfig)
	}
	if len(files) > 0 {
		config.RootCAs = x509.NewCertPool()
	}
	for _, file := range files {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", err, ErrConfig)
		}
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate: %w", file, ErrConfig)
		}
	}
	cert, key := os.Getenv("VAULT_CLIENT_CERT"), os.Getenv("VAULT_CLIENT_KEY")
	if cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("read VAULT_CLIENT_CERT and VAULT_CLIENT_KEY: %w: %w", err, ErrConfig)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// caFiles returns the files that VAULT_CACERT or VAULT_CAPATH name.
func caFiles() ([]string, error) {
	if file := os.Getenv("VAULT_CACERT"); file != "" {
		return []string{file}, nil
	}
	dir := os.Getenv("VAULT_CAPATH")
	if dir == "" {
		return nil, nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.pem"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no *.pem in VAULT_CAPATH %s", dir)
	}
	return files, err
}
