// Package run drives two prepared databases against each other: short blocks
// in randomised ABBA and BAAB quads, with CPU accounting and latency from the
// intended start.
package run

import (
	"context"
	"database/sql"
	"time"
)

// A Workload is a mix of transactions over one prepared database. It holds no
// connection and may be used for several databases at once.
type Workload interface {
	// Name is the workload's name in result rows, such as "tpcc" or
	// "oltp_read_write".
	Name() string
	// Kinds names the transaction types; Terminal.Next returns an index
	// into it. A workload with one type returns one name.
	Kinds() []string
	// Terminal opens terminal number n (from 0) on db: one connection of its
	// own, its statements prepared. The stream of transactions and all their
	// inputs depend on seed and n alone, so two terminals with the same
	// seed and number on two databases send the same statements.
	Terminal(ctx context.Context, db *sql.DB, n int, seed uint64) (Terminal, error)
}

// A Terminal sends one stream of transactions over one connection. It is used
// by one goroutine at a time.
type Terminal interface {
	// Next runs one transaction to its end: committed, aborted as the
	// workload demands, or given up. It adds what happened to t and returns
	// the index of the transaction's type in Kinds. Retries after
	// serialization failures and deadlocks happen inside, and their time
	// belongs to the transaction. An error ends the whole run; failures the
	// workload tolerates are counted in t.Errors instead. When ctx is done
	// the open transaction is rolled back and ctx's error returned.
	Next(ctx context.Context, t *Tally) (kind int, err error)
	// Close closes the statements and returns the connection.
	Close() error
}

// A Pauser is a Terminal that rests before each transaction of a closed load, as
// users do between two. Pause is asked before Next; the rest is in no latency.
type Pauser interface {
	Pause() time.Duration
}

// Tally counts what terminals did. Each counter only grows. Copies share
// ErrorCodes.
type Tally struct {
	Transactions uint64 // Next calls that ended: commits + user aborts + errors
	Commits      uint64 // transactions committed
	UserAborts   uint64 // rolled back because the workload demands it
	Retries      uint64 // attempts repeated after a deadlock or serialization failure
	Errors       uint64 // transactions given up
	Queries      uint64 // statements sent, BEGIN, COMMIT and ROLLBACK included
	// ErrorCodes splits Errors by the server's code where it gives one; nil
	// while there are none.
	ErrorCodes map[string]uint64
}

// GiveUp counts a transaction given up for an error with that code, "" for none.
func (t *Tally) GiveUp(code string) {
	t.Errors++
	t.addCode(code, 1)
}

func (t *Tally) addCode(code string, n uint64) {
	if code == "" {
		return
	}
	if t.ErrorCodes == nil {
		t.ErrorCodes = map[string]uint64{}
	}
	t.ErrorCodes[code] += n
}

// Add adds o to t.
func (t *Tally) Add(o Tally) {
	t.Transactions += o.Transactions
	t.Commits += o.Commits
	t.UserAborts += o.UserAborts
	t.Retries += o.Retries
	t.Errors += o.Errors
	t.Queries += o.Queries
	for code, n := range o.ErrorCodes {
		t.addCode(code, n)
	}
}
