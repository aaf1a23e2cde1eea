package kms

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/keys/keyring"
)

// Environment variables of logins. Each secret may be given by a file instead,
// whose name stands in the variable with _FILE appended.
const (
	envVaultToken    = "VAULT_TOKEN"
	envVaultRoleID   = "VEILDB_VAULT_ROLE_ID"   // AppRole
	envVaultSecretID = "VEILDB_VAULT_SECRET_ID" // AppRole
	envVaultRole     = "VEILDB_VAULT_ROLE"      // Kubernetes
	envVaultJWT      = "VEILDB_VAULT_JWT"       // Kubernetes; the default is the pod's own
	envVaultAuth     = "VEILDB_VAULT_AUTH_PATH" // where the method is mounted

	podToken = "/var/run/secrets/kubernetes.io/serviceaccount/token"
)

// vaultToken is a login. renewAt and expires are zero for a token of unknown or
// endless life.
type vaultToken struct {
	token            *secret.Bytes
	renewAt, expires time.Time
	renewable        bool
}

// vaultAuth is how Vault describes a token; ttl is what lookup-self calls
// lease_duration.
type vaultAuth struct {
	ClientToken   jsonBytes `json:"client_token"`
	LeaseDuration int64     `json:"lease_duration"` // seconds
	Renewable     bool      `json:"renewable"`
}

// login returns a token. Its sources, the first one that is set:
//
//	VEILDB_VAULT_ROLE_ID      AppRole, with VEILDB_VAULT_SECRET_ID
//	VEILDB_VAULT_ROLE         Kubernetes, with the pod's service account
//	VAULT_TOKEN               a token
//	~/.vault-token            a token, as Vault's client leaves it
//
// A login is renewed when half of its life is over, and made anew when it cannot
// be renewed, when it has expired, or if fresh is true. A token file is read
// again then, so an agent may replace it.
func (p *Vault) login(ctx context.Context, fresh bool) (string, error) {
	held, renew := p.held()
	if held != nil && renew && !fresh {
		if p.renew(ctx, held) == nil {
			return string(held.token.Reveal()), nil
		}
		fresh = true
	}
	if held != nil && !fresh {
		return string(held.token.Reveal()), nil
	}
	t, err := p.newToken(ctx)
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.token = t
	return string(t.token.Reveal()), nil
}

// held returns the token that is still good, or nil, and whether it is time to
// renew it.
func (p *Vault) held() (*vaultToken, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, now := p.token, time.Now()
	if t == nil || !t.expires.IsZero() && now.After(t.expires) {
		return nil, false
	}
	return t, !t.renewAt.IsZero() && now.After(t.renewAt)
}

// renew prolongs t and replaces it.
func (p *Vault) renew(ctx context.Context, t *vaultToken) error {
	if !t.renewable {
		return errors.New("not renewable")
	}
	var auth vaultAuth
	if err := p.call(ctx, string(t.token.Reveal()), "/v1/auth/token/renew-self", []byte("{}"), &auth); err != nil {
		return err
	}
	clear(auth.ClientToken)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.token = auth.lifetime(t.token)
	return nil
}

// lifetime returns the token with the life that a describes.
func (a vaultAuth) lifetime(token *secret.Bytes) *vaultToken {
	t := &vaultToken{token: token, renewable: a.Renewable}
	if life := time.Duration(a.LeaseDuration) * time.Second; life > 0 {
		t.renewAt, t.expires = time.Now().Add(life/2), time.Now().Add(life)
	}
	return t
}

func (p *Vault) newToken(ctx context.Context) (*vaultToken, error) {
	if role := os.Getenv(envVaultRoleID); role != "" {
		return p.exchange(ctx, "approle", map[string]string{"role_id": role}, "secret_id", envVaultSecretID, "")
	}
	if role := os.Getenv(envVaultRole); role != "" {
		return p.exchange(ctx, "kubernetes", map[string]string{"role": role}, "jwt", envVaultJWT, podToken)
	}
	home, _ := os.UserHomeDir()
	token, err := envSecret(envVaultToken, filepath.Join(home, ".vault-token"))
	if err != nil {
		return nil, err
	}
	return p.describe(ctx, token), nil
}

// describe asks for the life of a token that somebody else made. A token that
// may not ask for it is used until it is refused.
func (p *Vault) describe(ctx context.Context, token *secret.Bytes) *vaultToken {
	var found struct {
		TTL       int64 `json:"ttl"`
		Renewable bool  `json:"renewable"`
	}
	if err := p.call(ctx, string(token.Reveal()), "/v1/auth/token/lookup-self", nil, &found); err != nil {
		return &vaultToken{token: token}
	}
	return vaultAuth{LeaseDuration: found.TTL, Renewable: found.Renewable}.lifetime(token)
}

// exchange logs in with a method: it sends fields and the secret called name.
func (p *Vault) exchange(ctx context.Context, method string, fields map[string]string, name, env, file string) (*vaultToken, error) {
	s, err := envSecret(env, file)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	fields[name] = string(s.Reveal())
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	defer clear(body)
	mount := cmp.Or(os.Getenv(envVaultAuth), method)
	if !nameOK(mount) {
		return nil, fmt.Errorf("%s is no path: %w", envVaultAuth, ErrConfig)
	}
	var auth vaultAuth
	err = p.call(ctx, "", "/v1/auth/"+mount+"/login", body, &auth, s.Reveal())
	var refused *vaultError
	switch {
	case errors.As(err, &refused) && refused.status == 400:
		return nil, fmt.Errorf("%s: %w: %w", method, errors.New(refused.Error()), keyring.ErrDenied) // invalid role or secret ID
	case err != nil:
		return nil, fmt.Errorf("%s: %w", method, err)
	case len(auth.ClientToken) == 0:
		return nil, fmt.Errorf("%s: the answer holds no token: %w", method, keyring.ErrUnreachable)
	}
	token, err := secret.From(auth.ClientToken)
	if err != nil {
		return nil, err
	}
	return auth.lifetime(token), nil
}

// envSecret reads a secret from the variable env, the file that env_FILE names,
// or the file at path. Errors: ErrConfig if none is there.
func envSecret(env, path string) (*secret.Bytes, error) {
	if value := os.Getenv(env); value != "" {
		return secret.From([]byte(value))
	}
	if named := os.Getenv(env + "_FILE"); named != "" {
		path = named
	}
	if path == "" {
		return nil, fmt.Errorf("neither %s nor %s_FILE is set: %w", env, env, ErrConfig)
	}
	data, err := os.ReadFile(path)
	defer clear(data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("neither %s is set nor is there a file %s: %w", env, path, ErrConfig)
	case err != nil:
		return nil, fmt.Errorf("read %s: %w: %w", env, err, ErrConfig)
	}
	return secret.From(bytes.Clone(bytes.TrimSpace(data)))
}
