package failover

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/veildb/veildb/internal/bench/result"
)

// compare looks for every acknowledged transaction on every replica, and for
// others than were sent; and compares the replicas with one another.
func (c *Config) compare(ctx context.Context, l *load, before int64, f *result.Failover) error {
	f.Equal = true
	var sums []string
	for n := range c.Ends {
		db, err := c.Replica(ctx, n)
		if err != nil {
			return err
		}
		err = c.audit(ctx, db, l, before, f)
		var sum string
		if err == nil {
			sum, err = c.checksum(ctx, db)
		}
		db.Close()
		if err != nil {
			return fmt.Errorf("replica %d: %w", n+1, err)
		}
		sums = append(sums, sum)
	}
	for n, sum := range sums[1:] {
		if sum != sums[0] {
			f.Equal = false
			f.Detail += fmt.Sprintf("checksums of replica 1 are %s, those of replica %d are %s; ", sums[0], n+2, sum)
		}
	}
	return nil
}

// audit looks at the transactions on one replica. The worst replica counts.
func (c *Config) audit(ctx context.Context, db *sql.DB, l *load, before int64, f *result.Failover) error {
	found := map[int64]bool{}
	rows, err := db.QueryContext(ctx, "SELECT id FROM "+table)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		found[id] = true
	}
	if err := rows.Err(); err != nil {
		return err
	}
	there := len(found)
	var lost, kept uint64
	for _, t := range l.terminals {
		for _, a := range t.acks {
			if !found[a.id] {
				lost++
			}
			delete(found, a.id)
		}
		for _, id := range t.unknown {
			if found[id] {
				kept++
			}
			delete(found, id)
		}
	}
	f.Lost, f.UnansweredKept, f.Strangers = max(f.Lost, lost), max(f.UnansweredKept, kept), max(f.Strangers, uint64(len(found)))
	after, err := c.sum(ctx, db)
	if err != nil {
		return err
	}
	if after-before != int64(there) { // a transaction is there in part
		f.Equal = false
		f.Detail += fmt.Sprintf("%d transactions are there, and rows changed for %d; ", there, after-before)
	}
	return nil
}

// checksum is that of every table, as one text.
func (c *Config) checksum(ctx context.Context, db *sql.DB) (string, error) {
	names := []string{table}
	for n := range c.Tables {
		names = append(names, fmt.Sprintf("sbtest%d", n+1))
	}
	rows, err := db.QueryContext(ctx, "CHECKSUM TABLE "+strings.Join(names, ", "))
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var name string
		var sum sql.NullInt64
		if err := rows.Scan(&name, &sum); err != nil {
			return "", err
		}
		if !sum.Valid {
			return "", fmt.Errorf("no checksum of %s", name)
		}
		out = append(out, fmt.Sprint(sum.Int64))
	}
	return strings.Join(out, " "), rows.Err()
}
