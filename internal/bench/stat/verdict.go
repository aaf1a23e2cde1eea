package stat

import (
	"fmt"
	"math"
)

// Verdicts on an overhead. Against a published figure the first four apply,
// without one the rest.
const (
	Reproduced   = "reproduced"   // the published figure lies in the interval
	Consistent   = "consistent"   // same direction, another size
	Different    = "different"    // an effect where none was published, none where one was, or the opposite
	Inconclusive = "inconclusive" // the interval is too wide to tell the published figure from none

	Cost          = "cost"
	Gain          = "gain"
	NoDifference  = "no difference shown"
	NotEnoughData = "not enough data"

	AAHolds = "contains 0"
	AAFails = "does not contain 0"
)

// MinQuads is the number of quads below which no verdict is given.
const MinQuads = 3

// Equivalent is the verdict that the overhead lies within a margin.
func Equivalent(marginPct float64) string { return fmt.Sprintf("equivalent within %g %%", marginPct) }

// Equivalence tests "the overhead in percent lies within ±margin" by two
// one-sided tests at 5 %: that is the 90 % interval lying inside the margin
// (Schuirmann 1987). An interval that merely contains 0 proves nothing. It is
// false for fewer than two values.
func Equivalence(d []float64, marginPct float64) (interval Interval, holds, ok bool) {
	t, ok := Student(d, 1-2*Alpha)
	if !ok {
		return Interval{}, false, false
	}
	t = t.Loss()
	return t, -marginPct < t.Lo && t.Hi < marginPct, true
}

// Verdict names what quads say about an overhead in percent. loss and mdePct
// come from the same quads; marginPct is the margin of a "no impact" claim, 0
// if there is none, and equivalent whether it holds; published is nil if no
// study gives a figure.
func Verdict(quads int, loss Interval, mdePct, marginPct float64, equivalent bool, published *float64) string {
	switch {
	case quads < MinQuads || math.IsNaN(mdePct):
		return NotEnoughData
	case published != nil:
		return against(*published, loss, mdePct, marginPct)
	case marginPct > 0 && equivalent:
		return Equivalent(marginPct)
	case loss.Lo > 0:
		return Cost
	case loss.Hi < 0:
		return Gain
	}
	return NoDifference
}

func against(published float64, loss Interval, mdePct, marginPct float64) string {
	switch {
	case loss.Contains(published):
		// A published 0 can only be reproduced within a margin.
		if mdePct > max(math.Abs(published), marginPct) {
			return Inconclusive
		}
		return Reproduced
	case loss.Contains(0) || (loss.Est > 0) != (published > 0):
		return Different
	}
	return Consistent
}

// Limit is the verdict on the claim that a change is at most limit: reproduced
// if the whole interval says so, different if the whole interval denies it.
func Limit(iv Interval, limit float64) string {
	switch {
	case iv.Hi <= limit:
		return Reproduced
	case iv.Lo > limit:
		return Different
	}
	return Inconclusive
}

// Range is the verdict on the claim that a change lies between lo and hi:
// reproduced if the whole interval does, inconclusive if it reaches outside,
// else consistent if the direction is the same, or different.
func Range(iv Interval, lo, hi float64) string {
	switch {
	case lo <= iv.Lo && iv.Hi <= hi:
		return Reproduced
	case iv.Lo <= hi && lo <= iv.Hi:
		return Inconclusive
	case lo > 0 && iv.Lo > 0 || hi < 0 && iv.Hi < 0:
		return Consistent
	}
	return Different
}
