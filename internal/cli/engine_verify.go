package cli

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/target"
)

// Names of the checks that engines make themselves.
const (
	checkTables   = "tables intact (CHECK TABLE)"
	checkIndexes  = "tables and indexes intact (amcheck)"
	checkFile     = "database intact (PRAGMA quick_check)"
	checkReplicas = "replicas equal (CHECKSUM TABLE)"
)

// quickCheck has SQLite look through a whole database. It reads every table, the
// samples of ANALYZE too, which an end that protects columns refuses; so it has
// a connection of its own.
func quickCheck(ctx context.Context, path string, options sqlvfs.Options) ([]result.Check, error) {
	db, err := sqlvfs.Open(path, options)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var said string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&said); err != nil {
		return nil, err
	}
	c := result.Check{Name: checkFile, OK: said == "ok"}
	if !c.OK {
		c.Detail = said
	}
	return []result.Check{c}, nil
}

// verify asks the servers of an arm, as their administrator, whether they find
// its tables intact, and compares replicas.
func (a *serverArm) verify(ctx context.Context) (checks []result.Check, err error) {
	servers := []*target.Server{}
	switch s := a.server.(type) {
	case *target.Server:
		servers = append(servers, s)
	case *target.Cluster:
		servers = s.Nodes
	}
	var dbs []*sql.DB
	defer func() {
		for _, db := range dbs {
			err = errors.Join(err, db.Close())
		}
	}()
	for _, s := range servers {
		d, err := dsn.Parse(s.DSN())
		if err != nil {
			return nil, err
		}
		db, err := d.Open(ctx, dsn.Options{})
		if err != nil {
			return nil, err
		}
		dbs = append(dbs, db)
	}
	intact := checkTable
	if a.engine.dialect == dsn.Postgres {
		intact = amcheck
	}
	for _, db := range dbs {
		c, err := intact(ctx, db)
		if err != nil {
			return nil, err
		}
		if len(checks) == 0 || !c.OK {
			checks = append(checks, c)
		}
	}
	if len(dbs) > 1 {
		c, err := equalReplicas(ctx, dbs)
		if err != nil {
			return nil, err
		}
		checks = append(checks, c)
	}
	return checks, nil
}

// tableNames lists the tables of the study's database on a MySQL server.
func tableNames(ctx context.Context, db *sql.DB) ([]string, error) {
	names, err := schemaTables(ctx, db, "'"+studyDatabase+"'")
	for i, name := range names {
		names[i] = studyDatabase + ".`" + name + "`"
	}
	return names, err
}

// schemaTables lists the tables of schema, an SQL expression.
func schemaTables(ctx context.Context, db *sql.DB, schema string) ([]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = "+schema+" ORDER BY table_name")
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("list tables: %w", err)
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

func checkTable(ctx context.Context, db *sql.DB) (c result.Check, err error) {
	c = result.Check{Name: checkTables, OK: true}
	names, err := tableNames(ctx, db)
	if err != nil {
		return c, err
	}
	rows, err := db.QueryContext(ctx, "CHECK TABLE "+strings.Join(names, ", "))
	if err != nil {
		return c, err
	}
	defer rows.Close()
	for rows.Next() {
		var table, op, kind, text string
		if err := rows.Scan(&table, &op, &kind, &text); err != nil {
			return c, err
		}
		if kind == "error" || kind == "status" && text != "OK" {
			c.OK = false
			c.Detail += table + ": " + text + "; "
		}
	}
	if c.OK {
		c.Detail = fmt.Sprintf("%d tables", len(names))
	}
	return c, rows.Err()
}

// amcheck has PostgreSQL look through every table and B-tree; where its package
// lacks the extension the check says so and is no failure.
func amcheck(ctx context.Context, db *sql.DB) (c result.Check, err error) {
	c = result.Check{Name: checkIndexes, OK: true}
	var there bool
	if err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'amcheck')").Scan(&there); err != nil {
		return c, err
	}
	if !there {
		c.Detail = "not looked at: the extension amcheck is not installed"
		return c, nil
	}
	if _, err := db.ExecContext(ctx, "CREATE EXTENSION IF NOT EXISTS amcheck"); err != nil {
		return c, err
	}
	var tables, indexes int
	err = db.QueryRowContext(ctx, `SELECT COUNT(*) FROM (SELECT verify_heapam(c.oid) FROM pg_class c
		WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace) x`).Scan(&tables)
	if err == nil && tables > 0 {
		c.OK, c.Detail = false, fmt.Sprintf("%d corruptions of tables", tables)
		return c, nil
	}
	if err == nil {
		err = db.QueryRowContext(ctx, `SELECT COUNT(bt_index_check(i.indexrelid)::text), COUNT(DISTINCT i.indrelid) FROM pg_index i
			JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
			WHERE a.amname = 'btree' AND i.indisvalid AND c.relnamespace = 'public'::regnamespace`).Scan(&indexes, &tables)
	}
	if err != nil && ctx.Err() == nil && dsn.Postgres.Code(err) == "XX002" { // index_corrupted
		c.OK, c.Detail = false, err.Error()
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("check with amcheck: %w", err)
	}
	c.Detail = fmt.Sprintf("%d indexes of %d tables", indexes, tables)
	return c, nil
}

// equalReplicas compares the checksums of every table on every replica.
func equalReplicas(ctx context.Context, dbs []*sql.DB) (c result.Check, err error) {
	c = result.Check{Name: checkReplicas, OK: true}
	var first map[string]string
	for n, db := range dbs {
		sums, err := tableChecksums(ctx, db)
		if err != nil {
			return c, err
		}
		if n == 0 {
			first = sums
			continue
		}
		for name, sum := range sums {
			if first[name] != sum {
				c.OK = false
				c.Detail += fmt.Sprintf("%s differs on replica %d; ", name, n+1)
			}
		}
		if len(sums) != len(first) {
			c.OK = false
			c.Detail += fmt.Sprintf("replica %d has %d tables, not %d; ", n+1, len(sums), len(first))
		}
	}
	if c.OK {
		c.Detail = fmt.Sprintf("%d tables on %d replicas", len(first), len(dbs))
	}
	return c, nil
}

// tableChecksums is the checksum of each table, once the replica has applied
// all it was sent.
func tableChecksums(ctx context.Context, db *sql.DB) (map[string]string, error) {
	names, err := tableNames(ctx, db)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SET SESSION wsrep_sync_wait = 15"); err != nil {
		return nil, err
	}
	var one int
	if err := conn.QueryRowContext(ctx, "SELECT 1").Scan(&one); err != nil { // what waits
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, "CHECKSUM TABLE "+strings.Join(names, ", "))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var name string
		var sum sql.NullString
		if err := rows.Scan(&name, &sum); err != nil {
			return nil, err
		}
		out[name] = sum.String
	}
	return out, rows.Err()
}
