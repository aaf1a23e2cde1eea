package tpcc

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/run"
)

// ReportFormat names the JSON form of a Report.
const ReportFormat = "veildb.tpcc/1"

// Report is what a run did. Rates are a second of the window.
type Report struct {
	Format     string    `json:"format"`
	Flavor     Flavor    `json:"flavor"`
	Engine     string    `json:"engine"`
	Version    string    `json:"engine_version"`
	Warehouses int       `json:"warehouses"`
	Terminals  int       `json:"terminals"`
	Isolation  string    `json:"isolation"`
	Batch      bool      `json:"batch"`
	Routines   bool      `json:"routines,omitempty"`    // each transaction one call
	KeyingTime bool      `json:"keying_time,omitempty"` // terminals rest between transactions
	Seed       uint64    `json:"seed"`
	Rate       float64   `json:"rate,omitempty"` // intended transactions a second, open loop
	Started    time.Time `json:"started"`
	Complete   bool      `json:"complete"` // false: interrupted, the figures cover the time until then

	WarmupS float64 `json:"warmup_s"`
	WindowS float64 `json:"window_s"` // to the end of the last transaction begun in it

	Transactions uint64 `json:"transactions"`
	Commits      uint64 `json:"commits"`
	UserAborts   uint64 `json:"user_aborts"`
	Retries      uint64 `json:"retries"`
	Errors       uint64 `json:"errors"`
	// ErrorCodes splits Errors by the server's code.
	ErrorCodes map[string]uint64 `json:"error_codes,omitempty"`
	Statements uint64            `json:"statements"`
	Unserved   uint64            `json:"unserved,omitempty"`

	TPS         float64 `json:"tps"`            // commits
	Attempts    float64 `json:"attempts_per_s"` // transactions and retries
	AbortsRate  float64 `json:"user_aborts_per_s"`
	RetriesRate float64 `json:"retries_per_s"`
	ErrorsRate  float64 `json:"errors_per_s"`
	QPS         float64 `json:"statements_per_s"`
	// BenchBase's two figures, to compare with its reports. Goodput counts
	// the commits of the warm-up too, over the window alone.
	Throughput float64 `json:"bb_throughput"`
	Goodput    float64 `json:"bb_goodput"`
	// TPROC-C's two figures, whole numbers a minute: new orders by the
	// districts' counters, and the server's own transactions.
	NOPM int64  `json:"nopm,omitempty"`
	TPM  *int64 `json:"tpm,omitempty"`

	LatencyUS result.Latency            `json:"latency_us"`
	KindsUS   map[string]result.Latency `json:"kinds_us"`
	Checks    []result.Check            `json:"checks"`
}

// Fill sets the figures that follow from what a window did. all counts the
// commits since the terminals were opened.
func (r *Report) Fill(res run.LoadResult, all uint64) {
	r.Format, r.Started, r.WindowS, r.Unserved = ReportFormat, res.Start, res.Elapsed.Seconds(), res.Unserved
	r.Transactions, r.Commits, r.UserAborts = res.Transactions, res.Commits, res.UserAborts
	r.Retries, r.Errors, r.ErrorCodes, r.Statements = res.Retries, res.Errors, res.ErrorCodes, res.Queries
	if r.WindowS > 0 {
		per := func(n uint64) float64 { return float64(n) / r.WindowS }
		r.TPS, r.Attempts, r.AbortsRate = per(r.Commits), per(r.Transactions+r.Retries), per(r.UserAborts)
		r.RetriesRate, r.ErrorsRate, r.QPS = per(r.Retries), per(r.Errors), per(r.Statements)
		r.Throughput, r.Goodput = per(r.Transactions), per(all)
	}
	r.LatencyUS = run.Summarise(res.Latency)
	r.KindsUS = map[string]result.Latency{}
	for k, h := range res.Kinds {
		r.KindsUS[kindNames[k]] = run.Summarise(h)
	}
}

// PerMinute sets TPROC-C's figures from the growth of the counters over the
// window: whole numbers, rounded down. tpm is nil where the server has none.
func (r *Report) PerMinute(newOrders int64, tpm *int64) {
	if r.WindowS <= 0 {
		return
	}
	minute := func(n int64) int64 { return int64(float64(n) * 60 / r.WindowS) }
	r.NOPM = minute(newOrders)
	if tpm != nil {
		n := minute(*tpm)
		r.TPM = &n
	}
}

// WriteText prints the report with the definition beside each figure.
func (r *Report) WriteText(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	batch := map[bool]string{true: ", batched"}[r.Batch] + map[bool]string{true: ", routines"}[r.Routines] +
		map[bool]string{true: ", keying and think times"}[r.KeyingTime]
	fmt.Fprintf(w, "TPC-C (%s) on %s %s: warehouses %d, terminals %d, %s%s, seed %d\n",
		r.Flavor, r.Engine, r.Version, r.Warehouses, r.Terminals, r.Isolation, batch, r.Seed)
	if !r.Complete {
		fmt.Fprintf(w, "INTERRUPTED: the figures cover the time until then\n")
	}
	fmt.Fprintf(w, "window %.2f s after %.2f s of warm-up\n\n", r.WindowS, r.WarmupS)
	row := func(name string, value float64, means string) { fmt.Fprintf(w, "%s\t%.2f\t%s\n", name, value, means) }
	row("TPS", r.TPS, "commits a second of the window")
	row("attempts/s", r.Attempts, "commits, user aborts, errors and retries")
	row("user aborts/s", r.AbortsRate, "rolled back because the workload demands it: 1 % of new_order")
	row("retries/s", r.RetriesRate, "repeated after a deadlock or serialization failure")
	row("errors/s", r.ErrorsRate, "given up after the last attempt")
	row("statements/s", r.QPS, "BEGIN, COMMIT and ROLLBACK included")
	row("bb_throughput", r.Throughput, "as BenchBase defines it: all requests that ended")
	row("bb_goodput", r.Goodput, "as BenchBase defines it: commits, the warm-up's included, over the window")
	if r.Rate > 0 {
		row("rate", r.Rate, fmt.Sprintf("transactions due a second; %d were due and never began", r.Unserved))
	}
	if r.Flavor == HammerDB {
		fmt.Fprintf(w, "NOPM\t%d\tgrowth of the districts' order counters a minute\n", r.NOPM)
		if r.TPM != nil {
			fmt.Fprintf(w, "TPM\t%d\tgrowth of the server's transaction counter a minute\n", *r.TPM)
		}
	}
	fmt.Fprintf(w, "\nlatency ms\tcount\tmean\tp50\tp95\tp99\tp99.9\tmax\n")
	line := func(name string, l result.Latency) {
		fmt.Fprintf(w, "%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\n",
			name, l.Count, l.Mean/1e3, l.P50/1e3, l.P95/1e3, l.P99/1e3, l.P999/1e3, l.Max/1e3)
	}
	for _, k := range kindNames {
		if l := r.KindsUS[k]; l.Count > 0 {
			line(k, l)
		}
	}
	line("all", r.LatencyUS)
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	return WriteChecks(out, r.Checks)
}

// WriteChecks prints one line a check.
func WriteChecks(out io.Writer, checks []result.Check) error {
	for _, c := range checks {
		word, detail := "ok      ", ""
		if !c.OK {
			word = "VIOLATED"
		}
		if c.Detail != "" {
			detail = ": " + c.Detail
		}
		if _, err := fmt.Fprintf(out, "%s  %s%s\n", word, c.Name, detail); err != nil {
			return err
		}
	}
	return nil
}
