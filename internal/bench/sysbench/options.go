package sysbench

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ErrOption reports an option with a value that makes no sense.
var ErrOption = errors.New("bad option")

// Options are sysbench's own, under its names. The zero value is not usable:
// start from Defaults.
type Options struct {
	Tables    int // number of tables
	TableSize int // rows in each
	Threads   int // of run; select_random_* and bulk_insert share by it

	RangeSize       int // ids in each range
	PointSelects    int // statements of each kind in an event
	SimpleRanges    int
	SumRanges       int
	OrderRanges     int
	DistinctRanges  int
	IndexUpdates    int
	NonIndexUpdates int
	DeleteInserts   int
	RangeSelects    bool // the switch for all four kinds of range

	RandomPoints   int // select_random_points
	NumberOfRanges int // select_random_ranges
	Delta          int // select_random_ranges: width of a range

	SkipTrx         bool // no BEGIN and COMMIT: each statement is a transaction
	AutoInc         bool // ids come from the server
	Secondary       bool // a plain index on id in place of the primary key
	CreateSecondary bool // an index on k
	StorageEngine   string
	IgnoreErrors    []string // MySQL error numbers, or "all"
	PSMode          string   // "auto" or "disable"

	Rand Rand
}

// Rand chooses the distribution of ids.
type Rand struct {
	Type     string  // "uniform", "gaussian", "special" or "pareto"
	SpecIter int     // special, gaussian: uniforms averaged
	SpecPct  int     // special: width of the hot band, percent of the range
	SpecRes  int     // special: percent of the draws that fall in it
	ParetoH  float64 // pareto: skew, in (0, 1)
}

// Defaults are the values sysbench 1.0.20 uses.
func Defaults() Options {
	return Options{
		Tables: 1, TableSize: 10000, Threads: 1,
		RangeSize: 100, PointSelects: 10,
		SimpleRanges: 1, SumRanges: 1, OrderRanges: 1, DistinctRanges: 1,
		IndexUpdates: 1, NonIndexUpdates: 1, DeleteInserts: 1, RangeSelects: true,
		RandomPoints: 10, NumberOfRanges: 10, Delta: 5,
		AutoInc: true, CreateSecondary: true, StorageEngine: "innodb",
		IgnoreErrors: []string{"1213", "1020", "1205"}, PSMode: "auto",
		Rand: Rand{Type: "special", SpecIter: 12, SpecPct: 1, SpecRes: 75, ParetoH: 0.2},
	}
}

// RandTypes are the distributions. There is no zipfian before sysbench 1.1.
var RandTypes = []string{"uniform", "gaussian", "special", "pareto"}

var engineName = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// maxInt is the largest id: columns are 32 bits wide.
const maxInt = 1<<31 - 1

// validate returns an error matching ErrOption that names the option.
func (o *Options) validate() error {
	bad := func(name string, value any, want string) error {
		return fmt.Errorf("%w: --%s=%v: want %s", ErrOption, name, value, want)
	}
	for _, c := range []struct {
		name       string
		value, min int
	}{
		{"tables", o.Tables, 1}, {"threads", o.Threads, 1}, {"table-size", o.TableSize, 0},
		{"range-size", o.RangeSize, 1}, {"point-selects", o.PointSelects, 0},
		{"simple-ranges", o.SimpleRanges, 0}, {"sum-ranges", o.SumRanges, 0},
		{"order-ranges", o.OrderRanges, 0}, {"distinct-ranges", o.DistinctRanges, 0},
		{"index-updates", o.IndexUpdates, 0}, {"non-index-updates", o.NonIndexUpdates, 0},
		{"delete-inserts", o.DeleteInserts, 0}, {"random-points", o.RandomPoints, 1},
		{"number-of-ranges", o.NumberOfRanges, 1}, {"delta", o.Delta, 0},
	} {
		if c.value < c.min || c.value > maxInt {
			return bad(c.name, c.value, fmt.Sprintf("%d to %d", c.min, maxInt))
		}
	}
	for _, code := range o.IgnoreErrors {
		if _, err := strconv.ParseUint(strings.TrimSpace(code), 10, 16); err != nil && strings.TrimSpace(code) != "all" {
			return bad("mysql-ignore-errors", code, "numbers of errors, or all")
		}
	}
	r := o.Rand
	switch {
	case !slices.Contains(RandTypes, r.Type):
		return bad("rand-type", r.Type, strings.Join(RandTypes, ", "))
	case r.SpecIter < 1:
		return bad("rand-spec-iter", r.SpecIter, "at least 1")
	case r.SpecPct < 1 || r.SpecPct > 99:
		return bad("rand-spec-pct", r.SpecPct, "1 to 99")
	case r.SpecRes < 1 || r.SpecRes > 99:
		return bad("rand-spec-res", r.SpecRes, "1 to 99")
	case !(r.ParetoH > 0 && r.ParetoH < 1):
		return bad("rand-pareto-h", r.ParetoH, "a number between 0 and 1")
	case o.PSMode != "auto" && o.PSMode != "disable":
		return bad("db-ps-mode", o.PSMode, "auto or disable")
	case !engineName.MatchString(o.StorageEngine):
		return bad("mysql-storage-engine", o.StorageEngine, "a plain name")
	}
	return nil
}
