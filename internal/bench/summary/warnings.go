package summary

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/stat"
)

// Thresholds of the warnings.
const (
	fewQuads   = 10  // below: Student's interval leans on normality
	noisyMDE   = 5.0 // percent: above, effects as large as most published ones are missed
	loadShare  = 0.5 // load average per core at the start
	stealPct   = 2.0 // mean over all blocks
	foreignPct = 10.0
)

// warnings says, in order of weight, what a reader must know before trusting
// the rows.
func warnings(run *result.Run, s *result.Summary, cells []*cell) []string {
	w := &writer{several: several(cells), out: []string{}}
	w.interruption(run, s, cells)
	w.failedChecks(s.Checks)
	w.controls(s, cells)
	w.each(cells)
	w.multiplicity(cells)
	w.machine(run)
	for _, n := range result.All[result.Note](run) {
		w.add("%s", n.Text)
	}
	return w.out
}

type writer struct {
	several struct{ engines, threads bool }
	out     []string
}

func (w *writer) add(format string, args ...any) { w.out = append(w.out, fmt.Sprintf(format, args...)) }

// maxNames is how many cells a warning names; more would hide what it says.
const maxNames = 6

// list adds one warning for all cells of which holds is true.
func (w *writer) list(cells []*cell, format string, holds func(*cell) bool) {
	var names []string
	for _, c := range cells {
		if holds(c) {
			names = append(names, w.name(c))
		}
	}
	if len(names) > 0 {
		w.add(format, enumerate(names, len(cells)))
	}
}

// enumerate lists names out of so many comparisons, or counts them if they are
// many.
func enumerate(names []string, of int) string {
	switch {
	case len(names) == of && of > maxNames:
		return fmt.Sprintf("all %d comparisons", of)
	case len(names) > maxNames:
		return fmt.Sprintf("%d of %d comparisons, such as %s", len(names), of, strings.Join(names[:3], ", "))
	}
	return strings.Join(names, ", ")
}

// several reports which parts of a cell's identity vary within the run.
func several(cells []*cell) (v struct{ engines, threads bool }) {
	for _, c := range cells {
		v.engines = v.engines || c.Engine != cells[0].Engine
		v.threads = v.threads || c.Threads != cells[0].Threads
	}
	return v
}

// name says which comparison is meant, as briefly as the run allows.
func (w *writer) name(c *cell) string {
	name := c.Workload + " " + c.Variant
	if c.AA() {
		name = c.Workload + " A/A"
	}
	if w.several.engines {
		name += " on " + c.Engine
	}
	if w.several.threads {
		name += " at " + count(c.Threads, "thread")
	}
	return name
}

func (w *writer) interruption(run *result.Run, s *result.Summary, cells []*cell) {
	if run.Torn {
		w.add("the last record of the run was cut off and is left out")
	}
	if s.Complete {
		return
	}
	empty := 0
	for _, c := range cells {
		if len(c.valid) == 0 {
			empty++
		}
	}
	w.add("the run was interrupted: %d of %s without data", empty, count(len(cells), "comparison"))
}

func (w *writer) failedChecks(checks []result.Check) {
	for _, c := range checks {
		if !c.OK {
			detail := ""
			if c.Detail != "" {
				detail = ": " + c.Detail
			}
			w.add("check %s failed on %s%s", c.Name, c.Variant, detail)
		}
	}
}

// controls reports what the A/A control says about the run as a whole.
func (w *writer) controls(s *result.Summary, cells []*cell) {
	measured := false
	for _, c := range cells {
		if !c.AA() || !c.hasRate {
			continue
		}
		measured = true
		if loss := c.rate.Loss(); !loss.Contains(0) && len(c.d) >= stat.MinQuads {
			w.add("the A/A control %s shows a difference of %.1f %% [%.1f, %.1f] between equal arms: distrust differences of that size", w.name(c), loss.Est, loss.Lo, loss.Hi)
		}
	}
	if !measured && len(s.Rows) > 0 {
		w.add("there is no A/A control to say how large a difference chance alone makes here")
	}
}

// each reports what is wrong with single comparisons.
func (w *writer) each(cells []*cell) {
	for _, c := range cells {
		if c.hasRate && c.hasBootstrap && stat.Disagree(c.rate, c.bootstrap) {
			t, b := c.rate.Loss(), c.bootstrap.Loss()
			w.add("%s: the bootstrap interval [%.1f, %.1f] disagrees with Student's [%.1f, %.1f]: some quads are far out", w.name(c), b.Lo, b.Hi, t.Lo, t.Hi)
		}
		if n := c.voided(); n > 0 {
			var why []string
			for _, cause := range slices.Sorted(maps.Keys(c.causes)) {
				why = append(why, fmt.Sprintf("%s %d", cause, c.causes[cause]))
			}
			w.add("%s: %d of %s withdrawn (%s)", w.name(c), n, count(n+len(c.valid), "quad"), strings.Join(why, ", "))
		}
		if c.unusable > 0 {
			w.add("%s: %s left out because a block of them committed nothing", w.name(c), count(c.unusable, "quad"))
		}
	}
	w.list(cells, "fewer than 10 quads, so the intervals lean on the noise being normal: %s", func(c *cell) bool {
		return len(c.d) > 0 && len(c.d) < fewQuads
	})
	w.list(cells, "too noisy to see an effect below 5 %%: %s", func(c *cell) bool {
		return c.hasRate && c.mde() > noisyMDE
	})
	w.list(cells, "transactions were given up after errors"+errorCodes(cells)+": %s", func(c *cell) bool {
		return slices.ContainsFunc(c.valid, func(q quad) bool {
			return slices.ContainsFunc(slices.Concat(q.arms[0], q.arms[1]), func(b result.Block) bool { return b.Errors > 0 })
		})
	})
}

// errorCodes says, in parentheses, which codes of servers ended transactions
// and how often; "" for none.
func errorCodes(cells []*cell) string {
	times := map[string]uint64{}
	for _, c := range cells {
		for _, q := range c.valid {
			for _, b := range slices.Concat(q.arms[0], q.arms[1]) {
				for code, n := range b.ErrorCodes {
					times[code] += n
				}
			}
		}
	}
	var of []string
	for _, code := range slices.Sorted(maps.Keys(times)) {
		of = append(of, fmt.Sprintf("%s: %s", code, count(int(times[code]), "time")))
	}
	if len(of) == 0 {
		return ""
	}
	return " (" + strings.Join(of, ", ") + ")"
}

// multiplicity names the differences that stand alone but not among many.
func (w *writer) multiplicity(cells []*cell) {
	var tested []*cell
	var p []float64
	for _, c := range cells {
		if !c.AA() && len(c.d) >= stat.MinQuads {
			tested = append(tested, c)
			p = append(p, stat.PValue(c.d))
		}
	}
	adjusted := stat.Holm(p)
	var names []string
	for i, c := range tested {
		if p[i] < stat.Alpha && adjusted[i] >= stat.Alpha {
			names = append(names, w.name(c))
		}
	}
	if len(names) > 0 {
		w.add("significant alone, but not among %d comparisons (Holm): %s", len(tested), enumerate(names, len(cells)))
	}
}

// machine reports a machine that was not quiet.
func (w *writer) machine(run *result.Run) {
	e := run.Header.Environment
	if e.Cores > 0 && e.LoadAverage[0] > loadShare*float64(e.Cores) {
		w.add("the machine was busy before the run: load average %.2f on %s", e.LoadAverage[0], count(e.Cores, "core"))
	}
	if e.Governor != "" && e.Governor != "performance" {
		w.add("the processor's frequency governor is %s, not performance", e.Governor)
	}
	var steal, foreign, seconds, server float64
	for _, b := range result.All[result.Block](run) {
		steal += b.StealPct * b.DurationS
		foreign += b.ForeignPct * b.DurationS
		seconds += b.DurationS
		server += b.CPUS.Engine + b.CPUS.Product
	}
	if seconds == 0 {
		return
	}
	if steal /= seconds; steal > stealPct {
		w.add("the hypervisor took %.1f %% of the machine's time during the blocks", steal)
	}
	if foreign /= seconds; foreign > foreignPct && server > 0 { // a server that is not ours may be one of them
		w.add("other programs used %.0f %% of the machine's processor time during the blocks", foreign)
	}
}
