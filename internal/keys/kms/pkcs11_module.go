//go:build pkcs11

package kms

import (
	"errors"
	"fmt"
	"sync"

	"github.com/miekg/pkcs11"

	"github.com/veildb/veildb/internal/keys/keyring"
)

// A module is a token library, initialised once in this process, whoever uses
// it.
type module struct {
	*pkcs11.Ctx
	path string

	users  int  // calls in progress, guarded by modules
	failed bool // one of them found a token away, guarded by modules
}

// modules are the libraries that are initialised.
var modules struct {
	sync.Mutex
	byPath map[string]*module
}

// useModule returns the initialised library at path, to be released. Errors:
// keyring.ErrUnreachable.
func useModule(path string) (*module, error) {
	modules.Lock()
	defer modules.Unlock()
	m := modules.byPath[path]
	if m == nil {
		ctx := pkcs11.New(path)
		if ctx == nil {
			return nil, fmt.Errorf("cannot load %s: %w", path, keyring.ErrUnreachable)
		}
		if err := ctx.Initialize(); err != nil && !errors.Is(err, pkcs11.Error(pkcs11.CKR_CRYPTOKI_ALREADY_INITIALIZED)) {
			ctx.Destroy()
			return nil, err
		}
		m = &module{Ctx: ctx, path: path}
		if modules.byPath == nil {
			modules.byPath = map[string]*module{}
		}
		modules.byPath[path] = m
	}
	m.users++
	return m, nil
}

// release ends a use. A library need not notice that a token is there again, so
// after a failure the last user finalises it, and the next one starts it anew.
func (m *module) release(failed bool) {
	modules.Lock()
	defer modules.Unlock()
	m.users--
	m.failed = m.failed || failed
	if m.users == 0 && m.failed {
		delete(modules.byPath, m.path)
		m.Finalize()
		m.Destroy()
	}
}
