//go:build mysqlserver

package gate

import (
	"crypto/tls"
	"testing"

	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// testEngine is the server of the tests.
const testEngine = target.MySQL

// remember logs in over TLS, after which the server takes the account's password
// without it.
func remember(t testing.TB, addr, user, password string) {
	t.Helper()
	c, _, err := tryRaw(addr, user, "", wire.Credential{Password: []byte(password), TLS: &tls.Config{InsecureSkipVerify: true}})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
