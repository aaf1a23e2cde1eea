//go:build mysqlserver

package gate

import (
	"crypto/tls"
	"strings"
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

// typesOfEngine puts types that the server has in place of those it has not.
var typesOfEngine = strings.NewReplacer("u UUID", "u CHAR(36)", "i6 INET6", "i6 VARCHAR(45)")
