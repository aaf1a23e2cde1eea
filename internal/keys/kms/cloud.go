package kms

import (
	"fmt"
	"net/url"
	"os"
	"strings"
)

// cloudKinds are the providers of clouds by the scheme of their URI.
var cloudKinds = map[string]byte{"aws": kindAWS, "gcp": kindGCP, "azure": kindAzure, "alicloud": kindAliCloud}

// A cloudKey names a key of a cloud's key manager.
type cloudKey struct {
	scheme string
	name   string            // what follows the scheme, canonical
	config map[string]string // in the words of go-kms-wrapping
}

func (k cloudKey) uri() string { return k.scheme + ":" + k.name }

// parseCloud reads what follows the scheme of a cloud:
//
//	aws:arn:aws:kms:REGION:ACCOUNT:key/ID          or …:alias/NAME
//	gcp:projects/P/locations/L/keyRings/R/cryptoKeys/K
//	azure:https://VAULT.vault.azure.net/keys/NAME
//	alicloud:ID                                    ALICLOUD_REGION tells the region
//	alicloud:acs:kms:REGION:ACCOUNT:key/ID
//
// Errors: ErrConfig.
func parseCloud(scheme, name string) (cloudKey, error) {
	k := cloudKey{scheme: scheme, name: name}
	want := ""
	switch scheme {
	case "aws":
		k.config, want = parseAWS(name)
	case "gcp":
		k.config, want = parseGCP(name)
	case "azure":
		k.config, want = parseAzure(name)
	default:
		k.config, want = parseAliCloud(name)
	}
	if want != "" || len(name) > maxName/2 {
		return cloudKey{}, fmt.Errorf("use %s key %.100q: want %s:%s: %w", scheme, name, scheme, want, ErrConfig)
	}
	return k, nil
}

// plain reports whether s is not empty and only of the characters that names,
// regions and accounts have.
func plain(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

func parseAWS(name string) (map[string]string, string) {
	const want = "arn:aws:kms:REGION:ACCOUNT:key/ID"
	part := strings.Split(name, ":")
	if len(part) != 6 || part[0] != "arn" || !strings.HasPrefix(part[1], "aws") || part[2] != "kms" || !plain(part[1]) || !plain(part[3]) || !plain(part[4]) {
		return nil, want
	}
	kind, id, _ := strings.Cut(part[5], "/")
	if kind != "key" && kind != "alias" || !plain(strings.ReplaceAll(id, "/", "_")) {
		return nil, want
	}
	return map[string]string{"kms_key_id": name, "region": part[3]}, ""
}

func parseGCP(name string) (map[string]string, string) {
	const want = "projects/PROJECT/locations/LOCATION/keyRings/RING/cryptoKeys/KEY"
	part := strings.Split(name, "/")
	if len(part) != 8 || part[0] != "projects" || part[2] != "locations" || part[4] != "keyRings" || part[6] != "cryptoKeys" {
		return nil, want
	}
	project := strings.NewReplacer(":", "_", ".", "_").Replace(part[1]) // "example.com:project"
	if !plain(project) || !plain(part[3]) || !plain(part[5]) || !plain(part[7]) {
		return nil, want
	}
	return map[string]string{"project": part[1], "region": part[3], "key_ring": part[5], "crypto_key": part[7]}, ""
}

func parseAzure(name string) (map[string]string, string) {
	const want = "https://VAULT.vault.azure.net/keys/NAME"
	u, err := url.Parse(name)
	if err != nil {
		return nil, want
	}
	vault, resource, _ := strings.Cut(u.Host, ".")
	key, ok := strings.CutPrefix(u.Path, "/keys/")
	if name != "https://"+u.Host+u.Path || !ok || !plain(vault) || !plain(key) || !plain(strings.ReplaceAll(resource, ".", "-")) {
		return nil, want
	}
	return map[string]string{"vault_name": vault, "resource": resource, "key_name": key}, ""
}

func parseAliCloud(name string) (map[string]string, string) {
	const want = "ID, or acs:kms:REGION:ACCOUNT:key/ID"
	config := map[string]string{"kms_key_id": name, "region": os.Getenv("ALICLOUD_REGION")}
	if part := strings.Split(name, ":"); len(part) == 5 {
		id, ok := strings.CutPrefix(part[4], "key/")
		if part[0] != "acs" || part[1] != "kms" || !plain(part[2]) || !plain(part[3]) || !ok || !plain(id) {
			return nil, want
		}
		config["region"] = part[2]
		return config, ""
	}
	switch {
	case !plain(strings.TrimPrefix(name, "alias/")):
		return nil, want
	case config["region"] == "":
		return nil, "ID with ALICLOUD_REGION in the environment, or acs:kms:REGION:ACCOUNT:key/ID"
	}
	return config, ""
}
