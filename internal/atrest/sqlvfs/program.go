package sqlvfs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// p2IsRegister is the flag in P5 that makes P2 of OpenWrite the number of a
// register, which holds the root page (OPFLAG_P2ISREG in sqliteInt.h).
const p2IsRegister = 0x10

// readProgram adds to o.reads the columns that the compiled form of query
// takes from its cursors. See https://sqlite.org/opcode.html.
func (o *originFinder) readProgram(query string) error {
	cursors := map[int]*cursorMap{}
	err := o.each("EXPLAIN "+query, nil, func(row *sqlite3.Stmt) error {
		opcode, p1, p2, p3 := row.ColumnText(1), row.ColumnInt(2), row.ColumnInt(3), row.ColumnInt(4)
		switch opcode {
		case "OpenRead", "OpenWrite", "ReopenIdx":
			if row.ColumnInt(6)&p2IsRegister != 0 {
				delete(cursors, p1) // a table this statement makes
				return nil
			}
			m, err := o.cursor(p2, p3)
			if err != nil {
				return err
			}
			cursors[p1] = m
		case "OpenDup":
			cursors[p1] = cursors[p2]
		case "OpenEphemeral", "OpenAutoindex", "OpenPseudo", "SorterOpen":
			delete(cursors, p1)
		case "VOpen":
			return o.virtual()
		case "Column":
			o.readColumn(cursors[p1], p2)
		case "Rowid", "IdxRowid":
			if m := cursors[p1]; m != nil && m.rowid != "" {
				o.reads[Column{m.schema, m.table, m.rowid}] = true
			}
		case "RowData", "RowCell":
			if m := cursors[p1]; m != nil {
				o.reads[Column{m.schema, m.table, "*"}] = true
			}
		}
		return nil
	})
	if err != nil && strings.HasPrefix(strings.ToUpper(strings.TrimSpace(query)), "EXPLAIN") {
		return nil // shows a program, reads no table
	}
	return err
}

// A cursorMap names the columns behind a cursor: names[i] is the i-th field of
// its records, "" one that is no plain column.
type cursorMap struct {
	schema, table string
	names         []string
	rowid         string // the column that is an alias of the rowid, or ""
}

func (o *originFinder) readColumn(m *cursorMap, field int) {
	if m == nil {
		return // a sorter, a temporary table: its content was read elsewhere
	}
	name := "*"
	if field < len(m.names) && m.names[field] != "" {
		name = m.names[field]
	}
	o.reads[Column{m.schema, m.table, name}] = true
}

// cursor describes the table or index whose b-tree starts at page root of
// database number db.
func (o *originFinder) cursor(root, db int) (*cursorMap, error) {
	schemas, err := o.strings(`SELECT name FROM pragma_database_list WHERE seq = ?1`, db)
	if err != nil {
		return nil, err
	}
	if len(schemas) != 1 {
		return nil, fmt.Errorf("%w: no database %d", ErrOpaque, db)
	}
	m := &cursorMap{schema: schemas[0]}
	if root == 1 {
		m.table = "sqlite_schema"
		return m, nil
	}
	var kind, object string
	err = o.each(`SELECT type, name, tbl_name FROM `+sqlite3.QuoteIdentifier(m.schema)+`.sqlite_schema
		WHERE rootpage = ?1`, []any{root}, func(row *sqlite3.Stmt) error {
		kind, object, m.table = row.ColumnText(0), row.ColumnText(1), row.ColumnText(2)
		return nil
	})
	if err != nil {
		return nil, err
	}
	switch kind {
	case "table":
		err = o.tableFields(m)
	case "index":
		m.names, err = o.strings(`SELECT CASE WHEN cid >= 0 THEN name ELSE '' END FROM pragma_index_xinfo(?1, ?2) ORDER BY seqno`, object, m.schema)
		if err == nil {
			m.rowid, err = o.rowidAlias(m)
		}
	default:
		return nil, fmt.Errorf("%w: root page %d of %s is unknown", ErrOpaque, root, m.schema)
	}
	return m, err
}

// tableFields lists the stored columns of m.table in record order. A stored
// generated column holds what others do, so it stands for all of them.
func (o *originFinder) tableFields(m *cursorMap) error {
	withoutRowid, err := o.strings(`SELECT 1 FROM pragma_table_list WHERE schema = ?1 AND name = ?2 AND wr = 1`, m.schema, m.table)
	if err != nil {
		return err
	}
	if len(withoutRowid) > 0 {
		// The records are those of the primary key's index.
		pk, err := o.strings(`SELECT name FROM pragma_index_list(?1, ?2) WHERE origin = 'pk'`, m.table, m.schema)
		if err != nil || len(pk) != 1 {
			return err
		}
		m.names, err = o.strings(`SELECT CASE WHEN cid >= 0 THEN name ELSE '' END FROM pragma_index_xinfo(?1, ?2) ORDER BY seqno`, pk[0], m.schema)
		return err
	}
	m.names, err = o.strings(`SELECT CASE hidden WHEN 3 THEN '' ELSE name END FROM pragma_table_xinfo(?1, ?2) WHERE hidden <> 2 ORDER BY cid`, m.table, m.schema)
	if err != nil {
		return err
	}
	m.rowid, err = o.rowidAlias(m)
	return err
}

// rowidAlias finds the INTEGER PRIMARY KEY of m.table.
func (o *originFinder) rowidAlias(m *cursorMap) (string, error) {
	pk, err := o.strings(`SELECT name FROM pragma_table_xinfo(?1, ?2) WHERE pk > 0 AND type = 'INTEGER' COLLATE NOCASE`, m.table, m.schema)
	if err != nil || len(pk) != 1 {
		return "", err
	}
	return pk[0], nil
}

// harmless are the virtual tables that show only their arguments or the
// schema.
var harmless = []string{"json_each", "json_tree", "generate_series"}

// virtual checks the virtual tables among the reads: SQLite does not tell what
// they read themselves.
func (o *originFinder) virtual() error {
	for r := range o.reads {
		kinds, err := o.strings(`SELECT type FROM pragma_table_list WHERE name = ?1 COLLATE NOCASE`, r.Table)
		if err != nil {
			return err
		}
		name := strings.ToLower(r.Table)
		if slices.Contains(harmless, name) || strings.HasPrefix(name, "pragma_") {
			continue
		}
		if len(kinds) == 0 || slices.Contains(kinds, "virtual") {
			return fmt.Errorf("%w: it uses the virtual table %s", ErrOpaque, r.Table)
		}
	}
	return nil
}
