// Package sqlend puts the two ends of a confidential database around a
// database/sql driver: a protecting end whose results carry cells instead of
// the values of protected columns, and a revealing end that opens them.
//
//	application -> Reveal -> Protect -> engine          both in one process
//	application ----------> Protect -> engine           sees cells as []byte
//
// The protecting end decides by what the engine says about the compiled
// statement, never by what values look like: a result column that shows a
// protected base column is sealed under that column's label; one that is
// computed, merged or otherwise without one base column is sealed under an
// expression label as soon as the statement reads any protected column
// anywhere; all else passes. What the engine cannot account for is refused.
//
// The revealing end opens exactly the columns the protecting end says it
// sealed. A cell that does not open is an error; ciphertext is never passed on
// as if it were a value, and a plain value that looks like a cell stays as it
// is.
//
// Both ends keep the driver's own behaviour: NULL, types, contexts,
// transactions, prepared statements, column types. Neither offers
// driver.QueryerContext: every query is prepared, so that the statement that
// runs is one that was inspected.
package sqlend

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/veildb/veildb/internal/inuse/cells"
)

var (
	// ErrDenied means a statement would copy protected values to where they
	// are not protected, or take the protection off a column, and
	// Config.Strict refuses such statements.
	ErrDenied = errors.New("statement would take data out of protected columns")

	// ErrShape means a result does not have the columns its statement was
	// inspected for.
	ErrShape = errors.New("result does not have the columns expected")

	// ErrUnsettled means the schema changed each time a statement was inspected.
	ErrUnsettled = errors.New("schema keeps changing")

	// ErrNotProtecting means the connection below a revealing end does not say
	// which columns hold cells.
	ErrNotProtecting = errors.New("not a connection of a protecting end")
)

// A Statement is what an engine knows about a compiled statement.
type Statement struct {
	// Columns has the base column behind each result column whose values it
	// shows unchanged, in every row; the zero Column where there is none.
	Columns []cells.Column
	// Reads has every base column any result can depend on. Column "*" stands
	// for any column of the table.
	Reads []cells.Column
}

// A Flow is a way data takes inside a statement that writes: values of From
// can end in To. To.Column is empty where any column of the table can be meant,
// or where the statement changes the table's definition.
type Flow struct {
	To   cells.Column
	From []cells.Column
}

// An Engine answers for the database below a protecting end. All its methods
// get the engine's own connection and statements, and none runs the query.
// Errors mean "not known": the query is refused.
type Engine interface {
	// Inspect says what query shows and reads.
	Inspect(ctx context.Context, conn driver.Conn, query string) (Statement, error)
	// Flows says what query writes, and from where. Only Config.Strict asks.
	Flows(ctx context.Context, conn driver.Conn, query string) ([]Flow, error)
	// Watch starts to watch the schema as conn sees it.
	Watch(ctx context.Context, conn driver.Conn) (Watch, error)
	// Recompiled counts how often the engine itself compiled stmt again, as
	// after a change of the schema, since it was prepared.
	Recompiled(stmt driver.Stmt) (int, error)
}

// A Watch notices changes of the schema. It is used and closed with its
// connection.
type Watch interface {
	// Version returns a number that stays the same as long as every SQL text
	// means the same on the connection.
	Version(ctx context.Context) (uint64, error)
	Close() error
}

// Config says what a protecting end protects, and how.
type Config struct {
	Engine  Engine
	Columns *cells.Set
	Sealer  *cells.Sealer // shared by all connections; the caller closes it
	// Strict refuses, with ErrDenied, statements that copy protected values
	// into columns that are not protected, or that alter a table with
	// protected columns. It takes one statement at a time.
	Strict bool
}

// SealedRows is what the rows of a protecting end offer beside driver.Rows.
type SealedRows interface {
	driver.Rows
	// Labels returns, for the row Next gave last, the label of each column
	// that holds a cell (or NULL) and the zero Label for each other column;
	// nil stands for zero Labels only. It belongs to the rows.
	Labels() []cells.Label
	// Plain returns the rows below, for their column types only: those of the
	// values before they were sealed.
	Plain() driver.Rows
}

// Unwrap returns the driver's own connection below any number of ends.
func Unwrap(c driver.Conn) driver.Conn {
	for {
		w, ok := c.(interface{ unwrap() driver.Conn })
		if !ok {
			return c
		}
		c = w.unwrap()
	}
}
