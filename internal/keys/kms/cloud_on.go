//go:build cloudkms

package kms

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	wrapping "github.com/hashicorp/go-kms-wrapping/v2"
	"github.com/hashicorp/go-kms-wrapping/wrappers/alicloudkms/v2"
	"github.com/hashicorp/go-kms-wrapping/wrappers/awskms/v2"
	"github.com/hashicorp/go-kms-wrapping/wrappers/azurekeyvault/v2"
	"github.com/hashicorp/go-kms-wrapping/wrappers/gcpckms/v2"
	"google.golang.org/protobuf/proto"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/keys/keyring"
)

// Cloud is a key of a cloud's key manager: AWS KMS, Google Cloud KMS, Azure Key
// Vault or Alibaba Cloud KMS; parseCloud tells how they are named. Each blob has
// a data key of its own that the cloud wraps; AES-256-GCM under that wraps the
// key and binds additional data. Nothing but encrypt and decrypt (wrapKey and
// unwrapKey) is asked of the cloud, and, of Alibaba Cloud, DescribeKey.
//
// Credentials come the way that each cloud's own tools find them. Endpoints can
// be set by AWS_ENDPOINT_URL_KMS and ALICLOUD_DOMAIN.
//
// The name in a blob is the key's, the payload a BlobInfo of go-kms-wrapping.
type Cloud struct {
	key     cloudKey
	timeout time.Duration

	mu      sync.Mutex // guards wrapper, which is nil until it is set up
	wrapper wrapping.Wrapper
}

func openCloud(scheme, name string, c Config) (keyring.Provider, error) {
	k, err := parseCloud(scheme, name)
	if err != nil {
		return nil, err
	}
	return &Cloud{key: k, timeout: cmp.Or(c.Timeout, defaultTimeout)}, nil
}

// URI implements keyring.Provider.
func (p *Cloud) URI() string { return p.key.uri() }

func (p *Cloud) kind() byte { return cloudKinds[p.key.scheme] }

// Wrap implements keyring.Provider. Errors: keyring.ErrUnreachable,
// keyring.ErrDenied, keyring.ErrWrongKey if there is no such key, ErrConfig.
func (p *Cloud) Wrap(ctx context.Context, plaintext *secret.Bytes, aad []byte) ([]byte, string, error) {
	if plaintext.Len() > maxPlaintext {
		return nil, "", fmt.Errorf("key of %d bytes: more than %d", plaintext.Len(), maxPlaintext)
	}
	// The library may still read this when the call was given up, so it gets a copy.
	text := bytes.Clone(plaintext.Reveal())
	info, err := call(ctx, p, func(ctx context.Context, w wrapping.Wrapper) (*wrapping.BlobInfo, error) {
		defer clear(text)
		return w.Encrypt(ctx, text, wrapping.WithAad(bytes.Clone(aad)))
	})
	if err != nil {
		return nil, "", fmt.Errorf("encrypt with %s: %w", p.URI(), err)
	}
	payload, err := proto.Marshal(info)
	if err != nil {
		return nil, "", err
	}
	if info.KeyInfo == nil || len(info.KeyInfo.WrappedKey) == 0 {
		return nil, "", fmt.Errorf("encrypt with %s: the answer holds no wrapped key: %w", p.URI(), keyring.ErrUnreachable)
	}
	blob, err := sealRemote(p.kind(), p.key.name, payload)
	return blob, foreign([]byte(info.KeyInfo.KeyId)), err
}

// Unwrap implements keyring.Provider. Errors: keyring.ErrWrongKey,
// keyring.ErrCorrupt, keyring.ErrUnreachable, keyring.ErrDenied, ErrConfig.
func (p *Cloud) Unwrap(ctx context.Context, blob, aad []byte) (*secret.Bytes, error) {
	payload, err := openNamed(p.kind(), p.key.name, blob)
	if err != nil {
		return nil, err
	}
	info := &wrapping.BlobInfo{}
	if err := proto.Unmarshal(payload, info); err != nil || info.KeyInfo == nil || len(info.Ciphertext) == 0 || len(info.Iv) != 12 || len(info.KeyInfo.WrappedKey) == 0 {
		return nil, fmt.Errorf("wrapped key is not of a cloud: %w", keyring.ErrCorrupt)
	}
	text, err := call(ctx, p, func(ctx context.Context, w wrapping.Wrapper) ([]byte, error) {
		return w.Decrypt(ctx, info, wrapping.WithAad(bytes.Clone(aad)))
	})
	if err != nil {
		return nil, fmt.Errorf("decrypt with %s: %w", p.URI(), err)
	}
	return secret.From(text)
}

// call calls the cloud. Some of the libraries know no context, so the call is
// left behind when ctx ends.
func call[T any](ctx context.Context, p *Cloud, do func(context.Context, wrapping.Wrapper) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		defer cancel()
		var r result
		w, err := p.setUp(ctx)
		if err == nil {
			r.value, err = do(ctx, w)
		}
		if err != nil {
			r.err = p.explain(err)
		}
		done <- r
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
	}
	// The call may have ended itself, and ctx with it.
	select {
	case r := <-done:
		return r.value, r.err
	default:
		var none T
		return none, fmt.Errorf("no answer: %w: %w", context.Cause(ctx), keyring.ErrUnreachable)
	}
}

// setUp returns the wrapper, made when it is first needed, and again after a
// failure: credentials may appear later. The clients of Azure and of Alibaba
// Cloud keep the state of a call in themselves and race when two run at once, so
// there each call gets its own.
func (p *Cloud) setUp(ctx context.Context) (wrapping.Wrapper, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wrapper != nil {
		return p.wrapper, nil
	}
	var w wrapping.Wrapper
	config := map[string]string{"key_not_required": "true", "disallow_env_vars": "true"}
	for k, v := range p.key.config {
		config[k] = v
	}
	switch p.key.scheme {
	case "aws":
		w = awskms.NewWrapper()
		config["endpoint"] = os.Getenv("AWS_ENDPOINT_URL_KMS")
	case "gcp":
		w = gcpckms.NewWrapper()
		config["credentials"] = os.Getenv("GOOGLE_CREDENTIALS")
		delete(config, "disallow_env_vars")
	case "azure":
		w = azurekeyvault.NewWrapper()
		config["environment"] = os.Getenv("AZURE_ENVIRONMENT")
		for name, env := range map[string]string{"tenant_id": "AZURE_TENANT_ID", "client_id": "AZURE_CLIENT_ID", "client_secret": "AZURE_CLIENT_SECRET"} {
			config[name] = os.Getenv(env)
		}
	case "alicloud":
		w = alicloudkms.NewWrapper()
		config["domain"] = os.Getenv("ALICLOUD_DOMAIN")
		delete(config, "key_not_required")
		delete(config, "disallow_env_vars")
	}
	// The key is the one of the URI, whatever the environment says.
	if _, err := w.SetConfig(ctx, wrapping.WithConfigMap(config), wrapping.WithDisallowEnvVars(true)); err != nil {
		return nil, err
	}
	if p.key.scheme == "aws" || p.key.scheme == "gcp" {
		p.wrapper = w
	}
	return w, nil
}

// A cloudError is what a cloud says, cleaned, and what it means.
type cloudError struct {
	message string
	is      error
}

func (e *cloudError) Error() string { return e.message + ": " + e.is.Error() }
func (e *cloudError) Unwrap() error { return e.is }

// explain classifies an error of the libraries.
func (p *Cloud) explain(err error) error {
	is := keyring.ErrUnreachable
	switch {
	case errors.Is(err, context.Canceled):
		is = context.Canceled
	default:
		for _, classify := range []func(error) error{classifyAWS, classifyGCP, classifyAzure, classifyAliCloud, classifyLocal} {
			if c := classify(err); c != nil {
				is = c
				break
			}
		}
	}
	return &cloudError{foreign([]byte(err.Error()), cloudSecrets()...), is}
}

// cloudSecrets are the credentials that an answer might repeat.
func cloudSecrets() [][]byte {
	var out [][]byte
	for _, env := range []string{"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_CLIENT_SECRET", "ALICLOUD_SECRET_KEY", "ALICLOUD_ACCESS_KEY_STS_TOKEN"} {
		if v := os.Getenv(env); v != "" {
			out = append(out, []byte(v))
		}
	}
	return out
}
