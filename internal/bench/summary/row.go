package summary

import (
	"fmt"
	"math"

	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/stat"
)

// row makes the row of a cell.
func (c *cell) row(complete bool, cores int) result.Row {
	r := result.Row{
		Engine: c.Engine, Variant: c.Variant, Baseline: c.Baseline, Workload: c.Workload, Threads: c.Threads,
		Quads: len(c.d), Voided: c.voided(), Published: c.Published,
		TPS:        pair(c.valid, commitRate),
		CPUUSPerTx: cpu(c.valid),
		LatencyUS:  latencies(c.valid),

		UtilisationPct: utilisation(c.valid, cores),
		NOPM:           nopm(c.valid),
		Verdict:        stat.NotEnoughData,
		Note:           c.note(complete),
	}
	for _, q := range c.valid {
		for _, blocks := range q.arms {
			for _, b := range blocks {
				r.Errors += b.Errors
				r.Retries += b.Retries
				r.UserAborts += b.UserAborts
			}
		}
	}
	if c.hasRate {
		c.judge(&r)
	}
	if len(c.void) > 0 {
		if t, ok := stat.Student(append(logs(c.void, commitRate), c.d...), stat.Level); ok {
			r.WithVoided = interval(t.Loss())
		}
	}
	return r
}

// judge fills what needs an interval.
func (c *cell) judge(r *result.Row) {
	loss := c.rate.Loss()
	r.OverheadPct = interval(loss)
	if c.hasBootstrap {
		r.Bootstrap = interval(c.bootstrap.Loss())
	}
	median := -100 * math.Expm1(stat.HodgesLehmann(c.d))
	r.MedianPct = &median
	mde := c.mde()
	r.MDEPct = &mde
	equivalent := false
	if c.ClaimPct > 0 {
		ninety, holds, _ := stat.Equivalence(c.d, c.ClaimPct)
		equivalent = holds
		r.Equivalence = &result.Equivalence{MarginPct: c.ClaimPct, Interval: *interval(ninety), Holds: holds}
	}
	switch {
	case len(c.d) < stat.MinQuads:
	case c.AA() && loss.Contains(0):
		r.Verdict = stat.AAHolds
	case c.AA():
		r.Verdict = stat.AAFails
	default:
		var published *float64
		if c.Published != nil {
			published = &c.Published.OverheadPct
		}
		r.Verdict = stat.Verdict(len(c.d), loss, mde, c.ClaimPct, equivalent, published)
	}
}

// mde is the minimum detectable effect in percent of throughput.
func (c *cell) mde() float64 {
	_, sd := stat.MeanSD(c.d)
	return -100 * math.Expm1(-stat.MDE(sd, len(c.d)))
}

// note says why figures are missing or thin, "" if they are not.
func (c *cell) note(complete bool) string {
	switch {
	case len(c.d) >= stat.MinQuads:
		return ""
	case len(c.valid) > 0 && len(c.d) == 0:
		return "no transaction committed in some block of every quad"
	case len(c.d) > 0:
		return fmt.Sprintf("only %s: at least %d are needed for a verdict", count(len(c.d), "valid quad"), stat.MinQuads)
	case c.voided() > 0:
		return fmt.Sprintf("%s withdrawn, none valid", count(c.voided(), "quad"))
	case complete:
		return "not measured"
	case c.partial > 0:
		return "the run ended within the first quad"
	}
	return "the run ended before this comparison"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func interval(i stat.Interval) *result.Interval {
	return &result.Interval{Est: i.Est, Lo: i.Lo, Hi: i.Hi}
}

// pair is the geometric mean of a figure over all blocks of each arm, so that
// the ratio of the two is what the overhead says.
func pair(quads []quad, figure func(result.Block) float64) result.Pair {
	var sum [2]float64
	n := 0.0
	for _, q := range quads {
		if _, ok := q.log(figure); !ok {
			continue
		}
		n += 2
		for arm, blocks := range q.arms {
			for _, b := range blocks {
				sum[arm] += math.Log(figure(b))
			}
		}
	}
	if n == 0 {
		return result.Pair{}
	}
	return result.Pair{Baseline: math.Exp(sum[0] / n), Variant: math.Exp(sum[1] / n)}
}

// latencies compares the percentiles of blocks. Requests within a block depend
// on each other, so blocks are what is averaged. max is the longest
// transaction of all; it gets no interval, for there is none worth stating.
func latencies(quads []quad) map[string]result.LatencyPair {
	out := map[string]result.LatencyPair{}
	for name, figure := range map[string]func(result.Block) float64{
		"mean": func(b result.Block) float64 { return b.LatencyUS.Mean },
		"p50":  func(b result.Block) float64 { return b.LatencyUS.P50 },
		"p95":  func(b result.Block) float64 { return b.LatencyUS.P95 },
		"p99":  func(b result.Block) float64 { return b.LatencyUS.P99 },
	} {
		p := result.LatencyPair{Pair: pair(quads, figure)}
		if t, ok := stat.Student(logs(quads, figure), stat.Level); ok {
			p.OverheadPct = interval(t.Increase())
		}
		if p.Pair != (result.Pair{}) {
			out[name] = p
		}
	}
	var longest [2]float64
	for _, q := range quads {
		for arm, blocks := range q.arms {
			for _, b := range blocks {
				longest[arm] = max(longest[arm], b.LatencyUS.Max)
			}
		}
	}
	if len(quads) > 0 {
		out["max"] = result.LatencyPair{Pair: result.Pair{Baseline: longest[0], Variant: longest[1]}}
	}
	return out
}

// cpu compares processor time a transaction. The system accounts in steps of
// up to 10 ms, so the two blocks of an arm are added up before the ratio.
func cpu(quads []quad) result.CPUPair {
	var d []float64
	var used [2]result.CPU
	var tx [2]float64
	for _, q := range quads {
		var perTx [2][]float64
		for arm, blocks := range q.arms {
			seconds, n := 0.0, 0.0
			for _, b := range blocks {
				seconds += b.CPUS.Total()
				n += float64(b.Transactions)
				used[arm].Client += b.CPUS.Client
				used[arm].Engine += b.CPUS.Engine
				used[arm].Product += b.CPUS.Product
			}
			tx[arm] += n
			perTx[arm] = []float64{seconds / n}
		}
		if x, ok := stat.QuadLog(perTx[0], perTx[1]); ok {
			d = append(d, x)
		}
	}
	if tx[0] == 0 || tx[1] == 0 {
		return result.CPUPair{}
	}
	per := func(part func(result.CPU) float64) result.Pair {
		return result.Pair{Baseline: 1e6 * part(used[0]) / tx[0], Variant: 1e6 * part(used[1]) / tx[1]}
	}
	out := result.CPUPair{Pair: per(result.CPU.Total), Parts: map[string]result.Pair{}}
	for name, part := range map[string]func(result.CPU) float64{
		"client":  func(c result.CPU) float64 { return c.Client },
		"engine":  func(c result.CPU) float64 { return c.Engine },
		"product": func(c result.CPU) float64 { return c.Product },
	} {
		if p := per(part); p != (result.Pair{}) {
			out.Parts[name] = p
		}
	}
	if t, ok := stat.Student(d, stat.Level); ok {
		out.OverheadPct = interval(t.Increase())
	}
	return out
}

// utilisation is the share of cores that the server and what the variant puts
// around it used; nil where they have no process apart from the load's, or none
// that can be seen.
func utilisation(quads []quad, cores int) *result.Utilisation {
	var points []float64
	var sum [2]float64
	var seen, apart bool // a server at all, and outside the load's process
	for _, q := range quads {
		var share [2]float64
		for arm, blocks := range q.arms {
			var used, length float64
			for _, b := range blocks {
				used += b.CPUS.Engine + b.CPUS.Product
				length += b.DurationS
				apart, seen = apart || b.CPUS.Client > 0, seen || b.CPUS.Engine > 0
			}
			share[arm] = 100 * used / length / float64(cores)
			sum[arm] += share[arm]
		}
		points = append(points, share[1]-share[0])
	}
	if !apart || !seen || cores == 0 {
		return nil
	}
	n := float64(len(quads))
	u := &result.Utilisation{Pair: result.Pair{Baseline: sum[0] / n, Variant: sum[1] / n}}
	if t, ok := stat.Student(points, stat.Level); ok {
		u.Points = interval(t)
	}
	return u
}

// nopm is new orders committed a minute, nil if there are none. Only new orders
// are rolled back on purpose.
func nopm(quads []quad) *result.Pair {
	p := pair(quads, func(b result.Block) float64 {
		orders := b.KindsUS[result.KindNewOrder].Count
		return 60 * float64(orders-min(orders, b.UserAborts)) / b.DurationS
	})
	if p == (result.Pair{}) {
		return nil
	}
	return &p
}
