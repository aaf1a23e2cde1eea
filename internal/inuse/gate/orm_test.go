package gate

import (
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// ownObjects are what the statements of tools describe beside tables.
const ownObjects = `;
CREATE VIEW company_users AS SELECT u.id, u.email, c.name FROM users u JOIN companies c ON c.id = u.company_id;
CREATE TRIGGER users_made BEFORE INSERT ON users FOR EACH ROW SET NEW.version = COALESCE(NEW.version, 0);
CREATE PROCEDURE sweep(IN n INT) DELETE FROM django_session WHERE expire_date < NOW() - INTERVAL n DAY;
CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN n * 2;
CREATE EVENT tidy ON SCHEDULE EVERY 1 DAY DO DELETE FROM django_session WHERE expire_date < NOW()`

// ownSequence is what only MariaDB has.
const ownSequence = "; CREATE SEQUENCE numbers"

// TestMappers runs what object mappers, drivers and tools send, as an account that
// gets ciphertext, in both protocols: nothing of it is refused.
func TestMappers(t *testing.T) {
	g := startGate(t, nil)
	root := dialRaw(t, backendServer(t).Addr(), "root", "", wire.MultiStatements|wire.MultiResults)
	for _, file := range []string{"orm.sql", "tools.sql"} {
		t.Run(file, func(t *testing.T) {
			objects := ownObjects
			if testEngine == target.MariaDB {
				objects += ownSequence
			}
			remake(t, g, root, databaseOf(schemaFile(t, "schema_benign.sql"), "shop")+objects)
			runMappers(t, g, schemaFile(t, file))
		})
	}
}

func runMappers(t *testing.T, g *testGate, text string) {
	var at *rawClient
	name, ran := "", 0
	for _, line := range strings.Split(text, "\n") {
		if who, ok := strings.CutPrefix(line, "-- "); ok {
			if name = who; at != nil {
				at.Close() // and give up its locks
			}
			at = dialRaw(t, g.addr, "app", "shop", wire.MariaDBCacheMetadata)
			at.provision(true)
			continue
		}
		if only, rest, ok := strings.Cut(line, "] "); ok && only[0] == '[' { // [mariadb] or [mysql]
			if only[1:] != string(testEngine) {
				continue
			}
			line = rest
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
