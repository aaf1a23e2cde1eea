package study

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/veildb/veildb/internal/bench/result"
)

// A Failover is the part of a study in which a replicated database loses a
// replica under load, on every arm.
type Failover struct {
	Threads int           `yaml:"threads"`
	Steady  time.Duration `yaml:"steady"` // of load before the failure, after it, and after the return
	Repeats int           `yaml:"repeats"`
}

func (f *Failover) validate() error {
	if f.Threads < 1 || f.Threads > maxThreads || f.Steady < 100*time.Millisecond || f.Repeats < 1 {
		return errors.New("needs threads, a steady time of 100ms or more, and repeats")
	}
	return nil
}

// A Breaker is an Engine of replicated databases, which can lose one of them.
type Breaker interface {
	Engine
	// Failover loads a copy of the dataset under a variant, takes one replica
	// away and has it rejoin. The record has no engine, variant or number.
	Failover(ctx context.Context, dataset, variant string, o FailoverLoad) (result.Failover, error)
}

// FailoverLoad is the load of a failover, on tables of sysbench.
type FailoverLoad struct {
	Terminals         int
	Tables, TableSize int
	Seed              uint64
	Steady            time.Duration
	Progress          func(what string) // may be nil
}

// failovers has every arm lose a replica as often as the study says, arms in
// turns.
func (s *state) failovers(ctx context.Context) error {
	f := s.Definition.Failover
	if f == nil {
		return nil
	}
	b, ok := s.Engine.(Breaker)
	if !ok {
		return fmt.Errorf("%w: engine %s has no replica to lose", ErrDefinition, s.Definition.Engine)
	}
	w := s.Definition.Workloads[0]
	for number := 1; number <= f.Repeats; number++ {
		for _, arm := range s.Definition.Arms() {
			if s.done.failovers[arm] >= number {
				continue
			}
			label := fmt.Sprintf("failover %d of %d, %s", number, f.Repeats, arm)
			s.report(label, "copying data")
			r, err := b.Failover(ctx, w.dataset(), arm, FailoverLoad{
				Terminals: f.Threads, Tables: w.Tables, TableSize: w.TableSize, Seed: s.Seed + uint64(number), Steady: f.Steady,
				Progress: func(what string) { s.report(label, what) },
			})
			if err != nil {
				return fmt.Errorf("%s: %w", label, err)
			}
			r.Engine, r.Variant, r.Number = s.Definition.Engine, arm, number
			if err := s.recordFailover(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordFailover records a failover and what must hold after it.
func (s *state) recordFailover(r result.Failover) error {
	check := func(name string, ok bool, detail string) error {
		return s.Record(result.Check{Type: result.TypeCheck, Name: name, Engine: r.Engine, Variant: r.Variant, OK: ok, Detail: detail})
	}
	return errors.Join(s.Record(r),
		check("failover: every acknowledged transaction is on every replica", r.Lost == 0 && r.Strangers == 0,
			fmt.Sprintf("%d acknowledged, %d missing, %d there that were never sent", r.Acknowledged, r.Lost, r.Strangers)),
		check("failover: the replicas are equal after the return", r.Equal, r.Detail))
}
