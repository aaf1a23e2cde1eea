//go:build cloudkms

package kms_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/keys/keyring"
	"github.com/veildb/veildb/internal/keys/kms"
	"github.com/veildb/veildb/internal/keys/kms/kmstest"
)

const (
	awsKey      = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
	awsOther    = "arn:aws:kms:eu-central-1:111122223333:key/ffffabcd-12ab-34cd-56ef-1234567890ab"
	gcpKey      = "projects/veil-1/locations/europe-west3/keyRings/ring/cryptoKeys/root"
	azureKey    = "https://veil.vault.azure.net/keys/root"
	aliKey      = "acs:kms:cn-hangzhou:154035569884:key/key-hzz62f1cb66fa42qo"
	aliOther    = "acs:kms:cn-hangzhou:154035569884:key/key-hzz62f1cb66fa42zz"
	cloudSecret = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"
)

// clouds are the managers of the tests: they follow the documentation of each
// cloud's API, the clients are the real ones at their real addresses.
var clouds struct {
	aws   kmstest.AWS
	gcp   kmstest.GCP
	azure kmstest.Azure
	ali   kmstest.AliCloud

	awsSwitch, gcpSwitch, azureSwitch, aliSwitch kmstest.Switch
}

func init() { beforeAll = append(beforeAll, startClouds) }

func startClouds(dir string) error {
	c := &clouds
	c.aws.AccessKeyID, c.ali.AccessKeyID = "AKIAIOSFODNN7EXAMPLE", "LTAIEXAMPLE"
	c.azure = kmstest.Azure{Vault: "veil", Tenant: "72f988bf-86f1-41af-91ab-2d7cd011db47", ClientID: "6731de76-14a6-49ae-97bc-6eba6914391e", ClientSecret: cloudSecret}
	for _, name := range []string{awsKey, awsOther} {
		c.aws.Add(name)
	}
	for _, name := range []string{aliKey, aliOther} {
		c.ali.Add(name)
	}
	c.gcp.Add(gcpKey)
	c.gcp.Add(gcpKey + "2")
	c.azure.Add("root")
	c.azure.Add("other")
	c.awsSwitch = kmstest.Switch{Handler: &c.aws, Refuse: c.aws.RefuseAll}
	c.gcpSwitch = kmstest.Switch{Handler: c.gcp.Handler(), Refuse: c.gcp.RefuseAll}
	c.azureSwitch = kmstest.Switch{Handler: &c.azure, Refuse: c.azure.RefuseAll}
	c.aliSwitch = kmstest.Switch{Handler: &c.ali, Refuse: c.ali.RefuseAll}
	proxy, err := kmstest.StartProxy(dir, map[string]http.Handler{
		"kms.eu-central-1.amazonaws.com": &c.awsSwitch, "cloudkms.googleapis.com": &c.gcpSwitch,
		"oauth2.googleapis.com": http.HandlerFunc(c.gcp.Login),
		"veil.vault.azure.net":  &c.azureSwitch, "login.microsoftonline.com": http.HandlerFunc(c.azure.Login),
		"kms.cn-hangzhou.aliyuncs.com": &c.aliSwitch,
	})
	if err != nil {
		return err
	}
	afterAll = append(afterAll, func() { proxy.Close() })
	account, err := serviceAccount()
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "service-account.json")
	if err := os.WriteFile(file, account, 0o600); err != nil {
		return err
	}
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": c.aws.AccessKeyID, "AWS_SECRET_ACCESS_KEY": cloudSecret,
		"GOOGLE_APPLICATION_CREDENTIALS": file, "GOOGLE_CREDENTIALS": file,
		"AZURE_TENANT_ID": c.azure.Tenant, "AZURE_CLIENT_ID": c.azure.ClientID, "AZURE_CLIENT_SECRET": cloudSecret,
		"ALICLOUD_ACCESS_KEY": c.ali.AccessKeyID, "ALICLOUD_SECRET_KEY": cloudSecret, "ALICLOUD_DOMAIN": "kms.cn-hangzhou.aliyuncs.com",
		// What the library would rather believe than a URI.
		"AWSKMS_WRAPPER_KEY_ID": awsOther, "ALICLOUDKMS_WRAPPER_KEY_ID": aliOther, "GCPCKMS_WRAPPER_CRYPTO_KEY": "root2", "AZUREKEYVAULT_WRAPPER_KEY_NAME": "other",
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

func serviceAccount() ([]byte, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]string{
		"type": "service_account", "project_id": "veil-1", "private_key_id": "1", "client_id": "1",
		"private_key":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"client_email": "veildb@veil-1.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token",
	})
}

func TestCloud(t *testing.T) {
	for scheme, c := range map[string]struct {
		key, other string
		sw         *kmstest.Switch
		rotate     func()
	}{
		"aws":      {awsKey, awsOther, &clouds.awsSwitch, nil}, // its rotation shows no version
		"gcp":      {gcpKey, gcpKey + "2", &clouds.gcpSwitch, func() { clouds.gcp.Add(gcpKey) }},
		"azure":    {azureKey, "https://veil.vault.azure.net/keys/other", &clouds.azureSwitch, func() { clouds.azure.Add("root") }},
		"alicloud": {aliKey, aliOther, &clouds.aliSwitch, nil},
	} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			s := kmstest.Subject{
				Open: func(t *testing.T) keyring.Provider {
					return open(t, scheme+":"+c.key, kms.Config{})
				},
				Other:   func(t *testing.T) keyring.Provider { return open(t, scheme+":"+c.other, kms.Config{}) },
				Break:   func(t *testing.T, f kmstest.Fault) func() { return c.sw.Break(f) },
				Secrets: []string{cloudSecret},
			}
			if c.rotate != nil {
				s.Rotate = func(*testing.T) { c.rotate() }
			}
			kmstest.Run(t, s)
		})
	}
}

func TestCloudNoSuchKey(t *testing.T) {
	for _, uri := range []string{"aws:" + awsKey[:len(awsKey)-1], "gcp:" + gcpKey + "3", "azure:" + azureKey + "3", "alicloud:" + aliKey + "3"} {
		_, _, err := open(t, uri, kms.Config{}).Wrap(t.Context(), mustRandom(t), nil)
		if !errors.Is(err, keyring.ErrWrongKey) {
			t.Errorf("%s: %v, want ErrWrongKey", uri, err)
		}
	}
	_, _, err := open(t, "aws:arn:aws:kms:us-nowhere-1:111122223333:key/1", kms.Config{Timeout: 3 * time.Second}).Wrap(t.Context(), mustRandom(t), nil)
	if !errors.Is(err, keyring.ErrUnreachable) {
		t.Errorf("unknown region: %v, want ErrUnreachable", err)
	}
}
