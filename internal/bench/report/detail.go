package report

import "github.com/veildb/veildb/internal/bench/result"

// A measure is one line of a comparison's table: a figure on both arms and
// its change.
type measure struct{ Name, Baseline, Variant, Change string }

// measures lists everything a row measured on both arms.
func measures(r result.Row) []measure {
	lost := absent
	if r.OverheadPct != nil {
		lost = pct(r.OverheadPct.Est) + " % lost (" + span(*r.OverheadPct) + ")"
	}
	out := []measure{{"throughput, commits a second", rate(r.TPS.Baseline), rate(r.TPS.Variant), lost}}
	if p := r.NOPM; p != nil {
		out = append(out, measure{"new orders a minute", rate(p.Baseline), rate(p.Variant), lost})
	}
	if u := r.UtilisationPct; u != nil {
		points := absent
		if u.Points != nil {
			points = pct(u.Points.Est) + " points (" + span(*u.Points) + ")"
		}
		out = append(out, measure{"processors used by the server, % of all cores", pct(u.Baseline), pct(u.Variant), points})
	}
	for _, name := range []string{"mean", "p50", "p95", "p99", "max"} {
		if l, ok := r.LatencyUS[name]; ok {
			out = append(out, measure{"latency, " + name, duration(l.Baseline), duration(l.Variant), changeOf(l.OverheadPct)})
		}
	}
	c := r.CPUUSPerTx
	out = append(out, measure{"processor time a transaction", duration(c.Baseline), duration(c.Variant), changeOf(c.OverheadPct)})
	if splits(c) {
		for _, part := range cpuParts {
			if p, ok := c.Parts[part]; ok {
				out = append(out, measure{"of it " + part, duration(p.Baseline), duration(p.Variant), absent})
			}
		}
	}
	return out
}

// facts lists what a row rests on and how else its overhead reads.
func facts(r result.Row) []setting {
	out := []setting{{"quads used", decimal(float64(r.Quads), 0)}, {"quads voided", decimal(float64(r.Voided), 0)}}
	add := func(name string, iv *result.Interval) {
		if iv != nil {
			out = append(out, setting{name, pct(iv.Est) + " % (" + span(*iv) + ")"})
		}
	}
	add("bootstrap over quads", r.Bootstrap)
	if r.MedianPct != nil {
		out = append(out, setting{"Hodges–Lehmann median", pct(*r.MedianPct) + " %"})
	}
	add("with voided quads", r.WithVoided)
	if r.MDEPct != nil {
		out = append(out, setting{"smallest detectable overhead", pct(*r.MDEPct) + " %"})
	}
	if e := r.Equivalence; e != nil {
		holds := "not shown"
		if e.Holds {
			holds = "holds"
		}
		out = append(out, setting{"no impact beyond ± " + pct(e.MarginPct) + " %", holds + ", 90 % interval " + span(e.Interval)})
	}
	if p := r.Published; p != nil {
		v := pct(p.OverheadPct) + " % by " + clean(p.Study)
		if n := clean(p.Note); n != "" {
			v += " (" + n + ")"
		}
		if w := relationOf(r).words(); w != "" {
			v += ": " + w
		}
		out = append(out, setting{"published", v})
	}
	return append(out,
		setting{"errors", decimal(float64(r.Errors), 0)},
		setting{"retries", decimal(float64(r.Retries), 0)},
		setting{"user aborts", decimal(float64(r.UserAborts), 0)})
}
