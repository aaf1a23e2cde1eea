// Package failover loads a replicated database through several ends, takes one
// replica away without warning, has it rejoin, and tells what that cost.
package failover

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/veildb/veildb/internal/bench/result"
)

// ErrDown means that the survivors did not serve again, or the replica did not
// rejoin, within Config.Patience.
var ErrDown = errors.New("the cluster does not serve")

// Config is one failover. The database has the tables of sysbench, sbtest1 and
// on; the load adds one to a random row of them and writes a row of its own in
// each transaction, so that what is there at the end tells what was committed.
type Config struct {
	// Ends are what the load connects to, in the order of the replicas behind
	// them. A terminal begins at the end of its number modulo theirs and goes
	// on to the next whenever a transaction fails.
	Ends []*sql.DB
	// Replicas reach the replicas themselves, to compare them. They are opened
	// when they are needed: a replica that rejoined has another address.
	Replica func(ctx context.Context, n int) (*sql.DB, error)
	// Victim is the replica that goes.
	Victim int
	// Kill takes the victim away, as a power failure would.
	Kill func() error
	// Rejoin starts the victim again and returns when it is in step with the
	// others; the word says how it got what it had missed.
	Rejoin func(ctx context.Context) (transfer string, err error)
	// Retry reports whether an error only asks to try again.
	Retry func(error) bool

	Terminals int
	Tables    int
	TableSize int
	Seed      uint64
	// Steady is how long the load runs before the kill, between the recovery
	// and the return of the victim, and after it.
	Steady time.Duration
	// Patience bounds the waits for the recovery and for the return; 0 means
	// five minutes: on a busy machine a replica catches up slowly.
	Patience time.Duration
	Progress func(what string)
}

// table holds a row for each transaction of the load.
const table = "veildb_failover"

// Run does the failover. The record has no engine, variant or number yet.
func Run(ctx context.Context, c Config) (f result.Failover, err error) {
	if c.Patience == 0 {
		c.Patience = 5 * time.Minute
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	if err := c.prepare(ctx); err != nil {
		return f, fmt.Errorf("prepare failover: %w", err)
	}
	before, err := c.sum(ctx, c.Ends[0])
	if err != nil {
		return f, fmt.Errorf("prepare failover: %w", err)
	}
	l := startLoad(ctx, &c)
	times, transfer, err := c.events(ctx, l)
	l.end()
	if err = errors.Join(err, l.err()); err != nil {
		return f, err
	}
	f = l.figures(times)
	f.Type, f.Terminals, f.Transfer = result.TypeFailover, c.Terminals, transfer
	f.Replica = fmt.Sprintf("%d of %d", c.Victim+1, len(c.Ends))
	c.Progress("comparing the replicas")
	if err := c.compare(ctx, l, before, &f); err != nil {
		return f, fmt.Errorf("compare replicas: %w", err)
	}
	return f, nil
}

// moments are when things happened, since the load began.
type moments struct {
	killed, dead, recovered, rejoin, rejoined, end time.Duration
}

// events has the load run and things happen to it.
func (c *Config) events(ctx context.Context, l *load) (m moments, transfer string, err error) {
	c.Progress("load before the failure")
	if err := l.wait(ctx, c.Steady); err != nil {
		return m, "", err
	}
	c.Progress("a replica is gone")
	m.killed = l.now()
	if err := c.Kill(); err != nil {
		return m, "", fmt.Errorf("kill replica: %w", err)
	}
	m.dead = l.now()
	if err := l.await(ctx, c.Patience, func() bool { return l.allSince(m.dead) }); err != nil {
		return m, "", fmt.Errorf("wait for survivors: %w", err)
	}
	m.recovered = l.now()
	if err := l.wait(ctx, c.Steady); err != nil {
		return m, "", err
	}
	c.Progress("the replica rejoins")
	m.rejoin = l.now()
	bounded, cancel := context.WithTimeout(ctx, c.Patience)
	defer cancel()
	if transfer, err = c.Rejoin(bounded); err != nil {
		if bounded.Err() != nil && ctx.Err() == nil {
			err = errors.Join(ErrDown, err)
		}
		return m, "", fmt.Errorf("rejoin replica: %w", err)
	}
	m.rejoined = l.now()
	l.home() // the clients of the lost replica come back
	if err := l.await(ctx, c.Patience, func() bool { return l.allSince(m.rejoined) }); err != nil {
		return m, "", fmt.Errorf("return to replica: %w", err)
	}
	err = l.wait(ctx, c.Steady)
	m.end = l.now()
	return m, transfer, err
}

// prepare makes the table of the load's own rows and waits for all ends to have
// it.
func (c *Config) prepare(ctx context.Context) error {
	for _, s := range []string{
		"DROP TABLE IF EXISTS " + table,
		"CREATE TABLE " + table + " (id BIGINT NOT NULL PRIMARY KEY, tbl INT NOT NULL, rw INT NOT NULL)",
	} {
		if _, err := c.Ends[0].ExecContext(ctx, s); err != nil {
			return err
		}
	}
	deadline := time.Now().Add(c.Patience)
	for _, end := range c.Ends[1:] {
		for {
			var n int
			err := end.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table).Scan(&n)
			if err == nil {
				break
			}
			if ctx.Err() != nil || time.Now().After(deadline) {
				return err
			}
			if err := sleep(ctx, 20*time.Millisecond); err != nil {
				return err
			}
		}
	}
	return nil
}

// sum adds up what the load adds to.
func (c *Config) sum(ctx context.Context, db *sql.DB) (int64, error) {
	var total int64
	for n := range c.Tables {
		var k sql.NullInt64
		if err := db.QueryRowContext(ctx, fmt.Sprintf("SELECT SUM(k) FROM sbtest%d", n+1)).Scan(&k); err != nil {
			return 0, err
		}
		total += k.Int64
	}
	return total, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
