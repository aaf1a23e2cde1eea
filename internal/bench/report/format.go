package report

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/veildb/veildb/internal/bench/result"
)

// absent stands for a figure that is not there.
const absent = "–"

// clean makes a string from a record harmless to print: no control characters
// (a terminal would obey them), no line breaks, no direction overrides.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// decimal prints x with n decimals, thousands grouped, and never "-0".
func decimal(x float64, n int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return absent
	}
	s := strconv.FormatFloat(math.Abs(x), 'f', n, 64)
	whole, frac, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if frac != "" {
		whole += "." + frac
	}
	if x < 0 && strings.Trim(s, "0.") != "" {
		whole = "-" + whole
	}
	return whole
}

// rate prints a positive figure with about three significant digits, never
// dropping whole units: 0.52, 8.13, 81.3, 812, 8,121.
func rate(x float64) string {
	switch {
	case x == 0:
		return absent
	case math.Abs(x) < 10:
		return decimal(x, 2)
	case math.Abs(x) < 100:
		return decimal(x, 1)
	}
	return decimal(x, 0)
}

// pct prints a percentage with one decimal, without the sign "%".
func pct(x float64) string { return decimal(x, 1) }

func pctOf(iv *result.Interval) string {
	if iv == nil {
		return absent
	}
	return pct(iv.Est)
}

// signedPct is pct with a plus sign for what is above zero.
func signedPct(x float64) string {
	s := pct(x)
	if x > 0 && strings.Trim(s, "0.") != "" {
		return "+" + s
	}
	return s
}

// span prints the two ends of an interval: "1.9 to 3.4".
func span(iv result.Interval) string { return pct(iv.Lo) + " to " + pct(iv.Hi) }

// A unit scales microseconds for reading.
type unit struct {
	name string
	us   float64
}

func unitFor(us float64) unit {
	switch {
	case us >= 1e6:
		return unit{"s", 1e6}
	case us >= 1e3:
		return unit{"ms", 1e3}
	}
	return unit{"µs", 1}
}

func (u unit) format(us float64) string { return rate(us / u.us) }

// duration prints microseconds with a fitting unit: "812 µs", "12.4 ms".
func duration(us float64) string {
	if us == 0 {
		return absent
	}
	u := unitFor(us)
	return u.format(us) + " " + u.name
}

// pairOf prints both arms in one unit: "12.3 → 12.8 ms".
func pairOf(p result.Pair) string {
	if p.Baseline == 0 && p.Variant == 0 {
		return absent
	}
	u := unitFor(max(p.Baseline, p.Variant))
	return u.format(p.Baseline) + " → " + u.format(p.Variant) + " " + u.name
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return decimal(float64(n), 0) + " " + noun
}

// bytesOf prints a size in binary units.
func bytesOf(n int64) string {
	switch x := float64(n); {
	case n >= 1<<30:
		return decimal(x/(1<<30), 1) + " GiB"
	case n >= 1<<20:
		return decimal(x/(1<<20), 0) + " MiB"
	default:
		return decimal(x, 0) + " B"
	}
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
