package tpcc

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/veildb/veildb/internal/bench/dsn"
)

var (
	// ErrNotEmpty means that the database holds tables that are not ours.
	ErrNotEmpty = errors.New("the database already holds other tables")
	// ErrLoaded means that the database already holds a finished load.
	ErrLoaded = errors.New("the database is already prepared")
	// ErrHalfLoaded means that a load was interrupted.
	ErrHalfLoaded = errors.New("the database is half loaded")
	// ErrNotLoaded means that there is no load to work with.
	ErrNotLoaded = errors.New("the database is not prepared")
)

// markerTable is our tenth table. It says that the other nine are ours to
// drop, whether their load finished, and what was loaded.
const markerTable = "veildb_tpcc"

const (
	stateLoading = "loading"
	stateReady   = "ready"
)

// Info describes a loaded database.
type Info struct {
	Flavor     Flavor
	Warehouses int
	Seed       uint64
}

// Inspect returns what Load put into db: ErrNotLoaded if nothing, ErrHalfLoaded
// if it did not finish.
func Inspect(ctx context.Context, db *sql.DB, d dsn.Dialect) (Info, error) {
	tables, err := listTables(ctx, db, d)
	if err != nil {
		return Info{}, err
	}
	if !slices.Contains(tables, markerTable) {
		return Info{}, ErrNotLoaded
	}
	values, err := readMarker(ctx, db)
	if err != nil {
		return Info{}, err
	}
	if values["state"] != stateReady {
		return Info{}, ErrHalfLoaded
	}
	var i Info
	if i.Flavor, err = ParseFlavor(values["flavor"]); err != nil {
		return Info{}, fmt.Errorf("read %s: %w", markerTable, err)
	}
	if i.Warehouses, err = strconv.Atoi(values["warehouses"]); err != nil {
		return Info{}, fmt.Errorf("read %s: %w", markerTable, err)
	}
	if i.Seed, err = strconv.ParseUint(values["seed"], 10, 64); err != nil {
		return Info{}, fmt.Errorf("read %s: %w", markerTable, err)
	}
	return i, nil
}

// refuse says why db cannot be loaded, or nil if it is empty.
// Tables called beside may be there.
func refuse(ctx context.Context, db *sql.DB, d dsn.Dialect, beside []string) error {
	tables, err := listTables(ctx, db, d)
	tables = slices.DeleteFunc(tables, func(t string) bool { return slices.Contains(beside, t) })
	switch {
	case err != nil:
		return err
	case len(tables) == 0:
		return nil
	case !slices.Contains(tables, markerTable):
		return fmt.Errorf("%w: %s", ErrNotEmpty, some(tables))
	}
	if _, err = Inspect(ctx, db, d); err == nil {
		return ErrLoaded
	}
	return err
}

// some names a few of the tables.
func some(tables []string) string {
	if len(tables) <= 3 {
		return strings.Join(tables, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(tables[:3], ", "), len(tables)-3)
}

// listTables names the tables and views of the database (PostgreSQL: of the
// current schema), in lower case, sorted.
func listTables(ctx context.Context, db *sql.DB, d dsn.Dialect) ([]string, error) {
	query := "SELECT table_name FROM information_schema.tables WHERE table_schema = "
	switch d {
	case dsn.SQLite:
		query = "SELECT name FROM sqlite_master WHERE type IN ('table','view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
	case dsn.MySQL:
		query += "DATABASE()"
	default:
		query += "current_schema()"
	}
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("list tables: %w", err)
		}
		tables = append(tables, strings.ToLower(name))
	}
	slices.Sort(tables)
	return tables, rows.Err()
}

func readMarker(ctx context.Context, db *sql.DB) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT name, value FROM "+markerTable)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", markerTable, err)
	}
	defer rows.Close()
	m := map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, fmt.Errorf("read %s: %w", markerTable, err)
		}
		m[name] = value
	}
	return m, rows.Err()
}

func createMarker(ctx context.Context, c *sql.Conn, i Info) error {
	for _, s := range []string{
		"CREATE TABLE " + markerTable + " (name VARCHAR(20) NOT NULL PRIMARY KEY, value VARCHAR(64) NOT NULL)",
		"INSERT INTO " + markerTable + " VALUES ('state', '" + stateLoading + "'), ('flavor', '" + string(i.Flavor) +
			"'), ('warehouses', '" + strconv.Itoa(i.Warehouses) + "'), ('seed', '" + strconv.FormatUint(i.Seed, 10) + "')",
	} {
		if _, err := c.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("create %s: %w", markerTable, err)
		}
	}
	return nil
}

func finishMarker(ctx context.Context, c *sql.Conn) error {
	_, err := c.ExecContext(ctx, "UPDATE "+markerTable+" SET value = '"+stateReady+"' WHERE name = 'state'")
	return err
}

// Cleanup drops what Load made, finished or not, and nothing else. Without our
// marker it drops nothing: it returns nil if the database is empty and
// ErrNotEmpty if it is not.
func Cleanup(ctx context.Context, db *sql.DB, d dsn.Dialect) error {
	tables, err := listTables(ctx, db, d)
	if err != nil || len(tables) == 0 {
		return err
	}
	if !slices.Contains(tables, markerTable) {
		return fmt.Errorf("%w: %s", ErrNotEmpty, some(tables))
	}
	values, err := readMarker(ctx, db)
	if err != nil {
		return err
	}
	p, ok := profiles[Flavor(values["flavor"])]
	if !ok {
		p = profiles[BenchBase]
	}
	if callable(Flavor(values["flavor"]), d) {
		if err := DropRoutines(ctx, db, d); err != nil {
			return err
		}
	}
	ours := p.schema()
	slices.Reverse(ours)
	for _, t := range append(ours, table{name: markerTable}) {
		if _, err := db.ExecContext(ctx, "DROP TABLE IF EXISTS "+t.name); err != nil {
			return fmt.Errorf("drop table %s: %w", t.name, err)
		}
	}
	return nil
}
