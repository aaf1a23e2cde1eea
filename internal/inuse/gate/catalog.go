package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// A Catalog is what a server's databases hold, as far as it decides where
// protected values can be. It never changes.
type Catalog struct {
	// Lower is lower_case_table_names: 0 if the case of table names counts.
	Lower   int
	Version string // of the server
	Tables  map[TableName]*Table
	// Routines holds the folded names of stored functions and procedures.
	Routines map[string]bool
	// Blind says what the service account cannot see, "" if it sees all.
	// Restricted accounts get nothing but refusals then.
	Blind string
}

// A TableName names a table or view.
type TableName struct{ Database, Table string }

// A Table is a table, a sequence or a view.
type Table struct {
	TableName
	View       bool
	Engine     string
	Definition string // of a view
	Columns    []TableColumn
	Triggers   int
	Foreign    []ForeignKey
}

// A TableColumn is a column and the expression its values come from, if any.
type TableColumn struct {
	Name string
	Expr string // generation or default expression
}

// A ForeignKey ties a column to one of another table: both hold the same values.
type ForeignKey struct {
	Column    string
	Ref       TableName
	RefColumn string
}

// systemSchemas are not part of a Catalog.
const systemSchemas = `('information_schema','performance_schema','mysql','sys')`

// fold is the form in which names are compared where their case does not count.
func fold(s string) string { return strings.ToLower(s) }

func (c *Catalog) key(n TableName) TableName {
	if c.Lower != 0 {
		return TableName{fold(n.Database), fold(n.Table)}
	}
	return n
}

// Table finds a table, nil if there is none.
func (c *Catalog) Table(n TableName) *Table { return c.Tables[c.key(n)] }

// privileges the service account needs everywhere: without one of them the
// server hides objects instead of refusing.
var privileges = []string{"SELECT", "SHOW VIEW", "TRIGGER"}

// ReadCatalog reads the catalog over c, which is logged in as the service
// account with the character set utf8mb4.
func ReadCatalog(c *wire.Conn) (*Catalog, error) {
	cat := &Catalog{Tables: map[TableName]*Table{}, Routines: map[string]bool{}}
	for _, q := range []struct {
		sql string
		row func(v []string)
	}{
		{"SELECT @@lower_case_table_names, VERSION()", func(v []string) {
			cat.Version = v[1]
			if v[0] != "0" {
				cat.Lower = 1
			}
		}},
		{"SELECT PRIVILEGE_TYPE FROM information_schema.USER_PRIVILEGES WHERE REPLACE(GRANTEE,'''','') = CURRENT_USER()", cat.privilege()},
		{"SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, IFNULL(ENGINE,'') FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN " + systemSchemas, func(v []string) {
			n := TableName{v[0], v[1]}
			cat.Tables[cat.key(n)] = &Table{TableName: n, View: v[2] == "VIEW", Engine: v[3]}
		}},
		{"SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, CONCAT(IFNULL(GENERATION_EXPRESSION,''), ' ', IFNULL(COLUMN_DEFAULT,'')) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA NOT IN " + systemSchemas + " ORDER BY 1, 2, ORDINAL_POSITION", func(v []string) {
			if t := cat.Table(TableName{v[0], v[1]}); t != nil {
				t.Columns = append(t.Columns, TableColumn{v[2], v[3]})
			}
		}},
		{"SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA NOT IN " + systemSchemas, func(v []string) {
			if t := cat.Table(TableName{v[0], v[1]}); t != nil {
				t.Definition = v[2]
			}
		}},
		{"SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA NOT IN " + systemSchemas, func(v []string) {
			cat.Routines[fold(v[0])] = true
		}},
		{"SELECT EVENT_OBJECT_SCHEMA, EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS", func(v []string) {
			if t := cat.Table(TableName{v[0], v[1]}); t != nil {
				t.Triggers++
			}
		}},
		{"SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_NAME IS NOT NULL", func(v []string) {
			if t := cat.Table(TableName{v[0], v[1]}); t != nil {
				t.Foreign = append(t.Foreign, ForeignKey{v[2], TableName{v[3], v[4]}, v[5]})
			}
		}},
	} {
		if err := queryStrings(c, q.sql, q.row); err != nil {
			return nil, fmt.Errorf("read catalog: %w", err)
		}
	}
	return cat, nil
}

// privilege returns what notes the privileges the service account has.
func (c *Catalog) privilege() func(v []string) {
	missing := map[string]bool{}
	for _, p := range privileges {
		missing[p] = true
	}
	say := func() {
		c.Blind = ""
		for _, p := range privileges {
			if missing[p] {
				c.Blind = p
			}
		}
	}
	say()
	return func(v []string) {
		delete(missing, v[0])
		say()
	}
}

// queryStrings runs sql and calls row with each row's values as strings.
func queryStrings(c *wire.Conn, sql string, row func(v []string)) error {
	var v []string
	return wire.RunQuery(c, sql, func(_ []wire.Column, values [][]byte) error {
		v = v[:0]
		for _, b := range values {
			v = append(v, string(b))
		}
		row(v)
		return nil
	})
}

// equal reports whether two catalogs say the same.
func (c *Catalog) equal(o *Catalog) bool {
	if c.Lower != o.Lower || c.Version != o.Version || c.Blind != o.Blind || len(c.Tables) != len(o.Tables) || !maps.Equal(c.Routines, o.Routines) {
		return false
	}
	for key, t := range c.Tables {
		u := o.Tables[key]
		if u == nil || t.TableName != u.TableName || t.View != u.View || t.Engine != u.Engine || t.Definition != u.Definition || t.Triggers != u.Triggers ||
			!slices.Equal(t.Columns, u.Columns) || !slices.Equal(t.Foreign, u.Foreign) {
			return false
		}
	}
	return true
}
