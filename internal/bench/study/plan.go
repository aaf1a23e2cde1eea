package study

import (
	"cmp"
	"slices"
	"time"

	"github.com/veildb/veildb/internal/bench/result"
)

// weightOf is the part of the measuring time that cell has, in relation to other
// cells': its workload's, times the headline's where the headline names it or,
// for a control, its place.
func (d *Definition) weightOf(cell result.Cell) int {
	weight := 1
	if i := slices.IndexFunc(d.Workloads, func(w Workload) bool { return w.Label() == cell.Workload }); i >= 0 {
		weight = max(d.Workloads[i].Weight, 1)
	}
	more := 1
	for _, h := range d.Headline {
		if h.covers(cell) {
			more = max(more, h.Weight)
		}
	}
	return weight * more
}

// turns lists d's cells in the order they are measured: those of the headline,
// with their controls, first, so that a run that is stopped has them, and that
// those which take longer than their share take it from the others.
func (d *Definition) turns() []result.Cell {
	cells := d.Cells()
	slices.SortStableFunc(cells, func(a, b result.Cell) int {
		x, y := d.inHeadline(a), d.inHeadline(b)
		switch {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
	return cells
}

// inHeadline reports whether cell is of the headline, or a control of it.
func (d *Definition) inHeadline(cell result.Cell) bool {
	return slices.ContainsFunc(d.Headline, func(h Headline) bool { return h.covers(cell) })
}

// covers reports whether h names cell or, of a control, its place.
func (h Headline) covers(cell result.Cell) bool {
	return h.names(cell.Workload, cell.Threads) && (cell.AA() || len(h.Variants) == 0 || slices.Contains(h.Variants, cell.Variant))
}

// An Outline says what a run of a study has time for.
type Outline struct {
	Comparisons int
	// Each is about the time for a comparison, fresh copies included; Headline
	// that for one of the headline, 0 where the study has none.
	Each, Headline time.Duration
	// Thin says that Each is less than a start with fresh copies is worth.
	Thin bool
}

// Outline spreads d's time over its comparisons as Run does, loading aside.
func (d *Definition) Outline() Outline {
	var sum int
	var each, headline []int
	cells := d.Cells()
	for _, c := range cells {
		w := d.weightOf(c)
		sum += w
		if d.inHeadline(c) {
			headline = append(headline, w)
		} else {
			each = append(each, w)
		}
	}
	of := func(weights []int) time.Duration {
		if len(weights) == 0 {
			return 0
		}
		return d.Budget.Default / time.Duration(sum) * time.Duration(slices.Min(weights))
	}
	o := Outline{Comparisons: len(cells), Each: of(each), Headline: of(headline)}
	if len(each) == 0 {
		o.Each = o.Headline
	}
	o.Thin = o.Each < d.leastSitting()
	return o
}

// share is the time for the next cell: its part, by weight, of what is left
// of the budget after the checks still to come.
func (s *state) share(cell result.Cell) time.Duration {
	left := s.budget - time.Since(s.started)
	for _, other := range s.cells {
		if w := s.workload(other); !s.done.finished(other) && !w.operation() {
			least := 100 * time.Millisecond
			if w.Check {
				least = time.Second
			}
			left -= max(s.checkup[w.Label()], least)
		}
	}
	return max(left*time.Duration(s.Definition.weightOf(cell))/time.Duration(s.weight), minCell)
}

// leastSitting is the least time worth fresh copies.
func (d *Definition) leastSitting() time.Duration { return cmp.Or(d.Sitting, 1500*time.Millisecond) }

// maxSittings is enough for what is by chance with each to be less than what is
// by chance within.
const maxSittings = 12

// sittings is how often a cell of that length begins again with fresh copies
// and connections. Where files and memory happen to lie is a chance of its own,
// a percent or two, that no number of quads in one sitting averages away.
func sittings(share, least time.Duration) int {
	return int(min(max(share/least, 1), maxSittings))
}
