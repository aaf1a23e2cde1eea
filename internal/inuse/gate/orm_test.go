package gate

import (
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// TestMappers runs what object mappers send, as an account that gets ciphertext,
// in both protocols: nothing of it is refused.
func TestMappers(t *testing.T) {
	g := startGate(t, nil)
	root := dialRaw(t, backendServer(t).Addr(), "root", "", wire.MultiStatements|wire.MultiResults)
	remake(t, g, root, databaseOf(schemaFile(t, "schema_benign.sql"), "shop"))
	var at *rawClient
	name, ran := "", 0
	for _, line := range strings.Split(schemaFile(t, "orm.sql"), "\n") {
		if who, ok := strings.CutPrefix(line, "-- "); ok {
			if name = who; at != nil {
				at.Close() // and give up its locks
			}
			at = dialRaw(t, g.addr, "app", "shop", 0)
			at.provision(true)
			continue
		}
		if line == "" {
			continue
		}
		ran++
		var tr transcript
		err := at.query(&tr, line)
		if err != nil {
			t.Fatalf("%s: %s: %v", name, line, err)
		}
		if tr.errors > 0 {
			t.Errorf("%s: %s\n%s", name, line, tr.text[len(tr.text)-1])
		}
		for _, s := range []string{"al@example.org", "+1-555-0101", "4111-1111-1111-1111", "pbkdf2$aaa"} {
			if strings.Contains(tr.String(), s) {
				t.Errorf("%s: %s: %q came in plain", name, line, s)
			}
		}
	}
	t.Logf("%d statements", ran)
}
