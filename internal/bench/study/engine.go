package study

import (
	"context"
	"database/sql"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/result"
)

// An Engine keeps the databases of a study: one loaded original for each
// dataset, and fresh copies of it under each variant.
type Engine interface {
	// Dialect is the SQL the engine speaks.
	Dialect() dsn.Dialect
	// Version is the engine's name and version, for the record.
	Version(ctx context.Context) (string, error)
	// Dataset makes sure that the original called name exists. It calls fill
	// with an empty database, unless an earlier run has filled it to the end.
	Dataset(ctx context.Context, name string, fill func(context.Context, *sql.DB) error) error
	// Open opens a fresh copy of the original under variant. arm keeps the
	// two copies of a comparison apart.
	Open(ctx context.Context, dataset, variant, arm string) (*Database, error)
}

// A Database is one arm's copy.
type Database struct {
	DB *sql.DB
	// CPU is the processor time used so far for this arm; see run.Arm.
	CPU func() (result.CPU, error)
	// Generation changes when the engine restarts; nil: it cannot.
	Generation func() (string, error)
	// Private is that the server serves the load alone, with nothing before it
	// that has statements of its own, so that all it counts is the load's.
	Private bool
	// Verify looks, after the load, whether the engine finds the database
	// intact, and copies of it equal; nil: there is nothing to ask. The checks
	// have names, outcomes and details.
	Verify func(ctx context.Context) ([]result.Check, error)
	// Close closes the database and removes the copy.
	Close func() error
}
