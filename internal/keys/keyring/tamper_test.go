package keyring_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/keys/keyring"
	"github.com/veildb/veildb/internal/keys/kms"
	"github.com/veildb/veildb/internal/keys/kms/kmstest"
)

// resum gives a key file the checksum of its content, as an attacker would.
func resum(data []byte) []byte {
	at := bytes.LastIndex(data, []byte(",\n  \"sum\": \""))
	if at < 0 {
		return data
	}
	sum := sha256.Sum256(data[:at-1]) // before the quote that ends mac
	return fmt.Appendf(data[:at:at], ",\n  \"sum\": \"%s\"\n}\n", hex.EncodeToString(sum[:]))
}

// TestEveryByteIsGuarded changes each byte of a key file, as a bad disk (the
// checksum tells: damaged) and as an attacker who corrects the checksum.
func TestEveryByteIsGuarded(t *testing.T) {
	path, opts := goldenRing(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "ring")
	open := func(content []byte) error {
		if err := os.WriteFile(bad, content, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := keyring.Open(t.Context(), bad, opts)
		if err == nil {
			r.Close()
		}
		return err
	}
	status := func(content []byte) error { // decodes as open does, before any key
		if err := os.WriteFile(bad, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := keyring.ReadStatus(bad, opts)
		return err
	}
	if err := open(resum(bytes.Clone(data))); err != nil {
		t.Fatalf("resum does not restore the checksum: %v", err)
	}
	for i := range data {
		changed := bytes.Clone(data)
		changed[i] ^= 1
		if err := status(changed); !errors.Is(err, keyring.ErrCorrupt) && !errors.Is(err, keyring.ErrUnsupported) {
			t.Errorf("byte %d (%q) changed: %v, want ErrCorrupt", i, data[i], err)
		}
		forged := resum(changed)
		if bytes.Equal(forged, data) {
			continue // it was a byte of the checksum
		}
		err := open(forged)
		if !errors.Is(err, keyring.ErrCorrupt) && !errors.Is(err, keyring.ErrUnsupported) && !errors.Is(err, keyring.ErrWrongKey) {
			t.Errorf("byte %d (%q) forged: %v, want a refusal", i, data[i], err)
		}
	}
	for n := range data {
		if err := status(data[:n]); !errors.Is(err, keyring.ErrCorrupt) {
			t.Errorf("cut to %d bytes: %v, want ErrCorrupt", n, err)
		}
	}
}

// TestNothingLeaks runs through failures and looks for key bytes in all that
// they print, and in all files.
func TestNothingLeaks(t *testing.T) {
	r, path := initRing(t, keyring.InitOptions{Record: filepath.Join(t.TempDir(), "record")}, options)
	dir, ctx := filepath.Dir(path), t.Context()
	var out strings.Builder
	note := func(err error) { fmt.Fprintf(&out, "%v\n%+v\n%#v\n", err, err, err) }
	for range 2 {
		note(errors.Join(r.Rotate(ctx), r.RotateDEK(ctx)))
	}
	note(r.Rewrap(ctx, newRoot(t, dir, "other"), false))
	root, err := os.ReadFile(filepath.Join(dir, "other"))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []any{r, *r.Status(), r.Check(ctx)} {
		fmt.Fprintf(&out, "%v %+v %#v\n", x, x, x)
		if j, err := json.Marshal(x); err == nil {
			out.Write(j)
		}
	}
	_, err = r.DEK(77)
	note(err)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bad")
	for i := 0; i < len(data); i += 37 {
		changed := bytes.Clone(data)
		changed[i] ^= 4
		if err := os.WriteFile(bad, resum(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := keyring.Open(ctx, bad, options)
		note(err)
	}
	for _, name := range []string{"short", "group"} {
		p := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(p, root[:31], 0o600), os.Chmod(p, map[string]os.FileMode{"short": 0o600, "group": 0o640}[name])); err != nil {
			t.Fatal(err)
		}
		provider, err := kms.Open("file:"+p, kms.Config{})
		if err != nil {
			t.Fatal(err)
		}
		note(r.Rewrap(ctx, provider, false))
		os.Remove(p)
	}

	secrets := append(r.AllSecrets(), root)
	if len(secrets) != 8 {
		t.Fatalf("%d secrets, want 4 key encryption keys, 3 data keys and the root key", len(secrets))
	}
	for i, s := range secrets {
		if leak := kmstest.FindKeyIn([]byte(out.String()), s); leak != "" {
			t.Errorf("secret %d is printed as %s", i, leak)
		}
		if decimal := strings.Trim(fmt.Sprint(s[:8]), "[]"); strings.Contains(out.String(), decimal) {
			t.Errorf("secret %d is printed as numbers", i)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(files) < 5 {
			t.Fatalf("files %v, %v", files, err)
		}
		for _, f := range files {
			if filepath.Base(f) == "root" || filepath.Base(f) == "other" {
				continue
			}
			if leak := kmstest.FindKey(t, f, s); leak != "" {
				t.Errorf("secret %d is in %s as %s", i, f, leak)
			}
		}
	}
}
