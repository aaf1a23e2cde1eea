package summary

import (
	"maps"
	"slices"

	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/stat"
)

// A key is the identity of a cell, without what the study says about it.
type key struct {
	engine, variant, baseline, workload string
	threads                             int
}

func keyOf(c result.Cell) key {
	return key{c.Engine, c.Variant, c.Baseline, c.Workload, c.Threads}
}

// A quad is four blocks, by arm: two of the baseline, two of the variant.
type quad struct {
	n    int
	arms [2][]result.Block
}

// A cell is everything a run recorded of one comparison.
type cell struct {
	result.Cell
	valid   []quad // complete and not withdrawn, in order
	void    []quad // complete and withdrawn
	partial int    // quads an interruption cut short
	causes  map[string]int

	// Filled by estimate.
	d            []float64 // log-ratio of commit rates of each usable valid quad
	unusable     int       // valid quads in which a block committed nothing
	rate         stat.Interval
	hasRate      bool
	bootstrap    stat.Interval
	hasBootstrap bool
}

func (c *cell) voided() int {
	n := 0
	for _, count := range c.causes {
		n += count
	}
	return n
}

// gather sorts the records by cell: those the header plans, in its order, then
// any others.
func gather(run *result.Run) []*cell {
	var cells []*cell
	index := map[key]*cell{}
	at := func(c result.Cell) *cell {
		k := keyOf(c)
		if index[k] == nil {
			index[k] = &cell{Cell: c, causes: map[string]int{}}
			cells = append(cells, index[k])
		}
		return index[k]
	}
	for _, c := range run.Header.Cells {
		at(c)
	}
	blocks := map[*cell]map[int][]result.Block{}
	voids := map[*cell]map[int]string{}
	for _, r := range run.Records {
		switch r := r.(type) {
		case result.Block:
			c := at(r.Cell)
			if blocks[c] == nil {
				blocks[c] = map[int][]result.Block{}
			}
			blocks[c][r.Quad] = append(blocks[c][r.Quad], r)
		case result.Void:
			c := at(r.Cell)
			if voids[c] == nil {
				voids[c] = map[int]string{}
			}
			voids[c][r.Quad] = r.Cause
		}
	}
	for _, c := range cells {
		for _, cause := range voids[c] {
			c.causes[cause]++
		}
		for _, n := range slices.Sorted(maps.Keys(blocks[c])) {
			q, ok := assemble(n, blocks[c][n])
			switch _, void := voids[c][n]; {
			case !ok:
				c.partial++
			case void:
				c.void = append(c.void, q)
			default:
				c.valid = append(c.valid, q)
			}
		}
	}
	return cells
}

// assemble makes a quad of its blocks; false if it is not complete.
func assemble(n int, blocks []result.Block) (quad, bool) {
	q := quad{n: n}
	var seen [4]bool
	for _, b := range blocks {
		if seen[b.Position] {
			return q, false
		}
		seen[b.Position] = true
		arm := 0
		if b.Arm == "variant" {
			arm = 1
		}
		q.arms[arm] = append(q.arms[arm], b)
	}
	return q, len(q.arms[0]) == 2 && len(q.arms[1]) == 2
}

// log is d of a quad for a figure that each block has.
func (q quad) log(figure func(result.Block) float64) (float64, bool) {
	var v [2][2]float64
	for arm, blocks := range q.arms {
		for i, b := range blocks {
			v[arm][i] = figure(b)
		}
	}
	return stat.QuadLog(v[0][:], v[1][:])
}

func commitRate(b result.Block) float64 { return float64(b.Commits) / b.DurationS }

// logs is d of every quad for which there is one.
func logs(quads []quad, figure func(result.Block) float64) []float64 {
	var d []float64
	for _, q := range quads {
		if x, ok := q.log(figure); ok {
			d = append(d, x)
		}
	}
	return d
}

// estimate computes what rows and warnings both need.
func (c *cell) estimate(seed uint64) {
	c.d = logs(c.valid, commitRate)
	c.unusable = len(c.valid) - len(c.d)
	c.rate, c.hasRate = stat.Student(c.d, stat.Level)
	c.bootstrap, c.hasBootstrap = stat.Bootstrap(c.d, stat.Level, seed)
}
