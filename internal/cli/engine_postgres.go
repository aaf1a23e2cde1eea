package cli

import (
	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/target"
)

// postgres is PostgreSQL. It has no encryption of its own.
var postgres = serverKind{
	engine: target.Postgres, program: target.Postgres, title: "PostgreSQL", dialect: dsn.Postgres, nodes: 1,
	variants: map[string]string{
		"plain": "PostgreSQL as it is",
		"tde":   "the data directory on an encrypted volume (AES-256-XTS)",
		"fuse":  "the same mount without a cipher",
	},
	loading: map[string]string{
		"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off",
		"max_wal_size": "8GB", "checkpoint_timeout": "1h", "maintenance_work_mem": "256MB",
	},
	prepare: []string{
		"CREATE ROLE " + studyAccount + " LOGIN",
		"ALTER DATABASE " + studyDatabase + " OWNER TO " + studyAccount,
		"ALTER SCHEMA public OWNER TO " + studyAccount,
	},
	// Every row is frozen and every hint bit set, or the first arm to read a
	// page would do that work.
	settle: []string{"VACUUM (FREEZE, ANALYZE)", "CHECKPOINT"},
}
