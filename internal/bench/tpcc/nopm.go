package tpcc

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// ServerTransactions is the server's own count of transactions ended since it
// started, from which TPROC-C's TPM is taken: on PostgreSQL xact_commit and
// xact_rollback of all databases, on MySQL Com_commit and Com_rollback. ok is
// false for SQLite, which does not count.
func ServerTransactions(ctx context.Context, db *sql.DB, d dsn.Dialect) (n int64, ok bool, err error) {
	switch d {
	case dsn.Postgres:
		err = db.QueryRowContext(ctx, "SELECT SUM(xact_commit + xact_rollback)::bigint FROM pg_stat_database").Scan(&n)
	case dsn.MySQL:
		for _, name := range []string{"Com_commit", "Com_rollback"} {
			var v int64
			if err = db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE '"+name+"'").Scan(new(string), &v); err != nil {
				break
			}
			n += v
		}
	default:
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("read server's transaction counter: %w", err)
	}
	return n, true, nil
}
