package sqlvfs

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/ncruces/go-sqlite3"
	sqlitedriver "github.com/ncruces/go-sqlite3/driver"
)

// A Flow is a way data takes inside a statement that writes: values of From can
// end in To. To.Name is empty where any column of the table can be meant, or
// where the statement alters the table; From then holds the table's "*".
type Flow struct {
	To   Column
	From []Column
}

// Flows says what query would write, and from where, without running it; its
// own parameters and literals are not counted. It errs on the side of too
// much: as soon as a SELECT takes part, everything read counts as written
// everywhere. It fails with ErrOpaque for statements SQLite tells nothing
// about, such as VACUUM. As with Origins, ask once for each text.
func Flows(ctx context.Context, c driver.Conn, query string) ([]Flow, error) {
	dc, ok := c.(sqlitedriver.Conn)
	if !ok {
		return nil, fmt.Errorf("find flows: %T is not a SQLite connection", c)
	}
	conn := dc.Raw()
	if old := conn.SetInterrupt(ctx); old != ctx {
		defer conn.SetInterrupt(old)
	}
	var f flowFinder
	if err := conn.SetAuthorizer(f.authorize); err != nil {
		return nil, fmt.Errorf("find flows: %w", err)
	}
	stmt, tail, err := conn.Prepare(query)
	if aerr := conn.SetAuthorizer(nil); err == nil {
		err = aerr
	}
	if err != nil {
		return nil, fmt.Errorf("find flows: %w", err)
	}
	if stmt == nil {
		return nil, nil // only blanks and comments
	}
	defer stmt.Close()
	switch {
	case strings.TrimSpace(tail) != "":
		return nil, errors.New("find flows: more than one statement")
	case len(f.events) == 0 && !stmt.ReadOnly():
		return nil, fmt.Errorf("find flows: %w", ErrOpaque)
	}
	return f.flows(), nil
}

// flowFinder keeps what SQLite asks its authorizer, in order. SQLite compiles
// an UPDATE's new values one after the other, asking for the columns each reads
// and then for the column it is for, before it looks at anything else
// (sqlite3Update in update.c).
type flowFinder struct {
	events  []flowEvent
	selects bool
}

type flowEvent struct {
	action sqlite3.AuthorizerActionCode
	column Column
	inner  string // the trigger it happens in
}

func (f *flowFinder) authorize(action sqlite3.AuthorizerActionCode, name3, name4, schema, inner string) sqlite3.AuthorizerReturnCode {
	e := flowEvent{action, Column{schema, name3, name4}, inner}
	switch action {
	case sqlite3.AUTH_SELECT:
		f.selects = true
	case sqlite3.AUTH_ALTER_TABLE:
		e.column = Column{Schema: name3, Table: name4}
	}
	f.events = append(f.events, e)
	return sqlite3.AUTH_OK
}

func (f *flowFinder) flows() []Flow {
	var flows []Flow
	for i, e := range f.events {
		if isSchemaTable(e.column.Table) {
			continue
		}
		switch e.action {
		case sqlite3.AUTH_INSERT:
			to := Column{Schema: e.column.Schema, Table: e.column.Table}
			flows = append(flows, Flow{to, f.reads(e, 0, len(f.events), e.inner != "")})
		case sqlite3.AUTH_UPDATE:
			flows = append(flows, Flow{e.column, f.reads(e, f.previousUpdate(i), i, true)})
		case sqlite3.AUTH_CREATE_TABLE, sqlite3.AUTH_CREATE_TEMP_TABLE:
			to := Column{Schema: e.column.Schema, Table: e.column.Table}
			flows = append(flows, Flow{to, f.reads(e, 0, 0, false)})
		case sqlite3.AUTH_ALTER_TABLE:
			all := Column{Schema: e.column.Schema, Table: e.column.Table, Name: "*"}
			flows = append(flows, Flow{e.column, []Column{all}})
		}
	}
	return flows
}

// reads lists what flows into the target of event to: all reads if a SELECT
// takes part; otherwise, if direct, those of the same trigger between events
// from and end.
func (f *flowFinder) reads(to flowEvent, from, end int, direct bool) []Column {
	var list []Column
	for i, e := range f.events {
		if e.action != sqlite3.AUTH_READ || e.column.Name == "" || isSchemaTable(e.column.Table) {
			continue
		}
		if f.selects || direct && e.inner == to.inner && from <= i && i < end {
			list = append(list, e.column)
		}
	}
	return list
}

// previousUpdate returns the index behind the UPDATE event before event i, of
// the same trigger.
func (f *flowFinder) previousUpdate(i int) int {
	for j := i - 1; j >= 0; j-- {
		if f.events[j].action == sqlite3.AUTH_UPDATE && f.events[j].inner == f.events[i].inner {
			return j + 1
		}
	}
	return 0
}

// isSchemaTable reports whether name is a table in which SQLite keeps the
// schema itself, by the name the authorizer gives it.
func isSchemaTable(name string) bool { return name == "sqlite_master" || name == "sqlite_temp_master" }
