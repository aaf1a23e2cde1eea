package study

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/result"
)

// operator does operations in no time: tde takes twice as long as plain.
type operator struct {
	Engine
	calls    []string
	verified int
	fail     int // the call that fails, from 1
}

func (o *operator) Dialect() dsn.Dialect { return dsn.Postgres }

func (o *operator) Dataset(context.Context, string, func(context.Context, *sql.DB) error) error {
	return nil
}

func (o *operator) Operate(_ context.Context, operation, dataset, variant string, verify bool) (Cost, error) {
	o.calls = append(o.calls, operation+" "+dataset+" "+variant)
	if len(o.calls) == o.fail {
		return Cost{}, errors.New("broken")
	}
	c := Cost{Start: time.Unix(0, 0), Wall: time.Second, CPU: result.CPU{Engine: 1}, Equal: true}
	if variant == "tde" {
		c.Wall, c.CPU.Product = 2*time.Second, 0.5
	}
	if verify {
		o.verified++
	}
	return c, nil
}

const upgrades = `
name: x
engine: postgres
baseline: plain
variants: [tde]
threads: [1]
budget: {default: 1ms}
block: 1s
workloads: [{name: convert, warehouses: 2}]
`

func TestOperations(t *testing.T) {
	d, err := Parse([]byte(upgrades))
	if err != nil {
		t.Fatal(err)
	}
	o := &operator{}
	var records []any
	record := func(r any) error { records = append(records, r); return nil }
	if err := Run(t.Context(), Config{Definition: d, Engine: o, Seed: 4, Record: record}); err != nil {
		t.Fatal(err)
	}
	if len(o.calls) != 2*4*minOperationQuads || o.calls[0] != "convert tpcc-hammerdb-2 plain" || o.verified != 4 {
		t.Errorf("%d calls, %d verified, first %q", len(o.calls), o.verified, o.calls[0])
	}
	checks, seen := 0, map[[3]any]int{}
	for _, r := range records {
		switch r := r.(type) {
		case result.Check:
			checks++
		case result.Block:
			seen[[3]any{r.Variant, r.Quad, r.Arm}]++
			want := 1.0
			if r.Variant == "tde" && r.Arm == "variant" {
				want = 2
			}
			if r.DurationS != want || r.Commits != 1 {
				t.Errorf("block %+v", r)
			}
		}
	}
	if checks != 4 || len(seen) != 2*2*minOperationQuads {
		t.Errorf("%d checks, %d arms of quads", checks, len(seen))
	}
	// A quad that fails leaves no records; the next run goes on after the last
	// that was whole.
	o = &operator{fail: 7}
	records = nil
	if err := Run(t.Context(), Config{Definition: d, Engine: o, Seed: 4, Record: record}); err == nil || len(result.All[result.Block](&result.Run{Records: records})) != 4 {
		t.Errorf("failed run: %v, %d records", err, len(records))
	}
	o = &operator{}
	if err := Run(t.Context(), Config{Definition: d, Engine: o, Seed: 4, Prior: records, Record: record}); err != nil || len(o.calls) != 4*(2*minOperationQuads-1) {
		t.Errorf("resumed run: %v, %d calls", err, len(o.calls))
	}
}

func TestOperationsNeedAnOperator(t *testing.T) {
	d, err := Parse([]byte(upgrades))
	if err != nil {
		t.Fatal(err)
	}
	type engine struct{ Engine }
	o := &operator{}
	err = Run(t.Context(), Config{Definition: d, Engine: engine{onlyEngine{o}}, Record: func(any) error { return nil }})
	if !errors.Is(err, ErrDefinition) {
		t.Errorf("an engine without operations: %v", err)
	}
}

// onlyEngine hides Operate.
type onlyEngine struct{ o *operator }

func (e onlyEngine) Dialect() dsn.Dialect                    { return e.o.Dialect() }
func (e onlyEngine) Version(context.Context) (string, error) { return "", nil }
func (e onlyEngine) Dataset(ctx context.Context, n string, f func(context.Context, *sql.DB) error) error {
	return e.o.Dataset(ctx, n, f)
}
func (e onlyEngine) Open(context.Context, string, string, string) (*Database, error) {
	return nil, errors.New("unused")
}
