// Package tpcc is the TPC-C workload: its schema, its data, its five
// transactions and its consistency conditions, in three flavors and three
// dialects of SQL.
package tpcc

import (
	"errors"
	"fmt"
	"slices"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/result"
)

// The transaction types, as indices into Kinds.
const (
	NewOrder = iota
	Payment
	OrderStatus
	Delivery
	StockLevel
	numKinds
)

var kindNames = []string{result.KindNewOrder, "payment", "order_status", "delivery", "stock_level"}

// Isolation levels a Config may ask for.
const (
	Serializable   = "serializable"
	RepeatableRead = "repeatable-read"
	ReadCommitted  = "read-committed"
)

// isolations lists them in help order.
var isolations = []string{Serializable, RepeatableRead, ReadCommitted}

// Config describes a workload. Dialect, Warehouses and Terminals are required.
type Config struct {
	Dialect    dsn.Dialect
	Flavor     Flavor // "" is BenchBase
	Warehouses int    // as loaded
	Terminals  int    // all of them: they share out warehouses and districts
	// Mix holds the weights of the transaction types in the order of Kinds;
	// all zero is the flavor's own.
	Mix [5]int
	// Isolation is serializable, repeatable-read or read-committed; "" is the
	// flavor's own: serializable, or the server's default for HammerDB. SQLite
	// is always serializable.
	Isolation string
	// Batch sends NewOrder's order lines as one statement and its stock
	// updates as another, as BenchBase does with rewritten batches.
	Batch bool
	// Routines makes each transaction one call of a routine in the database, as
	// HammerDB does; the flavor must be HammerDB, on a server.
	Routines bool
	// KeyingTime has terminals rest as the specification's users do, before
	// and after each transaction; the flavor must be Spec.
	KeyingTime bool
}

// Validate says what is wrong with c.
func (c Config) Validate() error {
	switch c.Dialect {
	case dsn.SQLite, dsn.MySQL, dsn.Postgres:
	default:
		return errors.New("no dialect")
	}
	if _, err := ParseFlavor(string(c.Flavor)); err != nil {
		return err
	}
	if c.Warehouses < 1 || c.Warehouses > 1_000_000 {
		return errors.New("warehouses must be 1 to 1000000")
	}
	if c.Terminals < 1 || c.Terminals > 100_000 {
		return errors.New("terminals must be 1 to 100000")
	}
	for _, w := range c.Mix {
		if w < 0 || w > 1_000_000 {
			return errors.New("a weight of the mix must be 0 to 1000000")
		}
	}
	if c.Routines && !callable(c.Flavor, c.Dialect) {
		return errors.New("only the flavor hammerdb on a server has routines")
	}
	if c.KeyingTime && c.Flavor != Spec {
		return errors.New("only the flavor spec has keying times")
	}
	if c.Routines && c.Batch {
		return errors.New("routines send no batches")
	}
	if c.Isolation != "" && !slices.Contains(isolations, c.Isolation) {
		return fmt.Errorf("unknown isolation %q; know %v", c.Isolation, isolations)
	}
	return nil
}

// Workload is the TPC-C mix over a loaded database. It implements
// run.Workload.
type Workload struct {
	config  Config
	profile profile
	weights [numKinds]int
	total   int // of the weights
}

// New checks c and makes the workload.
func New(c Config) (*Workload, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("configure tpcc: %w", err)
	}
	c.Flavor, _ = ParseFlavor(string(c.Flavor))
	w := &Workload{config: c, profile: profiles[c.Flavor]}
	w.weights = w.profile.weights
	if c.Mix != [numKinds]int{} {
		w.weights = c.Mix
		w.profile.deck = false
	}
	for _, n := range w.weights {
		w.total += n
	}
	return w, nil
}

// Name is "tpcc".
func (w *Workload) Name() string { return "tpcc" }

// Kinds names the transaction types.
func (w *Workload) Kinds() []string { return kindNames }

// Flavor is the flavor run.
func (w *Workload) Flavor() Flavor { return w.config.Flavor }

// Isolation is the isolation level transactions run at.
func (w *Workload) Isolation() string {
	switch {
	case w.config.Dialect == dsn.SQLite:
		return Serializable
	case w.config.Isolation != "":
		return w.config.Isolation
	case w.profile.serializable:
		return Serializable
	}
	return "the server's default isolation"
}
