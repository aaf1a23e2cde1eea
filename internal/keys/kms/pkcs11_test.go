//go:build pkcs11

package kms_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/keys/keyring"
	"github.com/veildb/veildb/internal/keys/kms"
	"github.com/veildb/veildb/internal/keys/kms/kmstest"
)

// softHSM makes a directory with two tokens of SoftHSM, "one" with the keys
// "first" and "second", and "two" with the key "first"; the PIN is 483726. The
// library reads its configuration once a process, so there is one for all tests.
func softHSM(t *testing.T) (module string) {
	t.Helper()
	for _, path := range []string{"/usr/lib/softhsm/libsofthsm2.so", "/usr/lib64/pkcs11/libsofthsm2.so", "/usr/lib64/softhsm/libsofthsm2.so"} {
		if _, err := os.Stat(path); err == nil {
			module = path
		}
	}
	if module == "" {
		t.Fatal("no libsofthsm2.so: install softhsm2")
	}
	hsm.once.Do(func() {
		hsm.dir, hsm.err = os.MkdirTemp("", "veildb-softhsm-")
		if hsm.err == nil {
			hsm.err = hsm.init(module)
		}
	})
	if hsm.err != nil {
		t.Fatal(hsm.err)
	}
	return module
}

const tokenPIN = "483726"

func TestPKCS11(t *testing.T) {
	module := softHSM(t)
	uri := func(rest string) string { return "pkcs11:" + rest + "module-path=" + module }
	config := kms.Config{PIN: func(_ context.Context, token string) (*secret.Bytes, error) {
		if !strings.HasPrefix(token, "one") {
			t.Errorf("asked for the PIN of %q", token)
		}
		return secret.From([]byte(tokenPIN))
	}}
	wrong := config
	wrong.PIN = func(context.Context, string) (*secret.Bytes, error) { return secret.From([]byte("999999")) }
	kmstest.Run(t, kmstest.Subject{
		Open:    func(t *testing.T) keyring.Provider { return open(t, uri("token=one;object=first?"), config) },
		Other:   func(t *testing.T) keyring.Provider { return open(t, uri("token=one;object=second?"), config) },
		Away:    func(t *testing.T) keyring.Provider { return open(t, uri("token=three;object=first?"), config) },
		Denied:  func(t *testing.T) keyring.Provider { return open(t, uri("token=one;object=first?"), wrong) },
		Secrets: []string{tokenPIN, "999999"},
		Faults:  []kmstest.Fault{kmstest.Down},
		Break: func(t *testing.T, _ kmstest.Fault) func() {
			tokens := filepath.Join(hsm.dir, "tokens")
			if err := os.Rename(tokens, tokens+".aside"); err != nil {
				t.Fatal(err)
			}
			return func() {
				if err := os.Rename(tokens+".aside", tokens); err != nil {
					t.Fatal(err)
				}
			}
		},
	})

	key := mustRandom(t)
	p := open(t, uri("token=one;object=first?"), config)
	blob, version, err := p.Wrap(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(version, "/a1") {
		t.Errorf("key version is %q, want SERIAL/a1", version)
	}
	for name, tc := range map[string]struct {
		uri  string
		c    kms.Config
		want error
	}{
		"by id":            {uri("token=one;id=%a1?"), config, nil},
		"all attributes":   {uri("token=one;object=first;id=%A1;type=secret-key;model=SoftHSM%20v2?"), config, nil},
		"no such key":      {uri("token=one;object=third?"), config, keyring.ErrWrongKey},
		"id of the other":  {uri("token=one;object=first;id=%a2?"), config, keyring.ErrWrongKey},
		"any token":        {uri("object=first?"), config, kms.ErrConfig},
		"two keys":         {uri("token=one;object=twin?"), config, kms.ErrConfig},
		"may not decrypt":  {uri("token=one;object=sealonly?"), config, keyring.ErrDenied},
		"nobody to ask":    {uri("token=one;object=first?"), kms.Config{}, kms.ErrConfig},
		"no library":       {"pkcs11:token=one;object=first?module-path=/nonexistent.so", config, keyring.ErrUnreachable},
		"not a library":    {"pkcs11:token=one;object=first?module-path=/etc/hostname", config, keyring.ErrUnreachable},
		"PIN file missing": {uri("token=one;object=first?pin-source=file:/nonexistent&"), config, keyring.ErrUnreachable},
	} {
		got, err := open(t, tc.uri, tc.c).Unwrap(t.Context(), blob, nil)
		if tc.want == nil && (err != nil || !got.Equal(key)) || tc.want != nil && !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}

// TestPKCS11PIN takes the PIN from each source, and does not lock the token by
// trying a wrong one again.
func TestPKCS11PIN(t *testing.T) {
	module, dir, key := softHSM(t), t.TempDir(), mustRandom(t)
	good, wide := putFile(t, filepath.Join(dir, "pin"), tokenPIN+"\n", 0o600), putFile(t, filepath.Join(dir, "wide"), tokenPIN, 0o644)
	uri := "pkcs11:token=one;object=first?module-path=" + module
	try := func(uri string, c kms.Config) error {
		_, _, err := open(t, uri, c).Wrap(t.Context(), key, nil)
		return err
	}
	if err := try(uri+"&pin-source=file:"+good, kms.Config{}); err != nil {
		t.Errorf("pin-source: %v", err)
	}
	if err := try(uri+"&pin-source=file://"+good, kms.Config{}); err != nil {
		t.Errorf("pin-source with an empty host: %v", err)
	}
	if err := try(uri+"&pin-source=file:"+wide, kms.Config{}); !errors.Is(err, kms.ErrInsecure) {
		t.Errorf("a PIN file that others may read: %v, want ErrInsecure", err)
	}
	t.Setenv("VEILDB_PKCS11_PIN_FILE", good)
	if err := try(uri, kms.Config{}); err != nil {
		t.Errorf("VEILDB_PKCS11_PIN_FILE: %v", err)
	}
	t.Setenv("VEILDB_PKCS11_PIN", tokenPIN)
	if err := try(uri, kms.Config{}); err != nil {
		t.Errorf("VEILDB_PKCS11_PIN: %v", err)
	}
	t.Setenv("VEILDB_PKCS11_PIN", "111111")
	p := open(t, uri, kms.Config{})
	for range 20 {
		if _, _, err := p.Wrap(t.Context(), key, nil); !errors.Is(err, keyring.ErrDenied) || strings.Contains(err.Error(), "111111") {
			t.Fatalf("wrong PIN: %v, want ErrDenied", err)
		}
	}
	t.Setenv("VEILDB_PKCS11_PIN", tokenPIN)
	if _, _, err := p.Wrap(t.Context(), key, nil); err != nil {
		t.Errorf("after 20 calls with a wrong PIN, the right one: %v", err)
	}
}
