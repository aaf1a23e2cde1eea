//go:build !cloudkms && !pkcs11

package kms_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/keys/kms"
)

// TestNotBuilt expects what is left out to say how it is put in, but only for
// URIs that are right.
func TestNotBuilt(t *testing.T) {
	for uri, hint := range map[string]string{
		"aws:arn:aws:kms:eu-central-1:111122223333:key/1":    "-tags cloudkms",
		"azure:https://v.vault.azure.net/keys/k":             "-tags cloudkms",
		"pkcs11:object=o?module-path=/lib/x.so":              "-tags pkcs11",
		"gcp:projects/p/locations/l/keyRings/r/cryptoKeys/k": "-tags cloudkms",
	} {
		if p, err := kms.Open(uri, kms.Config{}); p != nil || !errors.Is(err, kms.ErrNotBuilt) || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: %v, want ErrNotBuilt with %q", uri, err, hint)
		}
	}
	for _, uri := range []string{"aws:key", "pkcs11:token=t"} {
		if p, err := kms.Open(uri, kms.Config{}); p != nil || !errors.Is(err, kms.ErrConfig) {
			t.Errorf("%s: %v, want ErrConfig", uri, err)
		}
	}
}
