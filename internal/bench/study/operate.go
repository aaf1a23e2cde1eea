package study

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/veildb/veildb/internal/bench/result"
)

// An Operator is an Engine that can do, beside taking load, single long
// operations such as an upgrade. In a study each counts as one transaction, and
// a block is one of them.
type Operator interface {
	Engine
	// Operate does the operation once, with a copy of the dataset and under a
	// variant. Preparing for it and tidying up are not in its cost. verify
	// asks to compare what came of it with what it was made from.
	Operate(ctx context.Context, operation, dataset, variant string, verify bool) (Cost, error)
}

// A Cost is what one operation took.
type Cost struct {
	Start time.Time
	Wall  time.Duration
	CPU   result.CPU // of all processes that had a part in it
	// Equal says, where the operation was verified, whether all was as it
	// should be, and Detail what was compared.
	Equal  bool
	Detail string
}

// operations are the names of workloads that are operations.
var operations = []string{"pg_upgrade", "convert"}

// minOperationQuads are measured whatever the time: four operations each, and
// fewer allow no verdict.
const minOperationQuads = 3

// operate measures one cell of operations, in quads of four.
func (s *state) operate(ctx context.Context, cell result.Cell) error {
	op := s.Engine.(Operator) // Run has looked
	end := time.Now().Add(s.share(cell))
	for quad := s.done.prior(cell).NextQuad; ; quad++ {
		last, err := s.operateQuad(ctx, op, cell, quad)
		if err != nil {
			return err
		}
		if quad+1 >= minOperationQuads && time.Now().Add(last/2).After(end) {
			break
		}
	}
	s.done.finish(cell)
	return nil
}

// operateQuad does four operations in drawn order and records them. It returns
// what they took.
func (s *state) operateQuad(ctx context.Context, op Operator, cell result.Cell, quad int) (took time.Duration, err error) {
	order, name := [4]int{0, 1, 1, 0}, "ABBA"
	if rand.NewPCG(s.Seed, uint64(quad)).Uint64()>>63 == 1 {
		order, name = [4]int{1, 0, 0, 1}, "BAAB"
	}
	key := cell
	key.Published, key.ClaimPct = nil, 0
	dataset := s.workload(cell).dataset()
	var records []any
	for pos, arm := range order {
		variant := [2]string{cell.Baseline, cell.Variant}[arm]
		s.report(cellLabel(cell), fmt.Sprintf("quad %d, %d of 4", quad+1, pos+1))
		verify := quad == 0 && pos >= 2
		c, err := op.Operate(ctx, cell.Workload, dataset, variant, verify)
		if err != nil {
			return took, fmt.Errorf("%s: %w", variant, err)
		}
		took += c.Wall
		us := float64(c.Wall) / 1e3
		records = append(records, result.Block{
			Type: result.TypeBlock, Cell: key, Arm: [2]string{"baseline", "variant"}[arm], Quad: quad, Position: pos, Order: name,
			Start: c.Start.UTC().Round(time.Microsecond), DurationS: c.Wall.Seconds(), Transactions: 1, Commits: 1,
			LatencyUS: result.Latency{Count: 1, Mean: us, P50: us, P95: us, P99: us, Max: us}, CPUS: c.CPU,
		})
		if verify {
			records = append(records, result.Check{Type: result.TypeCheck, Name: "content after " + cell.Workload,
				Engine: cell.Engine, Variant: variant, OK: c.Equal, Detail: c.Detail})
		}
	}
	var errs []error
	for _, r := range records {
		s.done.add(r)
		errs = append(errs, s.Record(r))
	}
	return took, errors.Join(errs...)
}
