package study

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/run"
	"github.com/veildb/veildb/internal/bench/sysbench"
	"github.com/veildb/veildb/internal/bench/tpcc"
)

// Names of the checks.
const (
	CheckRows       = "rows and sums against the load's counters"
	CheckStatements = "server's statement counters against the load's"
	CheckOrders     = "new orders and payments against the load's counters"
	CheckConditions = "tpcc consistency 3.3.2.1-12"
)

// An arm is one arm of a sitting: its database, and what was done to it.
type arm struct {
	*Database
	variant string
	load    *counted
	before  statements // of a private MySQL server, before the load
}

// verify checks both arms of a cell after its last sitting. What takes long is
// looked at once a workload for the baseline, which each of its comparisons has
// a copy of.
func (s *state) verify(ctx context.Context, cell result.Cell, w Workload, arms [2]*arm) error {
	for i, a := range arms {
		var checks []result.Check
		var did []done
		switch shared := arms[0].DB == arms[1].DB; {
		case shared && i == 0:
			continue // both arms work on one database: the second has it all
		case shared:
			did = []done{arms[0].load.done(), a.load.done()}
		default:
			did = []done{a.load.done()}
		}
		add := func(c result.Check, err error) error {
			if err == nil {
				checks = append(checks, c)
			}
			return err
		}
		d := s.Engine.Dialect()
		if a.before != nil { // first: the other checks send statements, too
			if err := add(w.checkStatements(ctx, a, did[0])); err != nil {
				return fmt.Errorf("check statement counters: %w", err)
			}
		}
		effects := w.checkRows
		if w.orders() {
			effects = w.checkOrders
		}
		if err := add(effects(ctx, a.DB, d, did)); err != nil {
			return fmt.Errorf("check effects of the load: %w", err)
		}
		if i == 1 || !cell.AA() && !s.checked[w.Label()+" "+a.variant] {
			s.checked[w.Label()+" "+a.variant] = true
			if w.orders() && w.Check {
				if err := add(w.check(ctx, a.DB, d)); err != nil {
					return fmt.Errorf("check consistency: %w", err)
				}
			}
			if a.Verify != nil {
				more, err := a.Verify(ctx)
				if err != nil {
					return fmt.Errorf("check tables: %w", err)
				}
				checks = append(checks, more...)
			}
		}
		for _, c := range checks {
			c.Type, c.Engine, c.Variant, c.Workload, c.Threads = result.TypeCheck, cell.Engine, a.variant, cell.Workload, cell.Threads
			if err := s.Record(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// outcome makes a check of differences found, each a phrase.
func outcome(name, looked string, wrong []string) result.Check {
	c := result.Check{Name: name, OK: len(wrong) == 0, Detail: looked}
	if !c.OK {
		c.Detail = strings.Join(wrong, "; ")
	}
	return c
}

// statements are a MySQL server's counts of statements by kind.
type statements map[string]int64

func readStatements(ctx context.Context, db *sql.DB) (statements, error) {
	rows, err := db.QueryContext(ctx, "SHOW GLOBAL STATUS LIKE 'Com\\_%'")
	if err != nil {
		return nil, fmt.Errorf("read statement counters: %w", err)
	}
	defer rows.Close()
	out := statements{}
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return nil, fmt.Errorf("read statement counters: %w", err)
		}
		out[strings.TrimPrefix(name, "Com_")] = n
	}
	return out, rows.Err()
}

// checkStatements compares what the server counted with what the load sent. A
// statement that failed is counted by the server alone.
func (w Workload) checkStatements(ctx context.Context, a *arm, did done) (result.Check, error) {
	after, err := readStatements(ctx, a.DB)
	if err != nil {
		return result.Check{}, err
	}
	delta := func(kinds ...string) (n int64) {
		for _, k := range kinds {
			n += after[k] - a.before[k]
		}
		return n
	}
	slack := int64(did.counts.Errors) + did.uncertain*maxStatements
	var wrong []string
	compare := func(what string, server int64, ours uint64) {
		if server < int64(ours) || server > int64(ours)+slack {
			wrong = append(wrong, fmt.Sprintf("%s: the server counted %d, the load sent %d", what, server, ours))
		}
	}
	compare("reads", delta("select"), did.counts.Reads)
	compare("writes", delta("insert", "update", "delete", "begin", "commit"), did.counts.Writes+did.counts.Others)
	return outcome(CheckStatements, fmt.Sprintf("%d statements", did.counts.Queries()), wrong), nil
}

// maxStatements is more than a transaction of sysbench has.
const maxStatements = 1000

// loadedTable holds, for each table of sysbench, what was loaded; it is copied
// with the data.
const loadedTable = "veildb_loaded"

// A content is what a table of sysbench holds.
type content struct {
	rows, sum int64 // sum is that of k
	shaped    int64 // rows whose texts are as long as all that are ever written
}

func contentOf(ctx context.Context, db *sql.DB, table int) (c content, err error) {
	err = db.QueryRowContext(ctx, fmt.Sprintf(`SELECT COUNT(*), COALESCE(SUM(k), 0),
		COALESCE(SUM(CASE WHEN LENGTH(c) = 119 AND LENGTH(pad) = 59 THEN 1 ELSE 0 END), 0) FROM sbtest%d`, table)).Scan(&c.rows, &c.sum, &c.shaped)
	return c, err
}

// noteLoaded writes down what was loaded.
func (w Workload) noteLoaded(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, "CREATE TABLE "+loadedTable+" (tbl INT NOT NULL PRIMARY KEY, n BIGINT NOT NULL, k BIGINT NOT NULL)"); err != nil {
		return err
	}
	for t := range w.Tables {
		c, err := contentOf(ctx, db, t+1)
		if err != nil {
			return err
		}
		if _, err := db.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s VALUES (%d, %d, %d)", loadedTable, t+1, c.rows, c.sum)); err != nil {
			return err
		}
	}
	return nil
}

// checkRows compares what is in the tables with what was loaded and what the
// load counts that it did.
func (w Workload) checkRows(ctx context.Context, db *sql.DB, _ dsn.Dialect, did []done) (result.Check, error) {
	var rows, sum int64 // now less loaded
	var wrong []string
	same := w.Name != "oltp_insert" && w.Name != "oltp_delete" && w.Name != "bulk_insert"
	for t := range w.Tables {
		var loaded content
		if err := db.QueryRowContext(ctx, fmt.Sprintf("SELECT n, k FROM %s WHERE tbl = %d", loadedTable, t+1)).Scan(&loaded.rows, &loaded.sum); err != nil {
			return result.Check{}, err
		}
		now, err := contentOf(ctx, db, t+1)
		if err != nil {
			return result.Check{}, err
		}
		if same && now.rows != loaded.rows {
			wrong = append(wrong, fmt.Sprintf("sbtest%d has %d rows, %d were loaded", t+1, now.rows, loaded.rows))
		}
		if w.Name != "bulk_insert" && now.shaped != now.rows {
			wrong = append(wrong, fmt.Sprintf("sbtest%d has %d rows of another shape", t+1, now.rows-now.shaped))
		}
		rows, sum = rows+now.rows-loaded.rows, sum+now.sum-loaded.sum
	}
	var counts sysbench.Counts
	var commits, uncertain int64
	for _, d := range did {
		counts.Add(d.counts)
		commits += int64(d.tally.Commits)
		uncertain += d.uncertain
	}
	within := func(what string, got, want int64) {
		if got < want || got > want+uncertain {
			wrong = append(wrong, fmt.Sprintf("%s by %d, the load did %d", what, got, want))
		}
	}
	switch w.Name {
	case "oltp_insert":
		within("rows grew", rows, commits)
	case "oltp_delete":
		within("rows fell", -rows, int64(counts.Writes))
	case "oltp_update_index":
		within("the sum of k grew", sum, int64(counts.Writes))
	case "oltp_point_select", "oltp_read_only", "oltp_update_non_index", "select_random_points", "select_random_ranges":
		if sum != 0 {
			wrong = append(wrong, fmt.Sprintf("the sum of k changed by %d, which nobody wrote", sum))
		}
	}
	return outcome(CheckRows, fmt.Sprintf("%d tables, %d transactions", w.Tables, commits), wrong), nil
}

// checkOrders compares the counters in TPC-C's tables with the transactions
// that the load counts as committed. A warehouse begins with ten districts whose
// next order is 3001, and 30,000 payments.
func (w Workload) checkOrders(ctx context.Context, db *sql.DB, _ dsn.Dialect, did []done) (result.Check, error) {
	var wrong []string
	var total int64
	for _, q := range []struct {
		what, query string
		kind        int
		loaded      int64
	}{
		{"new orders", "SELECT SUM(d_next_o_id) FROM district", tpcc.NewOrder, 10 * 3001},
		{"payments", "SELECT COUNT(*) FROM history", tpcc.Payment, 30000},
	} {
		var now, commits, uncertain int64
		if err := db.QueryRowContext(ctx, q.query).Scan(&now); err != nil {
			return result.Check{}, err
		}
		for _, d := range did {
			commits += d.kinds[q.kind]
			uncertain += d.uncertain
		}
		total += commits
		if got := now - q.loaded*int64(w.Warehouses); got < commits || got > commits+uncertain {
			wrong = append(wrong, fmt.Sprintf("%d %s in the database, the load committed %d", got, q.what, commits))
		}
	}
	return outcome(CheckOrders, fmt.Sprintf("%d of both", total), wrong), nil
}

// counted is a workload that keeps count over all its terminals and windows,
// those that are measured and those that are not.
type counted struct {
	run.Workload
	terminals []*countedTerminal
}

// done is what a load did.
type done struct {
	tally  run.Tally
	kinds  []int64 // committed, by kind
	counts sysbench.Counts
	// uncertain transactions failed so that nobody knows whether they were
	// committed.
	uncertain int64
}

func (c *counted) Terminal(ctx context.Context, db *sql.DB, n int, seed uint64) (run.Terminal, error) {
	t, err := c.Workload.Terminal(ctx, db, n, seed)
	if err != nil {
		return nil, err
	}
	ct := &countedTerminal{Terminal: t, did: done{kinds: make([]int64, len(c.Kinds()))}}
	c.terminals = append(c.terminals, ct)
	return ct, nil
}

// done adds the terminals up; none is at work.
func (c *counted) done() done {
	sum := done{kinds: make([]int64, len(c.Kinds()))}
	for _, t := range c.terminals {
		sum.tally.Add(t.did.tally)
		sum.uncertain += t.did.uncertain
		for i, n := range t.did.kinds {
			sum.kinds[i] += n
		}
	}
	if w, ok := c.Workload.(*sysbench.Workload); ok {
		sum.counts = w.Counts()
	}
	return sum
}

// A countedTerminal is used by one goroutine at a time, as any terminal.
type countedTerminal struct {
	run.Terminal
	did done
	_   [64]byte // apart from the next one's
}

func (t *countedTerminal) Next(ctx context.Context, tally *run.Tally) (int, error) {
	before := *tally
	kind, err := t.Terminal.Next(ctx, tally)
	if err != nil {
		t.did.uncertain++
		return kind, err
	}
	commits := tally.Commits - before.Commits
	t.did.tally.Commits += commits
	t.did.kinds[kind] += int64(commits)
	return kind, nil
}
