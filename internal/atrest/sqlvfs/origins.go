package sqlvfs

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
	sqlitedriver "github.com/ncruces/go-sqlite3/driver"
)

// A Column is a column of a table, as the schema spells them. Name "*" stands
// for any column of the table. The zero Column stands for an expression.
type Column struct {
	Schema string // main, temp or the name given to ATTACH
	Table  string
	Name   string
}

// ErrOpaque is matched by the error of Origins for a statement whose reads
// SQLite does not tell.
var ErrOpaque = errors.New("what the statement reads cannot be determined")

// Origins says where the result columns of query come from and what the
// statement may read, without running it. c must be a connection of Connector.
//
// columns has an entry for each result column: the base table's column whose
// values it passes on unchanged, through views and subqueries, or the zero
// Column for everything else. reads holds, sorted, every column of a table or
// view that the statement may use anywhere: in an expression, a condition, a
// join, a trigger. An expression's value depends on no other columns.
//
// It errs on the side of too much: where SQLite's own answer covers only part
// of the rows (compound queries, VALUES), and where a column holds no values of
// its own (generated ones, virtual tables), a column counts as an expression;
// where a use cannot be attributed to a column, the table's "*" is listed. If
// not even that is possible the error matches ErrOpaque. Text with more than
// one statement is an error.
//
// The call makes SQLite prepare the connection's other statements anew at
// their next use, so ask once for each text, not for each execution.
func Origins(ctx context.Context, c driver.Conn, query string) (columns, reads []Column, err error) {
	dc, ok := c.(sqlitedriver.Conn)
	if !ok {
		return nil, nil, fmt.Errorf("find origins: %T is not a SQLite connection", c)
	}
	o := &originFinder{conn: dc.Raw(), reads: map[Column]bool{}}
	if old := o.conn.SetInterrupt(ctx); old != ctx {
		defer o.conn.SetInterrupt(old)
	}
	columns, err = o.find(query)
	if err != nil {
		return nil, nil, fmt.Errorf("find origins: %w", err)
	}
	reads = make([]Column, 0, len(o.reads))
	for r := range o.reads {
		reads = append(reads, r)
	}
	slices.SortFunc(reads, func(a, b Column) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Name, b.Name))
	})
	return columns, reads, nil
}

// originFinder collects what one statement reads, from two witnesses that
// each miss something: the authorizer, which SQLite asks while it resolves
// names (it is not asked for the columns of USING and NATURAL joins), and the
// compiled program, which shows every cursor and column (but not what an
// index search compares).
type originFinder struct {
	conn  *sqlite3.Conn
	reads map[Column]bool
	views []Column // views and triggers gone through; Name is unused
}

func (o *originFinder) find(query string) ([]Column, error) {
	err := o.conn.SetAuthorizer(o.authorize)
	if err != nil {
		return nil, err
	}
	stmt, tail, err := o.conn.Prepare(query)
	if aerr := o.conn.SetAuthorizer(nil); err == nil {
		err = aerr
	}
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return nil, nil // only blanks and comments
	}
	defer stmt.Close()
	if strings.TrimSpace(tail) != "" {
		return nil, errors.New("more than one statement")
	}
	if err := o.readProgram(query); err != nil {
		return nil, err
	}
	if o.readsSamples() {
		return nil, fmt.Errorf("%w: it reads samples ANALYZE has taken of other tables", ErrOpaque)
	}
	columns := make([]Column, stmt.ColumnCount())
	mixed, err := o.mixesRows(query)
	if err != nil || mixed {
		return columns, err
	}
	for i := range columns {
		c := Column{stmt.ColumnDatabaseName(i), stmt.ColumnTableName(i), stmt.ColumnOriginName(i)}
		stored, err := o.isStored(c)
		if err != nil {
			return nil, err
		}
		if stored {
			columns[i] = c
		}
	}
	return columns, nil
}

// isStored reports whether c holds values of its own. A generated column, and
// any column of a virtual table or a table-valued function such as json_each,
// shows what is computed from others.
func (o *originFinder) isStored(c Column) (bool, error) {
	if c.Name == "" {
		return false, nil
	}
	found, err := o.strings(`SELECT 1 FROM pragma_table_list AS l, pragma_table_xinfo(l.name, l.schema) AS x
		WHERE l.schema = ?1 AND l.name = ?2 AND l.type = 'table' AND x.name = ?3 AND x.hidden = 0`, c.Schema, c.Table, c.Name)
	return len(found) == 1, err
}

// samples are the tables in which ANALYZE keeps values of indexed columns.
var samples = []string{"sqlite_stat3", "sqlite_stat4"}

// readsSamples reports whether the statement shows values whose columns cannot
// be told.
func (o *originFinder) readsSamples() bool {
	for r := range o.reads {
		if slices.Contains(samples, r.Table) && (r.Name == "sample" || r.Name == "*") {
			return true
		}
	}
	return false
}

func (o *originFinder) authorize(action sqlite3.AuthorizerActionCode, name3, name4, schema, inner string) sqlite3.AuthorizerReturnCode {
	if inner != "" {
		o.views = append(o.views, Column{Schema: schema, Table: inner})
	}
	if action == sqlite3.AUTH_READ {
		if name4 != "" { // else the table is named but no column of it
			o.reads[Column{schema, name3, name4}] = true
		}
		o.views = append(o.views, Column{Schema: schema, Table: name3})
	}
	return sqlite3.AUTH_OK
}

// mixing finds the words after which result rows may come from another SELECT
// than the one SQLite reports origins for. A false alarm, in a string or an
// identifier, costs an origin; it never invents one.
var mixing = regexp.MustCompile(`(?i)\b(union|except|intersect|values)\b`)

// mixesRows reports whether the statement or a view it goes through may join
// the rows of several SELECTs.
func (o *originFinder) mixesRows(query string) (bool, error) {
	if mixing.MatchString(query) {
		return true, nil
	}
	seen := map[string]bool{}
	for _, v := range o.views {
		if seen[v.Table] {
			continue
		}
		seen[v.Table] = true
		texts, err := o.definitions(v.Table)
		if err != nil {
			return false, err
		}
		for _, text := range texts {
			if mixing.MatchString(text) {
				return true, nil
			}
		}
	}
	return false, nil
}

// definitions returns the text of the views named name, in any schema: the
// authorizer names the schema of what was read, not that of the view.
func (o *originFinder) definitions(name string) ([]string, error) {
	schemas, err := o.strings(`SELECT name FROM pragma_database_list`)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, schema := range schemas {
		found, err := o.strings(`SELECT sql FROM `+sqlite3.QuoteIdentifier(schema)+`.sqlite_schema
			WHERE type = 'view' AND name = ?1 COLLATE NOCASE`, name)
		if err != nil {
			return nil, err
		}
		texts = append(texts, found...)
	}
	return texts, nil
}

// strings runs query and returns its first column.
func (o *originFinder) strings(query string, args ...any) ([]string, error) {
	var list []string
	err := o.each(query, args, func(row *sqlite3.Stmt) error {
		list = append(list, row.ColumnText(0))
		return nil
	})
	return list, err
}

func (o *originFinder) each(query string, args []any, row func(*sqlite3.Stmt) error) error {
	stmt, _, err := o.conn.Prepare(query)
	if err != nil {
		return err
	}
	defer stmt.Close()
	for i, a := range args {
		switch a := a.(type) {
		case string:
			err = stmt.BindText(i+1, a)
		case int:
			err = stmt.BindInt(i+1, a)
		}
		if err != nil {
			return err
		}
	}
	for stmt.Step() {
		if err := row(stmt); err != nil {
			return err
		}
	}
	return stmt.Err()
}
