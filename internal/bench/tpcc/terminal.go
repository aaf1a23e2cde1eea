package tpcc

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/run"
)

var (
	_ run.Workload = (*Workload)(nil)
	_ run.Terminal = (*terminal)(nil)
)

// errUserAbort ends a transaction the workload itself demands to roll back.
var errUserAbort = errors.New("rolled back as the workload demands")

// terminal is one simulated user: a connection, its statements and the place
// it works at.
type terminal struct {
	*Workload
	conn   *sql.Conn
	number int
	seed   uint64

	home     int // warehouse
	low, top int // range of districts; top is below low for an empty range
	district int // of StockLevel, where it is fixed

	kinds rng   // chooses transactions
	input rng   // the inputs of the current attempt
	cards []int // kinds left in the deck
	seq   uint64
	kind  int // of the next transaction, if drawn
	drawn bool
	last  int // of the one before

	begin, write, commit, rollback verb
	newOrder                       newOrder
	batch                          batch
	payment                        payment
	orderStatus                    orderStatus
	delivery                       delivery
	stockLevel                     stockLevel
	routines                       calls // where transactions are calls
	all                            []dsn.Stmt

	// Of the transaction running.
	ctx     context.Context // looked at between statements
	tally   *run.Tally
	running int             // its kind
	dc      driver.Conn     // valid inside conn.Raw
	attempt func(any) error // made once: a method value allocates
	args    []driver.NamedValue
	dest    []driver.Value
}

// Terminal opens terminal n of the configured number on db. Terminal numbers
// beyond it share the places of earlier ones.
func (w *Workload) Terminal(ctx context.Context, db *sql.DB, n int, seed uint64) (run.Terminal, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("open terminal %d: %w", n, err)
	}
	t := &terminal{Workload: w, conn: conn, number: n, seed: seed, dest: make([]driver.Value, 16)}
	t.attempt = t.runAttempt
	t.kinds.seed(seed, streamKind, uint64(n))
	t.place()
	if err := conn.Raw(func(dc any) error { return t.prepare(ctx, dc.(driver.Conn)) }); err != nil {
		t.Close()
		return nil, fmt.Errorf("open terminal %d: %w", n, err)
	}
	return t, nil
}

// Close closes the statements and the connection, whose session settings must
// not reach another user of the pool.
func (t *terminal) Close() error {
	t.conn.Raw(func(any) error {
		for _, s := range t.all {
			s.Close()
		}
		return nil
	})
	discard(t.conn)
	return nil
}

// draw chooses the next transaction's type.
func (t *terminal) draw() int {
	if !t.profile.deck {
		n := t.kinds.between(1, t.total)
		for k, w := range t.weights {
			if n -= w; n <= 0 {
				return k
			}
		}
	}
	if len(t.cards) == 0 {
		for k, w := range t.weights {
			for range w {
				t.cards = append(t.cards, k)
			}
		}
		t.kinds.shuffle(t.cards)
	}
	k := t.cards[len(t.cards)-1]
	t.cards = t.cards[:len(t.cards)-1]
	return k
}

// Next runs one transaction; see run.Terminal. A transaction that met another
// is repeated with the same type and new inputs, without a pause, until the
// flavor's number of attempts is used up. The inputs of attempt a of
// transaction n depend on the seed, the terminal, n and a alone: what happened
// to earlier transactions does not change them.
func (t *terminal) Next(ctx context.Context, tally *run.Tally) (int, error) {
	kind := t.next()
	t.seq++
	t.tally, t.ctx, t.running = tally, ctx, kind
	for attempt := 1; ; attempt++ {
		if err := ctx.Err(); err != nil {
			return kind, err
		}
		t.input.seed(t.seed, streamInput, uint64(t.number), t.seq, uint64(attempt))
		err := t.conn.Raw(t.attempt)
		switch {
		case err == nil:
			tally.Commits++
		case errors.Is(err, errUserAbort):
			tally.UserAborts++
		case ctx.Err() != nil:
			return kind, ctx.Err()
		case t.retriable(err) && attempt < t.profile.attempts:
			tally.Retries++
			continue
		case t.retriable(err) || t.config.Dialect.IsDeadlock(err):
			tally.GiveUp(t.config.Dialect.Code(err))
		default:
			return kind, fmt.Errorf("run %s: %w", kindNames[kind], err)
		}
		tally.Transactions++
		return kind, nil
	}
}

// retriable reports whether the transaction that got err is to be repeated.
// BenchBase does not repeat PostgreSQL's deadlocks.
func (t *terminal) retriable(err error) bool {
	d := t.config.Dialect
	return d.IsSerializationFailure(err) ||
		d.IsDeadlock(err) && (d == dsn.MySQL || t.config.Flavor != BenchBase)
}

// runAttempt runs the transaction once; it is the function given to conn.Raw.
func (t *terminal) runAttempt(dc any) error {
	t.dc = dc.(driver.Conn)
	kind := t.running
	if t.config.Routines {
		return t.call(kind)
	}
	begin, body := t.write, t.runNewOrder
	switch kind {
	case Payment:
		body = t.runPayment
	case OrderStatus:
		begin, body = t.begin, t.runOrderStatus
	case Delivery:
		body = t.runDelivery
	case StockLevel:
		begin, body = t.begin, t.runStockLevel
	}
	if begin.text != "" {
		if err := t.say(begin); err != nil {
			return err
		}
	}
	err := body()
	if err == nil {
		err = t.ctx.Err()
	}
	if err == nil {
		err = t.say(t.commit)
	}
	if err == nil {
		return nil
	}
	// A failed statement may or may not have ended the transaction; a ROLLBACK
	// too many does no harm, so its own failure is not worth a word.
	if rerr := t.say(t.rollback); rerr != nil && errors.Is(err, errUserAbort) {
		return rerr
	}
	return err
}

// money is an amount to scan.
func (t *terminal) money() fixed {
	return fixed{scale: 2, whole: t.config.Dialect == dsn.SQLite}
}

// rate is a tax or discount to scan.
func (t *terminal) rate() fixed {
	return fixed{scale: 4, whole: t.config.Dialect == dsn.SQLite}
}

// cents is an amount as a parameter.
func (t *terminal) cents(n int64) any { return moneyArg(t.config.Dialect, n) }

// now is the time of the current transaction: it moves with the transactions,
// not with the clock, so that statements depend on the seed alone.
func (t *terminal) now() any {
	const day = 24 * 60 * 60
	return dateArg(t.config.Dialect, epoch+day+int64(t.seq))
}

// ourDistrict is the district of a transaction.
func (t *terminal) ourDistrict() int { return t.input.between(t.low, t.top) }

// customerID draws a customer.
func (t *terminal) customerID() int {
	if t.profile.uniformIDs {
		return t.input.between(1, customersPerDistrict)
	}
	return t.input.nurand(1023, t.profile.runCustomer, 1, customersPerDistrict)
}

// lastName draws a customer's last name.
func (t *terminal) lastName() string {
	return lastNames[t.input.nurand(255, t.profile.runLast, 0, 999)]
}

// itemID draws an item.
func (t *terminal) itemID() int {
	if t.profile.uniformIDs {
		return t.input.between(1, numItems)
	}
	return t.input.nurand(8191, t.profile.runItem, 1, numItems)
}
