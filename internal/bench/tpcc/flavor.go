package tpcc

import (
	"fmt"
	"slices"
)

// A Flavor names whose TPC-C is run. They differ in data and transactions, so
// figures of different flavors cannot be compared.
type Flavor string

// The flavors.
const (
	// BenchBase is the program of the published studies, its deviations from
	// the specification kept.
	BenchBase Flavor = "benchbase"
	// Spec follows the specification, revision 5.11, without keying and think
	// times.
	Spec Flavor = "spec"
	// HammerDB is TPROC-C as HammerDB 4 runs it, its deviations kept, but for
	// one: the 1 % of orders to roll back is rolled back on PostgreSQL too. Each
	// transaction is a call of a routine, or is sent statement by statement; see
	// Config.Routines.
	HammerDB Flavor = "hammerdb"
)

// Flavors lists them in help order.
var Flavors = []Flavor{BenchBase, Spec, HammerDB}

// ParseFlavor reads a flavor's name; "" is BenchBase.
func ParseFlavor(s string) (Flavor, error) {
	if s == "" {
		return BenchBase, nil
	}
	if f := Flavor(s); slices.Contains(Flavors, f) {
		return f, nil
	}
	return "", fmt.Errorf("unknown flavor %q; know %v", s, Flavors)
}

// profile is everything in which flavors differ, apart from the texts of the
// statements that only one of them sends.
type profile struct {
	orders string // the name of the order table

	// Data.
	text        pool   // alphabet of strings
	short       int    // characters a string is shorter than drawn
	marker      string // in 10 % of i_data and s_data
	credit      [2]int // BC is drawn in [1, credit[1]] <= credit[0]
	discount    [3]int // lowest, highest, step, in 1/10,000
	tax         [2]int // lowest, highest, in 1/10,000
	loadLast    int    // NURand constant of last names in the load
	deliveredOL [2]int // cents of the lines of delivered orders
	openOL      [2]int // cents of the others
	randomZip   bool   // w_zip and d_zip random instead of 123456789
	foreignKeys bool
	floatYTD    bool // c_ytd_payment is a float

	// Transactions.
	weights      [numKinds]int
	deck         bool // weights are cards dealt without replacement
	uniformIDs   bool // no NURand
	runLast      int  // NURand constants of the run
	runCustomer  int
	runItem      int
	ranges       bool // a terminal keeps to its range of districts
	forUpdate    bool // also where BenchBase reads without a lock
	taxedLines   bool // ol_amount includes tax and discount
	localOrder   bool // o_all_local is right with one warehouse
	stockCounts  bool // NewOrder keeps s_ytd, s_order_cnt, s_remote_cnt
	paymentCount bool // Payment keeps c_ytd_payment, c_payment_cnt; Delivery c_delivery_cnt
	paymentAdds  bool // on MySQL, Payment adds to c_balance what was paid
	attempts     int  // of one transaction
	serializable bool // isolation, where the server has a choice
}

// profiles describes the flavors; the specification's clauses are 2.1.6 for
// NURand, 4.3.3.1 for the population, 5.2.4 for the mix.
var profiles = map[Flavor]profile{
	BenchBase: {
		orders: "oorder", text: lowerPool, short: 1, marker: "ORIGINAL",
		credit: [2]int{10, 100}, discount: [3]int{1, 5000, 1}, tax: [2]int{0, 2000},
		loadLast: 157, openOL: [2]int{1, 999999}, foreignKeys: true, floatYTD: true,
		weights: [numKinds]int{45, 43, 4, 4, 4}, runLast: 223, runCustomer: 259, runItem: 7911,
		ranges: true, stockCounts: true, paymentCount: true, attempts: 3, serializable: true,
	},
	Spec: {
		orders: "oorder", text: alnumPool, marker: "ORIGINAL",
		credit: [2]int{10, 100}, discount: [3]int{0, 5000, 1}, tax: [2]int{0, 2000},
		loadLast: 157, openOL: [2]int{1, 999999}, randomZip: true, foreignKeys: true,
		weights: [numKinds]int{10, 10, 1, 1, 1}, deck: true, runLast: 223, runCustomer: 259, runItem: 7911,
		forUpdate: true, localOrder: true, stockCounts: true, paymentCount: true, attempts: 10, serializable: true,
	},
	HammerDB: {
		orders: "orders", text: alnumPool, marker: "original",
		credit: [2]int{1, 2}, discount: [3]int{100, 5000, 100}, tax: [2]int{1000, 2000},
		loadLast: 123, deliveredOL: [2]int{10, 10000}, randomZip: true,
		weights: [numKinds]int{10, 10, 1, 1, 1}, uniformIDs: true, runLast: 123,
		forUpdate: true, taxedLines: true, localOrder: true, paymentAdds: true, attempts: 1,
	},
}
