//go:build !mysqlserver

package gate

import (
	"testing"

	"github.com/veildb/veildb/internal/bench/target"
)

// testEngine is the server of the tests.
const testEngine = target.MariaDB

// remember does nothing: MariaDB knows passwords by their hash from the start.
func remember(testing.TB, string, string, string) {}
