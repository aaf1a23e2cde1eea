package tpcc

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// LoadConfig describes an initial database.
type LoadConfig struct {
	Dialect    dsn.Dialect
	Flavor     Flavor // "" is BenchBase
	Warehouses int
	Seed       uint64
	// Loaders is how many warehouses are loaded at once; 0 is one for each
	// processor. SQLite, which has one writer, ignores it.
	Loaders int
	// NoRoutines leaves out the routines of HammerDB's flavor, where the account
	// may not create any.
	NoRoutines bool
	// Beside names tables that may be in the database.
	Beside []string
	// Progress, if not nil, is called now and then with the number of rows
	// loaded so far and of all; the calls come one at a time.
	Progress func(done, total int64)
}

// Load creates the nine tables in db, which must be empty, and fills them:
// about 500,000 rows and 100,000 items a warehouse. Equal configurations give
// equal data. It returns ErrNotEmpty, ErrLoaded or ErrHalfLoaded for a database
// that holds something, and leaves it alone; after any other error, ctx's
// included, the database is half loaded and Cleanup clears it.
func Load(ctx context.Context, db *sql.DB, c LoadConfig) error {
	flavor, err := ParseFlavor(string(c.Flavor))
	if err != nil {
		return fmt.Errorf("load tpcc: %w", err)
	}
	c.Flavor = flavor
	if err := (Config{Dialect: c.Dialect, Flavor: c.Flavor, Warehouses: c.Warehouses, Terminals: 1}).Validate(); err != nil {
		return fmt.Errorf("load tpcc: %w", err)
	}
	if err := refuse(ctx, db, c.Dialect, c.Beside); err != nil {
		return fmt.Errorf("load tpcc: %w", err)
	}
	p := profiles[c.Flavor]
	l := &loader{LoadConfig: c, db: db, population: population{profile: &p, seed: c.Seed}, tables: map[string]table{}}
	for _, t := range p.schema() {
		l.tables[t.name] = t
	}
	if err := l.load(ctx); err != nil {
		return fmt.Errorf("load tpcc: %w", err)
	}
	return nil
}

// loader is one call of Load.
type loader struct {
	LoadConfig
	population
	db     *sql.DB
	tables map[string]table

	done, total atomic.Int64
	progress    sync.Mutex
}

// part is a share of one table's rows: unit i, of units, adds one or more of
// them to v.
type part struct {
	table string
	units int
	unit  func(v *values, i int)
}

func (l *loader) load(ctx context.Context) error {
	conn, err := l.open(ctx)
	if err != nil {
		return err
	}
	defer discard(conn)
	if err := createMarker(ctx, conn, Info{l.Flavor, l.Warehouses, l.Seed}); err != nil {
		return err
	}
	for _, t := range l.schema() {
		if _, err := conn.ExecContext(ctx, t.create(l.Dialect)); err != nil {
			return fmt.Errorf("create table %s: %w", t.name, err)
		}
	}
	l.count()
	if err := l.fill(ctx, conn, part{"item", numItems, func(v *values, i int) { l.item(v, i+1) }}); err != nil {
		return err
	}
	if err := l.warehouses(ctx, conn); err != nil {
		return err
	}
	for _, t := range l.schema() {
		for _, s := range t.finish(l.Dialect) {
			if _, err := conn.ExecContext(ctx, s); err != nil {
				return fmt.Errorf("complete table %s: %w", t.name, err)
			}
		}
	}
	if callable(l.Flavor, l.Dialect) && !l.NoRoutines {
		if err := createRoutines(ctx, conn, l.Dialect); err != nil {
			return err
		}
	}
	return l.finish(ctx, conn)
}

// count sums the rows to come.
func (l *loader) count() {
	for _, t := range l.schema() {
		if t.rows != nil {
			l.total.Add(int64(t.rows(l.Warehouses)))
		}
	}
	for w := range l.Warehouses {
		for i := range districtsPerWH * ordersPerDistrict {
			l.total.Add(int64(l.lines(w+1, i/ordersPerDistrict+1, i%ordersPerDistrict+1)))
		}
	}
}

// open returns a connection set up for loading: nobody else works on the
// database, and the data need no checks.
func (l *loader) open(ctx context.Context) (*sql.Conn, error) {
	conn, err := l.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range map[dsn.Dialect][]string{
		dsn.SQLite: {"PRAGMA foreign_keys = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -65536"},
		dsn.MySQL:  {"SET foreign_key_checks = 0", "SET unique_checks = 0"},
	}[l.Dialect] {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			conn.Close()
			return nil, err
		}
	}
	return conn, nil
}

// warehouses loads them, several at once where the server can.
func (l *loader) warehouses(ctx context.Context, conn *sql.Conn) error {
	n := l.Loaders
	if n <= 0 {
		n = runtime.NumCPU()
	}
	n = min(n, l.Warehouses)
	if l.Dialect == dsn.SQLite || n == 1 {
		for w := range l.Warehouses {
			if err := l.warehouseParts(ctx, conn, w+1); err != nil {
				return err
			}
		}
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range n {
		workers.Go(func() {
			c, err := l.open(ctx)
			if err != nil {
				cancel(err)
				return
			}
			defer discard(c)
			for w := int(next.Add(1)); w <= l.Warehouses && err == nil; w = int(next.Add(1)) {
				err = l.warehouseParts(ctx, c, w)
			}
			if err != nil {
				cancel(err)
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// warehouseParts loads warehouse w.
func (l *loader) warehouseParts(ctx context.Context, conn *sql.Conn, w int) error {
	district := func(i, n int) (d, k int) { return i/n + 1, i%n + 1 }
	var customers [districtsPerWH][]int
	for d := range customers {
		customers[d] = l.customersOf(w, d+1)
	}
	const nc, no = districtsPerWH * customersPerDistrict, districtsPerWH * ordersPerDistrict
	const open = ordersPerDistrict - firstOpenOrder + 1
	for _, p := range []part{
		{"warehouse", 1, func(v *values, i int) { l.warehouse(v, w) }},
		{"district", districtsPerWH, func(v *values, i int) { l.district(v, w, i+1) }},
		{"stock", numItems, func(v *values, i int) { l.stock(v, w, i+1) }},
		{"customer", nc, func(v *values, i int) {
			d, c := district(i, customersPerDistrict)
			l.customer(v, w, d, c)
		}},
		{"history", nc, func(v *values, i int) {
			d, c := district(i, customersPerDistrict)
			l.history(v, w, d, c)
		}},
		{l.orders, no, func(v *values, i int) {
			d, o := district(i, ordersPerDistrict)
			l.order(v, w, d, o, customers[d-1][o-1])
		}},
		{"new_order", districtsPerWH * open, func(v *values, i int) {
			d, o := district(i, open)
			l.newOrder(v, w, d, o+firstOpenOrder-1)
		}},
		{"order_line", no, func(v *values, i int) {
			d, o := district(i, ordersPerDistrict)
			for n := range l.lines(w, d, o) {
				l.orderLine(v, w, d, o, n+1)
			}
		}},
	} {
		if err := l.fill(ctx, conn, p); err != nil {
			return fmt.Errorf("fill table %s: %w", p.table, err)
		}
	}
	return nil
}

// fill loads one part in one transaction.
func (l *loader) fill(ctx context.Context, conn *sql.Conn, p part) error {
	if l.Dialect == dsn.Postgres {
		var names []string
		for _, c := range l.tables[p.table].columns {
			names = append(names, c.name)
		}
		r := &copyReader{ctx: ctx, loader: l, part: p, values: values{dialect: l.Dialect, copy: true}}
		_, err := dsn.CopyText(ctx, conn, "COPY "+p.table+" ("+strings.Join(names, ",")+") FROM STDIN", r)
		return err
	}
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	err := l.insert(ctx, conn, p)
	if err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	}
	return err
}

// batchRows is the number of rows of an INSERT: more saves round trips, but
// SQLite's cost a row grows again above a few dozen.
func (l *loader) batchRows() int {
	if l.Dialect == dsn.SQLite {
		return 16
	}
	return 250
}

// insert loads one part by INSERTs of many rows.
func (l *loader) insert(ctx context.Context, conn *sql.Conn, p part) error {
	columns := len(l.tables[p.table].columns)
	batch := l.batchRows()
	stmt, err := conn.PrepareContext(ctx, insertText(l.Dialect, p.table, columns, batch))
	if err != nil {
		return err
	}
	defer stmt.Close()
	quiet := context.WithoutCancel(ctx) // a statement is short; ctx is looked at between them
	v := values{dialect: l.Dialect}
	v.reset()
	for i := range p.units {
		p.unit(&v, i)
		for v.rows >= batch {
			if err := ctx.Err(); err != nil {
				return err
			}
			if _, err := stmt.ExecContext(quiet, v.args[:batch*columns]...); err != nil {
				return err
			}
			v.args = v.args[:copy(v.args, v.args[batch*columns:])]
			v.rows -= batch
			l.advance(batch)
		}
	}
	if v.rows == 0 {
		return nil
	}
	if _, err := conn.ExecContext(ctx, insertText(l.Dialect, p.table, columns, v.rows), v.args...); err != nil {
		return err
	}
	l.advance(v.rows)
	return nil
}

func insertText(d dsn.Dialect, table string, columns, rows int) string {
	row := "(" + strings.TrimSuffix(strings.Repeat("?,", columns), ",") + ")"
	return d.Rebind("INSERT INTO " + table + " VALUES " + strings.TrimSuffix(strings.Repeat(row+",", rows), ","))
}

// progressRows is how often Progress is called.
const progressRows = 10_000

// advance counts rows and reports them.
func (l *loader) advance(rows int) {
	now := l.done.Add(int64(rows))
	if l.Progress == nil || now/progressRows == (now-int64(rows))/progressRows && now != l.total.Load() {
		return
	}
	l.progress.Lock()
	defer l.progress.Unlock()
	l.Progress(l.done.Load(), l.total.Load())
}

// finish leaves the database as a run wants to find it: statistics made,
// nothing waiting to be written, the marker set last of all.
func (l *loader) finish(ctx context.Context, conn *sql.Conn) error {
	var names []string
	for _, t := range l.schema() {
		names = append(names, t.name)
	}
	last := map[dsn.Dialect][]string{
		dsn.SQLite:   {"ANALYZE", "PRAGMA synchronous = FULL", "PRAGMA wal_checkpoint(TRUNCATE)"},
		dsn.MySQL:    {"ANALYZE TABLE " + strings.Join(names, ", ")},
		dsn.Postgres: {"VACUUM ANALYZE " + strings.Join(names, ", ")},
	}[l.Dialect]
	for _, s := range last {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("finish load: %w", err)
		}
	}
	return finishMarker(ctx, conn)
}

// discard closes c for good: its session settings must not reach another user
// of the pool.
func discard(c *sql.Conn) {
	c.Raw(func(any) error { return driver.ErrBadConn })
	c.Close()
}

// copyReader makes the rows of a part while PostgreSQL's COPY reads them.
type copyReader struct {
	ctx context.Context
	*loader
	part
	values
	next int // unit
	off  int // into text
}

// Read implements io.Reader.
func (r *copyReader) Read(b []byte) (int, error) {
	if r.off == len(r.text) {
		r.advance(r.values.rows)
		r.reset()
		r.off = 0
		for r.next < r.units && len(r.text) < 1<<16 {
			r.unit(&r.values, r.next)
			r.next++
		}
		if len(r.text) == 0 {
			return 0, io.EOF
		}
		if err := r.ctx.Err(); err != nil {
			return 0, err
		}
	}
	n := copy(b, r.text[r.off:])
	r.off += n
	return n, nil
}
