package sqlvfs

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/ncruces/go-sqlite3"
	sqlitedriver "github.com/ncruces/go-sqlite3/driver"
)

// A Watch notices changes of the schemas one connection sees, made by whatever
// process. It belongs to its connection and is closed before it.
type Watch struct {
	conn     *sqlite3.Conn
	sentinel *sqlite3.Stmt // recompiled by SQLite whenever a schema changes
	compiled int           // how often, when state was read
	state    string        // the databases, their files and schema cookies
	version  uint64        // counts changes of state
}

// NewWatch starts to watch c, a connection of Connector.
func NewWatch(c driver.Conn) (*Watch, error) {
	dc, ok := c.(sqlitedriver.Conn)
	if !ok {
		return nil, fmt.Errorf("watch schema: %T is not a SQLite connection", c)
	}
	return &Watch{conn: dc.Raw()}, nil
}

// Version returns a number that is the same as long as every SQL text means
// the same on the connection. On return the connection's own copy of the
// schemas is no older than the number. The usual call, when nothing changed,
// is one step of a prepared statement.
func (w *Watch) Version(ctx context.Context) (uint64, error) {
	if old := w.conn.SetInterrupt(ctx); old != ctx {
		defer w.conn.SetInterrupt(old)
	}
	// A step that fails, as after DETACH, says that something changed.
	if w.sentinel != nil && w.step() == nil && recompiled(w.sentinel) == w.compiled {
		return w.version, nil
	}
	if err := w.look(); err != nil {
		return 0, fmt.Errorf("watch schema: %w", err)
	}
	return w.version, nil
}

// Close ends the watch.
func (w *Watch) Close() error { return w.sentinel.Close() }

// look reads the state, and makes a sentinel for the databases there are. The
// temporary database needs none: only this connection changes it, and SQLite
// then recompiles every statement.
func (w *Watch) look() error {
	o := &originFinder{conn: w.conn}
	names, err := o.strings(`SELECT name FROM pragma_database_list ORDER BY seq`)
	if err != nil {
		return err
	}
	var state, query strings.Builder
	query.WriteString("SELECT 1 FROM ")
	for i, name := range names {
		quoted := sqlite3.QuoteIdentifier(name)
		cookie, err := o.strings("PRAGMA " + quoted + ".schema_version")
		if err != nil {
			return err
		}
		file := ""
		if f := w.conn.Filename(name); f != nil {
			file = f.String()
		}
		fmt.Fprintf(&state, "%q %q %q\n", name, file, cookie)
		if name == "temp" {
			continue
		}
		if i > 0 {
			query.WriteString(", ")
		}
		query.WriteString(quoted + ".sqlite_schema")
	}
	query.WriteString(" LIMIT 0")
	if w.sentinel == nil || w.sentinel.SQL() != query.String() {
		stmt, _, err := w.conn.Prepare(query.String())
		if err != nil {
			return err
		}
		w.sentinel.Close()
		w.sentinel = stmt
	}
	// Whatever changed since the cookies were read is loaded now.
	if err := w.step(); err != nil {
		return err
	}
	w.compiled = recompiled(w.sentinel)
	if w.version == 0 || w.state != state.String() {
		w.state = state.String()
		w.version++
	}
	return nil
}

func (w *Watch) step() error {
	w.sentinel.Step()
	return w.sentinel.Reset()
}

// Recompiled counts how often SQLite has compiled s, a statement of a
// connection of Connector, again by itself since it was prepared: after a
// change of the schema above all.
func Recompiled(s driver.Stmt) (int, error) {
	st, ok := s.(interface {
		Status(sqlite3.StmtStatus, bool) int
	})
	if !ok {
		return 0, fmt.Errorf("ask statement: %T is not a SQLite statement", s)
	}
	return st.Status(sqlite3.STMTSTATUS_REPREPARE, false), nil
}

func recompiled(s *sqlite3.Stmt) int { return s.Status(sqlite3.STMTSTATUS_REPREPARE, false) }
