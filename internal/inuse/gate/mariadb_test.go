//go:build !mysqlserver

package gate

import (
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/target"
)

// testEngine is the server of the tests.
const testEngine = target.MariaDB

// remember does nothing: MariaDB knows passwords by their hash from the start.
func remember(testing.TB, string, string, string) {}

// typesOfEngine puts types that the server has in place of those it has not.
var typesOfEngine = strings.NewReplacer()
