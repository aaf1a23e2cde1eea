package volumetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// The load moves money between accounts. Each movement is a row of the ledger
// with a note that follows from its id, so that a wrong byte shows, and no
// movement can be there by half:
//
//	accounts.balance = sum of what the ledger says came in or went out
//
// One more worker makes tables and drops them.
const (
	accounts = 200
	workers  = 4
	maxNote  = 6000 // bytes: beyond what fits into a page row of either engine
)

// A load runs against one server, and knows what must be in its database.
type load struct {
	server *server

	mu sync.Mutex
	// acked are the movements that were committed, by id, as their last
	// acknowledged revision; tried those whose outcome nobody told.
	acked map[int64]int
	tried map[int64]int
	next  [workers]int64
	// history is every acknowledgement, if there is a log to tell positions of.
	history  []acknowledgement
	tables   []tableEvent
	position func() int64
	// tables made and dropped, by number: acknowledged, or only tried.
	made, dropped map[int]bool // true: acknowledged
	nextTable     int

	cancel context.CancelFunc
	done   sync.WaitGroup
	errs   []error // why workers ended
}

// An acknowledgement of a movement, and the position of a log by then.
type acknowledgement struct {
	id  int64
	rev int
	at  int64
}

// A tableEvent says that table n was to be made, was made or is to be dropped,
// and the position of a log by then.
type tableEvent struct {
	n    int
	what tableState
	at   int64
}

type tableState int

const (
	tableTried tableState = iota
	tableMade
	tableDropping
)

// newLoad makes the tables of a load.
func newLoad(t testing.TB, s *server) *load {
	t.Helper()
	l := &load{server: s}
	l.renew(t)
	return l
}

// renew drops the tables of earlier loads and makes new ones.
func (l *load) renew(t testing.TB) {
	t.Helper()
	for n := range l.made {
		l.server.exec(t, fmt.Sprintf("DROP TABLE IF EXISTS churn_%d", n))
	}
	l.acked, l.tried, l.made, l.dropped = map[int64]int{}, map[int64]int{}, map[int]bool{}, map[int]bool{}
	l.server.exec(t,
		"DROP TABLE IF EXISTS ledger", "DROP TABLE IF EXISTS accounts",
		"CREATE TABLE accounts (id INT PRIMARY KEY, balance BIGINT NOT NULL, filler VARCHAR(200))",
		"CREATE TABLE ledger (id BIGINT PRIMARY KEY, payer INT NOT NULL, payee INT NOT NULL, amount BIGINT NOT NULL, rev INT NOT NULL, note TEXT NOT NULL)",
		"CREATE INDEX ledger_payer ON ledger (payer, amount)", "CREATE INDEX ledger_payee ON ledger (payee)")
	var rows []string
	for i := range accounts {
		rows = append(rows, fmt.Sprintf("(%d, 0, '%s')", i, strings.Repeat("x", i)))
	}
	l.server.exec(t, "INSERT INTO accounts VALUES "+strings.Join(rows, ", "))
}

// start has the workers work until stop, or until the server fails them.
func (l *load) start(rng *rand.Rand) {
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	l.errs = nil
	for w := range workers {
		r := rand.New(rand.NewPCG(rng.Uint64(), 1))
		l.work(func() error { return l.move(ctx, w, r) }, ctx)
	}
	r := rand.New(rand.NewPCG(rng.Uint64(), 2))
	l.work(func() error { return l.churn(ctx, r) }, ctx)
}

// work repeats f until it fails.
func (l *load) work(f func() error, ctx context.Context) {
	l.done.Add(1)
	go func() {
		defer l.done.Done()
		for ctx.Err() == nil {
			if err := f(); err != nil {
				l.mu.Lock()
				l.errs = append(l.errs, err)
				l.mu.Unlock()
				return
			}
		}
	}()
}

// stop ends the workers and returns why those ended that ended by themselves.
func (l *load) stop() []error {
	l.cancel()
	l.done.Wait()
	return l.errs
}

// commits is how many movements were acknowledged.
func (l *load) commits() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acked)
}

// note is what a movement's note says in a revision.
func note(id int64, rev int) string {
	r := rand.New(rand.NewPCG(uint64(id), uint64(rev)))
	n := 20 + r.IntN(200)
	if r.IntN(8) == 0 {
		n = r.IntN(maxNote)
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(r.Uint32()%26)
	}
	return string(b)
}

// move makes one movement, or changes the note of an earlier one.
func (l *load) move(ctx context.Context, w int, r *rand.Rand) error {
	l.mu.Lock()
	id, rev := l.next[w]*workers+int64(w), 0
	if old := r.Int64N(max(l.next[w], 1))*workers + int64(w); r.IntN(4) == 0 {
		if last, ok := l.acked[old]; ok {
			id, rev = old, last+1
		}
	}
	if rev == 0 {
		l.next[w]++
	}
	l.tried[id] = rev
	l.mu.Unlock()
	switch err := l.transaction(ctx, id, rev, r); {
	case l.server.d.IsDeadlock(err) || l.server.d.IsSerializationFailure(err):
		return nil // rolled back
	case err != nil:
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked[id] = rev
	delete(l.tried, id)
	if l.position != nil {
		l.history = append(l.history, acknowledgement{id, rev, l.position()})
	}
	return nil
}

func (l *load) transaction(ctx context.Context, id int64, rev int, r *rand.Rand) error {
	tx, err := l.server.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if rev > 0 {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("UPDATE ledger SET rev = %d, note = '%s' WHERE id = %d", rev, note(id, rev), id)); err != nil {
			return err
		}
		return tx.Commit()
	}
	// In one order, against deadlocks.
	a := r.IntN(accounts - 1)
	b := a + 1 + r.IntN(accounts-a-1)
	amount := r.IntN(2000) - 1000
	for _, q := range []string{
		fmt.Sprintf("UPDATE accounts SET balance = balance - %d WHERE id = %d", amount, a),
		fmt.Sprintf("UPDATE accounts SET balance = balance + %d WHERE id = %d", amount, b),
		fmt.Sprintf("INSERT INTO ledger VALUES (%d, %d, %d, %d, 0, '%s')", id, a, b, amount, note(id, 0)),
	} {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return tx.Commit()
}

const churnRows = 300

// churn makes a table with rows and an index, or drops an older one.
func (l *load) churn(ctx context.Context, r *rand.Rand) error {
	db := l.server.db
	if n := l.nextTable - 3; n >= 0 && r.IntN(2) == 0 && l.note(&l.dropped, n, false) {
		if _, err := db.ExecContext(ctx, fmt.Sprintf("DROP TABLE IF EXISTS churn_%d", n)); err != nil {
			return err
		}
		l.note(&l.dropped, n, true)
	}
	n := l.nextTable
	l.nextTable++
	l.note(&l.made, n, false)
	var rows []string
	for i := range churnRows {
		rows = append(rows, fmt.Sprintf("(%d, '%s')", i, note(int64(i), n)))
	}
	// The rows come before the index: it is built by sorting, which spills.
	for _, q := range []string{
		fmt.Sprintf("CREATE TABLE churn_%d (id INT PRIMARY KEY, v TEXT)", n),
		fmt.Sprintf("INSERT INTO churn_%d VALUES %s", n, strings.Join(rows, ", ")),
		fmt.Sprintf("CREATE INDEX churn_%d_v ON churn_%[1]d (%[2]s)", n, l.prefix("v")),
		fmt.Sprintf("ALTER TABLE churn_%d ADD COLUMN w INT DEFAULT 7", n),
	} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	l.note(&l.made, n, true)
	return nil
}

// prefix is what of a long column goes into an index.
func (l *load) prefix(column string) string {
	if l.server.d == dsn.Postgres {
		return "substr(" + column + ", 1, 100)"
	}
	return column + "(100)"
}

// note records that table n was tried or done; it is false if that is not new.
func (l *load) note(m *map[int]bool, n int, done bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, ok := (*m)[n]; ok && before == done {
		return false
	}
	(*m)[n] = done
	if l.position != nil {
		what := tableTried
		switch {
		case m == &l.dropped:
			what = tableDropping
		case done:
			what = tableMade
		}
		l.tables = append(l.tables, tableEvent{n, what, l.position()})
	}
	return true
}
