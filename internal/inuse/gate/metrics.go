package gate

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

// WriteMetrics writes the counters in the text format of Prometheus.
func (s Stats) WriteMetrics(w io.Writer) {
	head := func(name, kind, help string) {
		fmt.Fprintf(w, "# HELP veildb_gate_%s %s\n# TYPE veildb_gate_%s %s\n", name, help, name, kind)
	}
	for _, m := range []struct {
		name, kind, help string
		value            int64
	}{
		{"connections_total", "counter", "Connections accepted.", s.Connections},
		{"connections_open", "gauge", "Connections open now.", s.Open},
		{"connections_denied_total", "counter", "Connections turned away or not logged in.", s.Denied},
		{"commands_total", "counter", "Commands answered.", s.Statements},
		{"commands_restricted_total", "counter", "Commands of restricted accounts.", s.Restricted},
		{"refusals_total", "counter", "Commands refused to restricted accounts.", s.Refused},
		{"errors_redacted_total", "counter", "Server errors whose text was withheld.", s.Redacted},
		{"cells_encrypted_total", "counter", "Cells encrypted, NULL included.", s.CipherCells},
		{"catalog_reads_total", "counter", "Times a server's definitions were read.", s.CatalogReads},
		{"catalog_errors_total", "counter", "Times that failed.", s.CatalogErrors},
		{"backend_failures_total", "counter", "Connections to a server that failed.", s.BackendFailures},
		{"protocol_failures_total", "counter", "Sessions that ended in the midst of something.", s.ProtocolFailures},
		{"guesses_total", "counter", "Constants compared with protected columns.", s.Guesses},
		{"alarms_total", "counter", "Answers that were not those foreseen, and tables of rules that are gone.", s.Alarms},
		{"keys_kept", "gauge", "Master keys kept for connections to come.", s.KeptKeys},
		{"draining", "gauge", "1 while the gate ends its sessions.", truth(s.Draining)},
		{"rules_version", "gauge", "Version of the rules, from 1 at the start of this gate.", int64(s.RulesVersion)},
		{"rules_trouble", "gauge", "1 while the rules are not as their source has them.", truth(s.RulesTrouble != nil)},
	} {
		head(m.name, m.kind, m.help)
		fmt.Fprintf(w, "veildb_gate_%s %d\n", m.name, m.value)
	}
	head("refusals_by_reason_total", "counter", "Refusals by reason.")
	for _, r := range slices.Sorted(maps.Keys(s.RefusedBy)) {
		fmt.Fprintf(w, "veildb_gate_refusals_by_reason_total{reason=%q} %d\n", r, s.RefusedBy[r])
	}
	head("rules_info", "gauge", "Digest of the rules.")
	fmt.Fprintf(w, "veildb_gate_rules_info{digest=%q} 1\n", s.RulesDigest)
	head("backend_up", "gauge", "1 while a server can be used.")
	for _, b := range s.Backends {
		fmt.Fprintf(w, "veildb_gate_backend_up{backend=%q} %d\n", b.Address, truth(b.Up))
	}
	head("backend_sessions", "gauge", "Sessions on a server.")
	for _, b := range s.Backends {
		fmt.Fprintf(w, "veildb_gate_backend_sessions{backend=%q} %d\n", b.Address, b.Open)
	}
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Ready reports whether new connections can be served.
func (s Stats) Ready() bool {
	for _, b := range s.Backends {
		if b.Up {
			return !s.Draining
		}
	}
	return false
}
