package result

// A Table is a table of a published study, to be made again: the header of a
// run holds it with the study's figures, the summary with ours beside them.
type Table struct {
	Study  string     `json:"study"` // whose table it is
	Title  string     `json:"title"`
	Note   string     `json:"note,omitempty"`
	Head   string     `json:"head,omitempty"` // what the study calls threads
	Metric Metric     `json:"metric"`
	Rows   []TableRow `json:"rows"`
}

// A Metric is what a table compares.
type Metric string

// The metrics. All changes are in percent but that of MetricUtilisation, which
// is in percentage points.
const (
	MetricTPS         Metric = "tps"         // committed transactions a second; change: what is lost
	MetricNOPM        Metric = "nopm"        // new orders a minute; change: what is lost
	MetricUtilisation Metric = "utilisation" // share of the machine that the server uses; change: points more
	MetricCPU         Metric = "cpu"         // processor time a transaction, µs; change: what is more
	MetricTime        Metric = "time"        // seconds a transaction; change: what is more
)

// KindNewOrder is the transaction type that MetricNOPM counts, as blocks name it.
const KindNewOrder = "new_order"

// Metrics lists them.
var Metrics = []Metric{MetricTPS, MetricNOPM, MetricUtilisation, MetricCPU, MetricTime}

// A TableRow is one line: a comparison, what the study says of it, and what we
// measured.
type TableRow struct {
	Variant   string  `json:"variant"`
	Workload  string  `json:"workload"`
	Threads   int     `json:"threads"`
	Published Figures `json:"published"`

	Baseline string    `json:"baseline,omitempty"` // of ours; the rest is ours, too
	Measured *Pair     `json:"measured,omitempty"` // nil: not measured, or not in this run
	Change   *Interval `json:"change,omitempty"`
	MDEPct   *float64  `json:"mde_pct,omitempty"`
	Verdict  string    `json:"verdict,omitempty"`
}

// Figures are a study's words on one line: the two arms, and the change as a
// figure, as a highest one or as a range. What it does not say is nil.
type Figures struct {
	Baseline *float64    `json:"baseline,omitempty" yaml:"baseline"`
	Variant  *float64    `json:"variant,omitempty" yaml:"value"`
	Change   *float64    `json:"change,omitempty" yaml:"change"`
	AtMost   *float64    `json:"at_most,omitempty" yaml:"at_most"`
	Between  *[2]float64 `json:"between,omitempty" yaml:"between"`
}
