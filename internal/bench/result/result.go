// Package result is the record format of a run: the lines of run.jsonl and
// the summary made from them. Other programs read both; see docs/results.md.
package result

import "time"

// Formats name the two documents and their version.
const (
	RunFormat     = "veildb.run/1"
	SummaryFormat = "veildb.summary/1"
)

// Record types, the value of "type" in each line of run.jsonl.
const (
	TypeHeader = "header"
	TypeBlock  = "block"
	TypeCheck  = "check"
	TypeVoid   = "void"
	TypeNote   = "note"
	TypeEnd    = "end"

	TypeFailover = "failover"
)

// Header is the first line of run.jsonl.
type Header struct {
	Type        string         `json:"type"`
	Format      string         `json:"format"`
	Study       string         `json:"study"`
	Title       string         `json:"title,omitempty"`
	Seed        uint64         `json:"seed"`
	Started     time.Time      `json:"started"`
	Environment Environment    `json:"environment"`
	Config      map[string]any `json:"config"`
	// Cells lists the comparisons the study plans, in order, so that a
	// summary of an interrupted run can name those without data.
	Cells []Cell `json:"cells"`
	// Headline are the comparisons that a report leads with.
	Headline []Cell `json:"headline,omitempty"`
	// Tables are those of the published study that the run reproduces.
	Tables []Table `json:"tables,omitempty"`
}

// Environment is the machine and the software of a run.
type Environment struct {
	CPU         string            `json:"cpu"`
	Cores       int               `json:"cores"`
	MemoryBytes int64             `json:"memory_bytes,omitempty"`
	Kernel      string            `json:"kernel"`
	OS          string            `json:"os,omitempty"`
	Governor    string            `json:"governor,omitempty"`
	Go          string            `json:"go"`
	Version     string            `json:"version,omitempty"` // of veildb
	Engines     map[string]string `json:"engines,omitempty"` // engine name to version
	LoadAverage [3]float64        `json:"load_average"`
	Revision    string            `json:"revision,omitempty"` // of the source tree
	Filesystem  string            `json:"filesystem,omitempty"`
	Nice        int               `json:"nice,omitempty"`
}

// Cell names one comparison. Baseline and Variant are equal in the A/A control.
type Cell struct {
	Engine    string     `json:"engine"`
	Variant   string     `json:"variant"`
	Baseline  string     `json:"baseline"`
	Workload  string     `json:"workload"`
	Threads   int        `json:"threads"`
	Published *Published `json:"published,omitempty"`
	// Claim is the margin, in percent, of a "no impact" claim tested by two
	// one-sided tests; 0 means none.
	ClaimPct float64 `json:"claim_pct,omitempty"`
}

// AA reports whether the cell compares two copies of the baseline.
func (c Cell) AA() bool { return c.Variant == c.Baseline }

// Published is the figure a vendor's study gives for a cell.
type Published struct {
	Study       string  `json:"study"`
	OverheadPct float64 `json:"overhead_pct"`
	Note        string  `json:"note,omitempty"`
}

// Block is load on one arm: one stretch, or slices that took turns with the
// other arm's and are added up.
type Block struct {
	Type     string `json:"type"`
	Cell            // which comparison the block belongs to
	Arm      string `json:"arm"`      // "baseline" or "variant"
	Quad     int    `json:"quad"`     // from 0, counted within the cell
	Position int    `json:"position"` // 0 to 3 within the quad
	Order    string `json:"order"`    // "ABBA" or "BAAB", A being the baseline

	Start     time.Time `json:"start"`
	DurationS float64   `json:"duration_s"`

	Transactions uint64 `json:"transactions"`
	Commits      uint64 `json:"commits"`
	UserAborts   uint64 `json:"user_aborts"`
	Retries      uint64 `json:"retries"`
	Errors       uint64 `json:"errors"`
	// ErrorCodes splits Errors by the server's code: MySQL's number or
	// PostgreSQL's SQLSTATE.
	ErrorCodes map[string]uint64 `json:"error_codes,omitempty"`
	Queries    uint64            `json:"queries"`

	LatencyUS Latency            `json:"latency_us"`
	KindsUS   map[string]Latency `json:"kinds_us,omitempty"` // by transaction type
	CPUS      CPU                `json:"cpu_s"`
	StealPct  float64            `json:"steal_pct,omitempty"`
	// ForeignPct is the machine's processor time used by other programs.
	ForeignPct float64 `json:"foreign_pct,omitempty"`
	Rate       float64 `json:"rate,omitempty"` // intended transactions a second, open loop
}

// Latency summarises a block's latencies in microseconds.
type Latency struct {
	Count uint64  `json:"count,omitempty"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p999,omitempty"`
	Max   float64 `json:"max"`
}

// CPU is processor time in seconds, user and system. On an embedded engine
// client, engine and product share one process; Engine then holds all of it.
type CPU struct {
	Client  float64 `json:"client"`
	Engine  float64 `json:"engine"`
	Product float64 `json:"product"`
}

// Total is the sum of the three.
func (c CPU) Total() float64 { return c.Client + c.Engine + c.Product }

// Sub is c - o.
func (c CPU) Sub(o CPU) CPU {
	return CPU{c.Client - o.Client, c.Engine - o.Engine, c.Product - o.Product}
}

// Check is the outcome of a consistency check on one arm.
type Check struct {
	Type    string `json:"type,omitempty"`
	Name    string `json:"name"`
	Engine  string `json:"engine,omitempty"`
	Variant string `json:"variant"`
	// Workload and Threads say after which comparison, if after one.
	Workload string `json:"workload,omitempty"`
	Threads  int    `json:"threads,omitempty"`
	OK       bool   `json:"ok"`
	Detail   string `json:"detail,omitempty"` // what was looked at, or what is wrong
}

// Void withdraws a whole quad for a cause fixed beforehand.
type Void struct {
	Type string `json:"type"`
	Cell
	Quad  int    `json:"quad"`
	Arm   string `json:"arm,omitempty"` // whose fault, if one arm's
	Cause string `json:"cause"`         // client-error, engine-restart, steal, foreign-load
}

// Note is a warning or remark that belongs to the result.
type Note struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// A Failover is what it cost a replicated database to lose one of its replicas
// under load without warning, and to have it back. Seconds count from the
// moment the replica was taken away, if not said otherwise.
type Failover struct {
	Type    string    `json:"type,omitempty"`
	Engine  string    `json:"engine"`
	Variant string    `json:"variant"`
	Number  int       `json:"number"` // of this variant's failovers, from 1
	Start   time.Time `json:"start"`  // of the load
	// Terminals is how many connections there were, Replica which of how many
	// replicas was lost.
	Terminals int         `json:"terminals"`
	Replica   string      `json:"replica"`
	TPS       FailoverTPS `json:"tps"`

	GapS     float64 `json:"gap_s"`      // longest time in which nothing was committed
	ServedS  float64 `json:"served_s"`   // until a transaction begun afterwards was committed
	AllBackS float64 `json:"all_back_s"` // until every terminal had one committed
	RejoinS  float64 `json:"rejoin_s"`   // from the replica's start until it was in step
	Transfer string  `json:"transfer"`   // how it got what it had missed: "IST" or "SST"

	Acknowledged uint64 `json:"acknowledged"` // transactions whose COMMIT was answered
	Errors       uint64 `json:"errors"`       // transactions that failed
	Refused      uint64 `json:"refused"`      // connections that could not be made
	Retries      uint64 `json:"retries"`      // conflicts
	// Unanswered is how many of the errors met a COMMIT, so that nobody was
	// told what became of the transaction; UnansweredKept how many of these
	// were committed. Either is right.
	Unanswered     uint64 `json:"unanswered"`
	UnansweredKept uint64 `json:"unanswered_kept"`
	Lost           uint64 `json:"lost"`      // acknowledged, and missing on some replica
	Strangers      uint64 `json:"strangers"` // there, and never sent or refused
	// Equal is that the replicas are alike at the end and hold every
	// transaction whole; Detail what differs.
	Equal  bool   `json:"equal"`
	Detail string `json:"detail,omitempty"`
}

// FailoverTPS is transactions committed a second in the parts of a failover.
type FailoverTPS struct {
	Before    float64 `json:"before"`
	After     float64 `json:"after"`     // on the survivors
	Rejoining float64 `json:"rejoining"` // while the replica catches up
	Rejoined  float64 `json:"rejoined"`  // on all again
}

// OK reports whether nothing was lost and the replicas agree.
func (f Failover) OK() bool { return f.Lost == 0 && f.Strangers == 0 && f.Equal }

// End is the last line of a run that finished as planned.
type End struct {
	Type        string     `json:"type"`
	Finished    time.Time  `json:"finished"`
	LoadAverage [3]float64 `json:"load_average"`
}

// Summary is what "veildb bench summary --format json" prints.
type Summary struct {
	Format      string      `json:"format"`
	Study       string      `json:"study"`
	Title       string      `json:"title,omitempty"`
	Seed        uint64      `json:"seed"`
	Started     time.Time   `json:"started"`
	Complete    bool        `json:"complete"` // the run ended as planned
	Environment Environment `json:"environment"`
	Rows        []Row       `json:"rows"`
	AA          []Row       `json:"aa"`
	Tables      []Table     `json:"tables,omitempty"`
	Failovers   []Failover  `json:"failovers,omitempty"`
	Checks      []Check     `json:"checks"`
	Warnings    []string    `json:"warnings"`
}

// Row is one comparison of a summary.
type Row struct {
	Engine   string `json:"engine"`
	Variant  string `json:"variant"`
	Baseline string `json:"baseline"`
	Workload string `json:"workload"`
	Threads  int    `json:"threads"`
	Headline bool   `json:"headline,omitempty"` // one that the study is about
	Quads    int    `json:"quads"`              // quads the estimate rests on, voided ones not counted

	TPS         Pair      `json:"tps"`
	OverheadPct *Interval `json:"overhead_pct"` // null when the data do not allow one
	Bootstrap   *Interval `json:"bootstrap_pct,omitempty"`
	MedianPct   *float64  `json:"hodges_lehmann_pct,omitempty"`
	WithVoided  *Interval `json:"with_voided_pct,omitempty"`

	CPUUSPerTx CPUPair                `json:"cpu_us_per_tx"`
	LatencyUS  map[string]LatencyPair `json:"latency_us"` // "mean", "p50", "p95", "p99", "max"
	// UtilisationPct is how much of the machine's processors the server and
	// the product use while the arm works, in percent of all cores.
	UtilisationPct *Utilisation `json:"utilisation_pct,omitempty"`
	// NOPM is new orders committed a minute, for TPC-C of any flavor.
	NOPM *Pair `json:"nopm,omitempty"`

	MDEPct      *float64     `json:"mde_pct"`
	Equivalence *Equivalence `json:"equivalence,omitempty"`
	Verdict     string       `json:"verdict"`
	Voided      int          `json:"voided"`
	Errors      uint64       `json:"errors"`
	Retries     uint64       `json:"retries"`
	UserAborts  uint64       `json:"user_aborts"`
	Published   *Published   `json:"published,omitempty"`
	Note        string       `json:"note,omitempty"` // why figures are missing
}

// Pair is one figure on both arms.
type Pair struct {
	Baseline float64 `json:"baseline"`
	Variant  float64 `json:"variant"`
}

// Interval is an estimate in percent with its 95 % interval. Positive means
// the variant is slower or dearer.
type Interval struct {
	Est float64 `json:"est"`
	Lo  float64 `json:"lo"`
	Hi  float64 `json:"hi"`
}

// CPUPair is processor time a transaction, in microseconds, on both arms.
type CPUPair struct {
	Pair
	OverheadPct *Interval       `json:"overhead_pct"`
	Parts       map[string]Pair `json:"parts,omitempty"` // client, engine, product
}

// Utilisation is a share of the machine on both arms, in percent.
type Utilisation struct {
	Pair
	Points *Interval `json:"points"` // variant less baseline
}

// LatencyPair is a latency in microseconds on both arms.
type LatencyPair struct {
	Pair
	OverheadPct *Interval `json:"overhead_pct"`
}

// Equivalence is a two one-sided test of "no impact beyond the margin".
type Equivalence struct {
	MarginPct float64  `json:"margin_pct"`
	Interval  Interval `json:"interval_90_pct"` // the 90 % interval
	Holds     bool     `json:"holds"`
}
