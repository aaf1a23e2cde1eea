package sysbench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// ErrTableExists reports a table that is there before Prepare; nothing was
// changed then.
var ErrTableExists = errors.New("table exists")

// Steps of Prepare, Prewarm and Cleanup, told to their progress function.
type Step int

const (
	Create  Step = iota // a table is created
	Fill                // and filled
	Index               // and indexed
	Filled              // rows of it have been sent
	Prewarm             // a table is read
	Drop                // a table is dropped
)

// Progress is one step on one table.
type Progress struct {
	Step  Step
	Table int // from 1
	Rows  int // Filled: rows sent since the last call; Fill: to be sent
}

// PrepareConfig says how to make the tables.
type PrepareConfig struct {
	Seed uint64 // the data depend on it and the options alone
	// Threads work on different tables at once; more than tables is no use.
	Threads int
	// Progress, if set, is called from several goroutines, one at a time.
	Progress func(Progress)
}

// tables is the number of tables the script's prepare and cleanup touch.
func (w *Workload) tables() int {
	if w.script.name == "bulk_insert" {
		return w.o.Threads // each thread has its own
	}
	return w.o.Tables
}

// Prepare creates the tables, fills and indexes them. Tables that exist are
// never changed or dropped: if there is one, Prepare returns an error matching
// ErrTableExists before it creates any. (bulk_insert, as in sysbench, makes do
// with tables that exist.)
func (w *Workload) Prepare(ctx context.Context, db *sql.DB, c PrepareConfig) error {
	if w.script.name != "bulk_insert" {
		if err := w.refuseExisting(ctx, db); err != nil {
			return err
		}
	}
	return w.each(ctx, db, c.Threads, c.Progress, func(ctx context.Context, conn *sql.Conn, table int, tell func(Progress)) error {
		if w.script.name == "bulk_insert" {
			return w.createBulk(ctx, conn, table, tell)
		}
		return w.createTable(ctx, conn, c.Seed, table, tell)
	})
}

// each runs f for every table, on threads connections, and stops at the first
// error.
func (w *Workload) each(ctx context.Context, db *sql.DB, threads int, progress func(Progress),
	f func(ctx context.Context, conn *sql.Conn, table int, tell func(Progress)) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	tell := func(p Progress) {
		if progress != nil {
			mu.Lock()
			defer mu.Unlock()
			progress(p)
		}
	}
	threads = min(max(threads, 1), w.tables())
	var wg sync.WaitGroup
	for i := range threads {
		wg.Go(func() {
			conn, err := db.Conn(ctx)
			if err != nil {
				cancel(fmt.Errorf("connect: %w", err))
				return
			}
			defer conn.Close()
			for table := i + 1; table <= w.tables(); table += threads {
				if err := f(ctx, conn, table, tell); err != nil {
					cancel(fmt.Errorf("table sbtest%d: %w", table, err))
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// refuseExisting looks for each table by name, where an unqualified CREATE
// would put it.
func (w *Workload) refuseExisting(ctx context.Context, db *sql.DB) error {
	query := map[dsn.Dialect]string{
		dsn.SQLite:   "SELECT COUNT(*) FROM sqlite_master WHERE name = ?",
		dsn.MySQL:    "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?",
		dsn.Postgres: "SELECT COUNT(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relname = ?",
	}[w.dialect]
	for i := range w.tables() {
		name := "sbtest" + strconv.Itoa(i+1)
		var n int
		if err := db.QueryRowContext(ctx, w.dialect.Rebind(query), name).Scan(&n); err != nil {
			return fmt.Errorf("look for table %s: %w", name, err)
		}
		if n > 0 {
			return fmt.Errorf("create table %s: %w", name, ErrTableExists)
		}
	}
	return nil
}

// createStatement is the CREATE TABLE of an OLTP table.
func (w *Workload) createStatement(table int) string {
	id, key, tail := "INTEGER NOT NULL", ",\n  PRIMARY KEY (id)", ""
	switch w.dialect {
	case dsn.MySQL:
		if w.o.AutoInc {
			id = "INTEGER NOT NULL AUTO_INCREMENT"
		}
		if w.o.Secondary {
			key = ",\n  KEY xid (id)"
		}
		tail = " /*! ENGINE = " + w.o.StorageEngine + " */"
	case dsn.Postgres:
		if w.o.AutoInc {
			id = "SERIAL"
		}
		if w.o.Secondary {
			key = "" // sysbench's text is not PostgreSQL; see createTable
		}
	case dsn.SQLite:
		id, key = "INTEGER PRIMARY KEY NOT NULL", ""
	}
	return fmt.Sprintf(`CREATE TABLE sbtest%d (
  id %s,
  k INTEGER DEFAULT '0' NOT NULL,
  c CHAR(120) DEFAULT '' NOT NULL,
  pad CHAR(60) DEFAULT '' NOT NULL%s
)%s`, table, id, key, tail)
}

func (w *Workload) createTable(ctx context.Context, conn *sql.Conn, seed uint64, table int, tell func(Progress)) error {
	tell(Progress{Step: Create, Table: table})
	if err := exec(ctx, conn, w.createStatement(table)); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	if w.o.Secondary && w.dialect == dsn.Postgres {
		if err := exec(ctx, conn, fmt.Sprintf("CREATE INDEX xid_%d ON sbtest%d(id)", table, table)); err != nil {
			return fmt.Errorf("create index: %w", err)
		}
	}
	if err := w.fill(ctx, conn, seed, table, tell); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	if w.o.CreateSecondary {
		tell(Progress{Step: Index, Table: table})
		if err := exec(ctx, conn, fmt.Sprintf("CREATE INDEX k_%d ON sbtest%d(k)", table, table)); err != nil {
			return fmt.Errorf("create index: %w", err)
		}
	}
	return nil
}

// fill sends the rows. k has the default distribution, so it is as skewed as
// the ids of the run.
func (w *Workload) fill(ctx context.Context, conn *sql.Conn, seed uint64, table int, tell func(Progress)) error {
	rows := w.o.TableSize
	if w.script.name == "oltp_insert" && !w.o.AutoInc {
		rows = 0 // its ids could meet those of the run
	}
	if rows == 0 {
		return nil
	}
	tell(Progress{Step: Fill, Table: table, Rows: rows})
	columns := "(k, c, pad)"
	if !w.o.AutoInc {
		columns = "(id, k, c, pad)"
	}
	sent, last := 0, 0
	b := batch{head: fmt.Sprintf("INSERT INTO sbtest%d%s VALUES", table, columns), send: func(text string) error {
		if err := exec(ctx, conn, text); err != nil {
			return err
		}
		tell(Progress{Step: Filled, Table: table, Rows: sent - last})
		last = sent
		return nil
	}}
	r := newRNG(seed, dataStreams+uint64(table))
	for i := range rows {
		b.row = append(b.row, '(')
		if !w.o.AutoInc {
			b.row = append(strconv.AppendInt(b.row, int64(i+1), 10), ", "...)
		}
		b.row = appendRest(b.row, &r, w.dist.draw(&r, 1, w.o.TableSize))
		if err := b.add(); err != nil {
			return err
		}
		sent++
	}
	return b.flush()
}

func (w *Workload) createBulk(ctx context.Context, conn *sql.Conn, table int, tell func(Progress)) error {
	tell(Progress{Step: Create, Table: table})
	err := exec(ctx, conn, fmt.Sprintf(`CREATE TABLE IF NOT EXISTS sbtest%d (
  id INTEGER NOT NULL,
  k INTEGER DEFAULT '0' NOT NULL,
  PRIMARY KEY (id))`, table))
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	return nil
}

// Prewarm reads every table into the server's cache: its primary key and its
// rows. Like sysbench's it is for MySQL and MariaDB; ErrOption otherwise.
func (w *Workload) Prewarm(ctx context.Context, db *sql.DB, threads int, progress func(Progress)) error {
	if w.dialect != dsn.MySQL {
		return fmt.Errorf("%w: prewarm is for MySQL and MariaDB only", ErrOption)
	}
	return w.each(ctx, db, threads, progress, func(ctx context.Context, conn *sql.Conn, table int, tell func(Progress)) error {
		tell(Progress{Step: Prewarm, Table: table})
		for _, text := range []string{
			"SET tmp_table_size=2*1024*1024*1024",
			"SET max_heap_table_size=2*1024*1024*1024",
			fmt.Sprintf("ANALYZE TABLE sbtest%d", table),
			fmt.Sprintf("SELECT AVG(id) FROM (SELECT * FROM sbtest%d FORCE KEY (PRIMARY) LIMIT %d) t", table, w.o.TableSize),
			fmt.Sprintf("SELECT COUNT(*) FROM (SELECT * FROM sbtest%d WHERE k LIKE '%%0%%' LIMIT %d) t", table, w.o.TableSize),
		} {
			if err := exec(ctx, conn, text); err != nil {
				return fmt.Errorf("prewarm: %w", err)
			}
		}
		return nil
	})
}

// Cleanup drops sbtest1 to sbtestN, if they exist, and nothing else.
func (w *Workload) Cleanup(ctx context.Context, db *sql.DB, progress func(Progress)) error {
	return w.each(ctx, db, 1, progress, func(ctx context.Context, conn *sql.Conn, table int, tell func(Progress)) error {
		tell(Progress{Step: Drop, Table: table})
		if err := exec(ctx, conn, "DROP TABLE IF EXISTS sbtest"+strconv.Itoa(table)); err != nil {
			return fmt.Errorf("drop: %w", err)
		}
		return nil
	})
}

func exec(ctx context.Context, conn *sql.Conn, text string) error {
	_, err := conn.ExecContext(ctx, text)
	return err
}
