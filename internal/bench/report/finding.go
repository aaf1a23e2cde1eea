package report

import (
	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/stat"
)

// A finding is what an interval allows to say about a row.
type finding int

const (
	noEstimate finding = iota // too little data for an interval or a verdict
	costs                     // the whole interval is above zero
	unclear                   // the interval contains zero
	gains                     // the whole interval is below zero
)

func findingOf(r result.Row) finding {
	iv := r.OverheadPct
	switch {
	case iv == nil || r.Verdict == stat.NotEnoughData:
		return noEstimate
	case iv.Lo > 0:
		return costs
	case iv.Hi < 0:
		return gains
	}
	return unclear
}

// Word is the finding in a word or two, for a badge.
func (f finding) Word() string {
	return [...]string{"not enough data", "measurable cost", "not told from zero", "faster, suspect"}[f]
}

// Effect is the finding as a caption of the estimate.
func (f finding) Effect() string {
	return [...]string{"no estimate", "less throughput", "less throughput is possible", "less throughput"}[f]
}

// Mark is a sign to go with the word.
func (f finding) Mark() string { return [...]string{"?", "▲", "≈", "▼"}[f] }

// Class is the finding as a CSS class.
func (f finding) Class() string { return [...]string{"none", "cost", "unclear", "gain"}[f] }

// A relation says how our interval lies to a published figure.
type relation int

const (
	unrelated relation = iota // nothing published, or no estimate
	agrees                    // the published figure is inside the interval
	below                     // we measured less
	above                     // we measured more
	blind                     // the run could not have seen an effect that small
)

func relationOf(r result.Row) relation {
	p, iv := r.Published, r.OverheadPct
	switch {
	case p == nil || findingOf(r) == noEstimate:
		return unrelated
	case iv.Hi < p.OverheadPct:
		return below
	case iv.Lo > p.OverheadPct:
		return above
	case r.Verdict == stat.Inconclusive:
		return blind
	}
	return agrees
}

func (rel relation) words() string {
	return [...]string{"", "inside our interval", "more than measured here", "less than measured here",
		"too small for this run to see"}[rel]
}
