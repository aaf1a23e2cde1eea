package sysbench

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/run"
)

// A terminal is one of sysbench's threads: a connection, its prepared
// statements and its random stream.
//
// Statements go to the driver itself, inside one sql.Conn.Raw call an event; see
// dsn.Stmt.
type terminal struct {
	w    *Workload
	o    *Options
	n    int
	db   *sql.DB
	conn *sql.Conn
	rng  rng

	ctx     context.Context // of the event under way
	dc      driver.Conn     // valid inside conn.Raw
	event   func(any) error // made once: a method value allocates
	open    bool            // between BEGIN and COMMIT
	sent    uint64          // statements of the call under way
	watched bool            // see Workload.watched
	skips   bool            // closing rows reads them; see dsn.ReadsOnClose

	stmts  [kinds][]dsn.Stmt // by table - 1; nil when not prepared
	counts *counters
	args   []driver.NamedValue
	vals   []any // args' values, for splicing
	dest   []driver.Value
	buf    []byte

	inserts uint32 // oltp_insert's, when ids are ours
	bulk    uint32 // bulk_insert's rows
	rows    *batch // bulk_insert's
}

// Terminal opens a connection and prepares the script's statements for every
// table on it. A server that holds too many statements already is reported as
// a *PreparedLimitError.
func (w *Workload) Terminal(ctx context.Context, db *sql.DB, n int, seed uint64) (run.Terminal, error) {
	width := max(4, w.o.RandomPoints, 2*w.o.NumberOfRanges)
	t := &terminal{
		w: w, o: &w.o, n: n, db: db,
		rng:     newRNG(seed, uint64(n)),
		counts:  w.newCounters(),
		watched: w.watched.Load(),
		args:    make([]driver.NamedValue, width),
		vals:    make([]any, width),
		dest:    make([]driver.Value, 4),
	}
	for i := range t.args {
		t.args[i].Ordinal = i + 1
	}
	t.event = t.runEvent
	if err := t.connect(ctx); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *terminal) connect(ctx context.Context) error {
	conn, err := t.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	t.conn, t.open = conn, false
	if err := conn.Raw(func(dc any) error {
		t.skips = dsn.ReadsOnClose(dc.(driver.Conn))
		return t.prepare(ctx, dc.(driver.Conn))
	}); err != nil {
		conn.Close()
		if t.w.dialect.IsPreparedLimit(err) {
			return &PreparedLimitError{Workload: t.w.Name(), PerConnection: t.w.PreparedPerConnection(),
				Tables: t.o.Tables, Threads: t.o.Threads}
		}
		return err
	}
	return nil
}

func (t *terminal) prepare(ctx context.Context, dc driver.Conn) error {
	if t.o.PSMode == "disable" {
		return nil
	}
	once, perTable := t.w.script.prepares(t.o)
	for _, k := range once {
		t.stmts[k] = make([]dsn.Stmt, 1)
		s, err := t.prepareOne(ctx, dc, k, 0)
		if err != nil {
			// MySQL cannot prepare BEGIN (error 1295); it goes as text then.
			if t.w.dialect.Code(err) == "1295" {
				continue
			}
			return err
		}
		t.stmts[k][0] = s
	}
	for _, k := range perTable {
		t.stmts[k] = make([]dsn.Stmt, t.o.Tables)
		for i := range t.stmts[k] {
			s, err := t.prepareOne(ctx, dc, k, i+1)
			if err != nil {
				return err
			}
			t.stmts[k][i] = s
		}
	}
	return nil
}

func (t *terminal) prepareOne(ctx context.Context, dc driver.Conn, k kind, table int) (dsn.Stmt, error) {
	text := k.text(table, t.o, t.w.dialect, t.w.script.writes)
	return t.w.dialect.Prepare(ctx, dc, fmt.Sprintf("sysbench_%d_%d", k, table), text)
}

// Next runs one event to its end. An error the workload ignores restarts the
// whole event with new random values, as often as it takes; other errors end
// the run.
func (t *terminal) Next(ctx context.Context, tally *run.Tally) (int, error) {
	t.ctx, t.sent = ctx, 0
	if t.watched {
		t.counts.busy.Store(true)
		start := time.Now()
		defer func() {
			t.counts.events.Add(1)
			t.counts.inside.Add(int64(time.Since(start)))
			t.counts.busy.Store(false)
		}()
	}
	for {
		err := ctx.Err()
		if err == nil {
			err = t.conn.Raw(t.event)
		}
		if err == nil {
			break
		}
		if err := t.recover(ctx, err); err != nil {
			return 0, err
		}
		tally.Retries++
	}
	tally.Transactions++
	tally.Commits++
	tally.Queries += t.sent
	return 0, nil
}

// runEvent is the function given to conn.Raw.
func (t *terminal) runEvent(dc any) error {
	t.dc = dc.(driver.Conn)
	if !t.w.script.transaction || t.o.SkipTrx {
		return t.w.script.event(t)
	}
	if err := t.do(begin, 0); err != nil {
		return err
	}
	t.open = true
	if err := t.w.script.event(t); err != nil {
		return err
	}
	if err := t.do(commit, 0); err != nil {
		return err
	}
	t.open = false
	return nil
}

// recover makes the terminal ready for another attempt after err, or returns
// the error that ends the run.
func (t *terminal) recover(ctx context.Context, err error) error {
	d := t.w.dialect
	switch {
	case ctx.Err() != nil:
		return errors.Join(ctx.Err(), t.rollback())
	case d.IsConnectionLost(err):
		if !t.w.ignoresLoss() {
			return err
		}
		return t.reconnect(ctx)
	case !t.w.ignores(err):
		return err
	}
	t.counts.errors.Add(1)
	// sysbench sends no ROLLBACK to MySQL: after a deadlock the server has
	// rolled back, after a lock wait time-out the next BEGIN commits what
	// was done.
	if d == mysqlDialect {
		t.open = false
		return nil
	}
	return t.rollback()
}

// rollback ends an open transaction.
func (t *terminal) rollback() error {
	if !t.open {
		return nil
	}
	t.open = false
	return t.conn.Raw(func(dc any) error {
		t.sent++
		_, err := dsn.ExecText(dc.(driver.Conn), "ROLLBACK")
		if err != nil {
			return fmt.Errorf("roll back: %w", err)
		}
		return nil
	})
}

// reconnect opens a new connection, trying every millisecond.
func (t *terminal) reconnect(ctx context.Context) error {
	t.counts.reconnects.Add(1)
	t.dropStatements()
	t.conn.Close()
	for {
		err := t.connect(ctx)
		if err == nil {
			return nil
		}
		var limit *PreparedLimitError
		if errors.As(err, &limit) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

func (t *terminal) dropStatements() { t.stmts = [kinds][]dsn.Stmt{} }

// Close sends what bulk_insert still holds, closes the statements and gives
// the connection back.
func (t *terminal) Close() error {
	var errs []error
	if t.conn == nil {
		return nil
	}
	errs = append(errs, t.rollback())
	err := t.conn.Raw(func(dc any) error {
		t.dc, t.ctx = dc.(driver.Conn), context.Background()
		var errs []error
		if t.rows != nil {
			errs = append(errs, t.rows.flush())
		}
		for _, byTable := range t.stmts {
			for _, s := range byTable {
				if s != nil {
					errs = append(errs, s.Close())
				}
			}
		}
		return errors.Join(errs...)
	})
	if errors.Is(err, sql.ErrConnDone) { // lost, and reported by Next
		err = nil
	}
	t.dropStatements()
	errs = append(errs, err, t.conn.Close())
	t.conn = nil
	return errors.Join(errs...)
}
