package sysbench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// ErrPreparedLimit reports a server that allows fewer prepared statements than
// the run needs.
var ErrPreparedLimit = errors.New("the server allows too few prepared statements")

// PreparedLimitError shows the arithmetic. It matches ErrPreparedLimit.
type PreparedLimitError struct {
	Workload      string
	PerConnection int
	Tables        int
	Threads       int
	Limit, InUse  int // max_prepared_stmt_count and what others hold; 0: not known
}

// Need is the number of statements of all connections together.
func (e *PreparedLimitError) Need() int { return e.PerConnection * e.Threads }

func (e *PreparedLimitError) Error() string {
	s := fmt.Sprintf("%v: %s with %d tables prepares %d for each connection, %d for %d threads",
		ErrPreparedLimit, e.Workload, e.Tables, e.PerConnection, e.Need(), e.Threads)
	if e.Limit > 0 {
		s += fmt.Sprintf("; max_prepared_stmt_count is %d, of which others use %d", e.Limit, e.InUse)
	}
	return s
}

// Is makes the error match ErrPreparedLimit.
func (e *PreparedLimitError) Is(target error) bool { return target == ErrPreparedLimit }

// Hint is the statement that raises the limit, and the way without.
func (e *PreparedLimitError) Hint() string {
	return fmt.Sprintf("run: SET GLOBAL max_prepared_stmt_count=%d; or use --db-ps-mode=disable", e.Need()+e.InUse)
}

// CheckLimits asks a MySQL or MariaDB server, before anything is opened, whether
// it allows the statements that the threads will prepare. It returns a
// *PreparedLimitError if not.
func (w *Workload) CheckLimits(ctx context.Context, db *sql.DB) error {
	per := w.PreparedPerConnection()
	if w.dialect != dsn.MySQL || per == 0 {
		return nil
	}
	e := &PreparedLimitError{Workload: w.Name(), PerConnection: per, Tables: w.o.Tables, Threads: w.o.Threads}
	var name string
	if err := db.QueryRowContext(ctx, "SHOW GLOBAL VARIABLES LIKE 'max_prepared_stmt_count'").Scan(&name, &e.Limit); err != nil {
		return fmt.Errorf("read max_prepared_stmt_count: %w", err)
	}
	if err := db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'").Scan(&name, &e.InUse); err != nil {
		return fmt.Errorf("read Prepared_stmt_count: %w", err)
	}
	if e.Need()+e.InUse > e.Limit {
		return e
	}
	return nil
}
