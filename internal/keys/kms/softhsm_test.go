//go:build pkcs11

package kms_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/miekg/pkcs11"
)

var hsm softTokens

type softTokens struct {
	once sync.Once
	dir  string
	err  error
}

func (s *softTokens) init(module string) error {
	conf := filepath.Join(s.dir, "softhsm2.conf")
	tokens := filepath.Join(s.dir, "tokens")
	if err := os.Mkdir(tokens, 0o700); err != nil {
		return err
	}
	text := "directories.tokendir = " + tokens + "\nobjectstore.backend = file\nlog.level = ERROR\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		return err
	}
	if err := os.Setenv("SOFTHSM2_CONF", conf); err != nil {
		return err
	}
	run := func(name string, args ...string) error {
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s %v: %w: %s", name, args, err, out)
		}
		return nil
	}
	for _, token := range []string{"one", "two"} {
		if err := run("softhsm2-util", "--init-token", "--free", "--label", token, "--so-pin", "12345678", "--pin", tokenPIN); err != nil {
			return err
		}
	}
	for _, key := range []struct{ token, label, id string }{{"one", "first", "a1"}, {"one", "second", "a2"}, {"one", "twin", "b1"}, {"one", "twin", "b2"}, {"two", "first", "a1"}} {
		err := run("pkcs11-tool", "--module", module, "--token-label", key.token, "--login", "--pin", tokenPIN,
			"--keygen", "--key-type", "aes:32", "--label", key.label, "--id", key.id, "--sensitive")
		if err != nil {
			return err
		}
	}
	return s.sealOnly(module)
}

// sealOnly makes the key "sealonly" on token "one", which may not decrypt:
// pkcs11-tool cannot.
func (s *softTokens) sealOnly(module string) error {
	m := pkcs11.New(module)
	if m == nil {
		return fmt.Errorf("load %s", module)
	}
	defer m.Destroy()
	if err := m.Initialize(); err != nil {
		return err
	}
	defer m.Finalize()
	slots, err := m.GetSlotList(true)
	if err != nil {
		return err
	}
	for _, slot := range slots {
		if info, err := m.GetTokenInfo(slot); err != nil || info.Label != "one" {
			continue
		}
		session, err := m.OpenSession(slot, pkcs11.CKF_SERIAL_SESSION|pkcs11.CKF_RW_SESSION)
		if err != nil {
			return err
		}
		if err := m.Login(session, pkcs11.CKU_USER, tokenPIN); err != nil {
			return err
		}
		_, err = m.GenerateKey(session, []*pkcs11.Mechanism{pkcs11.NewMechanism(pkcs11.CKM_AES_KEY_GEN, nil)}, []*pkcs11.Attribute{
			pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true), pkcs11.NewAttribute(pkcs11.CKA_LABEL, "sealonly"),
			pkcs11.NewAttribute(pkcs11.CKA_VALUE_LEN, 32), pkcs11.NewAttribute(pkcs11.CKA_SENSITIVE, true),
			pkcs11.NewAttribute(pkcs11.CKA_ENCRYPT, true), pkcs11.NewAttribute(pkcs11.CKA_DECRYPT, false),
		})
		return err
	}
	return errors.New("no token one")
}

func init() {
	afterAll = append(afterAll, func() {
		if hsm.dir != "" {
			os.RemoveAll(hsm.dir)
		}
	})
}
