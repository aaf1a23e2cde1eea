package gate

import (
	"fmt"
	"strings"

	"github.com/veildb/veildb/internal/inuse/wire"
	"github.com/veildb/veildb/internal/sql/schema"
)

// systemSchemas are not part of a catalog, but for some of information_schema.
const systemSchemas = `('information_schema','performance_schema','mysql','sys','` + SharedDatabase + `')`

// fold is the form in which names are compared where their case does not count.
func fold(s string) string { return strings.ToLower(s) }

// privileges the service account needs everywhere: without one of them the
// server hides objects instead of refusing.
var privileges = []string{"SELECT", "SHOW VIEW", "TRIGGER"}

// ReadCatalog reads the catalog over c, which is logged in as the service
// account with the character set utf8mb4.
func ReadCatalog(c *wire.Conn) (*schema.Catalog, error) {
	cat := new(schema.Catalog)
	err := queryStrings(c, "SELECT @@lower_case_table_names, VERSION()", func(v []string) {
		names := schema.IgnoreCase
		if v[0] == "0" {
			names = schema.MatchCase
		}
		cat = schema.NewCatalog(schema.ParseServer(v[1]), names)
	})
	if err != nil {
		return nil, fmt.Errorf("read catalog: %w", err)
	}
	r := catalogReader{cat}
	for _, q := range []struct {
		sql string
		row func(v []string)
	}{
		{"SELECT PRIVILEGE_TYPE FROM information_schema.USER_PRIVILEGES WHERE REPLACE(GRANTEE,'''','') = CURRENT_USER()", r.privilege()},
		{"SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, IFNULL(ENGINE,'') FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN " + systemSchemas, r.table},
		{"SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, EXTRA, IFNULL(GENERATION_EXPRESSION,''), IFNULL(COLUMN_DEFAULT,'') FROM information_schema.COLUMNS WHERE TABLE_SCHEMA NOT IN " + systemSchemas +
			" OR TABLE_SCHEMA = 'information_schema' AND TABLE_NAME IN ('" + strings.ToUpper(strings.Join(described, "','")) + "') ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION", r.column},
		{"SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION, DEFINER FROM information_schema.VIEWS WHERE TABLE_SCHEMA NOT IN " + systemSchemas, r.view},
		{"SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, NON_UNIQUE, IFNULL(COLUMN_NAME,'') FROM information_schema.STATISTICS WHERE TABLE_SCHEMA NOT IN " + systemSchemas + " ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX", r.key},
		{"SELECT k.TABLE_SCHEMA, k.TABLE_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_SCHEMA, k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME, k.CONSTRAINT_NAME, r.UPDATE_RULE, r.DELETE_RULE" +
			" FROM information_schema.KEY_COLUMN_USAGE k JOIN information_schema.REFERENTIAL_CONSTRAINTS r ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME" +
			" WHERE k.REFERENCED_TABLE_NAME IS NOT NULL ORDER BY k.TABLE_SCHEMA, k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION", r.foreign},
		{"SELECT EVENT_OBJECT_SCHEMA, EVENT_OBJECT_TABLE, TRIGGER_NAME, ACTION_TIMING, EVENT_MANIPULATION, ACTION_STATEMENT FROM information_schema.TRIGGERS", r.trigger},
		{"SELECT ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_TYPE, IFNULL(ROUTINE_DEFINITION,'') FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA NOT IN " + systemSchemas, r.routine},
		{r.checks(), r.check},
		{"SELECT EVENT_SCHEMA, EVENT_NAME, EVENT_DEFINITION FROM information_schema.EVENTS", r.event},
	} {
		if q.sql == "" {
			continue
		}
		if err := queryStrings(c, q.sql, q.row); err != nil {
			return nil, fmt.Errorf("read catalog: %w", err)
		}
	}
	return cat, nil
}

// A catalogReader takes the rows of information_schema.
type catalogReader struct{ *schema.Catalog }

func (r catalogReader) table(v []string) {
	t := &schema.Table{TableName: schema.TableName{Database: v[0], Table: v[1]}, Engine: v[3]}
	switch v[2] {
	case "VIEW", "SYSTEM VIEW":
		t.Kind = schema.View
	case "SEQUENCE":
		t.Kind = schema.Sequence
	}
	r.Add(t)
}

func (r catalogReader) at(v []string) *schema.Table {
	return r.Table(schema.TableName{Database: v[0], Table: v[1]})
}

func (r catalogReader) column(v []string) {
	t := r.at(v)
	if t == nil && fold(v[0]) == schema.InformationSchema {
		t = &schema.Table{TableName: schema.TableName{Database: v[0], Table: v[1]}, Kind: schema.System}
		r.Add(t)
	}
	if t == nil {
		return
	}
	extra := strings.ToUpper(v[5])
	c := schema.TableColumn{Name: v[2], Type: v[3], Nullable: v[4] == "YES", Invisible: strings.Contains(extra, "INVISIBLE"), Stamped: strings.Contains(extra, "ON UPDATE"), Numbered: strings.Contains(extra, "AUTO_INCREMENT"), Generated: v[6], Default: v[7]}
	if !r.Server.MariaDB {
		if !strings.Contains(extra, "DEFAULT_GENERATED") {
			c.Default = "" // MySQL shows literals without their quotes
		}
		c.Generated, c.Default = escaped.Replace(c.Generated), escaped.Replace(c.Default)
	}
	t.Columns = append(t.Columns, c)
}

// escaped takes back what MySQL does to the quotes of expressions it describes.
var escaped = strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\"`, `"`)

func (r catalogReader) view(v []string) {
	if t := r.at(v); t != nil {
		t.Definition, t.Definer = v[2], v[3]
	}
}

func (r catalogReader) key(v []string) {
	t := r.at(v)
	if t == nil {
		return
	}
	if n := len(t.Keys); n == 0 || t.Keys[n-1].Name != v[2] {
		t.Keys = append(t.Keys, schema.Key{Name: v[2], Unique: v[3] == "0"})
	}
	k := &t.Keys[len(t.Keys)-1]
	k.Columns = append(k.Columns, v[4])
}

func (r catalogReader) foreign(v []string) {
	t := r.at(v)
	if t == nil {
		return
	}
	if n := len(t.Foreign); n == 0 || t.Foreign[n-1].Name != v[6] {
		t.Foreign = append(t.Foreign, schema.ForeignKey{Name: v[6], Ref: schema.TableName{Database: v[3], Table: v[4]}, OnUpdate: v[7], OnDelete: v[8]})
	}
	f := &t.Foreign[len(t.Foreign)-1]
	f.Columns, f.RefColumns = append(f.Columns, v[2]), append(f.RefColumns, v[5])
}

func (r catalogReader) trigger(v []string) {
	if t := r.at(v); t != nil {
		t.Triggers = append(t.Triggers, schema.Trigger{Name: v[2], Timing: v[3], Event: v[4], Body: v[5]})
	}
}

// checks asks for the CHECK constraints of tables, "" for servers that have
// none.
func (r catalogReader) checks() string {
	switch s := r.Server; {
	case s.MariaDB && s.Version >= 100201:
		return "SELECT CONSTRAINT_SCHEMA, TABLE_NAME, IFNULL(CHECK_CLAUSE,'') FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA NOT IN " + systemSchemas +
			" ORDER BY CONSTRAINT_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, CHECK_CLAUSE"
	case !s.MariaDB && s.Version >= 80016:
		return "SELECT t.TABLE_SCHEMA, t.TABLE_NAME, IFNULL(c.CHECK_CLAUSE,'') FROM information_schema.TABLE_CONSTRAINTS t LEFT JOIN information_schema.CHECK_CONSTRAINTS c" +
			" ON c.CONSTRAINT_SCHEMA = t.CONSTRAINT_SCHEMA AND c.CONSTRAINT_NAME = t.CONSTRAINT_NAME WHERE t.CONSTRAINT_TYPE = 'CHECK' AND t.TABLE_SCHEMA NOT IN " + systemSchemas +
			" ORDER BY t.TABLE_SCHEMA, t.TABLE_NAME, t.CONSTRAINT_NAME"
	}
	return ""
}

func (r catalogReader) check(v []string) {
	t := r.at(v)
	if t == nil {
		return
	}
	if !r.Server.MariaDB {
		v[2] = escaped.Replace(v[2])
	}
	t.Checks = append(t.Checks, v[2])
}

func (r catalogReader) routine(v []string) {
	r.AddRoutine(&schema.Routine{TableName: schema.TableName{Database: v[0], Table: v[1]}, Procedure: v[2] == "PROCEDURE", Body: v[3]})
}

func (r catalogReader) event(v []string) {
	r.Events = append(r.Events, schema.Event{TableName: schema.TableName{Database: v[0], Table: v[1]}, Body: v[2]})
}

// privilege returns what notes the privileges the service account has.
func (r catalogReader) privilege() func(v []string) {
	missing := map[string]bool{}
	for _, p := range privileges {
		missing[p] = true
	}
	say := func() {
		r.Blind = ""
		for _, p := range privileges {
			if missing[p] {
				r.Blind = p
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
