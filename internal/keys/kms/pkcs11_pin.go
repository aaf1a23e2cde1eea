//go:build pkcs11

package kms

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/miekg/pkcs11"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/keys/keyring"
)

// logIn logs in unless the token wants no PIN or this process is logged in.
func (p *PKCS11) logIn(ctx context.Context, s *session, token pkcs11.TokenInfo) error {
	if token.Flags&pkcs11.CKF_LOGIN_REQUIRED == 0 {
		return nil
	}
	if info, err := s.GetSessionInfo(s.handle); err == nil && info.State == pkcs11.CKS_RO_USER_FUNCTIONS {
		return nil
	}
	pin, err := p.readPIN(ctx, token.Label)
	if err != nil {
		return fmt.Errorf("read PIN: %w", err)
	}
	if p.refused != nil && pin.Equal(p.refused) {
		pin.Close()
		return fmt.Errorf("the PIN is the one that the token refused; it is not tried again: %w", keyring.ErrDenied)
	}
	err = s.Login(s.handle, pkcs11.CKU_USER, string(pin.Reveal()))
	switch e := pkcs11.Error(0); {
	case err == nil || errors.As(err, &e) && e == pkcs11.CKR_USER_ALREADY_LOGGED_IN:
		p.pin = pin
		return nil
	case errors.As(err, &e) && (e == pkcs11.CKR_PIN_INCORRECT || e == pkcs11.CKR_PIN_INVALID || e == pkcs11.CKR_PIN_LEN_RANGE):
		p.refused, p.pin = pin, nil
	default:
		pin.Close()
	}
	return err
}

// readPIN returns the PIN from its source. Errors: ErrConfig if there is none,
// ErrInsecure, keyring.ErrUnreachable.
func (p *PKCS11) readPIN(ctx context.Context, token string) (*secret.Bytes, error) {
	file := p.at.pinFile
	if file == "" {
		if pin := os.Getenv(envPIN); pin != "" {
			return secret.From([]byte(pin))
		}
		file = os.Getenv(envPIN + "_FILE")
	}
	if file != "" {
		pin, err := readSecretFile(file, maxPassphrase)
		if err != nil {
			return nil, err
		}
		return trimNewline(pin)
	}
	if p.pin != nil {
		return p.pin.Clone()
	}
	if p.askPIN == nil {
		return nil, fmt.Errorf("no pin-source in the URI and no %s: %w", envPIN, ErrConfig)
	}
	return p.askPIN(ctx, token)
}

// explainToken adds the sentinel to an error of a token library.
func explainToken(err error) error {
	e := pkcs11.Error(0)
	if !errors.As(err, &e) {
		return err
	}
	for _, known := range []error{keyring.ErrWrongKey, keyring.ErrUnreachable, keyring.ErrDenied} {
		if errors.Is(err, known) {
			return err
		}
	}
	is := keyring.ErrUnreachable
	switch e {
	case pkcs11.CKR_PIN_INCORRECT, pkcs11.CKR_PIN_INVALID, pkcs11.CKR_PIN_LEN_RANGE, pkcs11.CKR_PIN_LOCKED, pkcs11.CKR_PIN_EXPIRED,
		pkcs11.CKR_USER_NOT_LOGGED_IN, pkcs11.CKR_USER_PIN_NOT_INITIALIZED, pkcs11.CKR_KEY_FUNCTION_NOT_PERMITTED,
		pkcs11.CKR_ACTION_PROHIBITED, pkcs11.CKR_USER_TYPE_INVALID:
		is = keyring.ErrDenied
	case pkcs11.CKR_KEY_TYPE_INCONSISTENT, pkcs11.CKR_KEY_HANDLE_INVALID, pkcs11.CKR_KEY_SIZE_RANGE:
		is = keyring.ErrWrongKey
	case pkcs11.CKR_MECHANISM_INVALID:
		is = ErrConfig
	}
	return fmt.Errorf("%w: %w", err, is)
}
