package kms_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/keys/keyring"
	"github.com/veildb/veildb/internal/keys/kms"
)

// FuzzRemoteBlob decodes any bytes, and any body under a right sum.
func FuzzRemoteBlob(f *testing.F) {
	for _, name := range []string{"", "transit/root", strings.Repeat("n", 1024)} {
		blob, err := kms.SealRemote(4, name, []byte("vault:v1:abc"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(blob)
	}
	f.Add([]byte{})
	f.Add(make([]byte, 37))
	f.Fuzz(func(t *testing.T, blob []byte) {
		name, payload, err := kms.OpenRemote(4, blob)
		if err != nil {
			if !errors.Is(err, keyring.ErrCorrupt) && !errors.Is(err, keyring.ErrUnsupported) {
				t.Errorf("%x: %v", blob, err)
			}
			return
		}
		if again, err := kms.SealRemote(4, name, payload); err != nil || !bytes.Equal(again, blob) {
			t.Errorf("%x opens to %q and %x, which seal to %x, %v", blob, name, payload, again, err)
		}
	})
}

// FuzzOpen parses any URI to a fixed point: a key file keeps what URI returns.
func FuzzOpen(f *testing.F) {
	for _, uri := range []string{
		"file:/etc/veildb/root", "passphrase-file:/x", "command", "vault:https://h:8200/transit#k", "vault:https://h/a/b?namespace=c%2Fd#k",
		"aws:arn:aws:kms:eu-central-1:111122223333:key/1234abcd", "aws:arn:aws:kms:eu-central-1:111122223333:alias/a/b",
		"gcp:projects/p/locations/l/keyRings/r/cryptoKeys/k", "gcp:projects/example.com:p/locations/l/keyRings/r/cryptoKeys/k",
		"azure:https://v.vault.azure.net/keys/k", "alicloud:acs:kms:cn-hangzhou:1:key/k", "alicloud:alias/k",
		"pkcs11:token=t;object=o?module-path=/lib/x.so", "pkcs11:serial=1;id=%01%ff?pin-source=file:/pin&module-path=/a%20b",
		"pkcs11:token=t;object=o?module-path=/x&pin-value=1234",
	} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		p, err := kms.Open(uri, commands("-", "-"))
		if err != nil {
			if !errors.Is(err, kms.ErrUnknown) && !errors.Is(err, kms.ErrConfig) && !errors.Is(err, kms.ErrNotBuilt) {
				t.Errorf("%q: %v", uri, err)
			}
		} else if again, err := kms.Open(p.URI(), commands("-", "-")); err != nil || again.URI() != p.URI() {
			t.Errorf("%q is %q, which is %v, %v", uri, p.URI(), again, err)
		}
		// The parsers of providers that may not be built.
		if canonical, err := kms.ParsePKCS11(uri); err == nil {
			if again, err := kms.ParsePKCS11(canonical); err != nil || again != canonical {
				t.Errorf("%q is %q, which is %q, %v", uri, canonical, again, err)
			}
		}
		if scheme, name, _ := strings.Cut(uri, ":"); strings.Contains("aws gcp azure alicloud", scheme) {
			if canonical, err := kms.ParseCloud(scheme, name); err == nil && canonical != uri {
				t.Errorf("%q is %q", uri, canonical)
			}
		}
	})
}

func TestTokenURIs(t *testing.T) {
	const tail = "module-path=/lib/x.so"
	for uri, want := range map[string]string{
		"pkcs11:token=t;object=o?" + tail:                         "pkcs11:token=t;object=o?" + tail,
		"pkcs11:object=a%20key;token=my%20token?" + tail:          "pkcs11:token=my%20token;object=a%20key?" + tail,
		"pkcs11:id=%0A%fF?" + tail:                                "pkcs11:id=%0a%ff?" + tail,
		"pkcs11:object=o;type=secret-key?pin-source=/pin&" + tail: "pkcs11:object=o?" + tail + "&pin-source=/pin",
		"pkcs11:object=o?pin-value=1234&" + tail:                  "",
		"pkcs11:object=o;pin-value=1234?" + tail:                  "",
		"pkcs11:object=o?pin-source=%7Ccommand&" + tail:           "",
		"pkcs11:object=o?pin-source=file:relative&" + tail:        "",
		"pkcs11:object=o?module-path=x.so":                        "",
		"pkcs11:token=t?" + tail:                                  "",
		"pkcs11:object=o":                                         "",
		"pkcs11:object=o;object=p?" + tail:                        "",
		"pkcs11:object=o;type=private?" + tail:                    "",
		"pkcs11:object=o;unknown=1234?" + tail:                    "",
		"pkcs11:object=%zz?" + tail:                               "",
		"pkcs11:object=?" + tail:                                  "",
	} {
		got, err := kms.ParsePKCS11(uri)
		switch {
		case want == "" && !errors.Is(err, kms.ErrConfig):
			t.Errorf("%s: %v, want ErrConfig", uri, err)
		case want != "" && (err != nil || got != want):
			t.Errorf("%s: %s, %v; want %s", uri, got, err, want)
		case err != nil && strings.Contains(err.Error(), "1234"):
			t.Errorf("%s: the error repeats a PIN: %v", uri, err)
		}
	}
}

func TestCloudNames(t *testing.T) {
	t.Setenv("ALICLOUD_REGION", "")
	for uri, ok := range map[string]bool{
		"aws:arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab":         true,
		"aws:arn:aws-us-gov:kms:us-gov-west-1:111122223333:alias/team/veildb": true,
		"aws:arn:aws:s3:eu-central-1:111122223333:key/1":                      false,
		"aws:alias/veildb":                                                            false,
		"aws:arn:aws:kms::111122223333:key/1":                                         false,
		"gcp:projects/p/locations/global/keyRings/r/cryptoKeys/k":                     true,
		"gcp:projects/p/locations/global/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1": false,
		"gcp:projects/p/locations/../keyRings/r/cryptoKeys/k":                         false,
		"azure:https://v.vault.azure.net/keys/k":                                      true,
		"azure:https://v.vault.azure.cn/keys/k":                                       true,
		"azure:http://v.vault.azure.net/keys/k":                                       false,
		"azure:https://user@v.vault.azure.net/keys/k":                                 false,
		"azure:https://v.vault.azure.net/keys/k/version":                              false,
		"azure:https://v.vault.azure.net/secrets/k":                                   false,
		"azure:https://v/keys/k":                                                      false,
		"alicloud:acs:kms:cn-hangzhou:154035569884:key/key-hzz":                       true,
		"alicloud:acs:oss:cn-hangzhou:154035569884:key/key-hzz":                       false,
		"alicloud:key-hzz":                                                            false, // no region
	} {
		scheme, name, _ := strings.Cut(uri, ":")
		if got, err := kms.ParseCloud(scheme, name); (err == nil) != ok || ok && got != uri || !ok && !errors.Is(err, kms.ErrConfig) {
			t.Errorf("%s: %q, %v; want ok %v", uri, got, err, ok)
		}
	}
	t.Setenv("ALICLOUD_REGION", "cn-hangzhou")
	if _, err := kms.ParseCloud("alicloud", "alias/veildb"); err != nil {
		t.Error(err)
	}
}
