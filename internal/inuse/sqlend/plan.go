package sqlend

import (
	"context"
	"fmt"

	"github.com/veildb/veildb/internal/inuse/cells"
)

// A plan says what to do with the rows of one SQL text under one schema.
type plan struct {
	version uint64        // of the schema
	labels  []cells.Label // one a column, zero: passes; nil: all pass
	columns int           // number of result columns
}

// maxPlans bounds the plans a connection remembers. A program that sends more
// different texts has each of them inspected; one that prepares its
// statements, or binds its values, does not come near.
const maxPlans = 1024

// plan finds out what to do with the rows of query, from memory where the
// schema is still the one it was inspected under.
func (c *protectConn) plan(ctx context.Context, query string) (*plan, error) {
	for range 5 {
		version, err := c.watch.Version(ctx)
		if err != nil {
			return nil, fmt.Errorf("inspect statement: %w", err)
		}
		if p := c.plans[query]; p != nil && p.version == version {
			return p, nil
		}
		p, err := c.inspect(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("inspect statement: %w", err)
		}
		// What was inspected is this version only if it still is the version.
		p.version = version
		if after, err := c.watch.Version(ctx); err != nil {
			return nil, fmt.Errorf("inspect statement: %w", err)
		} else if after != version {
			continue
		}
		if len(c.plans) >= maxPlans {
			clear(c.plans)
		}
		c.plans[query] = p
		return p, nil
	}
	return nil, fmt.Errorf("inspect statement: %w", ErrUnsettled)
}

func (c *protectConn) inspect(ctx context.Context, query string) (*plan, error) {
	st, err := c.cfg.Engine.Inspect(ctx, c.inner, query)
	if err != nil {
		return nil, err
	}
	if c.cfg.Strict {
		flows, err := c.cfg.Engine.Flows(ctx, c.inner, query)
		if err != nil {
			return nil, err
		}
		if err := checkFlows(c.cfg.Columns, flows); err != nil {
			return nil, err
		}
	}
	return newPlan(c.cfg.Columns, st), nil
}

// newPlan applies the rule of the package comment.
func newPlan(set *cells.Set, st Statement) *plan {
	p := &plan{columns: len(st.Columns)}
	protected := protectedOf(set, st.Reads)
	labels := make([]cells.Label, len(st.Columns))
	for i, c := range st.Columns {
		switch {
		case c == cells.Column{}:
			if len(protected) > 0 {
				labels[i] = cells.ExpressionLabel(protected)
			}
		case set.Has(c):
			labels[i] = cells.ColumnLabel(c)
		}
		if !labels[i].IsZero() {
			p.labels = labels
		}
	}
	return p
}

// protectedOf returns those of columns that are protected, or may be.
func protectedOf(set *cells.Set, columns []cells.Column) []cells.Column {
	var out []cells.Column
	for _, c := range columns {
		if set.Has(c) || c.Column == "*" && set.HasTable(c.Database, c.Table) {
			out = append(out, c)
		}
	}
	return out
}

// checkFlows fails with ErrDenied, naming columns, if protected data can end
// in a column that is not protected.
func checkFlows(set *cells.Set, flows []Flow) error {
	for _, f := range flows {
		if f.To.Column != "" && set.Has(f.To) {
			continue
		}
		if from := protectedOf(set, f.From); len(from) > 0 {
			to := f.To.String()
			if f.To.Column == "" {
				to = "table " + f.To.Table
			}
			return fmt.Errorf("%w: %s to %s", ErrDenied, from[0], to)
		}
	}
	return nil
}
