package volumetest

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
)

// verify checks that the database holds all that was acknowledged, nothing that
// was not tried, and no half of anything. Afterwards nothing is in doubt.
func (l *load) verify(t testing.TB) {
	t.Helper()
	seen := l.verifyLedger(t, func(id int64) (int, bool) {
		rev, ok := l.acked[id]
		return rev, ok
	})
	// From here on, what is there was acknowledged, by us.
	l.acked, l.tried = seen, map[int64]int{}
	l.verifyTables(t)
}

// verifyAt is verify for a database as it was at a position of the log. It does
// not change what is known.
func (l *load) verifyAt(t testing.TB, at int64) {
	t.Helper()
	acked := map[int64]int{}
	for _, a := range l.history {
		if a.at <= at {
			acked[a.id] = a.rev // the last one counts
		}
	}
	l.verifyLedger(t, func(id int64) (int, bool) {
		rev, ok := acked[id]
		return rev, ok
	})
	l.verifyTablesAt(t, at)
}

// verifyTablesAt checks that the tables are there that were made by then, and
// drops those that may be there by half.
func (l *load) verifyTablesAt(t testing.TB, at int64) {
	t.Helper()
	states := map[int]tableState{}
	for _, e := range l.tables {
		if e.at <= at {
			states[e.n] = e.what // the last one counts
		}
	}
	for n, state := range states {
		if state != tableMade {
			l.server.exec(t, fmt.Sprintf("DROP TABLE IF EXISTS churn_%d", n))
			continue
		}
		rows, err := one(context.Background(), l.server.db, fmt.Sprintf("SELECT COUNT(*) FROM churn_%d WHERE w = 7", n))
		if err != nil || rows != churnRows {
			t.Errorf("table churn_%d has %d rows, %v; want %d", n, rows, err, churnRows)
		}
	}
}

// verifyLedger compares the ledger with what must at least be there: of each
// movement the revision that acked tells, or a later one that was tried. It
// returns the revisions that are there.
func (l *load) verifyLedger(t testing.TB, acked func(id int64) (rev int, ok bool)) map[int64]int {
	t.Helper()
	balances, seen := map[int64]int64{}, map[int64]int{}
	wrong := 0
	report := func(format string, args ...any) {
		if wrong++; wrong <= 10 {
			t.Errorf(format, args...)
		}
	}
	err := eachRow(l.server.db, "SELECT id, payer, payee, amount, rev, note FROM ledger", func(scan func(...any) error) error {
		var id, payer, payee, amount int64
		var rev int
		var text string
		if err := scan(&id, &payer, &payee, &amount, &rev, &text); err != nil {
			return err
		}
		balances[payer] -= amount
		balances[payee] += amount
		seen[id] = rev
		if text != note(id, rev) {
			report("the note of movement %d, revision %d, is not what was written", id, rev)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("read the ledger: %v", err)
	}
	for id, rev := range seen {
		if last, ok := l.latest(id); !ok || rev > last {
			report("movement %d is there in revision %d and was never tried so", id, rev)
		}
	}
	for id := range l.acked {
		want, ok := acked(id)
		if !ok {
			continue
		}
		if got, ok := seen[id]; !ok {
			report("movement %d, revision %d, was acknowledged and is lost", id, want)
		} else if got < want {
			report("movement %d was acknowledged in revision %d and is there in %d", id, want, got)
		}
	}
	l.verifyAccounts(t, balances)
	if wrong > 10 {
		t.Errorf("and %d more", wrong-10)
	}
	return seen
}

// latest is the last revision of a movement that was tried.
func (l *load) latest(id int64) (int, bool) {
	if rev, ok := l.tried[id]; ok {
		return rev, true
	}
	rev, ok := l.acked[id]
	return rev, ok
}

// verifyAccounts compares the accounts with the sums of the ledger.
func (l *load) verifyAccounts(t testing.TB, balances map[int64]int64) {
	t.Helper()
	n := 0
	err := eachRow(l.server.db, "SELECT id, balance FROM accounts ORDER BY id", func(scan func(...any) error) error {
		var id, balance int64
		if err := scan(&id, &balance); err != nil {
			return err
		}
		if balance != balances[id] {
			t.Errorf("account %d holds %d, its movements say %d", id, balance, balances[id])
		}
		n++
		return nil
	})
	if err != nil || n != accounts {
		t.Errorf("%d accounts, %v; want %d", n, err, accounts)
	}
}

// verifyTables checks the tables that churn made.
func (l *load) verifyTables(t testing.TB) {
	t.Helper()
	there := map[int]bool{}
	for _, name := range column(t, l.server.db, "SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'churn%'") {
		var n int
		if _, err := fmt.Sscanf(name, "churn_%d", &n); err != nil {
			t.Fatal(err)
		}
		there[n] = true
	}
	for n, made := range l.made {
		dropped, dropping := l.dropped[n]
		switch {
		case dropped && there[n]:
			t.Errorf("table churn_%d was dropped and is there", n)
		case made && !dropping && !there[n]:
			t.Errorf("table churn_%d was made and is lost", n)
		case made && !dropping && there[n]:
			rows, err := one(context.Background(), l.server.db, fmt.Sprintf("SELECT COUNT(*) FROM churn_%d WHERE w = 7", n))
			if err != nil || rows != churnRows {
				t.Errorf("table churn_%d has %d rows, %v; want %d", n, rows, err, churnRows)
			}
		}
		switch {
		case !there[n]:
			delete(l.made, n)
		case !made, dropping:
			// What was under way may be there by half: MariaDB does not undo it
			// when its files fail. But it can be dropped.
			l.server.exec(t, fmt.Sprintf("DROP TABLE churn_%d", n))
			delete(l.made, n)
		}
	}
}

// eachRow calls f for each row of a query.
func eachRow(db *sql.DB, query string, f func(scan func(...any) error) error) error {
	rows, err := db.Query(query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
