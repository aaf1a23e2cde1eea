package volumetest

import (
	"path/filepath"
	"testing"

	"github.com/veildb/veildb/internal/bench/target"
)

// TestEncryptedNames has servers work on volumes that hide names: they start,
// run, recover after their mount was killed, and the names of their tables are
// not to be found below.
func TestEncryptedNames(t *testing.T) {
	for _, engine := range []string{target.Postgres, target.MariaDB} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			v := mountVolume(t, "", "through", "--names", "encrypted")
			s := startServer(t, engine, filepath.Join(v.point, "data"), durable[engine])
			table := canaryOf("table")
			s.exec(t, "CREATE TABLE "+table+" (id INT PRIMARY KEY)", "INSERT INTO "+table+" VALUES (1)")
			l := newLoad(t, s)
			rng := newRand(t)
			for _, who := range []victim{theMount, serverThenMount} {
				before := l.commits()
				l.start(rng)
				eventually(t, "a commit", func() bool { return l.commits() > before+5 || l.failed() })
				crash(t, s, v, who)
				l.stop()
				s.recover(t)
				l.verify(t)
			}
			s.checkEngine(t)
			s.exec(t, "DROP TABLE ledger", "CREATE DATABASE "+canaryOf("database"))
			s.stop(t)
			s.db = nil
			v.stop(t)
			// What every such data directory has is not there either.
			veildb(t, "volume", "scan", v.lower, "--key", v.key, "--canary", table, "--canary", canaryOf("database"),
				"--canary", "pg_wal", "--canary", "PG_VERSION", "--canary", "ibdata", "--canary", "undo00")
			veildb(t, "volume", "check", v.lower, "--key", v.key, "--read")
		})
	}
}
