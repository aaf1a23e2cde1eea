package kms_test

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/keys/keyring"
	"github.com/veildb/veildb/internal/keys/kms"
	"github.com/veildb/veildb/internal/keys/kms/kmstest"
)

// vaultServer starts a server with keys transit/root and transit/other, sets
// VAULT_CACERT, and keeps the rest of the environment out.
func vaultServer(t *testing.T) (*kmstest.Vault, *kmstest.Switch, string) {
	t.Helper()
	v := &kmstest.Vault{TTL: 3600}
	v.AddKey("transit/root")
	v.AddKey("transit/other")
	s := &kmstest.Switch{Handler: v, Refuse: v.RefuseAll}
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // broken connections are what tests make
	server.StartTLS()
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for _, name := range []string{"VAULT_TOKEN", "VAULT_TOKEN_FILE", "VAULT_NAMESPACE", "VAULT_CAPATH", "VAULT_CLIENT_CERT", "VAULT_CLIENT_KEY",
		"VAULT_TLS_SERVER_NAME", "VEILDB_VAULT_ROLE_ID", "VEILDB_VAULT_SECRET_ID", "VEILDB_VAULT_ROLE", "VEILDB_VAULT_JWT", "VEILDB_VAULT_AUTH_PATH"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("VAULT_CACERT", putFile(t, filepath.Join(t.TempDir(), "ca.pem"), string(ca), 0o644))
	return v, s, "vault:" + server.URL + "/transit#"
}

const vaultToken = "hvs.CAESIJtokenthatnobodymaysee"

func TestVault(t *testing.T) {
	v, s, uri := vaultServer(t)
	v.AddToken(vaultToken, time.Hour, false, "transit/encrypt/root", "transit/decrypt/root", "transit/decrypt/other")
	t.Setenv("VAULT_TOKEN", vaultToken)
	away, err := kmstest.UnusedAddress()
	if err != nil {
		t.Fatal(err)
	}
	v.AddKey("transit/secret")
	kmstest.Run(t, kmstest.Subject{
		Open:  func(t *testing.T) keyring.Provider { return open(t, uri+"root", kms.Config{}) },
		Other: func(t *testing.T) keyring.Provider { return open(t, uri+"other", kms.Config{}) },
		Away: func(t *testing.T) keyring.Provider {
			return open(t, "vault:https://"+away+"/transit#root", kms.Config{})
		},
		Break:   func(t *testing.T, f kmstest.Fault) func() { return s.Break(f) },
		Rotate:  func(t *testing.T) { v.Rotate("transit/root") },
		Secrets: []string{vaultToken},
	})
}

// TestVaultAnswers maps what transit answers to the errors that a caller
// decides on.
func TestVaultAnswers(t *testing.T) {
	v, _, uri := vaultServer(t)
	v.AddToken(vaultToken, time.Hour, false, "*")
	t.Setenv("VAULT_TOKEN", vaultToken)
	key, p := mustRandom(t), open(t, uri+"root", kms.Config{})
	blob, version, err := p.Wrap(t.Context(), key, nil)
	if err != nil || version != "v1" {
		t.Fatalf("version %q, %v", version, err)
	}
	elsewhere := strings.TrimSuffix(uri, "/transit#")
	for name, tc := range map[string]struct {
		uri  string
		want error
	}{
		"no such key":   {uri + "missing", keyring.ErrWrongKey},
		"no such mount": {elsewhere + "/nowhere#root", keyring.ErrWrongKey},
	} {
		if _, _, err := open(t, tc.uri, kms.Config{}).Wrap(t.Context(), key, nil); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
	v.Recreate("transit/root")
	if _, err := p.Unwrap(t.Context(), blob, nil); !errors.Is(err, keyring.ErrWrongKey) {
		t.Errorf("a new key of the same name: %v, want ErrWrongKey", err)
	}
	for status, want := range map[int]error{
		403: keyring.ErrDenied, 404: keyring.ErrWrongKey, 429: keyring.ErrUnreachable, 472: keyring.ErrUnreachable,
		473: keyring.ErrUnreachable, 500: keyring.ErrUnreachable, 502: keyring.ErrUnreachable, 503: keyring.ErrUnreachable,
		204: keyring.ErrUnreachable, 307: keyring.ErrUnreachable,
	} {
		// It repeats what it was sent, as a bad proxy might.
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
			w.WriteHeader(status)
			text := make([]byte, 4096)
			n, _ := r.Body.Read(text)
			w.Write([]byte(`{"errors":["token ` + r.Header.Get("X-Vault-Token") + `",` + quoteJSON(text[:n]) + `]}`))
		}))
		p := open(t, "vault:"+server.URL+"#root", kms.Config{})
		_, _, err := p.Wrap(t.Context(), key, nil)
		if !errors.Is(err, want) {
			t.Errorf("status %d: %v, want %v", status, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), vaultToken[:12]) || kmstest.FindKeyIn([]byte(err.Error()), key.Reveal()) != "") {
			t.Errorf("status %d: the error holds a secret: %v", status, err)
		}
		server.Close()
	}
}

func quoteJSON(text []byte) string {
	out, err := json.Marshal(string(text))
	if err != nil {
		return `""`
	}
	return string(out)
}

// TestVaultLogin logs in each way, with the least rights, and again after the
// token's end.
func TestVaultLogin(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string { return putFile(t, filepath.Join(dir, name), text+"\n", 0o600) }
	const secretID, jwt = "2b1f0a0e-secret-id", "eyJhbGciOi.service.account"
	for name, env := range map[string]map[string]string{
		"token":            {"VAULT_TOKEN": vaultToken},
		"token file":       {"VAULT_TOKEN_FILE": file("token", vaultToken)},
		"home":             {},
		"approle":          {"VEILDB_VAULT_ROLE_ID": "the-role", "VEILDB_VAULT_SECRET_ID": secretID},
		"approle by file":  {"VEILDB_VAULT_ROLE_ID": "the-role", "VEILDB_VAULT_SECRET_ID_FILE": file("secret-id", secretID)},
		"kubernetes":       {"VEILDB_VAULT_ROLE": "veildb", "VEILDB_VAULT_JWT_FILE": file("jwt", jwt)},
		"namespace":        {"VAULT_TOKEN": vaultToken, "VAULT_NAMESPACE": "team-a"},
		"namespace in URL": {"VAULT_TOKEN": vaultToken},
	} {
		t.Run(name, func(t *testing.T) {
			v, _, uri := vaultServer(t)
			v.RoleID, v.SecretID, v.Role, v.JWT = "the-role", secretID, "veildb", jwt
			v.AddToken(vaultToken, time.Hour, false, "transit/encrypt/root", "transit/decrypt/root")
			for k, value := range env {
				t.Setenv(k, value)
			}
			if name == "home" {
				putFile(t, filepath.Join(os.Getenv("HOME"), ".vault-token"), vaultToken, 0o600)
			}
			if strings.HasPrefix(name, "namespace") {
				v.Namespace = "team-a"
			}
			if name == "namespace in URL" {
				uri = strings.Replace(uri, "#", "?namespace=team-a#", 1)
			}
			p, key := open(t, uri+"root", kms.Config{}), mustRandom(t)
			for round := range 2 {
				blob, _, err := p.Wrap(t.Context(), key, nil)
				if err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				if back, err := p.Unwrap(t.Context(), blob, nil); err != nil || !back.Equal(key) {
					t.Fatalf("round %d: %v", round, err)
				}
				v.Expire()
				v.AddToken(vaultToken, time.Hour, false, "transit/*") // a token of logins is gone
			}
			v.Expire()
			v.SecretID, v.JWT = "changed", "changed"
			if _, _, err := p.Wrap(t.Context(), key, nil); !errors.Is(err, keyring.ErrDenied) {
				t.Errorf("no token and no login any more: %v, want ErrDenied", err)
			} else if strings.Contains(err.Error(), vaultToken) || strings.Contains(err.Error(), secretID) || strings.Contains(err.Error(), jwt) {
				t.Errorf("error holds a secret: %v", err)
			}
		})
	}
	_, _, uri := vaultServer(t)
	if _, _, err := open(t, uri+"root", kms.Config{}).Wrap(t.Context(), mustRandom(t), nil); !errors.Is(err, kms.ErrConfig) {
		t.Errorf("no login at all: %v, want ErrConfig", err)
	}
}

// TestVaultRenewal renews a token when half of its life is over.
func TestVaultRenewal(t *testing.T) {
	v, _, uri := vaultServer(t)
	t.Setenv("VAULT_TOKEN", vaultToken)
	key := mustRandom(t)
	for v.TTL = 2; v.TTL < 60; v.TTL *= 2 {
		life := time.Duration(v.TTL) * time.Second
		renewed, asked := v.Calls("auth/token/renew-self"), v.Calls("auth/token/lookup-self")
		v.AddToken(vaultToken, life, true, "transit/encrypt/root")
		p, longest := open(t, uri+"root", kms.Config{}), time.Duration(0)
		var err error
		for last, end := time.Now(), time.Now().Add(life*5/4); err == nil && time.Now().Before(end); last = time.Now() {
			time.Sleep(life / 20)
			_, _, err = p.Wrap(t.Context(), key, nil)
			longest = max(longest, time.Since(last))
		}
		if err != nil && longest > life/4 {
			continue // a machine so busy lets tokens expire
		}
		renewed, asked = v.Calls("auth/token/renew-self")-renewed, v.Calls("auth/token/lookup-self")-asked
		if err != nil || renewed < 1 || renewed > 10 || asked > 10 {
			t.Errorf("%v; renewed %d times, looked up %d times", err, renewed, asked)
		}
		return
	}
	t.Error("this machine was too busy for any token")
}

// TestVaultTLS trusts nobody but the given authority.
func TestVaultTLS(t *testing.T) {
	v, _, uri := vaultServer(t)
	v.AddToken(vaultToken, time.Hour, false, "*")
	t.Setenv("VAULT_TOKEN", vaultToken)
	ca := os.Getenv("VAULT_CACERT")
	try := func() error {
		_, _, err := open(t, uri+"root", kms.Config{}).Wrap(t.Context(), mustRandom(t), nil)
		return err
	}
	t.Setenv("VAULT_CACERT", "")
	t.Setenv("VAULT_SKIP_VERIFY", "1")
	if err := try(); !errors.Is(err, keyring.ErrUnreachable) {
		t.Errorf("unknown authority: %v, want ErrUnreachable", err)
	}
	dir := t.TempDir()
	t.Setenv("VAULT_CAPATH", dir)
	if err := try(); !errors.Is(err, kms.ErrConfig) {
		t.Errorf("empty VAULT_CAPATH: %v, want ErrConfig", err)
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, filepath.Join(dir, "ca.pem"), string(pem), 0o644)
	if err := try(); err != nil {
		t.Errorf("VAULT_CAPATH: %v", err)
	}
	t.Setenv("VAULT_CACERT", filepath.Join(dir, "missing"))
	if err := try(); !errors.Is(err, kms.ErrConfig) {
		t.Errorf("missing VAULT_CACERT: %v, want ErrConfig", err)
	}
}

func TestVaultURIs(t *testing.T) {
	for uri, want := range map[string]string{
		"vault:https://h:8200/transit#k":                    "vault:https://h:8200/transit#k",
		"vault:https://H:8200#k":                            "vault:https://h:8200/transit#k",
		"vault:https://h/team/transit/?namespace=a/b#key1":  "vault:https://h/team/transit?namespace=a%2Fb#key1",
		"vault:http://127.0.0.1:8200/transit#k":             "vault:http://127.0.0.1:8200/transit#k",
		"vault:http://[::1]:8200/transit#k":                 "vault:http://[::1]:8200/transit#k",
		"vault:http://h:8200/transit#k":                     "",
		"vault:ftp://h/transit#k":                           "",
		"vault:https://user:hunter2@h/transit#k":            "",
		"vault:https://h/transit":                           "",
		"vault:https://h/transit#a/b":                       "",
		"vault:https://h/transit#a%20b":                     "",
		"vault:https://h/a/../sys#k":                        "",
		"vault:https://h/transit?token=x#k":                 "",
		"vault:https://h/transit?namespace=a&namespace=b#k": "",
		"vault:https:///transit#k":                          "",
		"vault:h:8200#k":                                    "",
		"vault:%zz":                                         "",
	} {
		p, err := kms.Open(uri, kms.Config{})
		switch {
		case want == "" && (p != nil || !errors.Is(err, kms.ErrConfig)):
			t.Errorf("%s: %v, want ErrConfig", uri, err)
		case want != "" && (err != nil || p.URI() != want):
			t.Errorf("%s: %v, want %s", uri, err, want)
		case err != nil && strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%s: the error repeats the password: %v", uri, err)
		}
	}
}
