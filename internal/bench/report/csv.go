package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/veildb/veildb/internal/bench/result"
)

// csvColumns are the header of the CSV and, in the same order, the cells of a
// row. New columns go to the end.
var csvColumns = []struct {
	name string
	cell func(result.Row) string
}{
	{"kind", func(r result.Row) string {
		if isControl(r) {
			return "aa"
		}
		return "row"
	}},
	{"engine", func(r result.Row) string { return csvText(r.Engine) }},
	{"variant", func(r result.Row) string { return csvText(r.Variant) }},
	{"baseline", func(r result.Row) string { return csvText(r.Baseline) }},
	{"workload", func(r result.Row) string { return csvText(r.Workload) }},
	{"threads", func(r result.Row) string { return strconv.Itoa(r.Threads) }},
	{"quads", func(r result.Row) string { return strconv.Itoa(r.Quads) }},
	{"voided", func(r result.Row) string { return strconv.Itoa(r.Voided) }},
	{"overhead_pct", func(r result.Row) string { return csvEst(r.OverheadPct) }},
	{"overhead_lo_pct", func(r result.Row) string { return csvLo(r.OverheadPct) }},
	{"overhead_hi_pct", func(r result.Row) string { return csvHi(r.OverheadPct) }},
	{"mde_pct", func(r result.Row) string { return csvPtr(r.MDEPct) }},
	{"tps_baseline", func(r result.Row) string { return csvNum(r.TPS.Baseline) }},
	{"tps_variant", func(r result.Row) string { return csvNum(r.TPS.Variant) }},
	{"cpu_us_per_tx_baseline", func(r result.Row) string { return csvNum(r.CPUUSPerTx.Baseline) }},
	{"cpu_us_per_tx_variant", func(r result.Row) string { return csvNum(r.CPUUSPerTx.Variant) }},
	{"cpu_overhead_pct", func(r result.Row) string { return csvEst(r.CPUUSPerTx.OverheadPct) }},
	{"cpu_overhead_lo_pct", func(r result.Row) string { return csvLo(r.CPUUSPerTx.OverheadPct) }},
	{"cpu_overhead_hi_pct", func(r result.Row) string { return csvHi(r.CPUUSPerTx.OverheadPct) }},
	{"latency_us_mean_baseline", func(r result.Row) string { return csvNum(r.LatencyUS["mean"].Baseline) }},
	{"latency_us_mean_variant", func(r result.Row) string { return csvNum(r.LatencyUS["mean"].Variant) }},
	{"latency_us_p50_baseline", func(r result.Row) string { return csvNum(r.LatencyUS["p50"].Baseline) }},
	{"latency_us_p50_variant", func(r result.Row) string { return csvNum(r.LatencyUS["p50"].Variant) }},
	{"latency_us_p95_baseline", func(r result.Row) string { return csvNum(r.LatencyUS["p95"].Baseline) }},
	{"latency_us_p95_variant", func(r result.Row) string { return csvNum(r.LatencyUS["p95"].Variant) }},
	{"latency_us_p99_baseline", func(r result.Row) string { return csvNum(r.LatencyUS["p99"].Baseline) }},
	{"latency_us_p99_variant", func(r result.Row) string { return csvNum(r.LatencyUS["p99"].Variant) }},
	{"errors", func(r result.Row) string { return strconv.FormatUint(r.Errors, 10) }},
	{"retries", func(r result.Row) string { return strconv.FormatUint(r.Retries, 10) }},
	{"user_aborts", func(r result.Row) string { return strconv.FormatUint(r.UserAborts, 10) }},
	{"published_study", func(r result.Row) string {
		if r.Published == nil {
			return ""
		}
		return csvText(r.Published.Study)
	}},
	{"published_pct", func(r result.Row) string {
		if r.Published == nil {
			return ""
		}
		return csvNum(r.Published.OverheadPct)
	}},
	{"verdict", func(r result.Row) string { return csvText(r.Verdict) }},
	{"note", func(r result.Row) string { return csvText(r.Note) }},
	{"headline", func(r result.Row) string { return strconv.FormatBool(r.Headline) }},
	{"nopm_baseline", func(r result.Row) string { return csvPair(r.NOPM).a }},
	{"nopm_variant", func(r result.Row) string { return csvPair(r.NOPM).b }},
	{"utilisation_pct_baseline", func(r result.Row) string { return csvUse(r).a }},
	{"utilisation_pct_variant", func(r result.Row) string { return csvUse(r).b }},
	{"utilisation_points", func(r result.Row) string {
		if r.UtilisationPct == nil {
			return ""
		}
		return csvEst(r.UtilisationPct.Points)
	}},
	// Of failovers alone; see csvFailover.
	{"gap_s", none}, {"served_s", none}, {"all_back_s", none}, {"rejoin_s", none}, {"transfer", none},
	{"acknowledged", none}, {"unanswered", none}, {"lost", none}, {"equal", none},
	{"complete", nil}, // of the run, so that no file of a partial run passes for a whole one
}

func none(result.Row) string { return "" }

type csvCells struct{ a, b string }

func csvPair(p *result.Pair) csvCells {
	if p == nil {
		return csvCells{}
	}
	return csvCells{csvNum(p.Baseline), csvNum(p.Variant)}
}

func csvUse(r result.Row) csvCells {
	if r.UtilisationPct == nil {
		return csvCells{}
	}
	return csvPair(&r.UtilisationPct.Pair)
}

// csvFailover are the cells of a failover, by column. The throughput before it
// is its baseline, that on the survivors its variant.
func csvFailover(f result.Failover, complete bool) map[string]string {
	return map[string]string{
		"kind": "failover", "engine": csvText(f.Engine), "variant": csvText(f.Variant), "threads": strconv.Itoa(f.Terminals),
		"tps_baseline": csvNum(f.TPS.Before), "tps_variant": csvNum(f.TPS.After), "errors": strconv.FormatUint(f.Errors, 10), "retries": strconv.FormatUint(f.Retries, 10),
		"gap_s": csvNum(f.GapS), "served_s": csvNum(f.ServedS), "all_back_s": csvNum(f.AllBackS), "rejoin_s": csvNum(f.RejoinS), "transfer": csvText(f.Transfer),
		"acknowledged": strconv.FormatUint(f.Acknowledged, 10), "unanswered": strconv.FormatUint(f.Unanswered, 10), "lost": strconv.FormatUint(f.Lost, 10),
		"equal": strconv.FormatBool(f.Equal), "note": csvText(f.Detail), "complete": strconv.FormatBool(complete),
	}
}

// CSV writes one line a comparison, then one a A/A control, then one a failover,
// at full precision. A missing figure is an empty cell; the last column says
// whether the run was complete.
func CSV(w io.Writer, s *result.Summary) error {
	out := csv.NewWriter(w)
	line := make([]string, len(csvColumns))
	for i, c := range csvColumns {
		line[i] = c.name
	}
	out.Write(line)
	for _, rows := range [][]result.Row{s.Rows, s.AA} {
		for _, r := range rows {
			for i, c := range csvColumns {
				if c.cell == nil {
					line[i] = strconv.FormatBool(s.Complete)
				} else {
					line[i] = c.cell(r)
				}
			}
			out.Write(line)
		}
	}
	for _, f := range s.Failovers {
		cells := csvFailover(f, s.Complete)
		for i, c := range csvColumns {
			line[i] = cells[c.name]
		}
		out.Write(line)
	}
	out.Flush()
	return out.Error()
}

// csvText keeps a spreadsheet from taking text for a formula.
func csvText(s string) string {
	s = clean(s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}

func csvNum(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

func csvPtr(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}

func csvEst(iv *result.Interval) string {
	if iv == nil {
		return ""
	}
	return csvPtr(&iv.Est)
}

func csvLo(iv *result.Interval) string {
	if iv == nil {
		return ""
	}
	return csvPtr(&iv.Lo)
}

func csvHi(iv *result.Interval) string {
	if iv == nil {
		return ""
	}
	return csvPtr(&iv.Hi)
}
